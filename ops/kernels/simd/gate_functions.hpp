#pragma once
#include <ktape/ops/kernels/simd/exp.hpp>

/// The activations of recurrent cells: `value` of vectors, and `slope`, the derivative as a function of the value.
namespace ktape::kernels {

struct Sigmoid {
  template <class A>
  static Vec<A> value(Vec<A> x) {
    return A(1) / (A(1) + exp_of<A>(-x));
  }
  template <class V>
  static V slope(V y) {
    return y * (1 - y);
  }
};
struct HardSigmoid {
  template <class A>
  static Vec<A> value(Vec<A> x) {
    const Vec<A> y = x * A(0.2) + A(0.5);
    return y < 0 ? Vec<A>{} : y > 1 ? splat(A(1)) : y;
  }
  template <class V>
  static V slope(V y) {
    return ((y > 0) & (y < 1)) ? V{} + decltype(y[0] + 0)(0.2) : V{};
  }
};
struct Tanh {
  template <class A>
  static Vec<A> value(Vec<A> x) {
    return A(1) - A(2) / (exp_of<A>(x + x) + A(1));
  }
  template <class V>
  static V slope(V y) {
    return 1 - y * y;
  }
};
struct Relu {
  template <class A>
  static Vec<A> value(Vec<A> x) {
    return x > 0 ? x : Vec<A>{};
  }
  template <class V>
  static V slope(V y) {
    return y > 0 ? V{} + 1 : V{};
  }
};

}  // namespace ktape::kernels
