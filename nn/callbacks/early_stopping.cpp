#include <ktape/nn/callbacks/early_stopping.hpp>
#include <ktape/nn/callbacks/internal/monitor.hpp>
#include <ktape/nn/models/model.hpp>

#include <iostream>

namespace ktape::nn {
namespace {

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

const EarlyStoppingImpl& stopping(const EarlyStopping& callback) {
  return static_cast<const EarlyStoppingImpl&>(callback.impl());
}

}  // namespace

EarlyStopping::EarlyStopping(const EarlyStoppingOptions& options)
    : Callback(std::make_shared<EarlyStoppingImpl>(options)) {}
int EarlyStopping::stopped_epoch() const { return stopping(*this).stopped_epoch(); }
double EarlyStopping::best() const { return stopping(*this).best(); }
int EarlyStopping::best_epoch() const { return stopping(*this).best_epoch(); }
int EarlyStopping::wait() const { return stopping(*this).waited(); }
std::vector<Tensor> EarlyStopping::best_weights() const { return stopping(*this).best_weights(); }

}  // namespace ktape::nn
