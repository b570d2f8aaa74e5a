#include <algorithm>
#include <cmath>
#include <limits>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

#include "reference.hpp"

namespace reference {
namespace {

using Path = std::vector<std::size_t>;

/// Returns the log of the sum of two numbers whose logs are given.
double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return std::isinf(a) ? a : a + std::log1p(std::exp(b - a));
}

/// Returns log alpha (steps, states): the probability of all path beginnings that are in a state after a
/// step.
Array forward(const Array& log_p, const Path& path) {
  Array alpha = -std::numeric_limits<double>::infinity() * xt::ones<double>({log_p.shape(0), path.size()});
  for (std::size_t t = 0; t < log_p.shape(0); ++t)
    for (std::size_t s = 0; s < path.size(); ++s) {
      double before = alpha(t, s);
      if (t == 0 && s < 2) before = 0;
      if (t > 0) before = alpha(t - 1, s);
      if (t > 0 && s > 0) before = log_add(before, alpha(t - 1, s - 1));
      // A path may skip the blank between two different labels, but not between equal labels.
      if (t > 0 && s > 1 && path[s] != path[s - 2]) before = log_add(before, alpha(t - 1, s - 2));
      alpha(t, s) = before + log_p(t, path[s]);
    }
  return alpha;
}

}  // namespace

CtcCost ctc(const Array& y, const std::vector<std::size_t>& labels, double epsilon) {
  const std::size_t steps = y.shape(0), blank = y.shape(1) - 1;
  Path path{blank};
  for (const std::size_t label : labels) path.push_back(label), path.push_back(blank);
  const Array shifted = y + epsilon, sums = xt::sum(shifted, {1}, xt::keep_dims);
  const Array log_p = xt::log(shifted / sums);

  // The path endings are the beginnings of the reversed sequence.
  const Array alpha = forward(log_p, path);
  const Array beta = xt::flip(xt::flip(forward(xt::flip(log_p, 0), Path(path.rbegin(), path.rend())), 0), 1);
  double total = alpha(steps - 1, path.size() - 1);
  if (path.size() > 1) total = log_add(total, alpha(steps - 1, path.size() - 2));

  Array occupied = xt::zeros_like(y);
  for (std::size_t t = 0; t < steps; ++t)
    for (std::size_t s = 0; s < path.size(); ++s)  // both contain the probability of the step
      occupied(t, path[s]) += std::exp(alpha(t, s) + beta(t, s) - log_p(t, path[s]) - total);
  return {-total, 1 / sums - occupied / shifted};
}

}  // namespace reference
