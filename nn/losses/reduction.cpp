#include <ktape/nn/losses/reduction.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/unmasked.hpp>

namespace ktape::nn {
namespace K = backend;
namespace {

constexpr const char* names[] = {"none", "sum", "sum_over_batch_size", "mean_with_sample_weight"};

/// Returns the mask as weights. In a mean the weights are scaled so that the mean is over the unmasked
/// values.
Tensor weights_of(const Tensor& mask, DType dtype, Reduction::Kind kind) {
  const Tensor weights = K::as_dtype(mask, dtype);
  if (kind != Reduction::Mean) return weights;
  const Tensor kept = K::sum(weights), divisor = K::where(kept, kept, K::ones_like(kept));
  if (mask.size() == None) return weights * (K::sum(K::ones_like(weights)) / divisor);
  return weights * (static_cast<double>(mask.size()) / divisor);
}

/// Values with their weights and mask, aligned to the axes of the values.
class WeightedValues {
 public:
  WeightedValues(const std::string& loss, const Tensor& values) : loss_(loss), values_(values) {}

  Tensor weigh(const char* what, const Tensor& given) {
    const SameRank both = to_same_rank(values_, given);
    values_ = both.x;
    const Tensor weights = aligned(what, both.y);
    // The mask may have added an axis to the values since the weights were aligned.
    if (weights_.defined()) weights_ = aligned(what, weights_);
    weights_ = weights_.defined() ? weights_ * weights : weights;
    return weights;
  }
  /// Weighs by a mask. Values of weight 0, and their weights, are selected away: they may be infinite or NaN.
  void mask(const Tensor& given) {
    const Tensor weights = weigh("mask", given);
    values_ = op_helpers::unmasked(values_, weights);
    weights_ = K::where(weights, weights_, 0);
  }

  const Tensor& weights() const { return weights_; }
  Tensor weighted() const { return weights_.defined() ? values_ * weights_ : values_; }

 private:
  /// Returns the weights with axes of extent 1 appended up to the rank of the values.
  Tensor aligned(const char* what, const Tensor& weights) const {
    Shape shape = weights.shape();
    while (shape.rank() < values_.ndim()) shape.push_back(1);
    bool fits = shape.rank() == values_.ndim();
    for (int axis = 0; fits && axis < shape.rank(); ++axis)
      fits = shape[axis] == 1 || compatible(shape[axis], values_.shape()[axis]);
    if (!fits)
      fail("[", loss_, "] the ", what, " must have the shape of the values, or their first axes: received ",
           what, '=', weights.shape(), ", values=", values_.shape());
    return shape == weights.shape() ? weights : K::reshape(weights, shape);
  }

  const std::string& loss_;
  Tensor values_, weights_;
};

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

SameRank like_predictions(const char* loss, const Tensor& y_true, const Tensor& y_pred) {
  const SameRank both = to_same_rank(K::as_dtype(y_true, y_pred.dtype()), y_pred);
  if (!compatible(both.x.shape(), both.y.shape()))
    fail("[", loss, "] y_true and y_pred must have one shape: received y_true=", y_true.shape(),
         ", y_pred=", y_pred.shape());
  return both;
}

Tensor reduce_values(const std::string& loss, const Tensor& values, const Tensor& sample_weight,
                     const Tensor& mask, Reduction reduction) {
  const Reduction::Kind kind = reduction.kind();
  const DType dtype = values.dtype();
  WeightedValues all(loss, values);
  if (sample_weight.defined()) all.weigh("sample_weight", K::as_dtype(sample_weight, dtype));
  if (mask.defined()) all.mask(weights_of(mask, dtype, kind));
  const Tensor weighted = all.weighted();
  if (kind == Reduction::None || weighted.ndim() == 0) return weighted;
  if (kind == Reduction::Sum) return K::sum(weighted);
  if (kind == Reduction::Mean || !all.weights().defined()) return K::mean(weighted);
  const Tensor total = K::sum(all.weights());
  return K::where(K::equal(total, K::zeros_like(total)), total, K::sum(weighted) / total);
}

}  // namespace ktape::nn
