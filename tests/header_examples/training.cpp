#include "header_examples.hpp"

namespace {

[[maybe_unused]] void callbacks(const nn::Model& model, const Tensor& x, const Tensor& y,
                                const Dataset& train, const nn::ValidationData& test) {
  model.fit(x, y, {.epochs = 100, .callbacks = {nn::BackupAndRestore("backup")}});
  nn::ModelCheckpoint("models/{epoch:02d}-{val_loss:.2f}.ktape");
  nn::ModelCheckpoint("best.weights.h5",
                      {.monitor = "val_accuracy", .save_best_only = true, .save_weights_only = true});
  model.fit(train, {.epochs = 12, .callbacks = {nn::Report("report.html")}, .validation_data = test});
  model.compile({.optimizer = nn::Adam({.use_ema = true}), .loss = "mse"});
  model.fit(
      x, y,
      {.callbacks = {nn::SwapEMAWeights({.swap_on_epoch = true}), nn::ModelCheckpoint("averaged.ktape")}});
  model.fit(x, y, {.callbacks = {nn::TensorBoard("logs")}, .validation_split = 0.2});
  nn::History history = model.fit(x, y, {.epochs = 8});
  static_cast<void>(history["val_loss"].back());
}

struct PatienceImpl : nn::CallbackImpl {
  int waited = 0;
  double best = 0;
  void state(nn::Archive& state) override {
    state("waited", waited);
    state("best", best);
  }
};

struct PrinterImpl : nn::CallbackImpl {
  void on_epoch_end(int epoch, const nn::Logs& logs) override { std::cout << epoch << ": " << logs << "\n"; }
};
using Printer = nn::CallbackOf<PrinterImpl>;

struct SignImpl : nn::OptimizerImpl {
  SignImpl() : nn::OptimizerImpl("Sign", {.learning_rate = 0.01}) {}
  void update_step(const Tensor& g, Variable w, const nn::OptimizerStep& step) override {
    namespace K = backend;
    K::update_sub(w, step.learning_rate * K::sign(g));
  }
};
using Sign = nn::OptimizerOf<SignImpl>;

[[maybe_unused]] void loss_scales(const Tensor& loss, const std::vector<Variable>& weights) {
  namespace K = backend;
  nn::LossScaleOptimizer optimizer(nn::Adam(0.01));
  optimizer.apply(K::gradients(optimizer.scale_loss(loss), weights), weights);
}

[[maybe_unused]] void losses_optimizers_and_callbacks(const nn::Model& model, const Tensor& x,
                                                      const Tensor& y) {
  model.compile({.loss = nn::Hinge({.reduction = "sum"})});
  model.compile({.loss = nn::Huber({.delta = 2})});
  model.compile({.loss = nn::BinaryCrossentropy({.from_logits = true})});
  model.compile({.loss = nn::Dice({.axis = {1, 2, 3}})});
  model.compile({.optimizer = nn::Adam({.learning_rate = 0.002, .clipnorm = 1}), .loss = "mse"});
  model.compile({.optimizer = nn::SGD({.learning_rate = 0.1, .momentum = 0.9}), .loss = "mse"});
  model.compile({.optimizer = nn::RMSprop(0.002), .loss = "mse"});
  model.compile({.loss = "binary_crossentropy", .metrics = {nn::Recall({.thresholds = 0.3})}});
  model.compile({.loss = "kl_divergence", .metrics = {nn::TopKCategoricalAccuracy({.k = 3})}});
  model.fit(x, y, {.epochs = 50, .callbacks = {nn::EarlyStopping({.monitor = "loss", .patience = 3})}});
  model.fit(x, y, {.epochs = 50, .callbacks = {nn::CSVLogger("log.csv")}});
  model.fit(x, y, {.epochs = 50, .callbacks = {nn::ReduceLROnPlateau({.patience = 3})}});
}

[[maybe_unused]] void losses_and_metrics(const nn::Model& model, const Tensor& y_true, const Tensor& y_pred) {
  const auto huber = nn::losses::huber;
  model.compile({.loss = nn::losses::binary_crossentropy, .metrics = {nn::losses::mean_absolute_error}});
  model.compile({.loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  model.compile({.loss = "mse", .metrics = {nn::metrics::mean_absolute_error}});
  nn::Precision precision({.thresholds = {0.3}});
  precision.update_state(y_true, y_pred);
  precision.result().item();
  nn::CompileOptions compiled{.loss = "mse"};
  compiled = {.loss = {"mse", "mae"}};
  compiled = {.loss = {{"scores", "mse"}, {"boxes", huber}}};
  compiled = {.metrics = {"accuracy"}};
  compiled = {.metrics = {{"mae"}, {"mse", nn::R2Score()}}};
  compiled = {.metrics = {{"scores", {"accuracy"}}, {"boxes", {"mae"}}}};
  nn::FitOptions fit{.class_weight = {{0, 1}, {1, 5}}};
  fit = {.class_weight = {{"priority", {{1, 5}}}}};
}

[[maybe_unused]] nn::Logs logs_of(const Tensor& loss, const Tensor& penalty) {
  return nn::Logs{{"loss", loss}, {"penalty", penalty}};
}

[[maybe_unused]] void optimizers(const Tensor& loss, const std::vector<Variable>& weights) {
  namespace K = backend;
  nn::Adam optimizer(0.01);
  optimizer.apply(K::gradients(loss, weights), weights);
}

[[maybe_unused]] void command_line(int argc, char** argv) {
  const auto options = nn::program_options(argc, argv, {.epochs = 20, .data = "digits.csv.gz"});
}

}  // namespace
