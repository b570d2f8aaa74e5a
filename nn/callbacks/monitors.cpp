#include <ktape/nn/callbacks/monitor.hpp>
#include <ktape/nn/callbacks/monitors.hpp>
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/updates.hpp>

#include <cmath>
#include <iostream>

namespace ktape::nn {
namespace K = backend;

namespace {

// --- LambdaCallback ----------------------------------------------------------------------------------------

struct LambdaCallbackImpl final : CallbackImpl {
  LambdaCallbackOptions f;
  explicit LambdaCallbackImpl(LambdaCallbackOptions f) : f(std::move(f)) {}

  std::string class_name() const override { return "LambdaCallback"; }
  void on_epoch_begin(int epoch, const Logs& logs) override { tell(f.on_epoch_begin, epoch, logs); }
  void on_epoch_end(int epoch, const Logs& logs) override { tell(f.on_epoch_end, epoch, logs); }

  void on_train_begin(const Logs& logs) override { tell(f.on_train_begin, logs); }
  void on_train_end(const Logs& logs) override { tell(f.on_train_end, logs); }
  void on_train_batch_begin(std::int64_t i, const Logs& logs) override {
    tell(f.on_train_batch_begin, i, logs);
  }
  void on_train_batch_end(std::int64_t i, const Logs& logs) override { tell(f.on_train_batch_end, i, logs); }

  void on_test_begin(const Logs& logs) override { tell(f.on_test_begin, logs); }
  void on_test_end(const Logs& logs) override { tell(f.on_test_end, logs); }
  void on_test_batch_begin(std::int64_t i, const Logs& logs) override {
    tell(f.on_test_batch_begin, i, logs);
  }
  void on_test_batch_end(std::int64_t i, const Logs& logs) override { tell(f.on_test_batch_end, i, logs); }

  void on_predict_begin(const Logs& logs) override { tell(f.on_predict_begin, logs); }
  void on_predict_end(const Logs& logs) override { tell(f.on_predict_end, logs); }
  void on_predict_batch_begin(std::int64_t i, const Logs& logs) override {
    tell(f.on_predict_batch_begin, i, logs);
  }
  void on_predict_batch_end(std::int64_t i, const Logs& logs) override {
    tell(f.on_predict_batch_end, i, logs);
  }

  template <class F, class... Arguments>
  static void tell(const F& f, const Arguments&... arguments) {
    if (f) f(arguments...);
  }
};

// --- What watches a number --------------------------------------------------------------------------------

class EarlyStoppingImpl final : public CallbackImpl {
 public:
  explicit EarlyStoppingImpl(const EarlyStoppingOptions& options)
      : options_(options), monitor_("EarlyStopping", options.monitor, options.mode, options.min_delta) {
    if (options.patience < 0)
      fail("[EarlyStopping] patience must be at least 0: received patience=", options.patience);
  }

  std::string class_name() const override { return "EarlyStopping"; }
  int stopped_epoch() const { return stopped_epoch_; }
  double best() const { return monitor_.best(); }
  int best_epoch() const { return best_epoch_; }
  int waited() const { return waited_; }
  const std::vector<Tensor>& best_weights() const { return best_weights_; }

  void on_train_begin(const Logs&) override {
    monitor_.forget();
    waited_ = stopped_epoch_ = best_epoch_ = 0;
    best_weights_.clear();
  }

  void on_epoch_end(int epoch, const Logs& logs) override {
    const std::optional<double> value = monitor_.read(logs, *this);
    if (!value || epoch < options_.start_from_epoch) return;
    if (options_.restore_best_weights && best_weights_.empty()) keep(epoch);
    ++waited_;
    if (monitor_.improved(*value)) {
      keep(epoch);
      if (!options_.baseline || monitor_.better(*value, *options_.baseline)) waited_ = 0;
      return;
    }
    if (waited_ < options_.patience || epoch == 0) return;
    stopped_epoch_ = epoch;
    stop_training();
  }

  void on_train_end(const Logs&) override {
    if (stopped_epoch_ > 0 && prints(options_.verbose))
      std::cout << "Epoch " << stopped_epoch_ + 1 << ": early stopping\n";
    if (!options_.restore_best_weights || best_weights_.empty()) return;
    if (prints(options_.verbose))
      std::cout << "Restoring model weights from the end of the best epoch: " << best_epoch_ + 1 << ".\n";
    model().set_weights(best_weights_);
  }

  void state(Archive& state) override {
    monitor_.state(state);
    state("waited", waited_);
    state("stopped_epoch", stopped_epoch_);
    state("best_epoch", best_epoch_);
    state("best_weights", best_weights_);
  }

 private:
  void keep(int epoch) {
    best_epoch_ = epoch;
    if (options_.restore_best_weights) best_weights_ = model().get_weights();
  }

  EarlyStoppingOptions options_;
  Monitor monitor_;
  int waited_ = 0, stopped_epoch_ = 0, best_epoch_ = 0;
  std::vector<Tensor> best_weights_;
};

// --- What sets the learning rate --------------------------------------------------------------------------

double rate_of(const Model& model) { return model.optimizer().learning_rate().item<double>(); }
void set_rate(const Model& model, double rate) { model.optimizer().impl().set_learning_rate(rate); }

class LearningRateSchedulerImpl final : public CallbackImpl {
 public:
  LearningRateSchedulerImpl(std::function<double(int, double)> schedule, int verbose)
      : schedule_(std::move(schedule)), verbose_(verbose) {}

  std::string class_name() const override { return "LearningRateScheduler"; }

  void on_epoch_begin(int epoch, const Logs&) override {
    const double rate = schedule_(epoch, rate_of(model()));
    if (!std::isfinite(rate))
      fail("[LearningRateScheduler] the schedule must return a finite rate: received ", rate, " for epoch ",
           epoch);
    set_rate(model(), rate);
    if (prints(verbose_))
      std::cout << "\nEpoch " << epoch + 1 << ": LearningRateScheduler setting learning rate to " << rate
                << ".\n";
  }
  void report(Logs& logs) override { logs.set("learning_rate", rate_of(model())); }

 private:
  std::function<double(int, double)> schedule_;
  int verbose_;
};

class ReduceLROnPlateauImpl final : public CallbackImpl {
 public:
  explicit ReduceLROnPlateauImpl(const ReduceLROnPlateauOptions& options)
      : options_(options), monitor_("ReduceLROnPlateau", options.monitor, options.mode, options.min_delta) {
    if (!(options.factor < 1))
      fail("[ReduceLROnPlateau] factor must be below 1: received factor=", options.factor);
  }

  std::string class_name() const override { return "ReduceLROnPlateau"; }
  double best() const { return monitor_.best(); }
  int waited() const { return waited_; }
  void on_train_begin(const Logs&) override {
    monitor_.forget();
    waited_ = resting_ = 0;
  }
  void report(Logs& logs) override { logs.set("learning_rate", rate_of(model())); }

  void on_epoch_end(int epoch, const Logs& logs) override {
    const std::optional<double> value = monitor_.read(logs, *this);
    if (!value) return;
    if (resting_ > 0) --resting_, waited_ = 0;
    if (monitor_.improved(*value)) {
      waited_ = 0;
    } else if (resting_ == 0 && ++waited_ >= options_.patience) {
      reduce(epoch);
    }
  }

  void state(Archive& state) override {
    monitor_.state(state);
    state("waited", waited_);
    state("resting", resting_);
  }

 private:
  void reduce(int epoch) {
    const double old = rate_of(model());
    if (old <= static_cast<float>(options_.min_lr)) return;
    const double rate = std::max(old * options_.factor, options_.min_lr);
    set_rate(model(), rate);
    if (prints(options_.verbose))
      std::cout << "\nEpoch " << epoch + 1 << ": ReduceLROnPlateau reducing learning rate to " << rate
                << ".\n";
    resting_ = options_.cooldown;
    waited_ = 0;
  }

  ReduceLROnPlateauOptions options_;
  Monitor monitor_;
  int waited_ = 0, resting_ = 0;
};

class TerminateOnNaNImpl final : public CallbackImpl {
 public:
  std::string class_name() const override { return "TerminateOnNaN"; }
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override {
    if (!logs.contains("loss") || std::isfinite(logs.at("loss"))) return;
    std::cout << "Batch " << batch << ": Invalid loss, terminating training\n";
    stop_training();
  }
};

}  // namespace

LambdaCallback::LambdaCallback(const LambdaCallbackOptions& options)
    : Callback(std::make_shared<LambdaCallbackImpl>(options)) {}
EarlyStopping::EarlyStopping(const EarlyStoppingOptions& options)
    : Callback(std::make_shared<EarlyStoppingImpl>(options)) {}

namespace {
const EarlyStoppingImpl& stopping(const EarlyStopping& callback) {
  return static_cast<const EarlyStoppingImpl&>(callback.impl());
}
const ReduceLROnPlateauImpl& plateau(const ReduceLROnPlateau& callback) {
  return static_cast<const ReduceLROnPlateauImpl&>(callback.impl());
}
}  // namespace

int EarlyStopping::stopped_epoch() const { return stopping(*this).stopped_epoch(); }
double EarlyStopping::best() const { return stopping(*this).best(); }
int EarlyStopping::best_epoch() const { return stopping(*this).best_epoch(); }
int EarlyStopping::wait() const { return stopping(*this).waited(); }
std::vector<Tensor> EarlyStopping::best_weights() const { return stopping(*this).best_weights(); }

LearningRateScheduler::LearningRateScheduler(std::function<double(int, double)> schedule, int verbose)
    : Callback(std::make_shared<LearningRateSchedulerImpl>(std::move(schedule), verbose)) {}
ReduceLROnPlateau::ReduceLROnPlateau(const ReduceLROnPlateauOptions& options)
    : Callback(std::make_shared<ReduceLROnPlateauImpl>(options)) {}
double ReduceLROnPlateau::best() const { return plateau(*this).best(); }
int ReduceLROnPlateau::wait() const { return plateau(*this).waited(); }
TerminateOnNaN::TerminateOnNaN() : Callback(std::make_shared<TerminateOnNaNImpl>()) {}

}  // namespace ktape::nn
