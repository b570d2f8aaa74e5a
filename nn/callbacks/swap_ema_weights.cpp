#include <ktape/nn/callbacks/swap_ema_weights.hpp>
#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/models/model.hpp>

namespace ktape::nn {
namespace {

class SwapEMAWeightsImpl final : public CallbackImpl {
 public:
  explicit SwapEMAWeightsImpl(const SwapEMAWeightsOptions& options) : options_(options) {}

  std::string class_name() const override { return "SwapEMAWeights"; }

  void on_train_begin(const Logs&) override {
    weights_.clear();
    optimizer();
  }
  void on_epoch_begin(int, const Logs&) override { restore_weights(); }
  void on_epoch_end(int, const Logs&) override {
    if (options_.swap_on_epoch) average();
  }
  /// Leaves the averages in the model at the end of the training.
  void on_train_end(const Logs&) override { weights_.clear(); }

  void on_test_begin(const Logs&) override { average(); }
  void on_test_end(const Logs&) override { restore_weights(); }
  void on_predict_begin(const Logs&) override { average(); }
  void on_predict_end(const Logs&) override { restore_weights(); }

  void state(Archive& state) override { state("weights", weights_); }

 private:
  OptimizerImpl& optimizer() const {
    OptimizerImpl& optimizer = model().optimizer().impl();
    if (!optimizer.options().use_ema)
      fail("[SwapEMAWeights] the optimizer must keep averages: received a ", optimizer.class_name(),
           " with use_ema=false");
    return optimizer;
  }

  /// Stores the weights and assigns the averages to the model. The averages of the optimizer do not change.
  void average() {
    OptimizerImpl& optimizer = this->optimizer();
    if (!weights_.empty() || optimizer.calls() == 0) return;
    for (const Variable& weight : model().trainable_weights()) weights_.push_back(weight.value().detach());
    optimizer.finalize_variable_values();
  }

  void restore_weights() {
    const std::vector<Variable> variables = model().trainable_weights();
    for (std::size_t i = 0; i < weights_.size() && i < variables.size(); ++i)
      Variable(variables[i]).assign(weights_[i]);
    weights_.clear();
  }

  SwapEMAWeightsOptions options_;
  std::vector<Tensor> weights_;  ///< the weights while the model holds the averages; empty otherwise
};

}  // namespace

SwapEMAWeights::SwapEMAWeights(const SwapEMAWeightsOptions& options)
    : Callback(std::make_shared<SwapEMAWeightsImpl>(options)) {}

}  // namespace ktape::nn
