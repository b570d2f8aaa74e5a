#include <ktape/nn/core/full_precision.hpp>
#include <ktape/nn/core/names.hpp>
#include <ktape/nn/layers/base/layer.hpp>
#include <ktape/nn/losses/alignment.hpp>
#include <ktape/nn/losses/loss.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>

#include <sstream>

namespace ktape::nn {
namespace K = backend;
namespace {

Tensor both(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  const auto [x, y] = to_same_rank(K::as_dtype(a, "bool"), K::as_dtype(b, "bool"));
  return K::as_dtype(x, "float32") * K::as_dtype(y, "float32");
}

/// Calls a loss. Adds the name of the loss and both shapes to an error that does not name the loss.
LossValues called(const LossImpl& loss, const std::string& name, const Tensor& y_true, const Tensor& y_pred) {
  const auto located = [&](const Error& error) {
    std::ostringstream text;
    text << error.what();
    if (!text.str().starts_with('[' + name + ']'))
      text << " (in loss '" << name << "', of y_true=" << y_true.shape() << ", y_pred=" << y_pred.shape()
           << ')';
    return text.str();
  };
  try {
    return loss.call(y_true, y_pred);
  } catch (const ValueError& error) {
    throw ValueError(located(error));
  } catch (const TypeError& error) {
    throw TypeError(located(error));
  }
}

}  // namespace

Tensor Loss::operator()(const Tensor& y_true, const Tensor& given, const LossCallOptions& options) const {
  const LossImpl& loss = impl();
  const Tensor mask = options.mask.defined() ? options.mask : mask_of(given);
  const Tensor y_pred = unmasked_samples(full_precision(given), mask, 0.5),
               targets = unmasked_samples(y_true, mask, 0);
  // Keras casts the targets for all losses; the losses of the library cast where necessary.
  const bool cast = loss.class_name() == "function" && y_pred.dtype().is_floating();
  const std::string name = this->name();
  const LossValues result = called(loss, name, cast ? K::as_dtype(targets, y_pred.dtype()) : targets, y_pred);
  if (!result.values.defined()) fail("[", name, "] a loss must return a tensor: received None");
  return reduce_values(name, result.values, options.sample_weight, both(mask, result.mask), loss.reduction);
}

std::string Loss::name() const {
  const LossImpl& loss = impl();
  return loss.name.empty() ? to_snake_case(loss.class_name()) : loss.name;
}

}  // namespace ktape::nn
