#include <ktape/nn/losses/reduction.hpp>
#include <ktape/nn/names.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;
namespace {

constexpr const char* names[] = {"none", "sum", "sum_over_batch_size", "mean_with_sample_weight"};

/// The mask as weights. In a mean they are scaled, so that the mean is over what the mask keeps.
Tensor weights_of(const Tensor& mask, DType dtype, Reduction::Kind kind) {
  const Tensor weights = K::cast(mask, dtype);
  if (kind != Reduction::Mean) return weights;
  const Tensor kept = K::sum(weights);
  return weights * (static_cast<double>(mask.size()) / K::where(kept, kept, K::ones_like(kept)));
}

/// Both weights, one of which may be missing.
Tensor joined(const Tensor& sample_weight, const Tensor& mask) {
  if (!sample_weight.defined() || !mask.defined()) return mask.defined() ? mask : sample_weight;
  const auto [weight, of_mask] = to_same_rank(sample_weight, mask);
  return weight * of_mask;
}

/// Weights with as many axes as the values: what they lack is appended.
Tensor aligned(const Tensor& values, const Tensor& weights) {
  Shape shape = weights.shape();
  while (shape.rank() < values.ndim()) shape.push_back(1);
  return shape == weights.shape() ? weights : K::reshape(weights, shape);
}

}  // namespace

Reduction::Reduction(const std::string& name) : kind_(Mean) {
  if (name == "mean" || name == "auto") return;
  for (int kind = None; kind <= WeightedMean; ++kind)
    if (name == names[kind]) {
      kind_ = static_cast<Kind>(kind);
      return;
    }
  fail(
      "[Loss] the reduction must be 'sum_over_batch_size', 'sum', 'mean', 'mean_with_sample_weight' or "
      "'none': "
      "received reduction='",
      name, "'");
}

Reduction::Reduction(const Value& value)
    : Reduction(value.is_null() ? "none" : value.string("[Loss] reduction")) {}

Value Reduction::to_value() const { return names[kind_]; }

SameRank to_same_rank(const Tensor& x, const Tensor& y) {
  if (x.ndim() == y.ndim() + 1 && x.shape().back() == 1)
    return y.ndim() == 1 ? SameRank{x, K::expand_dims(y)} : SameRank{K::squeeze(x, -1), y};
  if (y.ndim() == x.ndim() + 1 && y.shape().back() == 1)
    return x.ndim() == 1 ? SameRank{K::expand_dims(x), y} : SameRank{x, K::squeeze(y, -1)};
  return {x, y};
}

Tensor reduce_values(const Tensor& values, const Tensor& sample_weight, const Tensor& mask,
                     Reduction reduction) {
  const Reduction::Kind kind = reduction.kind();
  Tensor weighted = values, weights;
  if (sample_weight.defined() || mask.defined()) {
    const DType dtype = values.dtype();
    weights = joined(sample_weight.defined() ? K::cast(sample_weight, dtype) : Tensor(),
                     mask.defined() ? weights_of(mask, dtype, kind) : Tensor());
    const SameRank both = to_same_rank(values, weights);
    weights = aligned(both.x, both.y);
    weighted = both.x * weights;
  }
  if (kind == Reduction::None || weighted.ndim() == 0) return weighted;
  if (kind == Reduction::Sum) return K::sum(weighted);
  if (kind == Reduction::Mean || !weights.defined()) return K::mean(weighted);
  const Tensor total = K::sum(weights);
  return K::where(K::equal(total, K::zeros_like(total)), total, K::sum(weighted) / total);
}

}  // namespace ktape::nn
