#pragma once
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>

#include <cmath>

/// Sums of products in which zeros hide the numbers that they are multiplied with. Internal: sources only.
namespace ktape::op_helpers {

/// The operands of a product whose zeros hide the numbers beside them, infinity and NaN, too: gradients, or the
/// weights of steps that may be masked.
struct Hiding {
  bool left = false, right = false;
};

/// Returns whether `count` elements, `step` apart, are finite.
template <class T>
bool all_finite(const T* x, std::int64_t count, std::int64_t step = 1) {
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) finite &= std::isfinite(static_cast<double>(x[i * step]));
  return finite;
}
/// Returns whether the first `count` elements of a floating tensor are finite.
inline bool all_finite(const Tensor& x, std::int64_t count) {
  return dispatch_floating(x.dtype(), [&]<class T>() { return all_finite(x.pointer<T>(), count); });
}

/// Returns multiply(x, y), whose elements are sums of products of elements of x and y, without the numbers that zeros
/// hide. `all` is the result with these numbers.
template <class F>
Tensor without_hidden(const Tensor& all, const Tensor& x, const Tensor& y, Hiding hiding, const F& multiply) {
  const NoGrad off;
  const auto number = [&](const Tensor& truth) { return backend::cast(truth, all.dtype()); };
  const auto shown = [](const Tensor& t, bool hidden) {
    return hidden ? backend::where(backend::is_finite(t), t, 0) : t;
  };
  const Tensor some = multiply(shown(x, hiding.right), shown(y, hiding.left));
  // Where infinity or NaN meets a number that does not hide it, it counts.
  const auto spread = [&](const Tensor& t) { return number(~backend::is_finite(t)); };
  Tensor met;
  if (hiding.left) met = multiply(number(x != 0), spread(y));
  if (hiding.right) {
    const Tensor other = multiply(spread(x), number(y != 0));
    met = met.defined() ? met + other : other;
  }
  return backend::where(met > 0, all, some);
}

}  // namespace ktape::op_helpers
