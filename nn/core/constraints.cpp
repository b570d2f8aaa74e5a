#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/core/constraints.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(MaxNormOptions& o, F&& field) {
  field("max_value", o.max_value);
  field("axis", o.axis);
}
template <class F>
void fields(UnitNormOptions& o, F&& field) {
  field("axis", o.axis);
}
template <class F>
void fields(MinMaxNormOptions& o, F&& field) {
  field("min_value", o.min_value);
  field("max_value", o.max_value);
  field("rate", o.rate);
  field("axis", o.axis);
}

namespace {

Tensor norm_of(const Tensor& w, const Axes& axis) { return K::norm(w, axis, true); }

}  // namespace

ktape::Constraint Constraint::function() const {
  if (!defined()) return {};
  return [impl = shared()](const Tensor& w) { return impl->call(w); };
}

MaxNorm::MaxNorm(const MaxNormOptions& options)
    : Constraint(
          function_object<ConstraintImpl>("MaxNorm", options, [](const Tensor& w, const MaxNormOptions& o) {
            const Tensor norm = norm_of(w, o.axis);
            return w * (K::clip(norm, 0, o.max_value) / (norm + K::epsilon()));
          })) {
  if (!(options.max_value >= 0))
    fail("[MaxNorm] max_value must be at least 0: received max_value=", options.max_value);
}

NonNeg::NonNeg()
    : Constraint(function_object<ConstraintImpl>(
          "NonNeg", NoOptions(), [](const Tensor& w, const NoOptions&) { return K::clip(w, 0, None); })) {}

UnitNorm::UnitNorm(const UnitNormOptions& options)
    : Constraint(
          function_object<ConstraintImpl>("UnitNorm", options, [](const Tensor& w, const UnitNormOptions& o) {
            return w / (norm_of(w, o.axis) + K::epsilon());
          })) {}

MinMaxNorm::MinMaxNorm(const MinMaxNormOptions& options)
    : Constraint(function_object<ConstraintImpl>(
          "MinMaxNorm", options, [](const Tensor& w, const MinMaxNormOptions& o) {
            const Tensor norm = norm_of(w, o.axis);
            const Tensor wanted = o.rate * K::clip(norm, o.min_value, o.max_value) + (1 - o.rate) * norm;
            return w * (wanted / (norm + K::epsilon()));
          })) {
  if (!(options.min_value >= 0 && options.max_value >= options.min_value))
    fail("[MinMaxNorm] the bounds must be 0 <= min_value <= max_value: received min_value=",
         options.min_value, ", max_value=", options.max_value);
}

void add_constraints(ClassRegistry& registry) {
  registry.add<MaxNorm, MaxNormOptions>("MaxNorm");
  registry.add("NonNeg", [](const Config& config) {
    options_from<NoOptions>("NonNeg", config);
    return NonNeg();
  });
  registry.add<UnitNorm, UnitNormOptions>("UnitNorm");
  registry.add<MinMaxNorm, MinMaxNormOptions>("MinMaxNorm");
}

}  // namespace ktape::nn
