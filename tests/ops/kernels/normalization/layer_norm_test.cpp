#include <doctest/doctest.h>
#include <ktape/autograd/base/dtype.hpp>
#include <ktape/ops/kernels/normalization/layer_norm.hpp>

#include <random>
#include <xtensor/xmath.hpp>

#include "../../../close.hpp"
#include "../../../reference/reference.hpp"

namespace {

using namespace ktape;
using i64 = std::int64_t;
namespace k = ktape::kernels;
using Rows = reference::Array;

/// Multiples of 1/16, which every floating dtype holds.
Rows numbers(const reference::Extents& shape, unsigned seed) {
  std::mt19937 random(seed);
  Rows x(shape);
  for (double& each : x) each = static_cast<double>(random() % 65) / 16 - 2;
  return x;
}

template <class T>
std::vector<T> rounded(const Rows& x) {
  std::vector<T> out(x.size() + 64);  // kernels read whole vectors
  std::transform(x.begin(), x.end(), out.begin(), [](double v) { return T(static_cast<float>(v)); });
  return out;
}

template <class T>
Tolerance tolerance(double scale) {
  return {.atol = scale * (std::is_same_v<T, double> ? 1e-13 : std::is_same_v<T, float> ? 4e-6 : 4e-3)};
}

/// Returns the first elements, without the memory after them.
template <class T>
std::vector<double> first(const std::vector<T>& x, std::size_t n) {
  return {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n)};
}

constexpr double epsilon = 0.125;

}  // namespace

TEST_CASE_TEMPLATE("kernels: layer normalization and its gradients agree with their formulas", T, float,
                   double) {
  for (const std::size_t n : {1, 2, 7, 16, 33, 100, 257})
    for (const std::size_t rows : {1, 5, 64, 131}) {
      CAPTURE(n);
      CAPTURE(rows);
      const Rows x = numbers({rows, n}, 1), g = numbers({rows, n}, 2);
      const Rows gamma = numbers({n}, 3), beta = numbers({n}, 4);
      const auto xs = rounded<T>(x), gs = rounded<T>(g), gammas = rounded<T>(gamma), betas = rounded<T>(beta);
      std::vector<T> y(xs.size()), dx(xs.size()), dgamma(gammas.size()), dbeta(gammas.size());
      std::vector<k::RowScaling<k::compute_type<T>>> moments(rows);
      k::layer_norm(xs.data(), gammas.data(), betas.data(), y.data(), moments.data(), i64(rows), i64(n),
                    epsilon);
      k::layer_norm_backward(xs.data(), gammas.data(), gs.data(), moments.data(), dx.data(), dgamma.data(),
                             dbeta.data(), i64(rows), i64(n));

      const Rows normalized = reference::layer_normalization(x, gamma, beta, epsilon);
      CHECK(close(first(y, x.size()), normalized, tolerance<T>(4)));
      const reference::Axes last{1};
      const Rows scale = 1 / xt::sqrt(reference::var(x, last, true) + epsilon);
      const Rows normal = (x - reference::mean(x, last, true)) * scale, h = g * gamma, products = h * normal;
      const Rows wanted =
          scale * (h - reference::mean(h, last, true) - normal * reference::mean(products, last, true));
      CHECK(close(first(dx, x.size()), wanted, tolerance<T>(16)));
      const Rows gamma_terms = g * normal;
      const double terms = static_cast<double>(rows);
      CHECK(close(first(dgamma, n), reference::sum(gamma_terms, {0}, false), tolerance<T>(8 * terms)));
      CHECK(close(first(dbeta, n), reference::sum(g, {0}, false), tolerance<T>(2 * terms)));
    }
}
