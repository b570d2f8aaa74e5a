#include "../../ops/check.hpp"
#include "scripted.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;

TEST_CASE("LearningRateScheduler sets the rate of each epoch, and reports the rate") {
  const Scripted model(losses({1, 1, 1}));
  CHECK(run(model, {nn::LearningRateScheduler([](int epoch) { return 1.0 / (1 << epoch); })},
            nn::SGD(1.0))["learning_rate"] == Values{1, 0.5, 0.25});
  const nn::Sequential scheduled({nn::Input({1}), nn::Dense(1)});
  scheduled.compile({.optimizer = nn::SGD(nn::ExponentialDecay(0.1, 1, 0.5)), .loss = "mse"});
  CHECK_THROWS_WITH_AS(
      scheduled.fit(K::ones({2, 1}), K::ones({2, 1}),
                    {.verbose = 0, .callbacks = {nn::LearningRateScheduler([](int) { return 0.7; })}}),
      "[SGD] the learning rate follows a schedule and cannot be set: received 0.7", ktape::TypeError);
}
