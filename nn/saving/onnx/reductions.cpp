#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/reductions.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Reduces over the axes, which are an attribute or, in later opsets, an input; the result keeps the dtype.
template <class F>
Operator reduction(F f) {
  return [f](const Call& call) -> Tensors {
    const Tensor& x = call[0];
    const Numbers given = call.integers_or_input("axes", 1);
    if (given.empty() && call.flag("noop_with_empty_axes")) return {x};
    const std::vector<int> axes = axes_of(given, x.ndim());
    return {K::cast(f(x, axes.empty() ? Axes() : Axes(axes), call.flag("keepdims", true)), x.dtype())};
  };
}

Tensor largest(const Tensor& x, const Axes& axes, bool keep) { return ops::max(x, axes, keep); }
Tensor smallest(const Tensor& x, const Axes& axes, bool keep) { return ops::min(x, axes, keep); }
Tensor product(const Tensor& x, const Axes& axes, bool keep) { return ops::prod(x, axes, keep); }
Tensor total(const Tensor& x, const Axes& axes, bool keep) { return ops::sum(x, axes, keep); }
Tensor average(const Tensor& x, const Axes& axes, bool keep) { return ops::mean(x, axes, keep); }
Tensor norm1(const Tensor& x, const Axes& axes, bool keep) { return ops::sum(K::abs(x), axes, keep); }
Tensor squares(const Tensor& x, const Axes& axes, bool keep) { return ops::sum(x * x, axes, keep); }
Tensor norm2(const Tensor& x, const Axes& axes, bool keep) {
  const Tensor sum = squares(x, axes, keep);
  return K::sqrt(sum.dtype().is_floating() ? sum : K::cast(sum, DType::Float64));
}
Tensor log_sum(const Tensor& x, const Axes& axes, bool keep) { return K::log(total(x, axes, keep)); }
Tensor log_sum_exp(const Tensor& x, const Axes& axes, bool keep) { return ops::logsumexp(x, axes, keep); }

/// Finds the place of the largest or smallest element, the first or the last one of equals.
template <class F>
Operator place(F f) {
  return [f](const Call& call) -> Tensors {
    const Tensor& x = call[0];
    const int axis = axes_of({call.integer("axis", 0)}, x.ndim())[0];
    const bool last = call.flag("select_last_index");
    const Tensor at =
        K::cast(f(last ? K::reverse(x, axis) : x, axis, call.flag("keepdims", true)), DType::Int64);
    return {last ? (x.shape()[axis] - 1) - at : at};
  };
}

Tensors running_sum(const Call& call) {
  const int axis = axes_of({single(call[1])}, call[0].ndim())[0];
  const bool reverse = call.flag("reverse");
  const Tensor x = reverse ? K::reverse(call[0], axis) : call[0];
  Tensor sum = K::cumsum(x, axis);
  if (call.flag("exclusive")) {
    const std::int64_t n = x.shape()[axis];
    const Tensor first = strided(x, axis, 0, 1);
    sum = K::concatenate({first - first, strided(sum, axis, 0, n - 1)}, axis);
  }
  return {reverse ? K::reverse(sum, axis) : sum};
}

Tensors top(const Call& call) {
  const int axis = axes_of({call.integer("axis", -1)}, call[0].ndim())[0];
  const Numbers given = call.find("k") ? Numbers{call.integer("k", 0)} : whole(call[1]);
  const std::int64_t extent = call[0].shape()[axis];
  if (given.size() != 1 || given[0] < 0 || given[0] > extent)
    fail("[onnx] k must be a number of at most ", extent, ": received k=", numbers(given));
  const Tensor x = ops::moveaxis(call[0], axis, -1);
  Tensor values, places;
  if (call.flag("largest", true)) {
    const ops::TopK found = ops::top_k(x, given[0]);
    values = found.values, places = found.indices;
  } else {
    places = strided(K::argsort(x, -1), x.ndim() - 1, 0, given[0]);
    values = ops::take_along_axis(x, places, -1);
  }
  return {ops::moveaxis(values, -1, axis), ops::moveaxis(K::cast(places, DType::Int64), -1, axis)};
}

}  // namespace

void add_reductions(OperatorTable& t) {
  t["ReduceSum"] = reduction(total), t["ReduceMean"] = reduction(average),
  t["ReduceProd"] = reduction(product);
  t["ReduceMax"] = reduction(largest), t["ReduceMin"] = reduction(smallest), t["ReduceL1"] = reduction(norm1);
  t["ReduceL2"] = reduction(norm2), t["ReduceSumSquare"] = reduction(squares);
  t["ReduceLogSum"] = reduction(log_sum), t["ReduceLogSumExp"] = reduction(log_sum_exp);
  t["ArgMax"] = place([](const Tensor& x, int axis, bool keep) { return ops::argmax(x, axis, keep); });
  t["ArgMin"] = place([](const Tensor& x, int axis, bool keep) { return ops::argmin(x, axis, keep); });
  t["CumSum"] = running_sum, t["TopK"] = top;
}

}  // namespace ktape::nn::onnx
