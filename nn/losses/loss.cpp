#include <ktape/nn/layers/layer.hpp>
#include <ktape/nn/losses/loss.hpp>
#include <ktape/nn/names.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>

namespace ktape::nn {
namespace K = backend;
namespace {

Tensor both(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  const auto [x, y] = to_same_rank(K::cast(a, "bool"), K::cast(b, "bool"));
  return K::cast(x, "float32") * K::cast(y, "float32");
}

}  // namespace

Tensor Loss::operator()(const Tensor& y_true, const Tensor& y_pred, const LossCallOptions& options) const {
  const LossImpl& loss = impl();
  // What Keras does for all losses, those here do where they need it.
  const bool cast = loss.class_name() == "function" && y_pred.dtype().is_floating();
  const LossValues result = loss.call(cast ? K::cast(y_true, y_pred.dtype()) : y_true, y_pred);
  if (!result.values.defined()) fail("[", name(), "] a loss must return a tensor: received None");
  const Tensor mask = options.mask.defined() ? options.mask : mask_of(y_pred);
  return reduce_values(result.values, options.sample_weight, both(mask, result.mask), loss.reduction);
}

std::string Loss::name() const {
  const LossImpl& loss = impl();
  return loss.name.empty() ? to_snake_case(loss.class_name()) : loss.name;
}

}  // namespace ktape::nn
