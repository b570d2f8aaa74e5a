#pragma once
#include <ktape/autograd/dispatch.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tensor.hpp>
#include <ktape/ops/kernels/reduce.hpp>

#include <vector>

/// Reductions of tensors over any set of axes, not recorded.
namespace ktape::kernels {

/// What a reduction works on: the reduced axes as bits, the result's shape with and without them, and the
/// size of a group.
struct Groups {
  unsigned bits = 0;
  Shape kept, shape;
  std::int64_t size = 1;

  Groups(const Shape& from, unsigned reduced, bool keepdims) : bits(reduced), kept(from) {
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
  Groups(const char* op, const Tensor& x, const Axes& axes, bool keepdims)
      : Groups(x.shape(), canonical_axes(op, axes, x.ndim()), keepdims) {}
};

/// The extents with neighbours joined that are both reduced or both kept, and extents of 1 left out.
class JoinedAxes {
 public:
  JoinedAxes(const Shape& shape, unsigned bits) {
    for (int i = 0; i < shape.rank(); ++i) {
      const bool reduced = bits >> i & 1;
      if (shape[i] == 1) continue;
      if (!axes_.empty() && axes_.back().reduced == reduced)
        axes_.back().extent *= shape[i];
      else
        axes_.push_back({shape[i], reduced});
    }
  }
  int passes() const {
    int n = 0;
    for (const Axis& axis : axes_) n += axis.reduced;
    return n;
  }
  struct Pass {
    std::int64_t outer = 1, axis = 1, inner = 1;
  };
  /// Takes the last reduced axis away.
  Pass next() {
    std::size_t at = axes_.size();
    Pass pass;
    while (!axes_[--at].reduced) pass.inner *= axes_[at].extent;
    pass.axis = axes_[at].extent;
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

/// Kernels by name, for `reduced`.
struct SumOf {
  template <class T>
  using Result = T;
  template <class T>
  static void run(const T* in, T* out, auto... n) {
    reduce_sum(in, out, n...);
  }
};
struct SumOfSquaresOf {
  template <class T>
  using Result = T;
  template <class T>
  static void run(const T* in, T* out, auto... n) {
    reduce_sum_of_squares(in, out, n...);
  }
};
struct ProdOf {
  template <class T>
  using Result = T;
  template <class T>
  static void run(const T* in, T* out, auto... n) {
    reduce_prod(in, out, n...);
  }
};
struct MaxOf {
  template <class T>
  using Result = T;
  template <class T>
  static void run(const T* in, T* out, auto... n) {
    reduce_max(in, out, n...);
  }
};
struct MinOf {
  template <class T>
  using Result = T;
  template <class T>
  static void run(const T* in, T* out, auto... n) {
    reduce_min(in, out, n...);
  }
};
struct AnyOf {
  template <class T>
  using Result = bool;
  template <class T>
  static void run(const T* in, bool* out, auto... n) {
    reduce_any(in, out, n...);
  }
};
struct AllOf {
  template <class T>
  using Result = bool;
  template <class T>
  static void run(const T* in, bool* out, auto... n) {
    reduce_all(in, out, n...);
  }
};

/// x reduced over the groups by the kernels named `First`, then `Next` for the axes that are no neighbours of
/// the first.
template <class First, class Next = First>
Tensor reduced(const Tensor& x, const Groups& groups) {
  JoinedAxes axes(x.shape(), groups.bits);
  const auto pass = [&]<class Kernel>(const Tensor& in, Kernel) {
    return dispatch(in.dtype(), [&]<class T>() {
      using Result = typename Kernel::template Result<T>;
      const auto [outer, axis, inner] = axes.next();
      Tensor out = Tensor::empty(axes.passes() ? Shape{outer * inner} : groups.shape, dtype_of<Result>());
      Kernel::template run<T>(in.pointer<T>(), out.pointer<Result>(), outer, axis, inner);
      return out;
    });
  };
  const int passes = axes.passes();
  if (passes == 0)
    return dispatch(x.dtype(), [&]<class T>() {
      return converted(x, dtype_of<typename First::template Result<T>>()).alias(groups.shape);
    });
  Tensor out = pass(x, First());
  for (int i = 1; i < passes; ++i) out = pass(out, Next());
  return out;
}

/// The same for float16 in float32, rounded once, when there is more than one pass.
template <class Kernel>
Tensor reduced_exactly(const Tensor& x, const Groups& groups) {
  if (x.dtype() != DType::Float16 || JoinedAxes(x.shape(), groups.bits).passes() < 2)
    return reduced<Kernel>(x, groups);
  return converted(reduced<Kernel>(converted(x, DType::Float32), groups), DType::Float16);
}

}  // namespace ktape::kernels
