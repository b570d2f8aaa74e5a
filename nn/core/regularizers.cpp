#include <ktape/nn/core/class_registry.hpp>
#include <ktape/nn/core/regularizers.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace K = backend;

template <class F>
void fields(L1Options& o, F&& field) {
  field("l1", o.l1);
}
template <class F>
void fields(L2Options& o, F&& field) {
  field("l2", o.l2);
}
template <class F>
void fields(L1L2Options& o, F&& field) {
  field("l1", o.l1);
  field("l2", o.l2);
}
template <class F>
void fields(OrthogonalRegularizerOptions& o, F&& field) {
  field("factor", o.factor);
  field("mode", o.mode);
}

namespace {

double checked(const char* class_name, const char* name, double factor) {
  if (!(factor >= 0 && std::isfinite(factor)))
    fail("[", class_name, "] ", name, " must be finite and at least 0: received ", name, '=', factor);
  return factor;
}

template <class Options>
std::shared_ptr<RegularizerImpl> configured(const char* name, const Options& options,
                                            Tensor (*f)(const Tensor&, const Options&)) {
  fields(const_cast<Options&>(options), [&]<class T>(const char* field, const T& value) {
    if constexpr (std::is_same_v<T, double>) checked(name, field, value);
  });
  return function_object<RegularizerImpl>(name, options, f);
}

Tensor l1_penalty(const Tensor& x, double factor) { return factor * K::sum(K::abs(x)); }
Tensor l2_penalty(const Tensor& x, double factor) { return factor * K::sum(K::square(x)); }

Tensor orthogonal_penalty(const Tensor& x, const OrthogonalRegularizerOptions& o) {
  if (x.ndim() != 2) fail("[OrthogonalRegularizer] x must be a matrix: received x=", x.shape());
  const bool rows = o.mode == "rows";
  const std::int64_t size = x.shape()[rows ? 0 : 1];
  const Tensor unit = K::l2_normalize(x, rows ? 1 : 0);
  const Tensor cosines = K::matmul(unit, unit, {.transpose_a = !rows, .transpose_b = rows});
  const Tensor others = K::abs(cosines * (1 - K::eye(size, {.dtype = x.dtype()})));
  const double pairs = static_cast<double>(size) * static_cast<double>(size - 1) / 2;
  return (o.factor * 0.5 / std::max(pairs, 1.0)) * K::sum(others);
}

}  // namespace

L1::L1(const L1Options& options)
    : Regularizer(configured<L1Options>(
          "L1", options, [](const Tensor& x, const L1Options& o) { return l1_penalty(x, o.l1); })) {}

L2::L2(const L2Options& options)
    : Regularizer(configured<L2Options>(
          "L2", options, [](const Tensor& x, const L2Options& o) { return l2_penalty(x, o.l2); })) {}

L1L2::L1L2(const L1L2Options& options)
    : Regularizer(configured<L1L2Options>("L1L2", options, [](const Tensor& x, const L1L2Options& o) {
        if (o.l2 == 0) return l1_penalty(x, o.l1);
        return o.l1 == 0 ? l2_penalty(x, o.l2) : l1_penalty(x, o.l1) + l2_penalty(x, o.l2);
      })) {}

OrthogonalRegularizer::OrthogonalRegularizer(const OrthogonalRegularizerOptions& options)
    : Regularizer(
          configured<OrthogonalRegularizerOptions>("OrthogonalRegularizer", options, orthogonal_penalty)) {
  if (options.mode != "rows" && options.mode != "columns")
    fail("[OrthogonalRegularizer] mode must be 'rows' or 'columns': received mode='", options.mode, "'");
}

void add_regularizers(ClassRegistry& registry) {
  registry.add<L1, L1Options>("L1");
  registry.add<L2, L2Options>("L2");
  registry.add<L1L2, L1L2Options>("L1L2");
  registry.add<OrthogonalRegularizer, OrthogonalRegularizerOptions>("OrthogonalRegularizer");
}

}  // namespace ktape::nn
