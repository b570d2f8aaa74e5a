#include <doctest/doctest.h>
#include <ktape/ops/kernels/simd/math.hpp>

#include "../arrays.hpp"

#include <random>

/// The elementary functions of vectors against those of C, in units in the last place.
namespace {

namespace functions = k::functions;

/// Numbers at which functions have poles, bounds and results of their own.
template <class T>
std::vector<T> special_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> x = {0,      0.5,     1,       2,       3,        100,          1000,
                      T(1e5), T(1e10), T(1e30), T(1e-7), T(1e-20), T(0.9999999), T(1.0000001)};
  x.insert(x.end(),
           {Limits::min(), Limits::min() / 4, Limits::denorm_min(), Limits::max(), Limits::infinity()});
  const std::size_t positive = x.size();
  for (std::size_t i = 0; i < positive; ++i) x.push_back(-x[i]);
  x.push_back(Limits::quiet_NaN());
  return x;
}

/// Returns the distance of `got` from `wanted` in units in the last place of `wanted`.
template <class T>
double units(T got, long double wanted) {
  const T rounded = static_cast<T>(wanted);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : INFINITY;
  if (got == rounded) return std::signbit(got) == std::signbit(rounded) ? 0 : INFINITY;
  if (!std::isfinite(rounded) || !std::isfinite(got)) return INFINITY;
  const T size = std::fabs(rounded), unit = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
  return static_cast<double>(std::fabs(got - wanted) / unit);
}

/// Compares a function of the vectors of T with a function of long doubles.
template <class T, class F, class G>
void check_pairs(const char* name, const std::vector<T>& x, const std::vector<T>& y, double most, F f,
                 G exact) {
  constexpr std::size_t lanes = k::Batch<T>::size;
  for (std::size_t i = 0; i < x.size(); i += lanes) {
    T a[lanes], b[lanes], got[lanes];
    for (std::size_t j = 0; j < lanes; ++j) a[j] = x[(i + j) % x.size()], b[j] = y[(i + j) % y.size()];
    k::Batch<T>(f(k::Batch<T>::load_unaligned(a), k::Batch<T>::load_unaligned(b))).store_unaligned(got);
    for (std::size_t j = 0; j < lanes; ++j) {
      const long double wanted = exact(static_cast<long double>(a[j]), static_cast<long double>(b[j]));
      const double error = units(got[j], wanted);
      if (error <= most) continue;
      INFO(name, '(', a[j], ", ", b[j], ") = ", got[j], ", wanted ", static_cast<double>(wanted));
      CHECK(error <= most);
    }
  }
}

struct Range {
  double from, to;
};

template <class T>
std::vector<T> random_numbers(Range range, unsigned seed) {
  std::mt19937_64 bits(seed);
  std::uniform_real_distribution<double> uniform(range.from, range.to);
  std::vector<T> x(10007);
  for (T& each : x) each = static_cast<T>(uniform(bits));
  return x;
}

/// Checks a function on a range and on special numbers, for float and double.
template <class F, class G>
void check(const char* name, Range range, F f, G exact, double most = 4) {
  const auto check_dtype = [&]<class T>(T) {
    const auto vectors = [f](const auto& x, const auto&) { return f(x); };
    const auto one = [exact](long double x, long double) -> long double { return exact(x); };
    const std::vector<T> x = random_numbers<T>(range, 1);
    check_pairs(name, x, x, most, vectors, one);
    check_pairs(name, special_numbers<T>(), special_numbers<T>(), most, vectors, one);
  };
  check_dtype(float{});
  check_dtype(double{});
}
/// Checks a function of two numbers, also on all pairs of special numbers.
template <class F, class G>
void check_two(const char* name, Range range, F f, G exact, double most = 4) {
  const auto check_dtype = [&]<class T>(T) {
    check_pairs(name, random_numbers<T>(range, 1), random_numbers<T>(range, 2), most, f, exact);
    for (const T y : special_numbers<T>()) check_pairs(name, special_numbers<T>(), {y}, most, f, exact);
  };
  check_dtype(float{});
  check_dtype(double{});
}

#define EXACT(function) [](long double x) { return std::function(x); }
#define VECTORS(function) [](const auto& x) { return functions::function(x); }

}  // namespace

TEST_CASE("vectors of exponential functions and logarithms") {
  check("exp", {-80, 80}, VECTORS(exp), EXACT(exp));
  check("exp", {-110, -85}, VECTORS(exp), EXACT(exp));
  check("exp2", {-120, 120}, VECTORS(exp2), EXACT(exp2));
  check("expm1", {-5, 5}, VECTORS(expm1), EXACT(expm1));
  check("log", {0.001, 100}, VECTORS(log), EXACT(log));
  check("log", {0.9, 1.1}, VECTORS(log), EXACT(log));
  check("log2", {0.001, 100}, VECTORS(log2), EXACT(log2));
  check("log10", {0.001, 100}, VECTORS(log10), EXACT(log10));
  check("log1p", {-0.9, 10}, VECTORS(log1p), EXACT(log1p));
}

TEST_CASE("vectors of trigonometric functions") {
  for (const Range range : {Range{-10, 10}, Range{-1e5, 1e5}}) {
    check("sin", range, VECTORS(sin), EXACT(sin));
    check("cos", range, VECTORS(cos), EXACT(cos));
    check("tan", range, VECTORS(tan), EXACT(tan));
  }
  check("asin", {-1, 1}, VECTORS(asin), EXACT(asin));
  check("acos", {-1, 1}, VECTORS(acos), EXACT(acos));
  check("atan", {-10, 10}, VECTORS(atan), EXACT(atan));
  check_two(
      "atan2", {-10, 10}, [](const auto& y, const auto& x) { return functions::atan2(y, x); },
      [](long double y, long double x) { return std::atan2(y, x); });
}

TEST_CASE("vectors of hyperbolic functions") {
  check("sinh", {-10, 10}, VECTORS(sinh), EXACT(sinh));
  check("cosh", {-10, 10}, VECTORS(cosh), EXACT(cosh));
  check("tanh", {-5, 5}, VECTORS(tanh), EXACT(tanh), 2);
  check("tanh", {-0.7, 0.7}, VECTORS(tanh), EXACT(tanh), 2);
  check("asinh", {-50, 50}, VECTORS(asinh), EXACT(asinh));
  check("acosh", {1, 50}, VECTORS(acosh), EXACT(acosh));
  check("atanh", {-1, 1}, VECTORS(atanh), EXACT(atanh));
}

TEST_CASE("vectors of the error function, roots and powers") {
  check("erf", {-4, 4}, VECTORS(erf), EXACT(erf));
  check("erfc", {-3, 9}, VECTORS(erfc), EXACT(erfc));
  check("cbrt", {-100, 100}, VECTORS(cbrt), EXACT(cbrt));
  check_two(
      "hypot", {-10, 10}, [](const auto& x, const auto& y) { return functions::hypot(x, y); },
      [](long double x, long double y) { return std::hypot(x, y); });
}

TEST_CASE("vectors of powers") {
  const auto power = [](const auto& x, const auto& a) { return functions::pow(x, a); };
  const auto exact = [](long double x, long double a) { return std::pow(x, a); };
  const auto check_dtype = [&]<class T>(T) {
    for (const Range range : {Range{-20, 20}, Range{-60, 60}})
      check_pairs("pow", random_numbers<T>({0.05, 20}, 1), random_numbers<T>(range, 2), 2, power, exact);
    for (const T a : special_numbers<T>()) check_pairs("pow", special_numbers<T>(), {a}, 2, power, exact);
    for (const int n : {-16, -7, -2, -1, 1, 5, 12, 16})
      check_pairs(
          "whole_power", special_numbers<T>(), {T(0)}, 3,
          [n](const auto& x, const auto&) { return k::Batch<T>(k::wide::whole_power<T>(x, n)); },
          [n](long double x, long double) { return std::pow(x, static_cast<long double>(n)); });
  };
  check_dtype(float{});
  check_dtype(double{});
}

TEST_CASE("vectors of the logistic function and of the bell curve") {
  const auto logistic = [](long double x) { return 1 / (1 + std::exp(-x)); };
  check("logistic", {-20, 20}, VECTORS(logistic), logistic, 3);
  check("logistic", {-110, -85}, VECTORS(logistic), logistic, 3);
  check(
      "logistic_slope", {-30, 30}, VECTORS(logistic_slope),
      [&](long double x) { return logistic(x) * logistic(-x); }, 5);
  check(
      "gaussian", {-9, 9}, VECTORS(gaussian), [](long double x) { return std::exp(-x * x); }, 3);
}
