#include <doctest/doctest.h>
#include <ktape/ops/keras/fft/fft.hpp>
#include <ktape/ops/operators.hpp>

#include <numbers>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor, ktape::ValueError;

TEST_CASE("ops: transforms of every length agree with the sum of their definition") {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 12, 31, 37, 60, 74, 97}) {
    CAPTURE(n);
    const Tensor re = normal({n}, 1), im = normal({n}, 2);
    const auto [real, imag] = ops::fft({re, im});
    for (std::int64_t k = 0; k < n; ++k) {
      double a = 0, b = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
        const double x = re.item<double>(j), y = im.item<double>(j);
        a += x * std::cos(angle) - y * std::sin(angle), b += x * std::sin(angle) + y * std::cos(angle);
      }
      CHECK(real.item<double>(k) == doctest::Approx(a).epsilon(1e-10));
      CHECK(imag.item<double>(k) == doctest::Approx(b).epsilon(1e-10));
    }
    CHECK(close(ops::irfft(ops::rfft(re), n), re, {.rtol = 1e-10, .atol = 1e-10}));
  }
}

TEST_CASE("ops: Fourier transforms refuse wrong arguments") {
  CHECK_THROWS_WITH_AS(
      ops::fft({K::zeros({2}), K::zeros({3})}),
      "[fft] both parts must have one shape of rank 1 or more: received real=(2,), imag=(3,)", ValueError);
  CHECK_THROWS_AS(ops::rfft(K::zeros({4}), 0), ValueError);
  CHECK_THROWS_AS(ops::stft(K::zeros({9}), 8, 2, 4), ValueError);
  CHECK_THROWS_WITH_AS(
      ops::stft(K::zeros({9}), 4, 2, 4, {.window = "kaiser"}),
      "[stft] window must be \"hann\", \"hamming\", None or a vector: received window=\"kaiser\"",
      ValueError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  const Tensor x = normal({2, 5}), y = normal({2, 5}, 2), signal = normal({2, 12}, 3);
  const auto known = [](const Tensor& part, std::int64_t n) { return K::reshape(part, {-1, n}); };
  return {
      {"ops::fft", of2([](const Tensor& a, const Tensor& b) { return ops::fft({a, b}).first; }), {x, y}},
      {"ops::fft2", of2([](const Tensor& a, const Tensor& b) { return ops::fft2({a, b}).second; }), {x, y}},
      {"ops::ifft2", [=](In in) { return ops::ifft2({K::reshape(in[0], {-1, 2, 5}), K::reshape(in[0] * 2., {-1, 2, 5})}).first; }, {x}},
      {"ops::rfft", [](In in) { return ops::rfft(in[0], 6).second; }, {normal({2, 6})}},
      {"ops::irfft", [=](In in) { return ops::irfft({known(in[0], 5), known(in[0], 5) * 2.}, 7); }, {x}},
      {"ops::stft", [=](In in) { return ops::stft(known(in[0], 12), 4, 2, 6).first; }, {signal}},
      {"ops::istft", [=](In in) { return ops::istft({K::reshape(in[0], {-1, 6, 4}), K::reshape(in[0] * 2., {-1, 6, 4})}, 4, 2, 6); }, {normal({6, 4})}},
  };
});
// clang-format on

}  // namespace
