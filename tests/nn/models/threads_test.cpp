#include "../../in_threads.hpp"

#include <ktape/ktape.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

namespace {

constexpr int threads = 8;

/// Adds a loss and a metric in every call.
struct NoisyImpl : nn::LayerImpl {
  NoisyImpl() : LayerImpl("Noisy") {}
  Tensor call(const Tensor& x) override {
    add_loss(K::mean(K::square(x)));
    add_metric(K::mean(x), "mean_input");
    return x;
  }
};

struct Samples {
  Tensor x = normal({24, 4}, 1, "float32");
  Tensor y = K::cast(x[{ktape::All, 0}] > 0, "float32");
};

nn::Sequential classifier() {
  const nn::Sequential model({nn::LayerOf<NoisyImpl>(),
                              nn::Dense(8, {.activation = "relu", .activity_regularizer = "l1"}),
                              nn::BatchNormalization(), nn::Dropout(0.5), nn::LayerOf<NoisyImpl>(),
                              nn::Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = nn::SGD(0.1),
                 .loss = "binary_crossentropy",
                 .metrics = {"accuracy", "mae", nn::AUC(), nn::Precision()}});
  return model;
}

/// Runs f in a thread and returns the text of its error.
template <class F>
std::string refused_in_thread(F f) {
  std::string text;
  std::thread([&] {
    try {
      f();
    } catch (const ValueError& error) {
      text = error.what();
    }
  }).join();
  return text;
}

}  // namespace

TEST_CASE("threads predict with one model, from its first batch on") {
  const Samples samples;
  const nn::Sequential model = classifier();
  std::vector<Tensor> results(threads);
  in_threads(threads,
             [&](int i) { results[i] = model.predict(samples.x, {.batch_size = 5 + i, .verbose = 0}); });
  const Tensor expected = model.predict(samples.x, {.verbose = 0});
  for (const Tensor& result : results) CHECK(close(result, expected));
  CHECK(model.weights().size() == 8);
}

TEST_CASE("threads evaluate one model, each as alone") {
  const Samples samples;
  const nn::Sequential model = classifier();
  std::vector<nn::Logs> results(threads);
  const nn::EvaluateOptions options{.batch_size = 7, .verbose = 0};
  in_threads(threads, [&](int i) {
    const auto one = [&] {
      return i % 2 == 0 ? model.evaluate(samples.x, samples.y, options)
                        : model.evaluate(data::Dataset::from_tensor_slices({samples.x, samples.y}).batch(7),
                                         {.verbose = 0});
    };
    one();
    results[i] = one();
  });
  const nn::Logs alone = model.evaluate(samples.x, samples.y, options);
  CHECK(alone.contains("mean_input"));
  for (const nn::Logs& logs : results)
    for (const auto& [name, value] : alone) CHECK(close(logs.at(name), value));
}

TEST_CASE("threads test, predict and evaluate at once") {
  const Samples samples;
  const nn::Sequential model = classifier();
  const nn::Logs alone = model.test_on_batch(samples.x, samples.y);
  const Tensor expected = model.predict_on_batch(samples.x)[0];
  in_threads(threads, [&](int i) {
    for (int round = 0; round < 3; ++round) {
      if (i % 3 == 0) CHECK(close(model.test_on_batch(samples.x, samples.y).at("loss"), alone.at("loss")));
      if (i % 3 == 1) CHECK(close(model.predict_on_batch(samples.x)[0], expected));
      if (i % 3 == 2)
        CHECK(close(model.evaluate(samples.x, samples.y, {.batch_size = 24, .verbose = 0}).at("mae"),
                    alone.at("mae")));
    }
  });
}

TEST_CASE("threads run a shared function of a model, and separate functions") {
  const Samples samples;
  const nn::Sequential model = classifier();
  model.build({ktape::None, 4});
  const Tensor expected = model.predict(samples.x, {.verbose = 0});
  const auto shared = K::function({model.input()}, {model.output()});
  in_threads(threads, [&](int) {
    for (int round = 0; round < 5; ++round) {
      CHECK(close(shared({samples.x})[0], expected));
      const Tensor in = K::placeholder({ktape::None, 4}), out = model(in);
      const auto own = K::function({in}, {out, K::gradients(K::sum(out), {in})[0]});
      CHECK(close(own({samples.x})[0], expected));
    }
  });
}

TEST_CASE("a dataset maps with a model on many threads") {
  const Samples samples;
  const nn::Sequential model = classifier();
  const auto mapped = data::Dataset::from_tensor_slices({samples.x})
                          .batch(3)
                          .map([&](const data::Element& e) { return data::Element{model(e[0])}; },
                               {.num_parallel_calls = threads});
  std::vector<Tensor> parts;
  for (const data::Element& element : mapped) parts.push_back(element[0]);
  CHECK(close(K::concatenate(parts, 0), model.predict(samples.x, {.verbose = 0}), {.atol = 1e-6}));
}

TEST_CASE("while a thread trains a model, other threads must not use the model") {
  const Samples samples;
  const nn::Sequential model = classifier();
  const nn::FitOptions quiet{.verbose = 0};
  int asked = 0;
  const auto ask = [&](int, const nn::Logs&) {
    ++asked;
    const std::string name = '\'' + model.name() + "' must not be used while another thread trains the model";
    const auto text = [&](const char* op) { return '[' + std::string(op) + "] " + name; };
    CHECK(refused_in_thread([&] { model.fit(samples.x, samples.y, quiet); }) == text("fit"));
    CHECK(refused_in_thread([&] { model.evaluate(samples.x, samples.y, {.verbose = 0}); }) ==
          text("evaluate"));
    CHECK(refused_in_thread([&] { model.predict(samples.x, {.verbose = 0}); }) == text("predict"));
    CHECK(refused_in_thread([&] { model.train_on_batch(samples.x, samples.y); }) == text("train_on_batch"));
    CHECK(refused_in_thread([&] { model.test_on_batch(samples.x, samples.y); }) == text("test_on_batch"));
    CHECK(refused_in_thread([&] { model.predict_on_batch(samples.x); }) == text("predict_on_batch"));
    CHECK(refused_in_thread([&] { model.compile({.loss = "mse"}); }) == text("compile"));
    CHECK(refused_in_thread([&] {
            model(samples.x);
          }).find("a model must not be called while another thread trains the model") != std::string::npos);
    model.predict(samples.x, {.verbose = 0});  // of the thread that trains
    model.evaluate(samples.x, samples.y, {.verbose = 0});
  };
  model.fit(samples.x, samples.y,
            {.epochs = 2, .verbose = 0, .callbacks = {nn::LambdaCallback({.on_epoch_end = ask})}});
  CHECK(asked == 2);
  CHECK(refused_in_thread([&] { model.predict(samples.x, {.verbose = 0}); }).empty());
  CHECK(refused_in_thread([&] { model.fit(samples.x, samples.y, quiet); }).empty());
}

TEST_CASE("while other threads use a model, no thread may train the model") {
  struct AskImpl : nn::CallbackImpl {
    std::function<void()> ask;
    explicit AskImpl(std::function<void()> ask) : ask(std::move(ask)) {}
    std::string class_name() const override { return "Ask"; }
    void on_predict_batch_end(std::int64_t, const nn::Logs&) override { ask(); }
    void on_test_batch_end(std::int64_t, const nn::Logs&) override { ask(); }
  };
  const Samples samples;
  const nn::Sequential model = classifier();
  int asked = 0;
  const nn::CallbackOf<AskImpl> ask([&] {
    ++asked;
    CHECK(refused_in_thread([&] { model.fit(samples.x, samples.y, {.verbose = 0}); }) ==
          "[fit] '" + model.name() + "' must not be trained while another thread uses the model");
    CHECK(refused_in_thread([&] { model.predict(samples.x, {.verbose = 0}); }).empty());
  });
  model.predict(samples.x, {.verbose = 0, .callbacks = {ask}});
  model.evaluate(samples.x, samples.y, {.verbose = 0, .callbacks = {ask}});
  CHECK(asked == 2);
}

TEST_CASE("a run that fails leaves the model to others") {
  const Samples samples;
  const nn::Sequential model = classifier();
  CHECK_THROWS_AS(model.fit(samples.x, K::ones({24, 3, 3}), {.verbose = 0}), ValueError);
  CHECK_THROWS_AS(model.evaluate(samples.x, K::ones({24, 3, 3}), {.verbose = 0}), ValueError);
  CHECK(refused_in_thread([&] { model.fit(samples.x, samples.y, {.verbose = 0}); }).empty());
}

TEST_CASE("threads train separate models") {
  const Samples samples;
  in_threads(4, [&](int) {
    const nn::Sequential model = classifier();
    const nn::History history = model.fit(samples.x, samples.y, {.epochs = 3, .verbose = 0});
    CHECK(history["mean_input"].size() == 3);
  });
}
