#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/losses/reduction.hpp>
#include <ktape/nn/metrics/internal/confusion_counts.hpp>
#include <ktape/nn/metrics/reduction.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::nn {
namespace K = backend;
namespace {

/// Returns the predictions with all but the k largest of each row replaced by minus infinity; of equal
/// predictions the first are kept.
Tensor only_top(const Tensor& p, std::int64_t k) {
  const std::int64_t classes = p.shape().back();
  const Tensor best = K::top_k(p, std::min(k, classes)).indices;
  const Tensor kept = K::max(K::one_hot(best, classes), -2);
  return K::where(kept, p, K::full({}, -INFINITY, p.dtype()));
}

/// Returns the predictions or targets of one class of the last axis.
Tensor column(const char* metric, const Tensor& x, int class_id) {
  if (x.ndim() == 0 || class_id < 0 || class_id >= x.shape().back())
    fail("[", metric, "] class_id must be one of the classes: received class_id=", class_id, " for ",
         x.shape());
  Shape start(x.shape()), size(x.shape());
  std::fill(start.begin(), start.end(), 0);
  std::fill(size.begin(), size.end(), -1);
  start[x.ndim() - 1] = class_id;
  size[x.ndim() - 1] = 1;
  return K::squeeze(K::slice(x, start, size), -1);
}

}  // namespace

void ConfusionCounts::add(const char* metric, const Tensor& y_true, const Tensor& y_pred,
                          const Tensor& sample_weight, const Selection& selection) {
  auto [t, p] = to_same_rank(K::as_dtype(y_true, "bool"), y_pred);
  if (t.shape() != p.shape())
    fail("[", metric, "] y_true and y_pred must have one shape: received y_true=", t.shape(),
         ", y_pred=", p.shape());
  if (selection.by_label && p.ndim() != 2)
    fail("[", metric,
         "] with multi_label y_pred must have shape (samples, labels): received y_pred=", p.shape());
  if (selection.top_k) p = only_top(p, *selection.top_k);
  if (selection.class_id)
    t = column(metric, t, *selection.class_id), p = column(metric, p, *selection.class_id);
  const std::size_t labels = selection.by_label ? static_cast<std::size_t>(p.shape()[1]) : 1;
  if (!above_.empty() && above_.size() != labels)
    fail("[", metric, "] all batches must have ", above_.size(), " labels: received y_pred=", p.shape());
  const Tensor w = weights_like(metric, p.shape(), sample_weight);
  // Thresholds are rounded to the predictions' dtype, so that a prediction of 0.2 is not above a threshold of
  // 0.2.
  const Tensor edges =
      K::as_dtype(K::as_dtype(K::constant(thresholds_, {.dtype = "float64"}), p.dtype()), "float64");
  const double *first = edges.pointer<double>(), *last = first + edges.size();
  const Tensor values = K::as_dtype(p, "float64");
  const Histogram empty{std::vector<double>(thresholds_.size() + 1),
                        std::vector<double>(thresholds_.size() + 1)};
  above_.resize(labels, empty);
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const auto below = std::lower_bound(first, last, values.pointer<double>()[i]) - first;
    Histogram& histogram = above_[static_cast<std::size_t>(i) % labels];
    (t.pointer<bool>()[i] ? histogram.positive : histogram.negative)[static_cast<std::size_t>(below)] +=
        w.defined() ? w.pointer<double>()[i] : 1;
  }
}

void ConfusionCounts::reset() { above_.clear(); }

void ConfusionCounts::state(Archive& state) {
  std::vector<Histogram> above = above_;  // replaced at the end: a failure changes nothing
  std::size_t labels = above.size();
  state.count("labels", labels);
  above.resize(labels);
  for (std::size_t i = 0; i < labels; ++i)
    state.part(std::to_string(i), [&] {
      state("positive", above[i].positive, thresholds_.size() + 1);
      state("negative", above[i].negative, thresholds_.size() + 1);
    });
  above_ = std::move(above);
}

ConfusionCounts::Counts ConfusionCounts::of(std::size_t label) const {
  const std::size_t n = thresholds_.size();
  Counts out{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  if (label >= above_.size()) return out;
  const auto [positive, negative] = above_[label];
  for (std::size_t k = 0; k < n; ++k) {
    out.fn[k] = (k > 0 ? out.fn[k - 1] : 0) + positive[k];
    out.tn[k] = (k > 0 ? out.tn[k - 1] : 0) + negative[k];
  }
  for (std::size_t k = n; k-- > 0;) {
    out.tp[k] = (k + 1 < n ? out.tp[k + 1] : 0) + positive[k + 1];
    out.fp[k] = (k + 1 < n ? out.fp[k + 1] : 0) + negative[k + 1];
  }
  return out;
}

}  // namespace ktape::nn
