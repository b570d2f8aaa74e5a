#include "../../ops/check.hpp"
#include "../callbacks/scripted.hpp"

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("History holds the numbers of a training") {
  const Scripted model(losses({3, 2}));
  const nn::History history = run(model, {nn::TerminateOnNaN()});
  CHECK(history["loss"] == Values{3, 2});
  CHECK(history.names() == std::vector<std::string>{"loss"});
  CHECK(history.count("acc") == 0);
  CHECK_THROWS_WITH_AS(history["los"], Contains("did you mean 'loss'"), ValueError);
}

TEST_CASE("a state with fewer or more values than epochs is an error, and changes no number") {
  const nn::History history = run(Scripted(losses({3, 2})), {});
  nn::Archive kept;
  history.impl().state(kept);
  std::vector<nn::Archive::Entry> entries = kept.entries();
  for (auto& [name, value] : entries)
    if (name == "columns/0") value = doubles({1, 2, 3});
  nn::Archive wrong(entries);
  CHECK_THROWS_WITH_AS(history.impl().state(wrong), "[Archive] 'columns/0' must have 2 numbers: received 3",
                       ValueError);
  CHECK(history["loss"] == Values{3, 2});
  nn::Archive right(kept.entries());
  history.impl().state(right);
  CHECK(history["loss"] == Values{3, 2});
}
