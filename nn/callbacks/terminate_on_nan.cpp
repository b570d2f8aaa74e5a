#include <ktape/nn/callbacks/terminate_on_nan.hpp>

#include <cmath>
#include <iostream>

namespace ktape::nn {
namespace {

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

TerminateOnNaN::TerminateOnNaN() : Callback(std::make_shared<TerminateOnNaNImpl>()) {}

}  // namespace ktape::nn
