#include <ktape/ops/keras/fft/fft.hpp>

#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

TEST_CASE("onnx: DFT transforms real and complex signals along an axis") {
  const Tensor x = normal({2, 5, 3, 2}, 1, "float32");
  const auto part = [](const Tensor& y, int i) { return y[{ktape::Ellipsis, i}]; };
  const auto turned = [](const Tensor& y) { return K::permute_dimensions(y, {0, 2, 1}); };
  const Tensor y = run_operator("DFT", {x});
  const auto [real, imag] = ktape::ops::fft({turned(part(x, 0)), turned(part(x, 1))});
  CHECK(close(turned(part(y, 0)), real, {.atol = 1e-5}));
  CHECK(close(turned(part(y, 1)), imag, {.atol = 1e-5}));
  CHECK(close(run_operator("DFT", {y}, onnx_integer("inverse", 1)), x, {.atol = 1e-5}));
  const Tensor reals = K::expand_dims(part(x, 0), -1);
  const Tensor half = run_operator("DFT", {reals}, onnx_integer("onesided", 1));
  CHECK(half.shape() == ktape::Shape{2, 3, 3, 2});
  const auto bins = ktape::ops::rfft(turned(part(x, 0)));
  CHECK(close(turned(part(half, 1)), bins.second, {.atol = 1e-5}));
  CHECK(run_operator("DFT", {x, K::constant(8, {.dtype = "int64"})}).shape() == ktape::Shape{2, 8, 3, 2});
  CHECK(run_operator("DFT", {x, K::constant(3, {.dtype = "int64"})}, onnx_integer("axis", 2)).shape() ==
        x.shape());
  CHECK_THROWS_WITH_AS(run_operator("DFT", {normal({2, 5}, 1, "float32")}),
                       Contains("the last axis must have the real and the imaginary part"), ValueError);
  CHECK_THROWS_WITH_AS(run_operator("DFT", {x}, onnx_integer("axis", 3)),
                       Contains("axis must not be the last axis"), ValueError);
  CHECK_THROWS_WITH_AS(run_operator("DFT", {x, K::constant(0, {.dtype = "int64"})}),
                       Contains("dft_length must be 1 or more"), ValueError);
}
