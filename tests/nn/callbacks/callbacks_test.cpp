#include "../../ops/check.hpp"
#include "../captured_stderr.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/training/internal/progress.hpp>
#include <thread>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

namespace {

/// A model that reports a loss of our choice for each epoch.
struct ScriptedImpl : nn::ModelImpl {
  std::vector<double> losses;
  std::size_t step = 0;
  nn::Dense dense = add_layer(nn::Dense(1));
  explicit ScriptedImpl(std::vector<double> losses) : nn::ModelImpl("Scripted"), losses(std::move(losses)) {}
  Tensor call(const Tensor& x) override { return dense(x); }
  nn::Logs train_step(const nn::Batch& batch) override {
    call(batch.x[0]);
    K::update_add(dense.weights()[1], 1.f);  // the bias counts the steps
    return {{"loss", losses[step++]}};
  }
};
using Scripted = nn::ModelOf<ScriptedImpl>;

nn::History run(const Scripted& model, const nn::Callback& callback) {
  model.compile({.optimizer = nn::SGD(1.0)});
  return model.fit(K::ones({1, 1}), {},
                   {.epochs = static_cast<int>(model->losses.size()), .verbose = 0, .callbacks = {callback}});
}

}  // namespace

TEST_CASE("EarlyStopping waits, and restores the best weights") {
  const Scripted model(std::vector<double>{3, 2, 1, 5, 5, 5, 5});
  const nn::EarlyStopping stopping({.monitor = "loss", .patience = 2, .restore_best_weights = true});
  CHECK(run(model, stopping)["loss"].size() == 5);
  CHECK(stopping.stopped_epoch() == 4);
  CHECK(model.get_weights()[1].item() == 3);
  CHECK(stopping.best() == 1);
  CHECK(stopping.best_epoch() == 2);
  CHECK(stopping.wait() == 2);
  CHECK(stopping.best_weights()[1].item() == 3);
  CHECK(nn::EarlyStopping({.mode = "min"}).best() == std::numeric_limits<double>::infinity());
  const Scripted rising(std::vector<double>{1, 2, 3, 3, 3});
  CHECK(run(rising, nn::EarlyStopping({.monitor = "loss", .patience = 1, .mode = "max"}))["loss"].size() ==
        4);
  CHECK_THROWS_WITH_AS(nn::EarlyStopping({.mode = "least"}), Contains("mode must be auto, min or max"),
                       ValueError);
}

TEST_CASE("ReduceLROnPlateau and LearningRateScheduler set the rate, and report it") {
  const Scripted flat(std::vector<double>{1, 1, 1, 1, 1});
  const auto rates =
      run(flat, nn::ReduceLROnPlateau({.monitor = "loss", .factor = 0.5, .patience = 2}))["learning_rate"];
  CHECK(rates == Values{1, 1, 1, 0.5, 0.5});
  const nn::ReduceLROnPlateau plateau({.monitor = "loss", .patience = 3});
  run(Scripted(std::vector<double>{2, 1, 1, 1}), plateau);
  CHECK(plateau.best() == 1);
  CHECK(plateau.wait() == 2);
  const Scripted model(std::vector<double>{1, 1, 1});
  CHECK(run(model, nn::LearningRateScheduler([](int epoch) {
              return 1.0 / (1 << epoch);
            }))["learning_rate"] == Values{1, 0.5, 0.25});
  CHECK_THROWS_AS(nn::ReduceLROnPlateau({.factor = 1}), ValueError);
  const nn::Sequential scheduled({nn::Input({1}), nn::Dense(1)});
  scheduled.compile({.optimizer = nn::SGD(nn::ExponentialDecay(0.1, 1, 0.5)), .loss = "mse"});
  CHECK_THROWS_WITH_AS(
      scheduled.fit(K::ones({2, 1}), K::ones({2, 1}),
                    {.verbose = 0, .callbacks = {nn::LearningRateScheduler([](int) { return 0.7; })}}),
      "[SGD] the learning rate follows a schedule and cannot be set: received 0.7", ktape::TypeError);
}

TEST_CASE("TerminateOnNaN ends a training") {
  const Scripted model(std::vector<double>{1, NAN, 1});
  CHECK(run(model, nn::TerminateOnNaN())["loss"].size() == 2);
}

TEST_CASE("a monitored number that is not reported is a warning where the training prints, once") {
  const auto warned = [](const nn::Callback& callback, int verbose) {
    const Scripted model(std::vector<double>{3, 2, 1});
    model.compile({.optimizer = "sgd"});
    const CapturedStderr warning;
    model.fit(K::ones({1, 1}), {}, {.epochs = 3, .verbose = verbose, .callbacks = {callback}});
    return warning.text();
  };
  CHECK(warned(nn::EarlyStopping({.monitor = "los"}), 2) ==
        "\nWarning: [EarlyStopping] the logs must hold the monitored 'los': received loss: 3; did you mean "
        "'loss'?\n");
  CHECK(warned(nn::ReduceLROnPlateau(), 2)
            .find("[ReduceLROnPlateau] the logs must hold the monitored 'val_loss'") != std::string::npos);
  CHECK(warned(nn::EarlyStopping({.monitor = "los"}), 0).empty());
  CHECK(warned(nn::EarlyStopping({.monitor = "loss"}), 2).empty());
}

TEST_CASE("LambdaCallback hears of training, evaluation and prediction") {
  std::vector<std::string> heard;
  const auto hear = [&](const char* name) {
    return [&heard, name](const nn::Logs&) { heard.emplace_back(name); };
  };
  const auto hear_batch = [&](const char* name) {
    return [&heard, name](std::int64_t batch, const nn::Logs&) {
      heard.push_back(name + std::to_string(batch));
    };
  };
  const nn::LambdaCallback listener({.on_train_begin = hear("train"),
                                     .on_train_end = hear("/train"),
                                     .on_train_batch_begin = hear_batch("batch"),
                                     .on_train_batch_end = hear_batch("/batch"),
                                     .on_test_begin = hear("test"),
                                     .on_test_end = hear("/test"),
                                     .on_test_batch_begin = hear_batch("tests"),
                                     .on_test_batch_end = hear_batch("/tests"),
                                     .on_predict_begin = hear("predict"),
                                     .on_predict_end = hear("/predict"),
                                     .on_predict_batch_begin = hear_batch("predicts"),
                                     .on_predict_batch_end = hear_batch("/predicts")});
  const nn::Sequential model({nn::Input({1}), nn::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = K::ones({2, 1});
  model.fit(x, x, {.verbose = 0, .callbacks = {listener}, .validation_data = {x, x}});
  CHECK(std::exchange(heard, {}) == std::vector<std::string>{"train", "batch0", "/batch0", "test", "tests0",
                                                             "/tests0", "/test", "/train"});
  model.evaluate(x, x, {.verbose = 0, .callbacks = {listener}});
  CHECK(std::exchange(heard, {}) == std::vector<std::string>{"test", "tests0", "/tests0", "/test"});
  model.predict(x, {.batch_size = 1, .verbose = 0, .callbacks = {listener}});
  CHECK(heard == std::vector<std::string>{"predict", "predicts0", "/predicts0", "predicts1", "/predicts1",
                                          "/predict"});
}

TEST_CASE("batches of a training are heard of under Keras's former names, too") {
  struct FormerImpl : nn::CallbackImpl {
    int begun = 0, ended = 0;
    void on_batch_begin(std::int64_t, const nn::Logs&) override { ++begun; }
    void on_batch_end(std::int64_t, const nn::Logs& logs) override { ended += logs.contains("loss"); }
  };
  const nn::CallbackOf<FormerImpl> former;
  run(Scripted(std::vector<double>{3, 2}), former);
  CHECK(former->begun == 2);
  CHECK(former->ended == 2);
}

TEST_CASE("History holds the numbers of a training") {
  const Scripted model(std::vector<double>{3, 2});
  const nn::History history = run(model, nn::TerminateOnNaN());
  CHECK(history["loss"] == Values{3, 2});
  CHECK(history.names() == std::vector<std::string>{"loss"});
  CHECK(history.count("acc") == 0);
  CHECK_THROWS_WITH_AS(history["los"], Contains("did you mean 'loss'"), ValueError);
}

TEST_CASE("progress: a line for each epoch, or a bar that moves") {
  const nn::Logs logs{{"loss", 0.25}, {"tiny", 1e-5}};
  std::ostringstream plain;
  nn::ProgressImpl lines(plain, false);
  lines.set_parameters({2, 4, 1});
  lines.on_train_begin({});
  lines.on_epoch_begin(0, {});
  for (int batch = 0; batch < 4; ++batch) lines.on_train_batch_end(batch, logs);
  lines.on_epoch_end(0, logs);
  CHECK(plain.str().starts_with("Epoch 1/2\n4/4 - 0s - "));
  CHECK(plain.str().ends_with("/step - loss: 0.2500 - tiny: 1.0000e-05\n"));

  std::ostringstream terminal;
  nn::ProgressImpl bar(terminal, true);
  bar.set_parameters({1, 2, 1});
  bar.on_epoch_begin(0, {});
  bar.on_train_batch_end(0, logs);
  bar.on_train_batch_end(1, logs);
  bar.on_epoch_end(0, logs);
  CHECK(terminal.str().find("\r2/2 ━━━━━━━━━━━━━━━━━━━━ 0s ") != std::string::npos);
}

TEST_CASE(
    "progress: on a narrow terminal the bar, then the text, becomes shorter, so that a line stays one") {
  const nn::Logs logs{{"loss", 0.25}, {"sparse_categorical_accuracy", 0.5}};
  const auto drawn = [&](int (*columns)()) {
    std::ostringstream out;
    nn::ProgressImpl bar(out, true, columns);
    bar.set_parameters({1, 2, 1});
    bar.on_epoch_begin(0, {});
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    bar.on_train_batch_end(0, logs);
    return out.str().substr(out.str().find('\r') + 1);
  };
  const std::string wide = drawn([] { return 100; }), middle = drawn([] { return 80; }),
                    narrow = drawn([] { return 40; });
  CHECK(wide.starts_with("1/2 ━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌ 0s "));
  CHECK(wide.ends_with(" - loss: 0.2500 - sparse_categorical_accuracy: 0.5000"));
  CHECK(middle.starts_with("1/2 ━"));
  CHECK(middle.ends_with(" - loss: 0.2500 - sparse_categorical_accuracy: 0.5000"));
  CHECK(narrow.starts_with("1/2 ━━━╌╌╌ 0s "));
  CHECK(narrow.ends_with("…"));
  CHECK(nn::text_width(middle) == 79);
  CHECK(nn::text_width(narrow) == 39);
}
