#include "../../close.hpp"
#include "../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::Variable;
using ktape::data::Dataset;
using Names = std::vector<std::string>;

// Programs of keras.io: models with losses, steps, data and arguments of compile of their own.
namespace {

struct Samples {
  const Tensor x = normal({24, 4}, 1, "float32"), y = normal({24, 1}, 2, "float32"),
               classes =
                   K::cast(K::random_uniform({24, 1}, {.maxval = 3, .dtype = "int32", .seed = 3}), "float32");
};

struct DistillerImpl : nn::ModelImpl {
  nn::Model teacher, student;
  nn::Loss student_loss, distillation_loss;
  double alpha = 0;
  DistillerImpl(const nn::Model& teacher, const nn::Model& student)
      : teacher(teacher), student(add_layer(student)) {}
  void compile(const nn::Optimizer& optimizer, const nn::MetricList& metrics, const nn::Loss& student_loss_fn,
               const nn::Loss& distillation_loss_fn, double alpha_of_student = 0.1) {
    nn::ModelImpl::compile({.optimizer = optimizer, .metrics = metrics});
    student_loss = student_loss_fn, distillation_loss = distillation_loss_fn, alpha = alpha_of_student;
  }
  Tensor call(const Tensor& x) override { return student(x); }
  Tensor compute_loss(const nn::Batch& batch, const std::vector<Tensor>& y_pred) override {
    const Tensor taught = teacher(batch.x[0], {.training = false});
    return alpha * student_loss(batch.y[0], y_pred[0]) +
           (1 - alpha) * distillation_loss(K::softmax(taught), K::softmax(y_pred[0]));
  }
};
using Distiller = nn::ModelOf<DistillerImpl>;

/// A step with a loss of its own, which never asks for the losses of compile.
struct OwnLossImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(1, {.kernel_initializer = "ones"}));
  Tensor call(const Tensor& x) override { return dense(x); }
  nn::Logs step(const nn::Batch& batch, bool trains) {
    const std::vector<Tensor> y_pred{(*this)(batch.x[0])};
    const Tensor loss = K::mean(K::square(y_pred[0] - batch.y[0]));
    if (trains) optimizer().apply_gradients(K::gradients(loss, trainable_variables()), trainable_variables());
    return compute_metrics(batch, y_pred, loss);
  }
  nn::Logs train_step(const nn::Batch& batch) override { return step(batch, true); }
  nn::Logs test_step(const nn::Batch& batch) override { return step(batch, false); }
};

/// Updates all metrics, as the guides do: `for metric in self.metrics`.
struct EachMetricImpl : OwnLossImpl {
  nn::Logs train_step(const nn::Batch& batch) override {
    const Tensor y_pred = (*this)(batch.x[0]);
    nn::Logs logs{{"loss", K::mean(K::square(y_pred - batch.y[0]))}};
    for (const nn::Metric& metric : metrics()) {
      metric.update_state(batch.y[0], y_pred);
      logs.set(metric.name(), metric.result().item<double>());
    }
    return logs;
  }
};

/// Keeps what its steps receive.
struct ReceivingImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(1));
  std::vector<nn::Batch> trained, tested, predicted;
  Tensor call(const Tensor& x) override { return dense(x); }
  nn::Logs train_step(const nn::Batch& batch) override {
    trained.push_back(batch);
    return {{"loss", 1.}};
  }
  nn::Logs test_step(const nn::Batch& batch) override {
    tested.push_back(batch);
    return {{"loss", 2.}};
  }
  std::vector<Tensor> predict_step(const nn::Batch& batch) override {
    predicted.push_back(batch);
    return {K::zeros({1})};
  }
};
using Receiving = nn::ModelOf<ReceivingImpl>;

Receiving receiving() {
  const Receiving model;
  model.compile({.optimizer = "sgd"});
  return model;
}

struct PlainImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(1));
  Tensor call(const Tensor& x) override { return dense(x); }
};

Dataset rows(std::int64_t count, std::int64_t batch, std::int64_t width = 4) {
  return Dataset::from_tensor_slices({normal({count, width}, 1, "float32")}).batch(batch);
}

}  // namespace

TEST_CASE_FIXTURE(Samples,
                  "the Distiller of keras.io: compute_loss without its base keeps the metrics of compile") {
  const auto net = [](int units) {
    return nn::Sequential({nn::Dense(units, {.activation = "relu"}), nn::Dense(3)});
  };
  const Distiller distiller(net(8), net(3));
  distiller.compile(nn::Adam(0.01), {nn::SparseCategoricalAccuracy()},
                    nn::SparseCategoricalCrossentropy({.from_logits = true}), nn::KLDivergence(), 0.2);
  CHECK(distiller->alpha == 0.2);
  const nn::History history =
      distiller.fit(x, classes, {.epochs = 3, .verbose = 0, .validation_data = {x, classes}});
  CHECK(history.names() ==
        Names{"loss", "sparse_categorical_accuracy", "val_loss", "val_sparse_categorical_accuracy"});
  const nn::Logs logs = distiller.evaluate(x, classes, {.verbose = 0});
  const double accuracy =
      K::mean(K::cast(K::equal(K::cast(K::argmax(distiller.predict(x, {.verbose = 0})), "float32"),
                               K::reshape(classes, {-1})),
                      "float32"))
          .item<double>();
  CHECK(logs["sparse_categorical_accuracy"] == doctest::Approx(accuracy));
  CHECK(distiller.metrics_names() == Names{"loss", "sparse_categorical_accuracy"});
}

TEST_CASE_FIXTURE(Samples, "a step with a loss of its own keeps the metrics of compile") {
  const nn::ModelOf<OwnLossImpl> model;
  model.compile({.optimizer = nn::SGD(0.01), .metrics = {"mae"}, .weighted_metrics = {"mse"}});
  CHECK(model.metrics().size() == 2);
  const nn::History history = model.fit(x, y, {.epochs = 2, .verbose = 0, .validation_data = {x, y}});
  for (const char* name : {"loss", "mae", "mse", "val_loss", "val_mae", "val_mse"})
    CHECK(history.contains(name));
  const nn::Logs logs = model.evaluate(x, y, {.verbose = 0});
  const Tensor error = model.predict(x, {.verbose = 0}) - y;
  CHECK(logs["mae"] == doctest::Approx(K::mean(K::abs(error)).item<double>()));
  CHECK(logs["mse"] == doctest::Approx(logs["loss"]));
  CHECK(model.train_on_batch(x, y).contains("mae"));
}

TEST_CASE_FIXTURE(Samples, "metrics() of a model class are those of compile, from the first step on") {
  const nn::ModelOf<EachMetricImpl> model;
  model.compile({.optimizer = nn::SGD(0.0), .metrics = {"mae", "mse"}});
  CHECK(model.train_on_batch(x, y).size() == 3);
  const double once = model.train_on_batch(x, y)["mae"];
  CHECK(model.fit(x, y, {.epochs = 2, .verbose = 0})["mae"].back() == doctest::Approx(once));
  CHECK(model.metrics().size() == 2);
}

TEST_CASE_FIXTURE(Samples, "a step with several outputs and one target measures the first output") {
  struct SeveralImpl : nn::ModelImpl {
    nn::Dense a = add_layer(nn::Dense(1)), b = add_layer(nn::Dense(2));
    std::vector<Tensor> call(const std::vector<Tensor>& x) { return {a(x[0]), b(x[0])}; }
    Tensor compute_loss(const nn::Batch& batch, const std::vector<Tensor>& y_pred) override {
      return K::mean(K::square(y_pred[0] - batch.y[0])) + K::mean(K::square(y_pred[1]));
    }
  };
  const nn::ModelOf<SeveralImpl> model;
  model.compile({.optimizer = "sgd", .metrics = {{"mae"}, {}}});
  CHECK(model.fit(x, y, {.verbose = 0}).contains("output_1_mae"));
}

TEST_CASE("a model class may override compile, and has a compile with arguments of its own") {
  struct LoudImpl : PlainImpl {
    int calls = 0;
    void compile(const nn::CompileOptions& options) override {
      ++calls;
      PlainImpl::compile(options);
    }
    void compile(const nn::Optimizer& d_optimizer, const nn::Optimizer& g_optimizer) {
      compile({.optimizer = d_optimizer});
      generator = g_optimizer;
    }
    nn::Optimizer generator;
  };
  const nn::ModelOf<LoudImpl> model;
  model.compile({.optimizer = "sgd", .loss = "mse"});
  nn::Model(model).compile({.optimizer = "adam", .loss = "mse"});
  CHECK(model->calls == 2);
  CHECK(model.optimizer().class_name() == "Adam");
  model.compile(nn::SGD(0.5), nn::Adam(0.1));
  CHECK(model->calls == 3);
  CHECK(model->generator.class_name() == "Adam");
  CHECK(model.optimizer().class_name() == "SGD");
  model.compile();
  CHECK(model.optimizer().class_name() == "RMSprop");
}

TEST_CASE("a compile with options of its own takes them by name") {
  struct Options {
    nn::Optimizer optimizer = "sgd";
    double temperature = 3;
  };
  struct WarmImpl : PlainImpl {
    double temperature = 0;
    void compile(const Options& options = {}) {
      nn::ModelImpl::compile({.optimizer = options.optimizer, .loss = "mse"});
      temperature = options.temperature;
    }
  };
  const nn::ModelOf<WarmImpl> model;
  model.compile({.temperature = 5});
  CHECK(model->temperature == 5);
  model.compile();
  CHECK(model->temperature == 3);
  CHECK(model.fit(K::ones({4, 2}), K::ones({4, 1}), {.verbose = 0}).contains("loss"));
}

TEST_CASE("an overridden step gets the elements of zipped datasets as they are") {
  const Dataset labeled = Dataset::from_tensor_slices({normal({6, 4}, 1), K::ones({6})}).batch(2);
  SUBCASE("two datasets with other batch sizes") {
    const Receiving model = receiving();
    const Dataset both = Dataset::zip({rows(12, 4), labeled});
    model.fit(both, {.verbose = 0});
    REQUIRE(model->trained.size() == 3);
    const nn::Batch& batch = model->trained[0];
    CHECK(batch.x[0].shape() == Shape{4, 4});
    REQUIRE(batch.y.size() == 2);
    CHECK(batch.y[0].shape() == Shape{2, 4});
    CHECK(batch.y[1].shape() == Shape{2});
    CHECK(batch.element.parts() == std::vector<std::size_t>{1, 2});
    CHECK(batch.element.part(1)[1].shape() == Shape{2});
    CHECK(model.evaluate(both, {.verbose = 0})["loss"] == 2);
    CHECK(model->tested[0].y.size() == 2);
    model.predict(both, {.verbose = 0});
    CHECK(model->predicted[0].x[0].shape() == Shape{4, 4});
  }
  SUBCASE("pairs in both, as of semi-supervised learning") {
    const Receiving model = receiving();
    const Dataset unlabeled = Dataset::from_tensor_slices({normal({12, 4}, 1), K::zeros({12})}).batch(4);
    model.fit(Dataset::zip({unlabeled, labeled}),
              {.verbose = 0, .validation_data = Dataset::zip({labeled, unlabeled})});
    CHECK(model->trained[0].x.size() == 2);
    CHECK(model->trained[0].x[1].shape() == Shape{4});
    CHECK(model->tested[0].x[1].shape() == Shape{2});
  }
  SUBCASE("three and more") {
    for (const std::size_t count : {3u, 4u, 5u}) {
      CAPTURE(count);
      std::vector<Dataset> parts;
      for (std::size_t i = 0; i < count; ++i) parts.push_back(rows(12, static_cast<std::int64_t>(i) + 1));
      const Receiving model = receiving();
      model.fit(Dataset::zip(parts), {.verbose = 0});
      const nn::Batch& batch = model->trained[0];
      CHECK(batch.sample_weight[0].shape() == Shape{3, 4});
      REQUIRE(batch.element.size() == count);
      for (std::size_t i = 0; i < count; ++i)
        CHECK(batch.element.part(i)[0].shape() == Shape{static_cast<std::int64_t>(i) + 1, 4});
    }
  }
  SUBCASE("tensors without parts, and names") {
    const Receiving model = receiving();
    model.fit(Dataset::from_tensors({K::ones({1}), K::ones({2}), K::ones({3}), K::ones({4})}),
              {.verbose = 0});
    CHECK(model->trained[0].y[0].shape() == Shape{2});
    CHECK(model->trained[0].element[3].shape() == Shape{4});
    model.fit(Dataset::from_tensors({{"a", K::ones({1})}, {"b", K::ones({2})}}), {.verbose = 0});
    CHECK(model->trained[1].x["b"].shape() == Shape{2});
  }
}

TEST_CASE("the built-in steps refuse elements that are not inputs, targets and weights") {
  const nn::ModelOf<PlainImpl> model;
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Dataset unequal = Dataset::zip({rows(12, 4), rows(12, 2, 1)});
  const char* const text =
      "[fit] all arrays must have the number of samples of the first input, 4: received y of shape (2, 1)";
  CHECK_THROWS_WITH_AS(model.fit(unequal, {.verbose = 0}), text, ValueError);
  CHECK_THROWS_WITH_AS(model.evaluate(unequal, {.verbose = 0}),
                       Contains("the number of samples of the first input"), ValueError);
  CHECK_THROWS_WITH_AS(
      model.fit(Dataset::zip({rows(4, 2), rows(4, 2), rows(4, 2), rows(4, 2)}), {.verbose = 0}),
      Contains("[fit] elements must have inputs, targets and weights"), ValueError);
  const Receiving own = receiving();
  CHECK_THROWS_WITH_AS(own.fit(unequal, {.verbose = 0, .class_weight = {{0, 2.}}}),
                       Contains("the number of samples of the first input"), ValueError);
}

TEST_CASE("map, filter and their like take functions of the parts of an element") {
  const Tensor x = K::constant({{1.f}, {2.f}, {3.f}}), y = K::constant({10.f, 20.f, 30.f});
  const Dataset zipped = Dataset::zip({Dataset::from_tensor_slices({x}), Dataset::from_tensor_slices({y})});
  const auto first = [](const Dataset& dataset) { return *dataset.begin(); };
  SUBCASE("tensors") {
    const auto doubled = first(zipped.map([](const Tensor& a, Tensor b) {
      return ktape::data::Element{a * 2, b + 1};
    }));
    CHECK(values<float>(doubled[0]) == std::vector<float>{2});
    CHECK(values<float>(doubled[1]) == std::vector<float>{11});
    CHECK(first(zipped.map([](auto a, auto b) { return a + b; })).size() == 1);
    CHECK(first(Dataset::from_tensor_slices({x, y}).map([](Tensor a, Tensor b) {
            return std::pair(b, a);
          })).parts() == std::vector<std::size_t>{1, 1});
    CHECK(first(Dataset::from_tensor_slices(x, y, y).map([](Tensor a, Tensor b, Tensor c) {
            return std::tuple(a, b, c);
          })).parts() == std::vector<std::size_t>{1, 1, 1});
  }
  SUBCASE("elements, names and other transformations") {
    const Dataset named =
        Dataset::zip({Dataset::from_tensor_slices({{"a", x}, {"b", y}}), Dataset::from_tensor_slices({y})});
    CHECK(first(named.map([](ktape::data::Element e, const Tensor& t) { return e["b"] + t; }))[0]
              .item<float>() == 20);
    const auto count = [](const Dataset& dataset) {
      int n = 0;
      for ([[maybe_unused]] const auto& element : dataset) ++n;
      return n;
    };
    CHECK(count(zipped.filter([](Tensor, Tensor b) { return b.item<float>() > 15; })) == 2);
    CHECK(count(zipped.take_while([](Tensor, Tensor b) { return b.item<float>() < 15; })) == 1);
    const auto repeated = [](const Tensor& a, const Tensor& b) {
      return Dataset::from_tensors({a, b}).repeat(2);
    };
    CHECK(count(zipped.flat_map(repeated)) == 6);
    CHECK(count(zipped.interleave(repeated, {.cycle_length = 2})) == 6);
    CHECK(count(zipped.map([](Tensor a, Tensor b) { return a * b; }, {.num_parallel_calls = 2})) == 3);
  }
  SUBCASE("errors") {
    CHECK_THROWS_WITH_AS(
        first(zipped.map([](Tensor a, Tensor, Tensor) { return a; })),
        "[Dataset.map] the function takes 3 arguments, one for each part of an element: received 2 parts",
        ValueError);
    const Dataset pairs =
        Dataset::zip({Dataset::from_tensor_slices({x, y}), Dataset::from_tensor_slices({y})});
    CHECK_THROWS_WITH_AS(first(pairs.filter([](Tensor, Tensor) { return true; })),
                         Contains("[Dataset.filter] a part that becomes a Tensor must have one tensor"),
                         ValueError);
  }
}

TEST_CASE_FIXTURE(Samples, "a loss among the metrics is the metric of its name") {
  const nn::Sequential model({nn::Dense(1)});
  model.compile({.loss = "mse",
                 .metrics = {nn::MeanAbsoluteError(), nn::Huber({.delta = 0.5}),
                             nn::MeanSquaredError({.name = "error"})}});
  const nn::Logs logs = model.evaluate(x, y, {.verbose = 0});
  const Tensor error = K::abs(model.predict(x, {.verbose = 0}) - y);
  CHECK(logs["mean_absolute_error"] == doctest::Approx(K::mean(error).item<double>()));
  CHECK(logs["error"] == doctest::Approx(logs["loss"]));
  CHECK(logs["huber"] ==
        doctest::Approx(nn::Huber({.delta = 0.5})(y, model.predict(x, {.verbose = 0})).item<double>()));
  const nn::Metric binary = nn::BinaryCrossentropy({.from_logits = true});
  CHECK(binary.class_name() == "BinaryCrossentropy");
  CHECK(binary.get_config().at("from_logits") == nn::Value(true));
  CHECK(nn::Metric(nn::CosineSimilarity()).class_name() == "CosineSimilarity");
}

TEST_CASE("GANs have two optimizers, pairs of gradients, and no targets") {
  struct GanImpl : nn::ModelImpl {
    nn::Sequential discriminator{{nn::Dense(4, {.activation = "leaky_relu"}), nn::Dense(1)}},
        generator{{nn::Dense(4, {.activation = "relu"}), nn::Dense(4)}};
    nn::Optimizer d_optimizer, g_optimizer;
    nn::Loss loss_fn;
    nn::Mean d_loss{{.name = "d_loss"}}, g_loss{{.name = "g_loss"}};
    std::vector<nn::Metric> metrics() const override { return {d_loss, g_loss}; }
    void compile(const nn::Optimizer& d, const nn::Optimizer& g, const nn::Loss& loss) {
      nn::ModelImpl::compile();
      d_optimizer = d, g_optimizer = g, loss_fn = loss;
    }
    Tensor call(const Tensor& x) override { return generator(x); }
    nn::Logs train_step(const nn::Batch& batch) override {
      const Tensor real = batch.x[0];
      const auto n = ops::shape(real)[0];
      const Tensor noise = ktape::random::normal({n, 3}), fake = generator(noise);
      const Tensor labels = ops::concatenate({ops::ones({n, 1}), ops::zeros({n, 1})}, 0);
      const Tensor d = loss_fn(labels, discriminator(ops::concatenate({fake, real}, 0)));
      const auto d_vars = discriminator.trainable_variables(), g_vars = generator.trainable_variables();
      const auto d_grads = K::gradients(d, d_vars);
      std::vector<std::pair<Tensor, Variable>> pairs;
      for (std::size_t i = 0; i < d_vars.size(); ++i) pairs.emplace_back(d_grads[i], d_vars[i]);
      d_optimizer.apply_gradients(pairs);
      const Tensor g = loss_fn(ops::zeros({n, 1}), discriminator(generator(noise)));
      g_optimizer.apply_gradients(K::gradients(g, g_vars), g_vars);
      d_loss.update_state(d), g_loss.update_state(g);
      return {{"d_loss", d_loss.result()}, {"g_loss", g_loss.result()}};
    }
  };
  const nn::ModelOf<GanImpl> gan;
  gan.compile(nn::Adam(0.01), nn::Adam(0.01), nn::BinaryCrossentropy({.from_logits = true}));
  const nn::History history =
      gan.fit(normal({16, 4}, 1, "float32"), {}, {.batch_size = 8, .epochs = 2, .verbose = 0});
  CHECK(history["d_loss"].size() == 2);
  CHECK(std::isfinite(history["g_loss"][1]));
}

TEST_CASE("sampling layers and transformers read extents by ops::shape") {
  struct SamplingImpl : nn::LayerImpl {
    SamplingImpl() : nn::LayerImpl("Sampling") {}
    Tensor call(const std::vector<Tensor>& inputs) {
      const auto batch = ops::shape(inputs[0])[0], dim = ops::shape(inputs[0])[1];
      return inputs[0] + ops::exp(0.5 * inputs[1]) * ktape::random::normal({batch, dim}, 0, 1, {}, 7);
    }
  };
  struct TokenImpl : nn::LayerImpl {
    Variable token;
    TokenImpl() : nn::LayerImpl("Token") {}
    void build(const Shape& input) override {
      token = add_weight("token", {1, 1, input[-1]}, {.initializer = "ones"});
    }
    Tensor call(const Tensor& x) override {
      const Tensor first = ops::broadcast_to(token, {ops::shape(x)[0], 1, x.shape()[-1]});
      return ops::concatenate({first, x}, 1);
    }
  };
  const Tensor in = nn::Input({3});
  const nn::LayerOf<SamplingImpl> sampling;
  const nn::Model sampler(in, sampling({nn::Dense(2)(in), nn::Dense(2)(in)}));
  CHECK(sampler.predict(K::ones({5, 3}), {.verbose = 0}).shape() == Shape{5, 2});
  const Tensor words = nn::Input({None, 3});
  const nn::LayerOf<TokenImpl> token;
  const Tensor out = token(words);
  CHECK(out.shape()[-1] == 3);
  const nn::Model model(words, out);
  CHECK(model.predict(K::zeros({2, 4, 3}), {.verbose = 0}).shape() == Shape{2, 5, 3});
  // The operation between the layers, with its gradient.
  const Tensor x = nn::Input({1});
  const nn::Model repeated(
      x, ops::broadcast_to(nn::Dense(1, {.kernel_initializer = "ones"})(x), {ops::shape(x)[0], 3}));
  const Tensor y = repeated(K::constant({{2.f}, {3.f}}));
  CHECK(values<float>(y) == std::vector<float>{2, 2, 2, 3, 3, 3});
  CHECK(K::gradients(K::sum(y), {repeated.trainable_variables()[0]})[0].item<float>() == 15);
}
