#include "../../ops/check.hpp"
#include "scripted.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

namespace {

/// Returns a model with one weight, which each step decreases by 1; its average has a momentum of 0.5.
nn::Sequential falling(bool use_ema = true) {
  nn::Sequential model({nn::Input({1}), nn::Dense(1, {.use_bias = false, .kernel_initializer = "zeros"})});
  const auto mean = [](const Tensor&, const Tensor& y) { return K::mean(y); };
  model.compile({.optimizer = nn::SGD({.learning_rate = 1.0, .use_ema = use_ema, .ema_momentum = 0.5}),
                 .loss = nn::Loss(mean)});
  return model;
}

double weight(const nn::Model& model) { return model.get_weights()[0].item<float>(); }

/// Records the weight at the end of each epoch, for callbacks that run after others.
struct Spy {
  nn::Model model;
  std::vector<double> seen = {};
  nn::Callback callback() {
    return nn::LambdaCallback(
        {.on_epoch_end = [this](int, const nn::Logs&) { seen.push_back(weight(model)); }});
  }
};

struct TestSpyImpl : nn::CallbackImpl {
  std::vector<double> seen;
  void on_test_batch_begin(std::int64_t, const nn::Logs&) override { seen.push_back(weight(model())); }
};
using TestSpy = nn::CallbackOf<TestSpyImpl>;

}  // namespace

TEST_CASE("SwapEMAWeights evaluates and predicts with the averages") {
  const nn::Sequential model = falling();
  Spy spy{model};
  const TestSpy in_test;
  const Tensor x = K::ones({1, 1});
  model.fit(x, x,
            {.epochs = 3,
             .verbose = 0,
             .callbacks = {nn::SwapEMAWeights(), spy.callback(), in_test},
             .validation_data = {x, x}});
  // The averages: -1, then half of it and half of -2, and so on.
  CHECK(spy.seen == Values{-1, -2, -3});
  CHECK(in_test->seen == Values{-1, -1.5, -2.25});
  CHECK(weight(model) == -2.25);  // as use_ema has it
}

TEST_CASE("SwapEMAWeights leaves the weights after an evaluation") {
  const nn::Sequential model = falling();
  const Tensor x = K::ones({1, 1});
  model.train_on_batch(x, x);
  model.train_on_batch(x, x);
  CHECK(weight(model) == -2);
  const nn::SwapEMAWeights swap;
  CHECK(model.predict(x, {.verbose = 0, .callbacks = {swap}}).item<float>() == -1.5f);
  CHECK(model.evaluate(x, x, {.verbose = 0, .callbacks = {swap}})["loss"] == -1.5);
  CHECK(weight(model) == -2);
}

TEST_CASE("SwapEMAWeights on epochs: later callbacks see the averages, however the training ends") {
  for (const int stop_after : {3, 2}) {
    CAPTURE(stop_after);
    const nn::Sequential model = falling();
    Spy spy{model};
    const nn::LambdaCallback stopping({.on_epoch_end = [&](int epoch, const nn::Logs&) {
      if (epoch + 1 == stop_after) model.stop_training();
    }});
    const Tensor x = K::ones({1, 1});
    const nn::SwapEMAWeights swap({.swap_on_epoch = true});
    model.fit(x, x, {.epochs = 3, .verbose = 0, .callbacks = {swap, spy.callback(), stopping}});
    const Values averages{-1, -1.5, -2.25};
    CHECK(spy.seen == Values(averages.begin(), averages.begin() + stop_after));
    CHECK(weight(model) == spy.seen.back());
  }
}

TEST_CASE("SwapEMAWeights needs averages") {
  const nn::Sequential model = falling(false);
  const Tensor x = K::ones({1, 1});
  CHECK_THROWS_WITH_AS(model.fit(x, x, {.verbose = 0, .callbacks = {nn::SwapEMAWeights()}}),
                       Contains("[SwapEMAWeights] the optimizer must keep averages: received a SGD with "
                                "use_ema=false"),
                       ValueError);
  CHECK(weight(model) == 0);
}
