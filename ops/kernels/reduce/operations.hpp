#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ktape::kernels::detail {

/// The operations of reductions, for numbers and vectors: `map` of an element, `combine` of two partial
/// results, and the `neutral` element that changes no result. `Total`, the type for the results of blocks,
/// keeps sums of float32 exact to about 1e-7.
template <class A>
using Precise = std::conditional_t<std::is_same_v<A, float>, double, A>;

// clang-format off
struct Sum {
  template <class A> using Total = Precise<A>;
  template <class A> static constexpr A neutral() { return A(0); }
  template <class A> static constexpr A identity() { return A(0); }
  template <class V> static V map(V x) { return x; }
  template <class V> static V combine(V a, V b) { return V(a + b); }
};
struct SumOfSquares : Sum {
  template <class V> static V map(V x) { return V(x * x); }
};
/// The sum of integers without wrapping of narrow types: blocks are added up as A, the sums of blocks as
/// int64.
struct WideSum : Sum {
  template <class A> using Total = std::conditional_t<std::is_integral_v<A>, std::int64_t, Precise<A>>;
};
struct Prod {
  template <class A> using Total = Precise<A>;
  template <class A> static constexpr A neutral() { return A(1); }
  template <class A> static constexpr A identity() { return A(1); }
  template <class V> static V map(V x) { return x; }
  template <class V> static V combine(V a, V b) {
    if constexpr (std::is_integral_v<V>) return V(std::uint64_t(a) * b);  // as int, short ones would overflow
    else return V(a * b);
  }
};
struct Max {
  template <class A> using Total = A;
  template <class A> static constexpr A identity() {
    using L = std::numeric_limits<A>;
    return L::has_infinity ? A(-L::infinity()) : L::lowest();
  }
  template <class A> static constexpr A neutral() { return identity<A>(); }
  template <class V> static V map(V x) { return x; }
  template <class V> static V combine(V a, V b) { return ((a > b) | (a != a)) ? a : b; }  // a NaN wins
};
struct Min {
  template <class A> using Total = A;
  template <class A> static constexpr A identity() {
    using L = std::numeric_limits<A>;
    return L::has_infinity ? L::infinity() : L::max();
  }
  template <class A> static constexpr A neutral() { return identity<A>(); }
  template <class V> static V map(V x) { return x; }
  template <class V> static V combine(V a, V b) { return ((a < b) | (a != a)) ? a : b; }
};
/// Any and All read the bits of the elements; the sign bit of a floating-point number is ignored, because -0
/// is false.
template <bool Float>
struct Any {
  template <class A> using Total = A;
  template <class A> static constexpr A identity() { return A(0); }
  template <class A> static constexpr A neutral() { return A(0); }
  template <class V> static V map(V x) { return Float ? V(x + x) : x; }
  template <class V> static V combine(V a, V b) { return V(a | b); }
};
template <bool Float>
struct All {
  template <class A> using Total = A;
  template <class A> static constexpr A identity() { return A(~A(0)); }
  template <class A> static constexpr A neutral() { return A(1); }
  template <class V> static V map(V x) {
    if (Float) x = V(x + x);
    if constexpr (std::is_integral_v<V>) return x != 0 ? V(~V(0)) : V(0);
    else return (V)(x != 0);
  }
  template <class V> static V combine(V a, V b) { return V(a & b); }
};
// clang-format on

}  // namespace ktape::kernels::detail
