#include <ktape/nn/callbacks/internal/learning_rate.hpp>
#include <ktape/nn/callbacks/internal/monitor.hpp>
#include <ktape/nn/callbacks/reduce_lr_on_plateau.hpp>

#include <iostream>

namespace ktape::nn {
namespace {

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

const ReduceLROnPlateauImpl& plateau(const ReduceLROnPlateau& callback) {
  return static_cast<const ReduceLROnPlateauImpl&>(callback.impl());
}

}  // namespace

ReduceLROnPlateau::ReduceLROnPlateau(const ReduceLROnPlateauOptions& options)
    : Callback(std::make_shared<ReduceLROnPlateauImpl>(options)) {}
double ReduceLROnPlateau::best() const { return plateau(*this).best(); }
int ReduceLROnPlateau::wait() const { return plateau(*this).waited(); }

}  // namespace ktape::nn
