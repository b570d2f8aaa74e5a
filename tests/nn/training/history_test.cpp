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
