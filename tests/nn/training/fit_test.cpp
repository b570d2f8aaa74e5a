#include "../../close.hpp"
#include "line.hpp"

#include <csignal>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError, ktape::Variable;

TEST_CASE("fit descends the gradient, batch by batch, as equal steps by hand do") {
  const Line line;
  const nn::Sequential model = linear_model();
  const nn::History history =
      model.fit(line.x, line.y, {.batch_size = 16, .epochs = 20, .verbose = 0, .shuffle = false});
  CHECK(history["loss"].size() == 20);
  CHECK(history["loss"].back() < 1e-3);
  CHECK(history.epoch().back() == 19);

  Variable w = K::zeros({2, 1}), b = K::zeros({1});
  double first_epoch = 0;
  for (int epoch = 0; epoch < 20; ++epoch)
    for (int batch = 0; batch < 4; ++batch) {
      const Tensor x = K::slice(line.x, {16 * batch, 0}, {16, 2}),
                   y = K::slice(line.y, {16 * batch, 0}, {16, 1});
      const Tensor loss = K::mean(K::square(K::dot(x, w) + b - y));
      const auto slopes = K::gradients(loss, {w, b});
      K::update_sub(w, 0.1f * slopes[0]);
      K::update_sub(b, 0.1f * slopes[1]);
      if (epoch == 0) first_epoch += loss.item() / 4;
    }
  CHECK(close(model.weights()[0], w, {.atol = 1e-5}));
  CHECK(close(history["loss"][0], first_epoch, {.rtol = 1e-5}));
}

TEST_CASE("the averages of use_ema are the weights after a fit") {
  const Line line;
  const nn::Sequential model = linear_model();
  model.compile(
      {.optimizer = nn::SGD({.learning_rate = 0.1, .use_ema = true, .ema_momentum = 0.9}), .loss = "mse"});
  Values last;
  const nn::LambdaCallback watch(
      {.on_train_batch_end = [&](std::int64_t, const nn::Logs&) { last = values(model.weights()[0]); }});
  model.fit(line.x, line.y, {.epochs = 2, .verbose = 0, .callbacks = {watch}});
  CHECK(values(model.weights()[0]) == values(model.optimizer().variables()[2]));
  CHECK(values(model.weights()[0]) != last);
}

TEST_CASE("the seed fixes the order of the samples") {
  const Line line;
  std::vector<Values> seen;
  for (int run = 0; run < 3; ++run) {
    K::set_random_seed(run == 2 ? 5 : 4);
    const nn::Sequential model = linear_model();
    model.fit(line.x, line.y, {.batch_size = 8, .epochs = 1, .verbose = 0});
    seen.push_back(values(model.weights()[0]));
  }
  CHECK(seen[0] == seen[1]);
  CHECK(seen[0] != seen[2]);
}

TEST_CASE("two fits that follow each other are one") {
  const Line line;
  const auto weights_after = [&](const std::vector<int>& ends) {
    K::set_random_seed(1);
    const nn::Sequential model = linear_model();
    int begin = 0;
    for (const int end : ends) {
      model.fit(line.x, line.y, {.batch_size = 16, .epochs = end, .verbose = 0, .initial_epoch = begin});
      begin = end;
    }
    return values(model.weights()[0].value());
  };
  CHECK(weights_after({2, 4}) == weights_after({4}));
}

TEST_CASE("validation: a split at the end, or separate data") {
  const Line line;
  const nn::Sequential model = linear_model();
  const nn::History split = model.fit(line.x, line.y, {.epochs = 3, .verbose = 0, .validation_split = 0.25});
  const Tensor x = K::slice(line.x, {48, 0}, {16, 2}), y = K::slice(line.y, {48, 0}, {16, 1});
  CHECK(close(split["val_loss"].back(), model.evaluate(x, y, {.verbose = 0})["loss"], {.rtol = 1e-5}));
  const nn::History given =
      model.fit(line.x, line.y, {.epochs = 4, .verbose = 0, .validation_data = {x, y}, .validation_freq = 2});
  CHECK(given["val_loss"].size() == 2);
  CHECK(given["loss"].size() == 4);
}

TEST_CASE("steps_per_epoch ends epochs, initial_epoch says where they begin") {
  const Line line;
  int batches = 0, first_epoch = -1;
  const nn::LambdaCallback counter(
      {.on_epoch_begin =
           [&](int epoch, const nn::Logs&) {
             if (first_epoch < 0) first_epoch = epoch;
           },
       .on_train_batch_end = [&](std::int64_t, const nn::Logs& logs) { batches += logs.count("loss"); }});
  const nn::Sequential model = linear_model();
  const nn::History history = model.fit(line.x, line.y,
                                        {.batch_size = 16,
                                         .epochs = 5,
                                         .verbose = 0,
                                         .callbacks = {counter},
                                         .initial_epoch = 2,
                                         .steps_per_epoch = 3});
  CHECK(batches == 9);
  CHECK(first_epoch == 2);
  CHECK(history["loss"].size() == 3);
}

TEST_CASE("Ctrl-C ends a training after its batch, and keeps its logs") {
  const Line line;
  const nn::LambdaCallback interrupt({.on_train_batch_end = [](std::int64_t batch, const nn::Logs&) {
    if (batch == 1) std::raise(SIGINT);
  }});
  const nn::History history = linear_model().fit(
      line.x, line.y, {.batch_size = 16, .epochs = 5, .verbose = 0, .callbacks = {interrupt}});
  CHECK(history["loss"].size() == 1);
}

TEST_CASE("bad arguments are found before anything changes") {
  const Line line;
  const Tensor left = nn::Input({2}, {.name = "left"}), right = nn::Input({2}, {.name = "right"});
  const nn::Model model({left, right}, nn::Dense(1, {.name = "sum"})(nn::Add()({left, right})));
  CHECK_THROWS_WITH_AS(model.fit({line.x, line.x}, line.y), Contains("must be compiled before it is trained"),
                       ValueError);
  CHECK_THROWS_WITH_AS(model.evaluate({line.x, line.x}, line.y, {.verbose = 0}),
                       Contains("must be compiled before it is trained"), ValueError);
  CHECK_THROWS_WITH_AS(model.compile({.optimizer = "sgd", .loss = {{"som", "mse"}}}),
                       Contains("did you mean 'sum'"), ValueError);
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const std::vector<Tensor> before = model.get_weights();
  CHECK_THROWS_WITH_AS(model.fit(line.x, line.y),
                       Contains("one array for each of the inputs 'left' and 'right' of 'model"), ValueError);
  CHECK_THROWS_WITH_AS(model.fit({line.x, line.x}, K::ones({3, 1})),
                       Contains("the number of samples of the first input, 64"), ValueError);
  CHECK_THROWS_WITH_AS(model.fit({line.x, line.x}, line.y, {.batch_size = 0}),
                       Contains("batch_size must be at least 1"), ValueError);
  CHECK_THROWS_WITH_AS(model.fit({line.x, line.x}, line.y, {.validation_split = 1}),
                       Contains("validation_split must be in [0, 1)"), ValueError);
  CHECK_THROWS_WITH_AS(model.fit({line.x, line.x}, {}, {.verbose = 0}),
                       Contains("targets for the output 'sum'"), ValueError);
  CHECK_THROWS_WITH_AS(model.fit({line.x, line.x}, K::ones({64, 2, 3}), {.verbose = 0}),
                       Contains("in the loss of the output 'sum' of 'model"), ValueError);
  CHECK_THROWS_WITH_AS(model.fit({line.x, line.x}, {line.y, line.y}, {.verbose = 0}),
                       Contains("targets for each of the 1 outputs, and no more: received 2"), ValueError);
  CHECK_THROWS_WITH_AS(
      model.fit({line.x, line.x}, line.y, {.verbose = 0, .sample_weight = {K::ones({64}), K::ones({64})}}),
      Contains("sample_weight must be one tensor"), ValueError);
  const Tensor nobody = K::zeros({0, 2});
  CHECK_THROWS_WITH_AS(model.fit({nobody, nobody}, K::zeros({0, 1})),
                       "[fit] there must be samples: received arrays of none", ValueError);
  CHECK_THROWS_WITH_AS(model.evaluate({nobody, nobody}, K::zeros({0, 1})),
                       Contains("[evaluate] there must be samples"), ValueError);
  CHECK_THROWS_WITH_AS(model.fit({line.x, line.x}, line.y,
                                 {.verbose = 0, .validation_data = {{line.x, line.x}, K::ones({64, 2, 3})}}),
                       Contains("in the loss of the output 'sum' of 'model"), ValueError);
  CHECK(values(model.weights()[0]) == values(before[0]));
}
