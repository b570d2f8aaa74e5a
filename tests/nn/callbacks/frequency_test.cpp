#include <ktape/nn/callbacks/frequency.hpp>

#include "../../ops/check.hpp"

using ktape::ValueError;
using ktape::nn::Frequency;

TEST_CASE("a frequency is a word, or a number of batches") {
  const Frequency epochs("epoch"), batches("batch"), third(3);
  CHECK(epochs.by_epoch());
  CHECK_FALSE(epochs.due(1));
  CHECK_FALSE(batches.by_epoch());
  for (const int batch : {1, 2, 3}) CHECK(batches.due(batch));
  std::vector<int> due;
  for (int batch = 1; batch <= 9; ++batch)
    if (third.due(batch)) due.push_back(batch);
  CHECK(due == std::vector{3, 6, 9});
}

TEST_CASE("other words, and numbers below 1, are errors") {
  CHECK_THROWS_WITH_AS(
      Frequency("step"),
      "[callback] a frequency must be \"epoch\", \"batch\" or a number of batches, at least 1: "
      "received \"step\"",
      ValueError);
  CHECK_THROWS_WITH_AS(
      Frequency(0),
      "[callback] a frequency must be \"epoch\", \"batch\" or a number of batches, at least 1: "
      "received 0",
      ValueError);
}
