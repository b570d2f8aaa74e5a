#include "../../close.hpp"
#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

#include <csignal>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::Variable;

namespace {

/// y = 2 a - b + 1, in samples without noise.
struct Line {
  Tensor x = normal({64, 2}, 1, "float32");
  Tensor y = K::reshape(2.f * x[{ktape::All, 0}] - x[{ktape::All, 1}] + 1.f, {64, 1});
};

nn::Sequential linear_model(double rate = 0.1) {
  const nn::Sequential model({nn::Dense(1, {.kernel_initializer = "zeros", .name = "out"})});
  model.compile({.optimizer = nn::SGD(rate), .loss = "mse"});
  return model;
}

}  // namespace

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

TEST_CASE("evaluate and predict go over all samples, in inference") {
  const Line line;
  const nn::Sequential model({nn::Dropout(0.5), nn::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mae"});
  const Tensor p = model.predict(line.x, {.batch_size = 10, .verbose = 0});
  CHECK(p.shape() == Shape{64, 1});
  CHECK(close(p, model(line.x), {.atol = 1e-6}));
  const nn::Logs scores = model.evaluate(line.x, line.y, {.batch_size = 10, .verbose = 0});
  CHECK(close(scores["loss"], K::mean(K::abs(p - line.y)).item(), {.rtol = 1e-5}));
  CHECK(ktape::tape().size() == 0);
}

TEST_CASE("validation: a split at the end, or separate data") {
  const Line line;
  const nn::Sequential model = linear_model();
  const nn::History split = model.fit(line.x, line.y, {.epochs = 3, .validation_split = 0.25, .verbose = 0});
  const Tensor x = K::slice(line.x, {48, 0}, {16, 2}), y = K::slice(line.y, {48, 0}, {16, 1});
  CHECK(close(split["val_loss"].back(), model.evaluate(x, y, {.verbose = 0})["loss"], {.rtol = 1e-5}));
  const nn::History given =
      model.fit(line.x, line.y, {.epochs = 4, .verbose = 0, .validation_data = {x, y}, .validation_freq = 2});
  CHECK(given["val_loss"].size() == 2);
  CHECK(given["loss"].size() == 4);
}

TEST_CASE("weights of samples and classes multiply their losses") {
  const Tensor x = K::ones({4, 1}), y = ints({0, 1, 1, 0});
  const nn::Sequential model({nn::Dense(2, {.kernel_initializer = "zeros"})});
  model.compile(
      {.optimizer = nn::SGD(0.0), .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  const double log2 = std::log(2.0);
  CHECK(close(model.train_on_batch(x, y)["loss"], log2, {.rtol = 1e-5}));
  CHECK(close(model.train_on_batch(x, y, {.class_weight = {{1, 3.0}}})["loss"], 2 * log2, {.rtol = 1e-5}));
  CHECK(close(model.test_on_batch(x, y, {.sample_weight = K::constant({1.f, 0.f, 0.f, 0.f})})["loss"],
              log2 / 4, {.rtol = 1e-5}));
}

TEST_CASE("each of several outputs has its loss, weight and name") {
  const Tensor in = nn::Input({2});
  const nn::Model model(in, {nn::Dense(1, {.name = "a"})(in), nn::Dense(1, {.name = "b"})(in)});
  const Line line;
  model.compile({.optimizer = "sgd", .loss = {{"a", "mse"}, {"b", "mae"}}, .loss_weights = {{"b", 0.5}}});
  const nn::Logs logs = model.test_on_batch(line.x, {line.y, line.y});
  CHECK(close(logs["loss"], logs["a_loss"] + 0.5 * logs["b_loss"], {.rtol = 1e-5}));
  model.compile({.optimizer = "sgd", .loss = {"mse", "mae"}});
  CHECK(model.test_on_batch(line.x, {line.y, line.y})["a_loss"] == logs["a_loss"]);
  model.compile({.optimizer = "sgd", .loss = {{"b", "mae"}}});
  CHECK(model.test_on_batch(line.x, line.y)["b_loss"] == logs["b_loss"]);
}

TEST_CASE("a function that measures several outputs measures each by itself") {
  const Tensor in = nn::Input({1});
  const nn::Model model(in, {nn::Identity({.name = "same"})(in), nn::Rescaling(3, {.name = "more"})(in)});
  const auto far = [](const Tensor& t, const Tensor& p) { return K::mean(K::abs(t - p)); };
  model.compile({.loss = "mse", .metrics = {{"far", far}}});
  const Tensor x = K::ones({4, 1});
  const nn::Logs logs = model.test_on_batch(x, {x, x});
  CHECK(logs.at("same_far") == 0);
  CHECK(logs.at("more_far") == 2);
}

TEST_CASE("the metrics of a step of one's own begin anew with each epoch") {
  struct CountingImpl : nn::ModelImpl {
    nn::Sum seen{{.name = "seen"}};
    std::vector<nn::Metric> metrics() const override { return {seen}; }
    nn::Logs train_step(const nn::Batch& batch) override {
      seen.update_state(K::ones({batch.x[0].shape()[0]}));
      return {{"seen", seen.result()}};
    }
  };
  const nn::ModelOf<CountingImpl> model;
  model.compile({.optimizer = "sgd"});
  const nn::History history = model.fit(Line().x, {}, {.batch_size = 16, .epochs = 2, .verbose = 0});
  CHECK(history["seen"] == std::vector<double>{64, 64});
}

TEST_CASE("metrics of one name are all reported") {
  const Line line;
  const nn::Sequential model = linear_model();
  const auto least = [](const Tensor& t, const Tensor&) { return K::min(t); };
  const auto largest = [](const Tensor& t, const Tensor&) { return K::max(t); };
  model.compile({.optimizer = "sgd",
                 .loss = "mse",
                 .metrics = {{"edge", least}, {"edge", largest}, "mae"},
                 .weighted_metrics = {"mae"}});
  const nn::Logs logs = model.test_on_batch(
      line.x, line.y, {.sample_weight = K::cast(line.x[{ktape::All, 0}] > 0.f, "float32")});
  CHECK(logs.size() == 5);
  CHECK(logs["edge"] == K::min(line.y).item());
  CHECK(logs["edge_1"] == K::max(line.y).item());
  CHECK(logs["mae"] > 0);
  CHECK(logs["weighted_mae"] != logs["mae"]);
}

TEST_CASE("losses and metrics of layers are part of the loss and of the report") {
  struct ReportingImpl : nn::LayerImpl {
    ReportingImpl() : nn::LayerImpl("Reporting") {}
    Tensor call(const Tensor& x) override {
      add_loss(K::constant(0.25f));
      add_metric(K::mean(x), "level");
      return x;
    }
  };
  const Tensor in = nn::Input({2});
  const Tensor out = nn::Dense(
      2, {.kernel_initializer = "ones", .kernel_regularizer = nn::L2(0.5)})(nn::LayerOf<ReportingImpl>()(in));
  const nn::Model model(in, out);
  model.add_loss(K::mean(out));
  model.add_metric(K::max(out), "peak");
  model.compile({.optimizer = nn::SGD(0.0)});
  const nn::Logs logs = model.train_on_batch(K::constant({{1.f, 3.f}}));
  CHECK(close(logs["loss"], 0.25 + 2 + 4, {.rtol = 1e-5}));
  CHECK(logs["level"] == 2);
  CHECK(logs["peak"] == 4);
  CHECK(model.losses().size() == 1);
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
                       Contains("as many samples as the first input, 64"), ValueError);
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

TEST_CASE("a metric that does not fit is found before a weight changes, and named") {
  const nn::Sequential model({nn::Input({4}), nn::Dense(3, {.activation = "softmax", .name = "scores"})},
                             {.name = "classes"});
  model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy", .metrics = {"precision"}});
  const auto before = values(model.weights()[0]);
  CHECK_THROWS_WITH_AS(
      model.fit(K::ones({8, 4}), K::zeros({8}, {.dtype = "int32"}), {.verbose = 0}),
      Contains(
          "(in the metric 'precision' of the output 'scores' of 'classes', with targets of shape (8,) and "
          "dtype int32 for predictions of shape (8, 3) and dtype float32)"),
      ValueError);
  CHECK(values(model.weights()[0]) == before);
}

TEST_CASE("losses and metrics that are functions get targets of the predictions' dtype") {
  const auto error = [](const Tensor& t, const Tensor& p) { return K::mean(K::abs(t - p), -1); };
  const nn::Sequential model({nn::Input({1}), nn::Dense(1, {.kernel_initializer = "ones"})});
  model.compile({.optimizer = "sgd", .loss = error, .metrics = {{"error", error}}});
  for (const char* dtype : {"int32", "bool", "float64"}) {
    CAPTURE(dtype);
    const nn::Logs logs = model.evaluate(K::ones({4, 1}), K::zeros({4, 1}, {.dtype = dtype}), {.verbose = 0});
    CHECK(logs["loss"] == 1);
    CHECK(logs["error"] == 1);
  }
}

TEST_CASE("a metric of several numbers is reported number by number") {
  const Tensor x = K::constant({{5.f, 0.f}, {0.f, 5.f}, {5.f, 0.f}}),
               y = K::constant({{1.f, 0.f}, {0.f, 1.f}, {0.f, 1.f}});
  const nn::Sequential model({nn::Softmax()});
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"f1_score"}});
  const nn::Logs logs = model.evaluate(x, y, {.verbose = 0});
  CHECK(close(logs["f1_score_0"], 2. / 3, {.rtol = 1e-5}));
  CHECK(close(logs["f1_score_1"], 2. / 3, {.rtol = 1e-5}));
}
