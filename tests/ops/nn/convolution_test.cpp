#include <ktape/ktape.hpp>
#include <ktape/ops/settings/engine.hpp>
#include <ktape/ops/settings/internal/config_file.hpp>

#include <cmath>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

using doctest::Contains;

/// The definition: one sum for each element of the result, for x (samples, spatial..., channels) of 1 to 3
/// spatial axes.
struct Plain {
  Shape front, strides, rates;
  Tensor operator()(const Tensor& x, const Tensor& kernel, const Shape& output) const {
    const int dims = x.ndim() - 2;
    const Shape &in = x.shape(), &window = kernel.shape();
    Values sums(static_cast<std::size_t>(output.count()));
    const Values xs = values(x), ks = values(kernel);
    for (std::int64_t i = 0; i < output.count(); ++i) {
      const std::int64_t filter = i % output.back(), n = i / output.count(1);
      for (std::int64_t k = 0; k < kernel.size() / window.back(); ++k) {
        std::int64_t tap = k / in.back(), at = i / output.back(), place = 0, step = in.back();
        for (int d = dims - 1; d >= 0; --d) {
          const std::int64_t p = at % output[d + 1] * strides[d] + tap % window[d] * rates[d] - front[d];
          at /= output[d + 1], tap /= window[d];
          if (p < 0 || p >= in[d + 1]) place = -1;
          if (place >= 0) place += p * step;
          step *= in[d + 1];
        }
        if (place >= 0)
          sums[i] += xs[n * in.count(1) + place + k % in.back()] * ks[k * window.back() + filter];
      }
    }
    return K::reshape(K::constant(sums, {.dtype = "float64"}), output);
  }
};

void expect_close(const Tensor& got, const Tensor& want, double tolerance) {
  CHECK(close(got, want, {.rtol = tolerance, .atol = tolerance}));
}

/// Compares f in float32 on every engine with float64 on the reference engine, with the gradients of all
/// inputs.
void compare_engines(const CheckedFunction& f, const std::vector<Shape>& shapes) {
  const auto run = [&](const std::string& engine, DType dtype) {
    const op_helpers::EngineScope scope(engine);
    std::vector<Variable> variables;
    std::vector<Tensor> inputs;
    for (const Shape& shape : shapes) {
      const int seed = static_cast<int>(inputs.size()) + 1;
      variables.emplace_back(K::cast(normal(shape, seed, DType::Float32), dtype));
      inputs.push_back(variables.back());
    }
    const Tensor y = f(inputs)[0];
    std::vector<Tensor> out =
        K::gradients(K::sum(y * K::cast(normal(y.shape(), 9, DType::Float32), dtype)), TensorList(variables));
    out.push_back(y);
    return out;
  };
  const std::vector<Tensor> want = run("xtensor", DType::Float64);
  for (const std::string& engine : K::engines()) {
    CAPTURE(engine);
    const std::vector<Tensor> got = run(engine, DType::Float32);
    for (std::size_t i = 0; i < want.size(); ++i) expect_close(got[i], want[i], 1e-4);
  }
}

}  // namespace

TEST_CASE("convolutions agree with the sum that defines them") {
  const Tensor x1 = normal({2, 9, 3}), k1 = normal({3, 3, 4}, 2);
  expect_close(K::conv1d(x1, k1), Plain{{0}, {1}, {1}}(x1, k1, {2, 7, 4}), 1e-12);
  expect_close(K::conv1d(x1, k1, {.strides = 2, .padding = "causal"}),
               Plain{{2}, {2}, {1}}(x1, k1, {2, 5, 4}), 1e-12);
  expect_close(K::conv1d(x1, k1, {.padding = "causal", .dilation_rate = 3}),
               Plain{{6}, {1}, {3}}(x1, k1, {2, 9, 4}), 1e-12);
  const Tensor x2 = normal({2, 7, 6, 3}), k2 = normal({4, 3, 3, 2}, 2);
  expect_close(K::conv2d(x2, k2, {.strides = {2, 3}, .padding = "same"}),
               Plain{{1, 0}, {2, 3}, {1, 1}}(x2, k2, {2, 4, 2, 2}), 1e-12);
  expect_close(K::conv2d(x2, k2, {.padding = "same", .dilation_rate = {2, 3}}),
               Plain{{3, 3}, {1, 1}, {2, 3}}(x2, k2, {2, 7, 6, 2}), 1e-12);
  expect_close(K::conv2d(x2, k2, {.strides = {2, 1}, .dilation_rate = {2, 2}}),
               Plain{{0, 0}, {2, 1}, {2, 2}}(x2, k2, {2, 1, 2, 2}), 1e-12);
  const Tensor many = normal({2, 19, 30, 3}), wide = normal({5, 3, 3, 29}, 2);
  expect_close(K::conv2d(many, wide, {.padding = "same"}),
               Plain{{2, 1}, {1, 1}, {1, 1}}(many, wide, {2, 19, 30, 29}), 1e-12);
  const Tensor deep = normal({2, 7, 6, 5}), k5 = normal({4, 3, 5, 2}, 2);
  expect_close(K::conv2d(deep, k5, {.strides = {2, 3}, .padding = "same"}),
               Plain{{1, 0}, {2, 3}, {1, 1}}(deep, k5, {2, 4, 2, 2}), 1e-12);
  const Tensor skipped = normal({2, 33, 29, 16}), point = normal({1, 1, 16, 40}, 2);
  expect_close(K::conv2d(skipped, point, {.strides = {2, 2}}),
               Plain{{0, 0}, {2, 2}, {1, 1}}(skipped, point, {2, 17, 15, 40}), 1e-12);
  const Tensor x3 = normal({1, 4, 5, 3, 2}), k3 = normal({2, 3, 2, 2, 3}, 2);
  expect_close(K::conv3d(x3, k3, {.padding = "same"}),
               Plain{{0, 1, 0}, {1, 1, 1}, {1, 1, 1}}(x3, k3, {1, 4, 5, 3, 3}), 1e-12);
}

TEST_CASE("channels_first computes channels_last on transposed tensors") {
  const Tensor x = normal({2, 5, 6, 3}), k = normal({3, 2, 3, 4}, 2);
  const Tensor first = K::permute_dimensions(x, {0, 3, 1, 2});
  const auto back = [](const Tensor& y) { return K::permute_dimensions(y, {0, 2, 3, 1}); };
  expect_close(back(K::conv2d(first, k, {.padding = "same", .data_format = "channels_first"})),
               K::conv2d(x, k, {.padding = "same"}), 0);
  expect_close(
      back(K::conv2d_transpose(first, normal({3, 2, 5, 3}), {2, 5, 10, 12},
                               {.strides = {2, 2}, .padding = "same", .data_format = "channels_first"})),
      K::conv2d_transpose(x, normal({3, 2, 5, 3}), {None, 10, 12, 5}, {.strides = {2, 2}, .padding = "same"}),
      0);
}

TEST_CASE(
    "the transposed convolution is the gradient of the convolution, and takes strides as 1 when dilated") {
  const Variable x = normal({2, 7, 8, 3});
  const Tensor k = normal({3, 2, 3, 4}, 2), g = normal({2, 4, 4, 4}, 3);
  const Tensor slope =
      K::gradients(K::sum(K::conv2d(x, k, {.strides = {2, 2}, .padding = "same"}) * g), {x})[0];
  expect_close(K::conv2d_transpose(g, k, {2, 7, 8, 3}, {.strides = {2, 2}, .padding = "same"}), slope, 0);
  expect_close(K::conv2d_transpose(g, k, {2, 8, 6, 3}, {.strides = {3, 3}, .dilation_rate = {2, 2}}),
               K::conv2d_transpose(g, k, {2, 8, 6, 3}, {.dilation_rate = {2, 2}}), 0);
}

TEST_CASE("depthwise filters stay with their channel; separable ones are mixed by the pointwise kernel") {
  const Tensor x = normal({2, 5, 4, 3}), deep = normal({3, 2, 3, 2}, 2), point = normal({1, 1, 6, 5}, 3);
  const Tensor y = K::depthwise_conv2d(x, deep, {.padding = "same"});
  for (int c = 0; c < 3; ++c)
    expect_close(K::slice(y, {0, 0, 0, 2 * c}, {-1, -1, -1, 2}),
                 K::conv2d(K::slice(x, {0, 0, 0, c}, {-1, -1, -1, 1}),
                           K::slice(deep, {0, 0, c, 0}, {-1, -1, 1, -1}), {.padding = "same"}),
                 1e-12);
  expect_close(K::separable_conv2d(x, deep, point, {.padding = "same"}), K::conv2d(y, point), 1e-12);
  const Tensor row = normal({2, 6, 3}), deep1 = normal({3, 3, 2}, 2), point1 = normal({1, 6, 4}, 3);
  expect_close(K::expand_dims(K::separable_conv1d(row, deep1, point1, {.strides = 2, .padding = "same"}), 1),
               K::separable_conv2d(K::expand_dims(row, 1), K::expand_dims(deep1, 0),
                                   K::expand_dims(point1, 0), {.strides = {2, 2}, .padding = "same"}),
               1e-12);
}

TEST_CASE("local convolutions use another kernel at each position") {
  const Tensor x = normal({2, 4, 5, 2}), shared = normal({2, 3, 2, 3}, 2);
  const Tensor kernel = K::tile(K::reshape(shared, {1, 12, 3}), {6, 1, 1});
  expect_close(K::local_conv2d(x, kernel, {2, 3}, {2, 1}, {2, 3}), K::conv2d(x, shared, {.strides = {2, 1}}),
               1e-12);
  const Tensor row = normal({1, 4, 1}),
               kernel1 = K::constant({{{1.}, {0.}}, {{0.}, {2.}}}, {.dtype = "float64"});
  const Values r = values(row);
  CHECK(values(K::local_conv1d(row, kernel1, {2}, {2})) == Values{r[0], 2 * r[3]});
}

TEST_CASE("gradients agree with central differences, of first and second order") {
  check_gradients(
      [](In in) { return K::conv1d(in[0], in[1], {.strides = 2, .padding = "causal", .dilation_rate = 2}); },
      {normal({2, 5, 2}), normal({3, 2, 2}, 2)});
  check_gradients(
      [](In in) {
        return K::conv2d(in[0], in[1], {.strides = {3, 2}, .padding = "same"});
      },
      {normal({1, 7, 4, 2}), normal({2, 3, 2, 1}, 2)});
  check_gradients(
      [](In in) {
        return K::conv2d(in[0], in[1], {.data_format = "channels_first", .dilation_rate = {1, 2}});
      },
      {normal({2, 2, 3, 4}), normal({2, 2, 2, 2}, 2)});
  check_gradients([](In in) { return K::conv2d(in[0], in[1]); },
                  {normal({1, 2, 3, 2}), normal({1, 1, 2, 3}, 2)});
  check_gradients(
      [](In in) {
        return K::conv3d(in[0], in[1], {.strides = {1, 2, 1}, .padding = "same"});
      },
      {normal({1, 2, 3, 2, 2}), normal({2, 2, 1, 2, 1}, 2)});
  check_gradients(
      [](In in) {
        return K::conv2d_transpose(in[0], in[1], {1, 5, 4, 2}, {.strides = {2, 2}, .padding = "same"});
      },
      {normal({1, 3, 2, 2}), normal({3, 2, 2, 2}, 2)});
  check_gradients(
      [](In in) {
        return K::conv3d_transpose(in[0], in[1], {1, 4, 2, 2, 1}, {.strides = {2, 1, 1}});
      },
      {normal({1, 2, 1, 2, 2}), normal({2, 2, 1, 1, 2}, 2)});
  check_gradients(
      [](In in) {
        return K::depthwise_conv2d(in[0], in[1], {.strides = {2, 2}, .padding = "same"});
      },
      {normal({2, 4, 3, 2}), normal({2, 3, 2, 2}, 2)});
  check_gradients(
      [](In in) {
        return K::local_conv2d(in[0], in[1], {1, 2}, {1, 1}, {2, 2}, {.data_format = "channels_first"});
      },
      {normal({2, 2, 2, 3}), normal({4, 4, 1}, 2)});
}

TEST_CASE("convolutions in float32 on every engine agree with the reference engine in float64") {
  compare_engines([](In in) { return K::conv2d(in[0], in[1]); }, {{3, 9, 8, 5}, {3, 3, 5, 7}});
  compare_engines(
      [](In in) {
        return K::conv2d(in[0], in[1], {.strides = {2, 2}, .padding = "same"});
      },
      {{2, 14, 15, 16}, {3, 3, 16, 32}});
  compare_engines([](In in) { return K::conv2d(in[0], in[1], {.padding = "same"}); },
                  {{4, 12, 12, 1}, {3, 3, 1, 32}});
  compare_engines([](In in) { return K::conv2d(in[0], in[1], {.padding = "same"}); },
                  {{4, 12, 12, 3}, {3, 3, 3, 16}});
  compare_engines(
      [](In in) {
        return K::conv2d(in[0], in[1], {.strides = {2, 1}, .padding = "same"});
      },
      {{3, 21, 30, 2}, {5, 4, 2, 55}});
  compare_engines(
      [](In in) {
        return K::conv3d(in[0], in[1], {.dilation_rate = {2, 1, 2}});
      },
      {{2, 6, 12, 9, 4}, {2, 3, 2, 4, 20}});
  compare_engines(
      [](In in) {
        return K::conv2d(in[0], in[1], {.strides = {2, 2}});
      },
      {{2, 8, 8, 16}, {1, 1, 16, 32}});
  compare_engines(
      [](In in) {
        return K::conv2d(in[0], in[1], {.padding = "same", .dilation_rate = {2, 3}});
      },
      {{2, 14, 15, 16}, {4, 2, 16, 16}});
  compare_engines([](In in) { return K::conv2d(in[0], in[1]); }, {{1, 40, 40, 64}, {5, 5, 64, 8}});
  compare_engines([](In in) { return K::conv1d(in[0], in[1], {.padding = "causal"}); },
                  {{2, 50, 16}, {3, 16, 24}});
  compare_engines([](In in) { return K::conv3d(in[0], in[1], {.padding = "same"}); },
                  {{1, 6, 7, 8, 16}, {3, 3, 3, 16, 16}});
  compare_engines(
      [](In in) {
        return K::conv2d_transpose(in[0], in[1], {None, 16, 16, 16}, {.strides = {2, 2}, .padding = "same"});
      },
      {{2, 8, 8, 32}, {4, 4, 16, 32}});
  compare_engines([](In in) { return K::depthwise_conv2d(in[0], in[1], {.padding = "same"}); },
                  {{2, 9, 9, 32}, {3, 3, 32, 1}});
  compare_engines(
      [](In in) {
        return K::depthwise_conv2d(in[0], in[1], {.strides = {2, 2}});
      },
      {{2, 9, 9, 6}, {3, 2, 6, 2}});
}

TEST_CASE("a window of one place with strides convolves every strides-th place") {
  const Shape steps{2, 3, 2};
  for (const auto& sizes : {std::pair(16, 32), std::pair(5, 7), std::pair(32, 19), std::pair(33, 8)}) {
    const std::int64_t channels = sizes.first, filters = sizes.second;
    CAPTURE(channels);
    const Variable x = normal({2, 4, 8, 35, channels}), k = normal({1, 1, 1, channels, filters}, 2);
    const Tensor read = x[{Slice(), Slice(None, None, 2), Slice(None, None, 3), Slice(None, None, 2)}];
    const Tensor got = K::conv3d(x, k, {.strides = steps}), want = K::conv3d(read, k);
    expect_close(got, want, 1e-12);
    const Tensor g = normal(want.shape(), 3);
    const TensorList slopes = K::gradients(got, {x, k}, {g}), wanted = K::gradients(want, {x, k}, {g});
    expect_close(slopes[0], wanted[0], 1e-12);
    expect_close(slopes[1], wanted[1], 1e-12);
  }
}

TEST_CASE("float16 is computed in float32, empty tensors give zeros") {
  const Tensor x = normal({1, 4, 4, 40}, 1, DType::Float32), k = normal({3, 3, 40, 2}, 2, DType::Float32);
  const Tensor half = K::conv2d(K::cast(x, "float16"), K::cast(k, "float16"));
  CHECK(half.dtype() == DType::Float16);
  expect_close(half, K::conv2d(x, k), 0.02);
  CHECK(K::conv2d(K::zeros({0, 4, 4, 1}), K::zeros({2, 2, 1, 3})).shape() == Shape{0, 3, 3, 3});
  CHECK(values(K::conv2d(K::zeros({1, 2, 2, 0}), K::zeros({2, 2, 0, 2}))) == Values{0, 0});
  CHECK(K::depthwise_conv2d(K::zeros({1, 2, 2, 0}), K::zeros({2, 2, 0, 2})).shape() == Shape{1, 1, 1, 0});
  const Variable kernel = K::ones({2, 2, 1, 1});
  CHECK(values(K::gradients(K::sum(K::conv2d(K::zeros({0, 4, 4, 1}), kernel)), {kernel})[0]) ==
        Values{0, 0, 0, 0});
}

TEST_CASE("bad arguments are refused with what was expected") {
  const Tensor x = K::ones({1, 4, 4, 2}), k = K::ones({2, 2, 2, 3});
  CHECK_THROWS_WITH_AS(K::conv2d(K::ones({1, 4, 4, 1}), K::ones({2, 2, 3, 1})),
                       "[conv2d] the kernel must have x's channels as its axis 2: received x=(1, 4, 4, 1), "
                       "kernel=(2, 2, 3, 1)",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, K::ones({2, 2, 3})),
                       Contains("must have rank 4: received x=(1, 4, 4, 2), kernel=(2, 2, 3)"), ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, K::ones({5, 2, 2, 3})),
                       Contains("must not be larger than the input: received input=(1, 4, 4, 2)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, k, {.dilation_rate = {4, 1}}), Contains("dilation_rate=(4, 1)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, K::ones({0, 2, 2, 3})),
                       Contains("at least 1: received kernel=(0, 2, 2, 3)"), ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, k, {.strides = {0, 1}}),
                       Contains("strides must be 2 numbers of at least 1: received strides=(0, 1)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, k, {.strides = {1, 1, 1}}), Contains("received strides=(1, 1, 1)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, k, {.strides = {1, std::int64_t{1} << 40}}), Contains("below 2 ** 31"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, k, {.dilation_rate = {1, -2}}),
                       Contains("received dilation_rate=(1, -2)"), ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, k, {.padding = "causal"}),
                       Contains("must be \"valid\" or \"same\": received padding=\"causal\""), ValueError);
  CHECK_THROWS_WITH_AS(K::conv1d(K::ones({1, 4, 2}), K::ones({2, 2, 2}), {.padding = "full"}),
                       Contains("\"same\" or \"causal\""), ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, k, {.data_format = "NHWC"}), Contains("received data_format=\"NHWC\""),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d(x, K::ones({2, 2, 2, 3}, {.dtype = "float64"})),
                       Contains("received x=float32, kernel=float64"), TypeError);
  CHECK_THROWS_AS(
      K::conv2d(K::ones({1, 4, 4, 2}, {.dtype = "int32"}), K::ones({2, 2, 2, 3}, {.dtype = "int32"})),
      TypeError);
  CHECK_THROWS_WITH_AS(K::depthwise_conv2d(x, K::ones({2, 2, 3, 1})),
                       Contains("x with 2 channels, kernel=(2, 2, 3, 1)"), ValueError);
  CHECK_THROWS_WITH_AS(K::separable_conv2d(x, K::ones({2, 2, 2, 2}), K::ones({1, 1, 2, 3})),
                       Contains("received pointwise_kernel=(1, 1, 2, 3), depthwise_kernel=(2, 2, 2, 2)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(
      K::separable_conv1d(K::ones({1, 4, 2}), K::ones({2, 2, 1}), K::ones({1, 2, 1}), {.padding = "causal"}),
      Contains("received padding=\"causal\""), ValueError);
}

TEST_CASE("output shapes that cannot be are refused") {
  const Tensor y = K::ones({1, 3, 3, 3}), k = K::ones({2, 2, 2, 3});
  CHECK_THROWS_WITH_AS(K::conv2d_transpose(y, k, {1, 9, 4, 2}),
                       Contains("the convolution maps to x's: received output_shape=(1, 9, 4, 2)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d_transpose(y, k, {2, 4, 4, 2}),
                       Contains("x's batch size, 1: received output_shape=(2, 4, 4, 2)"), ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d_transpose(y, k, {1, 4, 4, 3}),
                       Contains("must have the channels of the kernel's axis 2"), ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d_transpose(y, K::ones({2, 2, 3, 2}), {1, 4, 4, 3}),
                       Contains("x's channels as its last axis"), ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d_transpose(y, k, {4, 4, 2}), Contains("must have 4 entries"), ValueError);
  CHECK_THROWS_AS(K::conv2d_transpose(y, k, {1, -4, 4, 2}), ValueError);
  CHECK_THROWS_WITH_AS(K::conv2d_transpose(y, k, {1, 4, 4, 2}, {.dilation_rate = {1, 2}}),
                       Contains("the same in both directions"), ValueError);
  CHECK_THROWS_WITH_AS(K::local_conv1d(K::ones({1, 4, 1}), K::ones({4, 2, 1}), {2}, {1}),
                       Contains("the windows must lie in the input: received input=(1, 4, 1)"), ValueError);
  CHECK_THROWS_WITH_AS(
      K::local_conv2d(K::ones({1, 3, 3, 1}), K::ones({4, 3, 1}), {2, 2}, {1, 1}, {2, 2}),
      Contains(
          "the kernel must be (4, 4, filters), positions and elements of a patch: received kernel=(4, 3, 1)"),
      ValueError);
  CHECK_THROWS_WITH_AS(K::local_conv2d(K::ones({1, 3, 3, 1}), K::ones({4, 4, 1}), {2, 2}, {1, 0}, {2, 2}),
                       Contains("strides must be"), ValueError);
  CHECK_THROWS_AS(K::local_conv1d(K::ones({1, 4, 1}), K::ones({2, 1}), {2}, {1}), ValueError);
}

TEST_CASE("strides and rates are one number for all axes or one for each") {
  const Tensor x = normal({1, 7, 7, 2}), k = normal({2, 2, 2, 3}, 2), line = normal({1, 7, 2});
  CHECK(values(K::conv2d(x, k, {.strides = 2})) == values(K::conv2d(x, k, {.strides = {2, 2}})));
  CHECK(values(K::conv2d(x, k, {.dilation_rate = 3})) == values(K::conv2d(x, k, {.dilation_rate = {3, 3}})));
  const Tensor l = normal({3, 2, 2}, 2);
  CHECK(values(K::conv1d(line, l, {.strides = {2}})) == values(K::conv1d(line, l, {.strides = 2})));
  const Tensor patches = normal({9, 8, 3});
  CHECK(values(K::local_conv2d(x, patches, 2, 2, {3, 3})) ==
        values(K::local_conv2d(x, patches, {2, 2}, {2, 2}, {3, 3})));
  CHECK_THROWS_WITH_AS(K::conv2d(x, k, {.strides = {1, 1, 1}}),
                       "[conv2d] strides must be 2 numbers of at least 1: received strides=(1, 1, 1)",
                       ValueError);
}

TEST_CASE("a convolution does not use a kernel that another engine packed") {
  const Variable kernel(K::cast(normal({3, 3, 32, 48}), "float32"));
  const Tensor x = K::cast(normal({1, 9, 9, 32}, 2), "float32");
  int destroyed = 0;
  Storage::Memo& memo = kernel.value().get()->storage->memo();
  memo = {&destroyed, [](void* count) { ++*static_cast<int*>(count); }};
  const NoGrad off;
  CHECK(values(K::conv2d(x, kernel)) == values(K::conv2d(x, kernel.value() * 1.f)));
  CHECK(memo.data == &destroyed);
  CHECK(destroyed == 0);
  kernel.value().get()->storage->destroy_memo();
  CHECK(destroyed == 1);
}

TEST_CASE("without a tape a convolution follows every change of its variable") {
  const auto floats = [](const Shape& shape, int seed) { return K::cast(normal(shape, seed), "float32"); };
  const Tensor x = floats({1, 9, 9, 32}, 1), y = floats({1, 9, 9, 48}, 2);
  Variable kernel = floats({3, 3, 32, 48}, 3);
  const auto agrees = [&](const char* change) {
    INFO(change);
    const Tensor plain = kernel.value() * 1.f;
    for (int call = 0; call < 2; ++call) {
      CHECK(values(K::conv2d(x, kernel, {.padding = "same"})) ==
            values(K::conv2d(x, plain, {.padding = "same"})));
      CHECK(values(K::conv2d(x, kernel, {.strides = 2})) == values(K::conv2d(x, plain, {.strides = 2})));
      CHECK(values(K::conv2d_transpose(y, kernel, {1, 9, 9, 32}, {.padding = "same"})) ==
            values(K::conv2d_transpose(y, plain, {1, 9, 9, 32}, {.padding = "same"})));
    }
  };
  const NoGrad off;
  agrees("none");
  K::update(kernel, floats({3, 3, 32, 48}, 4));
  agrees("update");
  K::update_add(kernel, K::ones({3, 3, 32, 48}));
  agrees("update_add");
  const Tensor before = kernel;
  K::update(kernel, before * 2.f);
  agrees("update while somebody holds the value");
  nn::SGD(0.5).apply({K::ones({3, 3, 32, 48})}, {kernel});
  agrees("a step of an optimizer");
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"conv1d", [](In in) { return K::conv1d(in[0], in[1], {.padding = "causal"}); }, {normal({1, 4, 2}), normal({2, 2, 2}, 2)}},
      {"conv2d", [](In in) { return K::conv2d(in[0], in[1], {.strides = {2, 1}, .padding = "same"}); },
       {normal({1, 3, 3, 2}), normal({2, 2, 2, 2}, 2)}},
      {"conv3d", [](In in) { return K::conv3d(in[0], in[1]); }, {normal({1, 2, 3, 2, 1}), normal({2, 2, 1, 1, 2}, 2)}},
      {"conv2d_transpose", [](In in) { return K::conv2d_transpose(in[0], in[1], {None, 4, 4, 2}, {.strides = {2, 2}}); },
       {normal({1, 2, 2, 1}), normal({2, 2, 2, 1}, 2)}},
      {"conv3d_transpose", [](In in) { return K::conv3d_transpose(in[0], in[1], {1, 2, 3, 2, 1}); },
       {normal({1, 1, 2, 1, 2}), normal({2, 2, 2, 1, 2}, 2)}},
      {"depthwise_conv2d", [](In in) { return K::depthwise_conv2d(in[0], in[1]); },
       {normal({1, 3, 3, 2}), normal({2, 2, 2, 2}, 2)}},
      {"separable_conv1d", [](In in) { return K::separable_conv1d(in[0], in[1], in[2]); },
       {normal({1, 4, 2}), normal({2, 2, 1}, 2), normal({1, 2, 2}, 3)}},
      {"separable_conv2d", [](In in) { return K::separable_conv2d(in[0], in[1], in[2], {.data_format = "channels_first"}); },
       {normal({1, 2, 3, 3}), normal({2, 2, 2, 1}, 2), normal({1, 1, 2, 1}, 3)}},
      {"local_conv1d", [](In in) { return K::local_conv1d(in[0], in[1], {2}, {1}); }, {normal({2, 3, 2}), normal({2, 4, 2}, 2)}},
      {"local_conv2d", [](In in) { return K::local_conv2d(in[0], in[1], {2, 1}, {1, 2}, {2, 1}); },
       {normal({1, 3, 2, 2}), normal({2, 4, 2}, 2)}},
  };
});
// clang-format on

}  // namespace
