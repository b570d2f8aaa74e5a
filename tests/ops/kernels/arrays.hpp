#pragma once
#include <ktape/autograd/base/shape.hpp>
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "../../close.hpp"

/// Plain arrays and loops, with which the tests compare kernels.
using namespace ktape;
namespace k = ktape::kernels;

using i64 = std::int64_t;

/// Elements of any type, bool too, without memory after the last element.
template <class T>
class Array {
 public:
  explicit Array(i64 n) : n_(n), data_(new T[n]()) {}
  T* data() const { return data_.get(); }
  i64 size() const { return n_; }
  T& operator[](i64 i) const { return data_[i]; }

 private:
  i64 n_;
  std::unique_ptr<T[]> data_;
};

template <class T>
Array<T> numbers(i64 n) {
  static std::mt19937 random(7);
  Array<T> x(n);
  for (i64 i = 0; i < n; ++i) {
    const int value = static_cast<int>(random() % 101) - (std::is_unsigned_v<T> ? 0 : 50);
    if constexpr (std::is_same_v<T, bool>) x[i] = value % 2;
    else if constexpr (std::is_integral_v<T>) x[i] = static_cast<T>(value);
    else x[i] = T(value / 16.0f);
  }
  return x;
}

struct View : k::AxisShape {
  i64 at(i64 o, i64 x, i64 j) const { return (o * axis + x) * inner + j; }
};

inline const View views[] = {{0, 3, 2},     {2, 0, 3},      {1, 1, 1},   {3, 5, 1},    {2, 17, 3},
                             {70, 9, 2},    {65, 130, 1},   {1, 33, 65}, {2, 300, 40}, {1, 2, 999},
                             {1, 5, 20003}, {1, 140003, 1}, {1, 9001, 3}};

/// The type in which a reference is computed: wrapping integers, or double.
template <class T>
using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

template <class T>
double tolerance() {
  return std::is_same_v<T, double> ? 1e-13 : std::is_same_v<T, float> ? 2e-6 : 2e-3;
}

/// Returns whether `got` is `wanted`, rounded to T, to within errors relative to `scale`.
template <class T>
bool rounds_to(T got, Wide<T> wanted, double scale = 1) {
  if constexpr (std::is_same_v<T, bool>) return got == (wanted != 0);
  else if constexpr (std::is_integral_v<T>) return got == static_cast<T>(wanted);
  else if (std::isnan(wanted)) return std::isnan(static_cast<double>(got));
  else if (std::isinf(wanted)) return static_cast<double>(got) == wanted;
  else return std::abs(static_cast<double>(got) - wanted) <= tolerance<T>() * (scale + std::abs(wanted));
}

/// Returns a number of any type, with all its digits.
template <class T>
std::string digits(T x) {
  if constexpr (std::is_integral_v<T>) return std::to_string(+x);
  std::ostringstream out;
  out << std::setprecision(17) << double(x);
  return out.str();
}

/// Returns whether got[i] is wanted(i) for every i < n, and names the first difference.
template <class T, class F>
Closeness each_is(const T* got, i64 n, const F& wanted) {
  for (i64 i = 0; i < n; ++i)
    if (const T want = wanted(i); !(got[i] == want))
      return {"at " + std::to_string(i) + ": got " + digits(got[i]) + ", want " + digits(want)};
  return {};
}
template <class T>
Closeness each_is(const Array<T>& got, const Array<T>& wanted) {
  return each_is(got.data(), got.size(), [&](i64 i) { return wanted[i]; });
}

/// Compares one of many results; `found` names the first wrong result.
template <class T>
void expect(Closeness& found, const char* name, i64 index, T got, Wide<T> wanted, double scale = 1) {
  if (!found || rounds_to<T>(got, wanted, scale)) return;
  found.wrong = name + (" at " + std::to_string(index)) + ": got " + digits(got) + ", want " + digits(wanted);
}

/// The comparison of a kernel's result with a loop's.
struct Verdict {
  bool right;
  double wanted;
};

/// Returns whether `got` is `wanted`, rounded to T.
template <class T>
Verdict rounding_verdict(T got, Wide<T> wanted, double scale = 1) {
  if constexpr (std::is_integral_v<T>) return {rounds_to(got, wanted), double(static_cast<T>(wanted))};
  else return {rounds_to(got, wanted, scale), wanted};
}

/// Runs a reduction and checks every result by the verdict `naive(result, column of view)`. A failure names
/// the first wrong result, the wanted result and the reduced elements.
template <class T, class Out, class Kernel, class Naive>
void check_reduction(const char* name, const View& v, const Array<T>& x, const Kernel& kernel,
                     const Naive& naive) {
  INFO(std::string(name), " of ", v.outer, ", ", v.axis, ", ", v.inner);
  Array<Out> out(v.outer * v.inner);
  kernel(x.data(), out.data(), v);
  for (i64 o = 0; o < v.outer; ++o)
    for (i64 j = 0; j < v.inner; ++j) {
      const auto at = [&](i64 i) { return x[v.at(o, i, j)]; };
      const Out got = out[o * v.inner + j];
      const Verdict verdict = naive(got, at);
      if (verdict.right) continue;
      std::string column;
      for (i64 i = 0; i < std::min(v.axis, i64{16}); ++i) column += ' ' + std::to_string(double(at(i)));
      if (v.axis > 16) column += " ...";
      FAIL_CHECK("at ", o, ", ", j, ": got ", double(got), ", want ", verdict.wanted, ", of", column);
      return;
    }
}

/// Calls f(index) for every index of a shape, in order.
inline void for_each_index(const std::vector<i64>& shape,
                           const std::function<void(const std::vector<i64>&)>& f) {
  const i64 n = std::accumulate(shape.begin(), shape.end(), i64{1}, std::multiplies<>());
  std::vector<i64> index(shape.size());
  for (i64 i = 0; i < n; ++i) {
    f(index);
    for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
}

inline i64 offset(const std::vector<i64>& index, const std::vector<i64>& strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), i64{0});
}
