#pragma once
#include <doctest/doctest.h>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "../../catalogue.hpp"

/// Functions of two numbers, compared with C's number by number.
namespace number_pairs {

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor;

/// Returns numbers of all sizes, near integers and special ones, in pairs.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> some = {0, 0.5, 1, 3, 60, T(0.1), T(0.7), T(1e5), T(1e10), T(1e30), T(1e-20)};
  some.insert(some.end(), {Limits::min(), Limits::denorm_min(), Limits::max(), Limits::infinity()});
  for (std::size_t i = 0, n = some.size(); i < n; ++i) some.push_back(-some[i]);
  some.push_back(Limits::quiet_NaN());
  std::vector<T> x, y;
  for (const T a : some)
    for (const T b : some) x.push_back(a), y.push_back(b);
  std::mt19937 bits(7);
  std::uniform_real_distribution<T> fraction(-1, 1);
  for (int exponent = -40; exponent <= 40; ++exponent)
    for (int i = 0; i < 50; ++i) {
      const T b = fraction(bits), whole = std::floor(fraction(bits) * 1000);
      x.push_back(i % 2 ? std::ldexp(fraction(bits), exponent) : std::nextafter(whole * b, fraction(bits)));
      y.push_back(b);
    }
  return {x, y};
}

/// Checks that the op returns the bits of `exact`, for float32 and float64.
template <class F, class G>
void check_bits(const char* op, F f, G exact) {
  const auto check_dtype = [&]<class T>(T) {
    const auto numbers = pairs<T>();
    const std::vector<T>&x = numbers.first, &y = numbers.second;
    const Tensor got =
        f(K::constant(x, {.dtype = ktape::dtype_of<T>()}), K::constant(y, {.dtype = ktape::dtype_of<T>()}));
    REQUIRE(got.dtype() == ktape::dtype_of<T>());
    const T* const elements = got.pointer<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T wanted = exact(x[i], y[i]), value = elements[i];
      const bool equal = std::isnan(wanted) ? std::isnan(value)
                                            : value == wanted && std::signbit(value) == std::signbit(wanted);
      INFO(op, '(', x[i], ", ", y[i], ") = ", value, ", wanted ", wanted);
      if (!equal) CHECK(equal);
    }
  };
  check_dtype(float{});
  check_dtype(double{});
}

}  // namespace number_pairs
