#include <ktape/ktape.hpp>
#include <ktape/nn/models/model_use.hpp>

#include <atomic>
#include <thread>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor, ktape::ValueError;
using nn::ModelUse;

namespace {

struct Samples {
  Tensor x = normal({24, 4}, 1, "float32");
  Tensor y = K::cast(x[{ktape::All, 0}] > 0, "float32");
};

nn::Sequential trained_model() {
  const nn::Sequential model({nn::Dense(1, {.activation = "sigmoid"})});
  model.compile({.optimizer = nn::SGD(0.1), .loss = "binary_crossentropy"});
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

/// Uses a model on another thread for a moment. Returns the text of the error, if there is one.
std::string refused_use(const nn::Model& model, ModelUse::Kind kind) {
  return refused_in_thread([&] { const ModelUse::Run run(model.impl(), "op", kind); });
}

}  // namespace

TEST_CASE("predictions and an evaluation may run at once; a training runs alone") {
  using Kind = ModelUse::Kind;
  const nn::Sequential model({nn::Dense(1)}, {.name = "m"});
  const std::string trained = "[op] 'm' must not be used while another thread trains the model",
                    used = "[op] 'm' must not be trained while another thread uses the model";
  {
    const ModelUse::Run run(model.impl(), "predict", Kind::Prediction);
    CHECK(refused_use(model, Kind::Prediction) == "");
    CHECK(refused_use(model, Kind::Evaluation) == "");
    CHECK(refused_use(model, Kind::Training) == used);
  }
  {
    const ModelUse::Run run(model.impl(), "evaluate", Kind::Evaluation);
    CHECK(refused_use(model, Kind::Prediction) == "");
    CHECK(refused_use(model, Kind::Training) == used);
  }
  {
    const ModelUse::Run run(model.impl(), "fit", Kind::Training);
    for (const Kind kind : {Kind::Prediction, Kind::Evaluation, Kind::Training})
      CHECK(refused_use(model, kind) == trained);
  }
  CHECK(refused_use(model, Kind::Training) == "");
}

TEST_CASE("nested runs of one thread are allowed, in any order of kinds") {
  using Kind = ModelUse::Kind;
  const nn::Sequential model({nn::Dense(1)});
  {
    const ModelUse::Run training(model.impl(), "fit", Kind::Training);
    {
      const ModelUse::Run evaluation(model.impl(), "evaluate", Kind::Evaluation);
      const ModelUse::Run inner(model.impl(), "fit", Kind::Training);
    }
    CHECK(refused_use(model, Kind::Prediction) != "");
  }
  CHECK(refused_use(model, Kind::Training) == "");
}

TEST_CASE("an evaluation waits for the evaluation of another thread") {
  const nn::Sequential model({nn::Dense(1)});
  std::atomic<bool> second = false;
  std::thread other;
  {
    const ModelUse::Run run(model.impl(), "evaluate", ModelUse::Kind::Evaluation);
    other = std::thread([&] {
      const ModelUse::Run run(model.impl(), "evaluate", ModelUse::Kind::Evaluation);
      second = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_FALSE(second);
  }
  other.join();
  CHECK(second);
}

TEST_CASE("while a thread trains a model, other threads must not use the model") {
  const Samples samples;
  const nn::Sequential model = trained_model();
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
    model.predict(samples.x, {.verbose = 0});  // on the training thread
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
  const nn::Sequential model = trained_model();
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

TEST_CASE("a failed run frees the model for other threads") {
  const Samples samples;
  const nn::Sequential model = trained_model();
  CHECK_THROWS_AS(model.fit(samples.x, K::ones({24, 3, 3}), {.verbose = 0}), ValueError);
  CHECK_THROWS_AS(model.evaluate(samples.x, K::ones({24, 3, 3}), {.verbose = 0}), ValueError);
  CHECK(refused_in_thread([&] { model.fit(samples.x, samples.y, {.verbose = 0}); }).empty());
}
