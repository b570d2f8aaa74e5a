#include "../../close.hpp"
#include "../../hdf5.hpp"
#include "../../ops/check.hpp"
#include "../data/files.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;
using Names = std::vector<std::string>;

// Overridden steps: with the losses and metrics of compile, and in functional models.
namespace {

struct Samples {
  const Tensor x = normal({32, 3}, 1, "float32"), y = normal({32, 1}, 2, "float32");
};

struct SupervisedImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(1, {.kernel_initializer = "ones"}));
  Tensor call(const Tensor& x) override { return dense(x); }
  nn::Logs train_step(const nn::Batch& batch) override {
    const std::vector<Tensor> y_pred{(*this)(batch.x[0], {.training = true})};
    const Tensor loss = compute_loss(batch, y_pred);
    optimizer().apply(K::gradients(loss, trainable_weights()), trainable_weights());
    return compute_metrics(batch, y_pred, loss);
  }
};
using Supervised = nn::ModelOf<SupervisedImpl>;

/// The model with the default training step.
struct PlainImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(1, {.kernel_initializer = "ones"}));
  Tensor call(const Tensor& x) override { return dense(x); }
};

/// Also reports the loss of the step.
struct DoublingImpl : nn::FunctionalImpl {
  using nn::FunctionalImpl::FunctionalImpl;
  std::string class_name() const override { return "Doubling"; }
  Tensor compute_loss(const nn::Batch& batch, const std::vector<Tensor>& y_pred) override {
    return 2 * nn::FunctionalImpl::compute_loss(batch, y_pred);
  }
  nn::Logs train_step(const nn::Batch& batch) override {
    nn::Logs logs = nn::FunctionalImpl::train_step(batch);
    logs.set("half", logs["loss"] / 2);
    return logs;
  }
};
using Doubling = nn::ModelOf<DoublingImpl>;

const nn::CustomObjects doubling{{"Doubling", [](const nn::Config& config) { return Doubling(config); }}};

Doubling small() {
  const Tensor in = nn::Input({3}, {.name = "in"});
  return Doubling(in,
                  nn::Dense(1, {.name = "out"})(nn::Dense(4, {.activation = "tanh", .name = "hidden"})(in)),
                  {.name = "small"});
}

}  // namespace

TEST_CASE_FIXTURE(Samples, "a custom step keeps the loss and the metrics of compile") {
  const Supervised own;
  const nn::ModelOf<PlainImpl> plain;
  for (const nn::Model& model : {nn::Model(own), nn::Model(plain)})
    model.compile({.optimizer = nn::SGD(0.1), .loss = "mse", .metrics = {"mae"}});
  const nn::FitOptions options{.batch_size = 8, .epochs = 3, .verbose = 0, .shuffle = false};
  const nn::History got = own.fit(x, y, options), want = plain.fit(x, y, options);
  CHECK(got["loss"] == want["loss"]);
  CHECK(got["mae"] == want["mae"]);
  CHECK(own.evaluate(x, y, {.verbose = 0}) == plain.evaluate(x, y, {.verbose = 0}));
}

TEST_CASE_FIXTURE(Samples,
                  "compute_metrics and compute_loss may be overridden, and the usual steps call them") {
  struct LoudImpl : PlainImpl {
    nn::Logs compute_metrics(const nn::Batch& batch, const std::vector<Tensor>& y_pred,
                             const Tensor& loss) override {
      nn::Logs logs = PlainImpl::compute_metrics(batch, y_pred, loss);
      logs.set("largest", K::max(y_pred[0]).item<double>());
      return logs;
    }
  };
  const nn::ModelOf<LoudImpl> model;
  model.compile({.optimizer = "sgd", .loss = "mse"});
  CHECK(model.fit(x, y, {.verbose = 0}).contains("largest"));
  CHECK(model.evaluate(x, y, {.verbose = 0})["largest"] ==
        K::max(model.predict(x, {.verbose = 0})).item<double>());
}

TEST_CASE_FIXTURE(Samples, "a custom loop resets the metrics and reads their names") {
  const nn::ModelOf<PlainImpl> model;
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae", nn::RootMeanSquaredError()}});
  const nn::Batch batch{x, y};
  const std::vector<Tensor> y_pred = model.apply(x);
  const nn::Logs logs = model->compute_metrics(batch, y_pred, model->compute_loss(batch, y_pred));
  CHECK(model.metrics_names() == Names{"loss", "mae", "root_mean_squared_error"});
  REQUIRE(model.metrics().size() == 2);
  CHECK(model.metrics()[0].result().item<double>() == doctest::Approx(logs["mae"]));
  model.reset_metrics();
  CHECK(model.metrics()[0].result().item<double>() == 0);
  const Tensor in = nn::Input({3});
  const nn::Model pair(in, {nn::Dense(1, {.name = "a"})(in), nn::Dense(1, {.name = "b"})(in)});
  pair.compile({.loss = {{"a", "mse"}, {"b", "mae"}}, .metrics = {{"b", {"mse"}}}});
  CHECK(pair.metrics_names() == Names{"loss", "a_loss", "b_loss", "b_mse"});
}

TEST_CASE_FIXTURE(Samples, "metrics of the class's own are reset with those of compile") {
  struct CountingImpl : PlainImpl {
    nn::Mean seen{{.name = "seen"}};
    std::vector<nn::Metric> metrics() const override { return {seen}; }
    nn::Logs train_step(const nn::Batch& batch) override {
      nn::Logs logs = PlainImpl::train_step(batch);
      seen.update_state(batch.x[0]);
      logs.set("seen", seen.result().item<double>());
      return logs;
    }
  };
  const nn::ModelOf<CountingImpl> model;
  model.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  const nn::History history = model.fit(x, y, {.epochs = 2, .verbose = 0});
  CHECK(history["seen"][0] == doctest::Approx(history["seen"][1]));
  CHECK(model.metrics().size() == 2);
  CHECK(model.metrics()[0].name() == "seen");
}

TEST_CASE_FIXTURE(Samples, "a functional model may define its training step") {
  const Doubling model = small();
  CHECK(model.outputs().size() == 1);
  CHECK(model.layers().size() == 3);
  CHECK(model.class_name() == "Doubling");
  model.compile({.optimizer = nn::SGD(0.0), .loss = "mse"});
  const nn::History history = model.fit(x, y, {.verbose = 0});
  const double mse = K::mean(K::square(model.predict(x, {.verbose = 0}) - y)).item<double>();
  CHECK(history["loss"][0] == doctest::Approx(2 * mse));
  CHECK(history["half"][0] == doctest::Approx(mse));
  const Tensor a = nn::Input({2}), b = nn::Input({2});
  const Doubling pair({a, b}, {nn::Add()({a, b}), nn::Subtract()({a, b})});
  CHECK(pair.inputs().size() == 2);
  CHECK(pair.name() != "small");
}

TEST_CASE_FIXTURE(Samples, "a functional model of a registered class is saved, loaded and cloned as one" *
                               needs_hdf5) {
  const Files files;
  const Doubling model = small();
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(x, y, {.verbose = 0});
  const Tensor predictions = model.predict(x, {.verbose = 0});
  for (const std::string name : {"model.ktape", "model.keras", "model.h5", "model.json"}) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    model.save(path);
    CHECK_THROWS_WITH_AS(nn::load_model(path), Contains("'Doubling'"), ValueError);
    const nn::Model again = nn::load_model(path, {.custom_objects = doubling});
    CHECK(again.class_name() == "Doubling");
    CHECK(again.name() == "small");
    CHECK(again.get_layer("hidden").built());
    CHECK(values(again.predict(x, {.verbose = 0})) == values(predictions));
    if (name == "model.json") continue;
    CHECK(again.fit(x, y, {.verbose = 0}).contains("half"));
  }
  const nn::custom_object_scope scope(doubling);
  const nn::Model cloned = nn::clone_model(model);
  CHECK(cloned.class_name() == "Doubling");
  CHECK(cloned.count_params() == model.count_params());
  const nn::Model other =
      nn::clone_model(model, {.clone_function = [](const nn::Layer& layer) { return layer; }});
  CHECK(values(other.predict(x, {.verbose = 0})) == values(predictions));
  // As a layer of another model.
  const Tensor in = nn::Input({3});
  const nn::Model outer(in, nn::Dense(1)(model(in)));
  for (const std::string name : {"outer.ktape", "outer.keras", "outer.h5", "model.json"}) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    outer.save(path);
    const nn::Model again = nn::load_model(path);
    CHECK(values(again.predict(x, {.verbose = 0})) == values(outer.predict(x, {.verbose = 0})));
    CHECK(again.get_layer("small").class_name() == "Doubling");
  }
}

TEST_CASE_FIXTURE(Samples,
                  "weights of a custom class of functional model fit a plain functional model" * needs_hdf5) {
  const Files files;
  const Doubling model = small();
  const nn::Model plain = nn::model_from_json(
      nn::to_json(nn::Config{{"class_name", "Functional"}, {"config", model.get_config()}}));
  for (const std::string name : {"w.weights.h5", "w.h5", "w.npz", "w.safetensors"}) {
    CAPTURE(name);
    const std::string path = files.folder() + '/' + name;
    model.save_weights(path);
    plain.load_weights(path);
    CHECK(values(plain.predict(x, {.verbose = 0})) == values(model.predict(x, {.verbose = 0})));
  }
}
