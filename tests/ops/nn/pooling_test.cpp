#include <ktape/ktape.hpp>

#include <cmath>
#include <limits>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;
using doctest::Contains;

namespace {

Tensor image(const ArrayLike& rows, DType dtype = "float64") {
  const Tensor x = K::constant(rows, {.dtype = dtype});
  return K::reshape(x, {1, x.shape()[0], x.shape()[1], 1});
}

/// Pools channels_last images, window by window.
Tensor plainly(const Tensor& x, std::array<std::int64_t, 2> size, const K::Pool2dOptions& options) {
  const bool same = options.padding == "same";
  const std::vector<std::int64_t> strides = options.strides.over(2);
  std::int64_t out[2], before[2];
  for (int d = 0; d < 2; ++d) {
    const std::int64_t n = x.shape()[d + 1], k = size[std::size_t(d)], s = strides[std::size_t(d)];
    out[d] = same ? (n + s - 1) / s : (n - k) / s + 1;
    before[d] = same ? std::max<std::int64_t>((out[d] - 1) * s + k - n, 0) / 2 : 0;
  }
  Tensor y = Tensor::empty({x.shape()[0], out[0], out[1], x.shape()[3]}, "float64");
  double* to = y.pointer<double>();
  for (std::int64_t b = 0; b < y.shape()[0]; ++b)
    for (std::int64_t i = 0; i < out[0]; ++i)
      for (std::int64_t j = 0; j < out[1]; ++j)
        for (std::int64_t c = 0; c < y.shape()[3]; ++c) {
          double largest = -std::numeric_limits<double>::infinity(), sum = 0, count = 0;
          for (std::int64_t p = 0; p < size[0]; ++p)
            for (std::int64_t q = 0; q < size[1]; ++q) {
              const std::int64_t h = i * strides[0] - before[0] + p, w = j * strides[1] - before[1] + q;
              if (h < 0 || w < 0 || h >= x.shape()[1] || w >= x.shape()[2]) continue;
              const double value = x.item<double>(b, h, w, c);
              largest = std::max(largest, value), sum += value, ++count;
            }
          *to++ = options.pool_mode == "max" ? largest : sum / count;
        }
  return y;
}

}  // namespace

TEST_CASE("pooling takes the largest or the mean of what a window covers") {
  const Tensor x = image({{1., 5., 2.}, {3., -4., 8.}, {-7., 6., -9.}});
  CHECK(values(K::pool2d(x, {2, 2})) == Values{5, 8, 6, 8});
  CHECK(values(K::pool2d(x, {2, 2}, {.pool_mode = "avg"})) == Values{1.25, 2.75, -0.5, 0.25});
  CHECK(values(K::pool2d(x, {2, 2}, {.strides = {2, 2}, .padding = "same"})) == Values{5, 8, 6, -9});
  CHECK(values(K::pool2d(x, {2, 2}, {.strides = {2, 2}, .padding = "same", .pool_mode = "avg"})) ==
        Values{1.25, 5, -0.5, -9});
  CHECK(values(K::pool3d(K::reshape(x, {1, 3, 3, 1, 1}), {3, 3, 1})) == Values{8});
}

TEST_CASE("every layout of windows agrees with plain loops") {
  for (const std::int64_t channels : {1, 3, 16, 21, 64, 83})
    for (const std::array<std::int64_t, 2> size : {std::array<std::int64_t, 2>{2, 2}, {3, 2}, {7, 5}})
      for (const std::array<std::int64_t, 2> strides : {std::array<std::int64_t, 2>{1, 1}, {2, 2}, {3, 4}})
        for (const char* padding : {"valid", "same"})
          for (const char* mode : {"max", "avg"}) {
            const Tensor x = normal({2, 7, 6, channels}, 3);
            const K::Pool2dOptions options{
                .strides = strides, .padding = padding, .data_format = "channels_last", .pool_mode = mode};
            const Tensor wanted = plainly(x, size, options);
            CAPTURE(channels);
            CAPTURE(size[0]);
            CAPTURE(strides[0]);
            CAPTURE(padding);
            CAPTURE(mode);
            CHECK(close(K::pool2d(x, size, options), wanted, {.atol = 1e-12}));
            CHECK(close(K::pool2d(K::cast(x, "float32"), size, options), wanted, {.atol = 1e-5}));
            CHECK(close(K::pool2d(K::cast(x, "float16"), size, options), wanted, {.atol = 5e-3}));
            K::Pool2dOptions first = options;
            first.data_format = "channels_first";
            CHECK(close(K::permute_dimensions(K::pool2d(K::permute_dimensions(x, {0, 3, 1, 2}), size, first),
                                              {0, 2, 3, 1}),
                        wanted, {.atol = 1e-12}));
          }
}

TEST_CASE("pooling has gradients of both orders") {
  for (const std::int64_t channels : {2, 9})
    for (const char* mode : {"max", "avg"})
      for (const char* padding : {"valid", "same"}) {
        const Tensor x = normal({1, 3, 4, channels}, 5);
        check_gradients(
            [&](In in) {
              return K::pool2d(K::square(in[0]), {2, 3},
                               {.strides = {1, 2}, .padding = padding, .pool_mode = mode});
            },
            {x});
        check_gradients(
            [&](In in) {
              return K::pool3d(K::square(in[0]), {2, 1, 2},
                               {.padding = padding, .data_format = "channels_first", .pool_mode = mode});
            },
            {K::reshape(x, {1, channels, 3, 2, 2})});
      }
}

TEST_CASE("gradients in float32 and float16 are those in float64") {
  const Tensor x = normal({2, 9, 9, 70}, 7);
  for (const char* mode : {"max", "avg"}) {
    const auto slope = [&](DType dtype) {
      const Variable v = K::cast(K::cast(x, "float16"), dtype);
      return K::cast(K::gradients(K::sum(K::square(K::pool2d(
                                      v, {3, 3}, {.strides = {2, 2}, .padding = "same", .pool_mode = mode}))),
                                  {v})[0],
                     "float64");
    };
    CHECK(close(slope("float32"), slope("float64"), {.atol = 1e-5}));
    CHECK(close(slope("float16"), slope("float64"), {.atol = 2e-2}));
  }
}

TEST_CASE("the first of equal elements gets the gradient of a maximum") {
  const Variable x = image({{2., 2.}, {2., 1.}});
  CHECK(values(K::gradients(K::pool2d(x, {2, 2}), {x})[0]) == Values{1, 0, 0, 0});
  const double low = -std::numeric_limits<double>::infinity();
  const Variable lowest = image({{low, low}, {low, low}});
  CHECK(values(K::gradients(K::pool2d(lowest, {3, 3}, {.strides = {2, 2}, .padding = "same"}),
                            {lowest})[0]) == Values{1, 0, 0, 0});
}

TEST_CASE("the first of several NaNs gets the gradient of a maximum") {
  const double nan = std::nan("");
  const Variable x = image({{1., nan}, {nan, 2.}});
  CHECK(values(K::gradients(K::pool2d(x, {2, 2}), {x})[0]) == Values{0, 1, 0, 0});
  const Variable first = image({{nan, 3.}, {nan, nan}});
  CHECK(values(K::gradients(K::pool2d(first, {2, 2}), {first})[0]) == Values{1, 0, 0, 0});
}

TEST_CASE("windows of many cells remember the largest, a NaN wins, means of many are exact") {
  const Variable x = K::reshape(K::arange(0, 400, 1, {.dtype = "float64"}), {1, 20, 20, 1});
  const Tensor slope = K::gradients(K::pool2d(x, {20, 20}), {x})[0];
  CHECK(slope.item<double>(0, 19, 19, 0) == 1);
  CHECK(K::sum(slope).item<double>() == 1);
  CHECK(std::isnan(K::pool2d(image({{1., std::nan("")}, {5., 2.}}), {2, 2}).item<double>()));
  const Tensor many = K::full({1, 1000, 1000, 1}, 0.1);
  CHECK(close(K::pool2d(many, {1000, 1000}, {.pool_mode = "avg"}).item(), 0.1, {.rtol = 2e-6}));
}

TEST_CASE("pooling of an empty tensor is empty") {
  CHECK(K::pool2d(K::zeros({0, 4, 4, 2}), {2, 2}).shape() == Shape{0, 3, 3, 2});
  CHECK(K::pool2d(K::zeros({2, 4, 4, 0}), {2, 2}).shape() == Shape{2, 3, 3, 0});
  CHECK(K::pool2d(K::zeros({2, 0, 4, 1}), {2, 2}, {.padding = "same"}).shape() == Shape{2, 0, 4, 1});
}

TEST_CASE("pooling names the op and what was expected") {
  const Tensor x = K::zeros({1, 4, 4, 1});
  CHECK_THROWS_WITH_AS(K::pool2d(x, {2, 2}, {.pool_mode = "median"}),
                       "[pool2d] pool_mode must be \"max\" or \"avg\": received pool_mode=\"median\"",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::pool2d(x, {2, 2}, {.strides = {0, 1}}),
                       Contains("strides must be 2 numbers of at least 1: received strides=(0, 1)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::pool2d(x, {2, 0}),
                       Contains("pool_size must be 2 numbers of at least 1: received pool_size=(2, 0)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::pool2d(x, {2, 5}),
                       Contains("must fit in the axis of extent 4: received pool_size=5"), ValueError);
  CHECK_THROWS_WITH_AS(K::pool2d(x, {2, 2}, {.padding = "causal"}), Contains("received padding=\"causal\""),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::pool2d(x, {2, 2}, {.data_format = "NHWC"}),
                       Contains("received data_format=\"NHWC\""), ValueError);
  CHECK_THROWS_WITH_AS(K::pool3d(x, {2, 2, 2}), "[pool3d] x must have rank 5: received x=(1, 4, 4, 1)",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::pool2d(x, {1 << 30, 1 << 30}, {.padding = "same"}),
                       Contains("at most 2147483647 cells"), ValueError);
  CHECK_THROWS_AS(K::pool2d(K::zeros({1, 4, 4, 1}, {.dtype = "int32"}), {2, 2}), TypeError);
}

TEST_CASE("one number stands for all axes, a list may be of any kind") {
  const Tensor x = counted({1, 4, 4, 1});
  const Tensor wanted = K::pool2d(x, {2, 2}, {.strides = {2, 2}});
  CHECK(values(K::pool2d(x, 2, {.strides = 2})) == values(wanted));
  CHECK(values(K::pool2d(x, Shape{2, 2}, {.strides = std::vector<int>{2, 2}})) == values(wanted));
  CHECK(K::pool3d(counted({1, 4, 4, 4, 1}), 2, {.strides = {1, 2, 4}}).shape() == Shape{1, 3, 2, 1, 1});
  CHECK_THROWS_WITH_AS(K::pool2d(x, {2, 2, 2}),
                       "[pool2d] pool_size must be 2 numbers of at least 1: received pool_size=(2, 2, 2)",
                       ValueError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"pool2d", [](In in) { return K::pool2d(in[0], {2, 2}, {.strides = {1, 2}, .padding = "same"}); }, {normal({1, 3, 3, 2})}},
      {"pool3d", [](In in) { return K::pool3d(in[0], {2, 2, 1}, {.pool_mode = "avg"}); }, {normal({1, 2, 3, 2, 1})}},
  };
});
// clang-format on

}  // namespace
