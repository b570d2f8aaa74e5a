#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "../../reference/gradient_program.hpp"

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

namespace {
Tensor grad(const Tensor& y, const Tensor& x) { return K::gradients(y, x)[0]; }
Variable number(double value) { return Variable(K::constant(value, {.dtype = "float64"})); }
}  // namespace

TEST_CASE("a loss may use a gradient directly and through a higher one") {
  const Variable x = number(0.3), w = number(1.7);
  const Tensor u = K::square(x) * w, d = grad(u, x), d2 = grad(d, x);
  CHECK(grad(d2 + d, w).item<double>() == doctest::Approx(2 + 2 * 0.3));
  CHECK(grad(d + d2, w).item<double>() == doctest::Approx(2 + 2 * 0.3));
  CHECK(grad(3. * d2 + 2. * d + u, w).item<double>() == doctest::Approx(6 + 4 * 0.3 + 0.09));
  // Once more, when all nodes are there already.
  CHECK(grad(3. * d2 + 2. * d + u, w).item<double>() == doctest::Approx(6 + 4 * 0.3 + 0.09));
}

TEST_CASE("gradients of several orders become ready after their last addition") {
  const Variable x = number(0.5), w = number(2), b = number(3);
  const Tensor u = K::square(x) * w * b, d = grad(u, x), d2 = grad(d, x);
  const std::vector<Tensor> both = K::gradients(d2 * d + u, {w, b});
  const double slope = 2 * 0.5 * 2 * 3, curvature = 2 * 2 * 3, value = 0.25 * 2 * 3;
  CHECK(both[0].item<double>() == doctest::Approx((2 * curvature * slope + value) / 2));
  CHECK(both[1].item<double>() == doctest::Approx((2 * curvature * slope + value) / 3));
}

TEST_CASE("losses that mix gradients of orders 0 to 3 have the gradients of differences") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const std::string problem = reference::GradientProgram(seed).problem();
    CHECK_MESSAGE(problem.empty(), problem);
  }
}
