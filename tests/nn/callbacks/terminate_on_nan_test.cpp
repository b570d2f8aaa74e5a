#include "../../ops/check.hpp"
#include "scripted.hpp"

namespace nn = ktape::nn;

TEST_CASE("TerminateOnNaN ends a training") {
  const Scripted model(losses({1, NAN, 1}));
  CHECK(run(model, {nn::TerminateOnNaN()})["loss"].size() == 2);
}
