#pragma once
#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/core/names.hpp>
#include <ktape/nn/losses/loss.hpp>
#include <ktape/ops/inspection.hpp>

/// Helpers for losses, and for metrics that are means of losses. Internal: sources only.
namespace ktape::nn {

template <class F>
void fields(LossOptions& o, F&& field) {
  field("reduction", o.reduction);
  field("name", o.name);
}

/// Returns the loss f(y_true, y_pred, options). The options contain a reduction and a name.
template <class Options, class F>
std::shared_ptr<LossImpl> loss_of(const char* class_name, Options options, F f) {
  if (options.name.empty()) options.name = to_snake_case(class_name);
  auto impl = function_object<LossImpl>(class_name, options, f);
  impl->reduction = options.reduction;
  impl->name = options.name;
  return impl;
}

/// Returns the loss f(y_true, y_pred), which has no further options.
inline std::shared_ptr<LossImpl> loss_of(const char* class_name, const LossOptions& options,
                                         Tensor (*f)(const Tensor&, const Tensor&)) {
  return loss_of(class_name, options, [f](const Tensor& y_true, const Tensor& y_pred, const LossOptions&) {
    return f(y_true, y_pred);
  });
}

/// The encoding of classes in targets.
enum class Classes { Binary, Sparse, OneHot };

/// Returns the kind of classes (binary, categorical or sparse) that "crossentropy" and "accuracy" mean for
/// targets and predictions of these shapes.
inline Classes classes_by_shape(const Shape& y_true, const Shape& y_pred) {
  if (y_pred.rank() <= 1 || y_pred.back() == 1) return Classes::Binary;
  return y_true.rank() < y_pred.rank() || y_true.back() == 1 ? Classes::Sparse : Classes::OneHot;
}

}  // namespace ktape::nn
