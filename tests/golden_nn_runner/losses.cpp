#include <ktape/nn/losses/loss.hpp>

#include "kinds.hpp"

namespace golden_nn {
namespace {

void run_loss(Run& run) {
  const ktape::nn::Loss loss(Value(Config{{"class_name", run.at("loss")}, {"config", run.config()}}));
  const Tensor y_true = run.tensor(run.at("y_true"));
  const Variable y_pred = run.variable(run.at("y_pred"));
  const Tensor value =
      loss(y_true, y_pred,
           {.sample_weight = run.optional_tensor("sample_weight"), .mask = run.optional_tensor("mask")});
  run.compare_outputs({value});
  run.compare_gradients({value}, {{"y_pred", y_pred}});
}

}  // namespace

void add_losses(Table& table) { table["loss"] = run_loss; }

}  // namespace golden_nn
