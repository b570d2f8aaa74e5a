#pragma once
/// The one comparison of numbers in the tests:
///
///     CHECK(close(K::std(x).item(), std::sqrt(0.1875)));
///     CHECK(close(K::matmul(a, b), wanted, {.rtol = 1e-5}));
///
/// of numbers, of ranges of numbers and of tensors. A failure names the first wrong index and both values.
#include <ktape/autograd/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <iomanip>
#include <limits>
#include <ostream>
#include <ranges>
#include <sstream>
#include <string>
#include <vector>

/// How far apart numbers may be: as many units in the last place of `want`, in the coarser dtype of both. A
/// case that expects more error names it: relative to `want`, or, where terms cancel, absolute. Whole numbers
/// have no last place, so that they must be equal.
struct Tolerance {
  double ulps = 4;
  double rtol = 0;
  double atol = 0;
  bool equal_nan = false;  ///< NaN for NaN agrees
};
inline constexpr Tolerance exactly{.ulps = 0};

/// The result of `close`: true, or the differences as text.
struct Closeness {
  std::string wrong;
  explicit operator bool() const { return wrong.empty(); }
  friend std::ostream& operator<<(std::ostream& out, const Closeness& found) {
    return out << (found ? "close" : found.wrong);
  }
};

namespace closeness {

struct Numbers {
  std::vector<double> values;
  ktape::Shape shape;
  double epsilon = 0;  ///< the distance of 1 and the next number of the dtype
};

template <class T>
constexpr double epsilon_of() {
  if constexpr (std::floating_point<T>) return std::numeric_limits<T>::epsilon();
  return 0;
}

inline Numbers numbers(const ktape::Tensor& x) {
  Numbers out{std::vector<double>(static_cast<std::size_t>(x.size())), x.shape()};
  ktape::convert(out.values.data(), "float64", x.raw(), x.dtype(), x.size());
  if (x.dtype() == "float16") out.epsilon = 0x1p-10;
  if (x.dtype() == "bfloat16") out.epsilon = 0x1p-7;
  if (x.dtype() == "float32") out.epsilon = epsilon_of<float>();
  if (x.dtype() == "float64") out.epsilon = epsilon_of<double>();
  return out;
}

template <class T>
requires std::is_arithmetic_v<T> Numbers numbers(T x) {
  return {{static_cast<double>(x)}, {}, epsilon_of<T>()};
}

template <std::ranges::range R>
Numbers numbers(const R& x) {
  Numbers out{.epsilon = epsilon_of<std::ranges::range_value_t<R>>()};
  for (const auto each : x) out.values.push_back(static_cast<double>(each));
  out.shape = {static_cast<std::int64_t>(out.values.size())};
  return out;
}

inline bool agree(double got, double want, double epsilon, const Tolerance& allowed) {
  if (got == want || (allowed.equal_nan && std::isnan(got) && std::isnan(want))) return true;
  if (!std::isfinite(got) || !std::isfinite(want)) return false;
  const double unit = want == 0 ? 0 : epsilon * std::exp2(std::ilogb(want));
  const double bound = std::max({allowed.ulps * unit, allowed.rtol * std::abs(want), allowed.atol});
  return std::abs(got - want) <= bound;
}

inline std::string index_text(std::size_t offset, const ktape::Shape& shape) {
  ktape::Shape index = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[axis] = static_cast<std::int64_t>(offset) % shape[axis];
    offset /= static_cast<std::size_t>(shape[axis]);
  }
  return ktape::to_string(index);
}

}  // namespace closeness

template <class Got, class Want>
Closeness close(const Got& got, const Want& want, const Tolerance& allowed = {}) {
  const closeness::Numbers a = closeness::numbers(got), b = closeness::numbers(want);
  std::ostringstream wrong;
  wrong << std::setprecision(17);
  if (a.shape != b.shape) {
    wrong << "got shape " << a.shape << ", want " << b.shape;
    return {wrong.str()};
  }
  for (std::size_t i = 0; i < a.values.size(); ++i)
    if (!closeness::agree(a.values[i], b.values[i], std::max(a.epsilon, b.epsilon), allowed)) {
      wrong << "at " << closeness::index_text(i, a.shape) << ": got " << a.values[i] << ", want "
            << b.values[i];
      return {wrong.str()};
    }
  return {};
}

/// Compares several tensors.
inline Closeness close(const std::vector<ktape::Tensor>& got, const std::vector<ktape::Tensor>& want,
                       const Tolerance& allowed = {}) {
  if (got.size() != want.size())
    return {"got " + std::to_string(got.size()) + " tensors, want " + std::to_string(want.size())};
  for (std::size_t i = 0; i < got.size(); ++i)
    if (const Closeness found = close(got[i], want[i], allowed); !found)
      return {"tensor " + std::to_string(i) + ' ' + found.wrong};
  return {};
}
