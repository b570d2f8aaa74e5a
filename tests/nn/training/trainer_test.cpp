#include <ktape/ktape.hpp>

#include "../../close.hpp"
#include "../../interrupts.hpp"
#include "line.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

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

TEST_CASE("a metric function of several outputs measures each output separately") {
  const Tensor in = nn::Input({1});
  const nn::Model model(in, {nn::Identity({.name = "same"})(in), nn::Rescaling(3, {.name = "more"})(in)});
  const auto far = [](const Tensor& t, const Tensor& p) { return K::mean(K::abs(t - p)); };
  model.compile({.loss = "mse", .metrics = {{"far", far}}});
  const Tensor x = K::ones({4, 1});
  const nn::Logs logs = model.test_on_batch(x, {x, x});
  CHECK(logs.at("same_far") == 0);
  CHECK(logs.at("more_far") == 2);
}

TEST_CASE("the metrics of a user's step are reset with each epoch") {
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

TEST_CASE("an interrupt within a loss or a metric stays an interrupt") {
  const Tensor x = K::ones({2, 1});
  const auto interrupted = [](const Tensor& y_true, const Tensor& y_pred) {
    if (ktape::is_symbolic(y_pred)) return K::mean(y_true - y_pred, -1);
    ktape::interrupt();
    return K::mean(y_true - y_pred, -1);
  };
  const AcceptsInterrupts accepts;
  const nn::Sequential model({nn::Dense(1)}), measured({nn::Dense(1)});
  model.compile({.loss = interrupted});
  measured.compile({.loss = "mse", .metrics = {nn::Metric("interrupted", interrupted)}});
  CHECK_THROWS_AS(model.train_on_batch(x, x), ktape::Interrupted);
  CHECK_THROWS_AS(measured.train_on_batch(x, x), ktape::Interrupted);
  ktape::clear_interrupt();
}
