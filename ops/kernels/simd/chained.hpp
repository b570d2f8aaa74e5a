#pragma once
#include <ktape/ops/kernels/simd/vector.hpp>

namespace ktape::kernels {

/// Returns g * slope, a step of the chain rule: 0 where the gradient g is 0, whatever the slope is. What does not
/// matter has the gradient 0, and may have a slope that is infinite or NaN.
template <class A>
Vec<A> chained(Vec<A> g, Vec<A> slope) {
  return g == A(0) ? Vec<A>{} : g * slope;
}

}  // namespace ktape::kernels
