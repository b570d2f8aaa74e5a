#include <doctest/doctest.h>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/fft/fft.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include <array>
#include <cmath>
#include <numbers>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor, ktape::ValueError;

namespace {

/// Returns number k of the transform of one row by the definition.
std::array<double, 2> defined(const double* re, const double* im, std::int64_t n, std::int64_t k) {
  double a = 0, b = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
    a += re[j] * std::cos(angle) - im[j] * std::sin(angle),
        b += re[j] * std::sin(angle) + im[j] * std::cos(angle);
  }
  return {a, b};
}

}  // namespace

TEST_CASE("ops: transforms of every length agree with the sum of their definition") {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 12, 31, 37, 60, 74, 97}) {
    CAPTURE(n);
    const Tensor re = normal({n}, 1), im = normal({n}, 2);
    const auto [real, imag] = ops::fft({re, im});
    for (std::int64_t k = 0; k < n; ++k) {
      const auto [a, b] = defined(re.pointer<double>(), im.pointer<double>(), n, k);
      CHECK(real.item<double>(k) == doctest::Approx(a).epsilon(1e-10));
      CHECK(imag.item<double>(k) == doctest::Approx(b).epsilon(1e-10));
    }
    CHECK(close(ops::irfft(ops::rfft(re), n), re, {.rtol = 1e-10, .atol = 1e-10}));
  }
}

TEST_CASE("ops: windows of one point, and none, of sequences shorter than the transform") {
  const Tensor x = doubles({1., 2., 3., 4., 5., 6., 7., 8.});
  for (const char* name : {"hann", "hamming"}) {
    // One point is not shaped: the spectrum of a frame is the number in its middle.
    const auto [real, imag] = ops::stft(x, 1, 1, 1, {.window = name, .center = false});
    CHECK(values(real) == values(x));
    CHECK(K::max(K::abs(imag)).item() == 0);
    CHECK(close(ops::istft({real, imag}, 1, 1, 1, {.window = name, .center = false}), x));
    const auto wider = ops::stft(x, 1, 1, 4, {.window = name, .center = false});
    CHECK(close(K::index(wider.first, {ktape::All, 0}), doubles({2., 3., 4., 5., 6.})));
    CHECK(close(ops::istft(wider, 1, 1, 4, {.window = name, .center = false}),
                doubles({0., 2., 3., 4., 5., 6., 0., 0.})));
  }
  // Without a window, all fft_length points count.
  const auto [real, imag] = ops::stft(x, 2, 4, 4, {.window = ktape::None, .center = false});
  CHECK(close(K::index(real, {ktape::All, 0}), doubles({10., 26.})));
  CHECK(close(ops::istft({real, imag}, 2, 4, 4, {.window = ktape::None, .center = false}), x));
  const auto vector = ops::stft(x, 2, 4, 4, {.window = K::ones({2}), .center = false});
  CHECK(close(K::index(vector.first, {ktape::All, 0}), doubles({5., 13.})));
}

TEST_CASE("ops: transforms of few and of many rows, short and long") {
  for (const std::int64_t n : {16, 49, 64, 100, 243, 300, 1000, 1024, 4096, 9973, 15000, 16384})
    for (const std::int64_t rows : {1, 3, 8, 21}) {
      if (n > 1024 && rows > 3) continue;
      CAPTURE(n);
      CAPTURE(rows);
      const Tensor re = normal({rows, n}, 1), im = normal({rows, n}, 2);
      const auto [real, imag] = ops::fft({re, im});
      for (std::int64_t row = 0; row < rows; row += 2)
        for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, n / 3, n / 2, n - 1}) {
          const auto [a, b] = defined(re.pointer<double>() + row * n, im.pointer<double>() + row * n, n, k);
          CHECK(std::abs(real.item<double>(row, k) - a) < 1e-10 * static_cast<double>(n));
          CHECK(std::abs(imag.item<double>(row, k) - b) < 1e-10 * static_cast<double>(n));
        }
      // Exchanged parts give the inverse, times n.
      const auto [swapped, back] = ops::fft({imag, real});
      CHECK(close(back / static_cast<double>(n), re, {.rtol = 1e-10, .atol = 1e-10}));
      CHECK(close(swapped / static_cast<double>(n), im, {.rtol = 1e-10, .atol = 1e-10}));
      CHECK(close(ops::irfft(ops::rfft(re), n), re, {.rtol = 1e-10, .atol = 1e-10}));
    }
}

TEST_CASE("ops: the transform of an image is the transform of its rows and of its columns") {
  for (const auto& extents :
       {std::array<std::int64_t, 2>{5, 3}, {64, 100}, {100, 7}, {300, 33}, {37, 20}, {9000, 5}}) {
    const std::int64_t height = extents[0], width = extents[1];
    CAPTURE(height);
    CAPTURE(width);
    const ops::ComplexPair image{normal({height, width}, 1), normal({height, width}, 2)};
    const auto rows = ops::fft(image);
    const auto columns = ops::fft({K::transpose(rows.first), K::transpose(rows.second)});
    const auto found = ops::fft2(image);
    CHECK(close(found.first, K::transpose(columns.first), {.rtol = 1e-10, .atol = 1e-10}));
    CHECK(close(found.second, K::transpose(columns.second), {.rtol = 1e-10, .atol = 1e-10}));
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
