#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/layers/base/masks.hpp>
#include <ktape/ops/schema/operation.hpp>

/// The operations that only layers have.
namespace ktape::nn {
namespace {

Tensor hard_sigmoid_with_slope(const OperationCall& call) {
  const double slope = call.number("slope");
  return slope == 0.2 ? backend::hard_sigmoid(call.tensor("x"))
                      : activations::hard_sigmoid(call.tensor("x"), {.slope = slope});
}

}  // namespace

Operations layer_operations() {
  static constexpr Operation rows[] = {
      {"hard_sigmoid", "", "x; slope", hard_sigmoid_with_slope},
      {"mask_of", "", "x;", [](const OperationCall& call) { return mask_of(call.tensor("x")); }},
  };
  return rows;
}

}  // namespace ktape::nn
