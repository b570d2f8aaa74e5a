#pragma once
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/kernels/reduce/reductions.hpp>

#include <vector>

/// Reductions of tensors over any set of axes, not recorded.
namespace ktape::op_helpers {

/// Returns the extents outside of an axis, along it and inside of it; an empty tensor has 0 outside.
inline kernels::AxisShape axis_shape_of(const Shape& shape, int axis) {
  const kernels::AxisShape seen{shape.count(0, axis), shape[axis], shape.count(axis + 1)};
  return seen.axis == 0 || seen.inner == 0 ? kernels::AxisShape{0, seen.axis, seen.inner} : seen;
}

/// The axes of a reduction: the reduced axes as bits, the result's shape with (`kept`) and without (`shape`)
/// the reduced axes, and the number of elements of a group.
struct ReducedAxes {
  unsigned bits = 0;
  Shape kept, shape;
  std::int64_t size = 1;

  ReducedAxes(const Shape& from, unsigned reduced, bool keepdims) : bits(reduced), kept(from) {
    for (int i = 0; i < from.rank(); ++i) {
      if (!(bits >> i & 1)) {
        shape.push_back(from[i]);
        continue;
      }
      size *= from[i];
      kept[i] = 1;
      if (keepdims) shape.push_back(1);
    }
  }
  ReducedAxes(const char* op, const Tensor& x, const Axes& axes, bool keepdims)
      : ReducedAxes(x.shape(), canonical_axes(op, axes, x.ndim()), keepdims) {}
};

/// The axes of a tensor, where neighbours that are both reduced or both kept are joined and extents of 1 are
/// left out.
class JoinedAxes {
 public:
  JoinedAxes(const Shape& shape, unsigned bits) {
    for (int i = 0; i < shape.rank(); ++i) {
      const bool reduced = bits >> i & 1;
      if (shape[i] == 1) continue;
      if (!axes_.empty() && axes_.back().reduced == reduced) axes_.back().extent *= shape[i];
      else axes_.push_back({shape[i], reduced});
    }
  }
  int passes() const {
    int n = 0;
    for (const Axis& axis : axes_) n += axis.reduced;
    return n;
  }
  /// Returns the passes of the reduction, each along one axis.
  [[gnu::noinline]] std::vector<kernels::AxisShape> plan() {
    std::vector<kernels::AxisShape> passes;
    while (this->passes() > 0) passes.push_back(next());
    return passes;
  }
  /// Removes and returns the largest reduced axis: its pass leaves the smallest array for the next pass.
  kernels::AxisShape next() {
    std::size_t at = axes_.size();
    for (std::size_t i = 0; i < axes_.size(); ++i)
      if (axes_[i].reduced && (at == axes_.size() || axes_[i].extent > axes_[at].extent)) at = i;
    kernels::AxisShape pass;
    pass.axis = axes_[at].extent;
    for (std::size_t i = at + 1; i < axes_.size(); ++i) pass.inner *= axes_[i].extent;
    for (std::size_t i = 0; i < at; ++i) pass.outer *= axes_[i].extent;
    axes_.erase(axes_.begin() + static_cast<std::ptrdiff_t>(at));
    return pass;
  }

 private:
  struct Axis {
    std::int64_t extent;
    bool reduced;
  };
  std::vector<Axis> axes_;
};

/// The kernels of `reduced`: the dtype of a result, which is the dtype between two passes, too, and the
/// computation. The result of a single element is that element, unless the kernel has `changes_one`. Half precision
/// is reduced in float32; the result is rounded, unless the kernel has `stays_wide`.
struct SumOf {
  template <class T>
  using Result = T;
  static void run(const auto* in, auto* out, kernels::AxisShape shape) {
    kernels::reduce_sum(in, out, shape);
  }
};
struct WideSumOf {
  static constexpr bool stays_wide = true;
  template <class T>
  using Result = kernels::wide_type<T>;
  template <class T>
  static void run(const T* in, auto* out, kernels::AxisShape shape) {
    if constexpr (std::is_integral_v<T>) reduce_mean(in, out, shape, 1);
    else kernels::reduce_sum(in, out, shape);
  }
};
struct SumOfSquaresOf {
  static constexpr bool changes_one = true, stays_wide = true;
  template <class T>
  using Result = kernels::wide_type<T>;
  template <class T>
  static void run(const T* in, auto* out, kernels::AxisShape shape) {
    if constexpr (!std::is_integral_v<T>) kernels::reduce_sum_of_squares(in, out, shape);
  }
};
struct ProdOf : SumOf {
  static void run(const auto* in, auto* out, kernels::AxisShape shape) {
    kernels::reduce_prod(in, out, shape);
  }
};
struct MaxOf {
  template <class T>
  using Result = T;
  static void run(const auto* in, auto* out, kernels::AxisShape shape) {
    kernels::reduce_max(in, out, shape);
  }
};
struct MinOf : MaxOf {
  static void run(const auto* in, auto* out, kernels::AxisShape shape) {
    kernels::reduce_min(in, out, shape);
  }
};
struct AnyOf {
  template <class T>
  using Result = bool;
  static void run(const auto* in, bool* out, kernels::AxisShape shape) {
    kernels::reduce_any(in, out, shape);
  }
};
struct AllOf : AnyOf {
  static void run(const auto* in, bool* out, kernels::AxisShape shape) {
    kernels::reduce_all(in, out, shape);
  }
};

template <class Kernel>
concept ChangesOne = Kernel::changes_one;
template <class Kernel>
concept StaysWide = Kernel::stays_wide;

template <class Kernel, class From, class To>
[[gnu::noinline]] Tensor reduction_pass(const Tensor& x, const kernels::AxisShape& pass, const Shape& shape) {
  Tensor out = Tensor::empty(shape, dtype_of<To>());
  Kernel::run(x.pointer<From>(), out.pointer<To>(), pass);
  return out;
}

/// Reduces x over the groups: the first pass with the kernel `First`, further passes, for reduced axes that
/// are not neighbours, with `Next`.
template <class First, class Next = First>
Tensor reduced(const Tensor& x, const ReducedAxes& groups) {
  if (x.dtype().is_half()) {
    const Tensor out = reduced<First, Next>(widened(x), groups);
    return StaysWide<First> || out.dtype().is_bool() ? out : converted(out, x.dtype());
  }
  std::vector<kernels::AxisShape> plan = JoinedAxes(x.shape(), groups.bits).plan();
  if (ChangesOne<First> && plan.empty()) plan.push_back({1, 1, x.size()});
  return dispatch_native(x.dtype(), [&]<class T>() {
    using Result = typename First::template Result<T>;
    if (plan.empty()) return converted(x, dtype_of<Result>()).alias(groups.shape);
    if (plan.size() == 1) return reduction_pass<First, T, Result>(x, plan[0], groups.shape);
    Tensor out = reduction_pass<First, T, Result>(x, plan[0], {plan[0].results()});
    for (std::size_t i = 1; i + 1 < plan.size(); ++i)
      out = reduction_pass<Next, Result, Result>(out, plan[i], {plan[i].results()});
    return reduction_pass<Next, Result, Result>(out, plan.back(), groups.shape);
  });
}

}  // namespace ktape::op_helpers
