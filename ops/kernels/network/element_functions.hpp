#pragma once
#include <ktape/ops/kernels/network/network.hpp>
#include <ktape/ops/kernels/simd/gate_functions.hpp>

#include <algorithm>
#include <vector>

/// Functions of elements in the kernels of ktape's own.
namespace ktape::kernels {

/// The number of floats in a vector.
inline constexpr std::int64_t float_lanes = lanes<float>;

/// Returns whether `apply_function` knows the functions.
inline bool has_vector_code(const std::vector<ElementFunction>& functions) {
  using Kind = ElementFunction::Kind;
  return std::all_of(functions.begin(), functions.end(), [](const ElementFunction& f) {
    return f.kind == Kind::Relu || f.kind == Kind::Clip || f.kind == Kind::Sigmoid || f.kind == Kind::Tanh ||
           f.kind == Kind::Linear;
  });
}

/// Computes a function of each lane.
inline Vec<float> apply_function(const ElementFunction& f, Vec<float> x) {
  using Kind = ElementFunction::Kind;
  switch (f.kind) {
    case Kind::Relu:  // 0 for minus infinity, whose product with 0 is NaN; NaN for NaN
      return x <= 0 ? (f.alpha == 0 ? Vec<float>{} : x * f.alpha) : x;
    case Kind::Clip:
      return smaller<float>(larger<float>(x, splat(f.alpha)), splat(f.beta));
    case Kind::Sigmoid:
      return Sigmoid::value<float>(x);
    case Kind::Tanh:
      return Tanh::value<float>(x);
    case Kind::Linear:
      return x * f.alpha + f.beta;
    default:
      return x;  // a node with another function has no kernel
  }
}

}  // namespace ktape::kernels
