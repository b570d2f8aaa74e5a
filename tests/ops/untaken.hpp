#pragma once
#include <ktape/ktape.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

#include "check.hpp"

/// Helpers of the tests of branches that are not taken.
namespace untaken {

namespace K = ktape::backend;
using ktape::DType, ktape::Tensor, ktape::GradientTape;

using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensor&)>;
using Function2 = std::function<Tensor(const Tensor&, const Tensor&)>;

inline constexpr double inf = std::numeric_limits<double>::infinity(),
                        not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr DType::Kind both[] = {DType::Float32, DType::Float64};

/// A function, with numbers at which it is smooth.
struct Row {
  std::string name;
  Function f;
  Values good = {0.7};
};

inline Tensor numbers(const Values& list, DType dtype) {
  const Tensor x = Tensor::empty({static_cast<std::int64_t>(list.size())}, DType::Float64);
  std::copy(list.begin(), list.end(), x.pointer<double>());
  return K::cast(x, dtype);
}

/// Returns numbers at which functions have poles, kinks, infinite slopes, or results that overflow or underflow.
inline Values awkward(DType dtype) {
  const bool wide = dtype == DType::Float64;
  const double most = wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  const double least =
      wide ? std::numeric_limits<double>::denorm_min() : std::numeric_limits<float>::denorm_min();
  return {0, -0., 1, -1, 2, -3, 100, -1000, 1e-30, most, -most, least, -least, inf, -inf, not_a_number};
}

inline Values joined(Values a, const Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The gradients of the first `orders` orders of the sum of f(x), each weighted before the next is taken.
inline Tensors gradients_of(const std::function<Tensor(const Tensors&)>& f, const Tensors& x,
                            std::size_t which, int orders) {
  GradientTape tape;
  for (const Tensor& t : x) tape.watch(t);
  Tensors found;
  Tensor y = K::sum(f(x));
  for (int order = 0; order < orders; ++order) {
    Tensor g = tape.gradient(y, x[which], {.unconnected_gradients = "zero"});
    found.push_back(g);
    y = K::sum(g * 0.5);
  }
  return found;
}

/// Returns a description of the first element that is wrong, or "": the elements that are not taken are 0.
inline std::string difference(const Tensor& found, const Tensor& expected, std::int64_t untaken) {
  const Values have = values(K::cast(found, "float64")), want = values(K::cast(expected, "float64"));
  const double rtol = found.dtype() == DType::Float64 ? 1e-9 : 2e-4;
  std::ostringstream text;
  for (std::size_t i = 0; i < have.size(); ++i) {
    const double right =
        static_cast<std::int64_t>(i) < untaken ? 0 : want[i - static_cast<std::size_t>(untaken)];
    const bool good = have[i] == right || std::fabs(have[i] - right) <= rtol * (std::fabs(right) + 1e-3);
    if (!good || !std::isfinite(right)) {
      text << "element " << i << ": " << have[i] << " instead of " << right;
      return text.str();
    }
  }
  return "";
}

}  // namespace untaken
