// Every kernel of every engine that is built in agrees with xtensor's, for random arguments.
#include <doctest/doctest.h>
#include <ktape/ops/kernels/engine/engine.hpp>

#include <cstdint>
#include <random>
#include <vector>

#include "../../../close.hpp"

namespace {

using namespace ktape;
using kernels::Engine, kernels::Kernel;
using i64 = std::int64_t;

std::mt19937 generator(11);

i64 between(i64 least, i64 most) { return std::uniform_int_distribution<i64>(least, most)(generator); }

/// Multiples of 1/8 from -2 to 2, so that many are equal.
template <class T>
std::vector<T> numbers(i64 n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& each : x) each = T(static_cast<float>(between(-16, 16)) / 8);
  return x;
}

template <class T>
const Tolerance tolerance{.rtol = 0, .atol = std::is_same_v<T, double> ? 1e-12 : 2e-4, .equal_nan = true};

template <class T>
std::int32_t dtype_number() {
  return kernels::engine_dtype(dtype_of<T>());
}

/// Runs `compute(engine)`, which returns results, on all engines and compares.
template <class F>
void compare(const Tolerance& allowed, const F& compute) {
  const auto want = compute(Engine("xtensor"));
  for (const std::string& name : kernels::built_in_engines()) {
    CAPTURE(name);
    CHECK(close(compute(Engine(name)), want, allowed));
  }
}

/// Chooses random extents of windows over one to three axes; the axes before them have extent 1.
template <class Call>
void choose_extents(Call& call, const i64 (&dilation)[3]) {
  const i64 first = between(0, 2);
  for (int d = 0; d < 3; ++d) {
    const bool used = d >= first;
    call.window[d] = used ? between(1, 4) : 1;
    call.strides[d] = used ? between(1, 3) : 1;
    const i64 reach = (call.window[d] - 1) * dilation[d] + 1;
    call.padding[d] = used ? between(0, reach / 2) : 0;
    const i64 least = std::max<i64>(1, reach - 2 * call.padding[d]);
    call.input[d] = used ? between(least, least + 9) : 1;
    call.output[d] = (call.input[d] + 2 * call.padding[d] - reach) / call.strides[d] + 1;
  }
}

i64 volume(const i64 (&extents)[3]) { return extents[0] * extents[1] * extents[2]; }

ktape_convolution random_convolution() {
  ktape_convolution call{};
  call.batch = between(1, 3);
  call.groups = between(0, 1) ? 1 : between(1, 4);
  const bool depthwise = between(0, 3) == 0;
  if (depthwise) call.groups = between(1, 20);
  call.input_channels = call.groups * (depthwise ? 1 : between(1, 9));
  call.output_channels = call.groups * (depthwise ? 1 : between(1, 20));
  for (i64& d : call.dilation) d = between(1, 2);
  choose_extents(call, call.dilation);
  return call;
}

}  // namespace

TEST_CASE_TEMPLATE("engines: products of matrices", T, float, double) {
  for (int i = 0; i < 60; ++i) {
    ktape_matmul call{.dtype = dtype_number<T>()};
    call.rows = between(1, 40), call.columns = between(1, 40), call.inner = between(1, 40);
    call.a_transposed = between(0, 1), call.b_transposed = between(0, 1), call.accumulate = between(0, 1);
    call.a_stride = (call.a_transposed ? call.rows : call.inner) + between(0, 3);
    call.b_stride = (call.b_transposed ? call.inner : call.columns) + between(0, 3);
    const auto a = numbers<T>(call.a_stride * (call.a_transposed ? call.inner : call.rows));
    const auto b = numbers<T>(call.b_stride * (call.b_transposed ? call.columns : call.inner));
    const auto before = numbers<T>(call.rows * call.columns);
    call.a = a.data(), call.b = b.data();
    CAPTURE(call.rows);
    CAPTURE(call.columns);
    CAPTURE(call.inner);
    CAPTURE(call.a_transposed);
    CAPTURE(call.b_transposed);
    CAPTURE(call.accumulate);
    compare(tolerance<T>, [&](const Engine& engine) {
      auto c = before;
      call.c = c.data();
      engine.run(Kernel::Matmul, &call);
      return c;
    });
  }
}

TEST_CASE_TEMPLATE("engines: convolutions and their gradients", T, float, double) {
  for (int i = 0; i < 60; ++i) {
    ktape_convolution call = random_convolution();
    call.dtype = dtype_number<T>();
    const auto x = numbers<T>(call.batch * volume(call.input) * call.input_channels);
    const auto y = numbers<T>(call.batch * volume(call.output) * call.output_channels);
    const auto kernel =
        numbers<T>(volume(call.window) * call.input_channels / call.groups * call.output_channels);
    CAPTURE(i);
    CAPTURE(call.groups);
    CAPTURE(call.input_channels);
    CAPTURE(call.output_channels);
    for (const Kernel which :
         {Kernel::Convolution, Kernel::ConvolutionBackwardData, Kernel::ConvolutionBackwardKernel})
      compare(tolerance<T>, [&](const Engine& engine) {
        auto arrays = std::array{x, kernel, y};
        call.x = arrays[0].data(), call.kernel = arrays[1].data(), call.y = arrays[2].data();
        engine.run(which, &call);
        return arrays[which == Kernel::Convolution ? 2 : which == Kernel::ConvolutionBackwardData ? 0 : 1];
      });
  }
}

TEST_CASE_TEMPLATE("engines: pooling, its indices and its gradients", T, float, double) {
  constexpr i64 dense[3] = {1, 1, 1};
  for (int i = 0; i < 60; ++i) {
    ktape_pooling call{.dtype = dtype_number<T>(), .average = static_cast<std::int32_t>(between(0, 1))};
    call.batch = between(1, 3), call.channels = between(1, 40);
    choose_extents(call, dense);
    if (i == 0)
      call.window[2] = call.input[2] = 300, call.padding[2] = 0, call.output[2] = 1;  // int32 indices
    auto x = numbers<T>(call.batch * volume(call.input) * call.channels);
    const auto y = numbers<T>(call.batch * volume(call.output) * call.channels);
    for (std::size_t k = 0; k < x.size(); k += 5)
      if (i % 4 == 1) x[k] = T(k % 3 ? -INFINITY : NAN);
    CAPTURE(i);
    CAPTURE(call.average);
    std::vector<std::int32_t> index(y.size());
    compare(tolerance<T>, [&](const Engine& engine) {
      auto from = x, to = y;
      call.x = from.data(), call.y = to.data(), call.index = call.average ? nullptr : index.data();
      engine.run(Kernel::Pooling, &call);
      return to;
    });
    compare(exactly, [&](const Engine& engine) {
      auto from = x, to = y;
      auto found = index;
      call.x = from.data(), call.y = to.data(), call.index = call.average ? nullptr : found.data();
      engine.run(Kernel::Pooling, &call);
      return found;
    });
    call.index = call.average ? nullptr : index.data();
    compare(tolerance<T>, [&](const Engine& engine) {
      auto to = x, from = y;
      call.x = to.data(), call.y = from.data();
      engine.run(Kernel::PoolingBackward, &call);
      return to;
    });
  }
}

TEST_CASE_TEMPLATE("engines: softmax along any dimension, and its gradient", T, float, double) {
  for (int i = 0; i < 60; ++i) {
    ktape_softmax call{.dtype = dtype_number<T>(), .outer = between(1, 40), .axis = between(1, 40)};
    call.inner = between(0, 1) ? 1 : between(2, 70);
    const auto x = numbers<T>(call.outer * call.axis * call.inner),
               dy = numbers<T>(call.outer * call.axis * call.inner);
    CAPTURE(call.outer);
    CAPTURE(call.axis);
    CAPTURE(call.inner);
    auto y = x, dx = x;
    call.x = x.data(), call.y = y.data(), call.dy = dy.data(), call.dx = dx.data();
    compare(tolerance<T>, [&](const Engine& engine) { return engine.run(Kernel::Softmax, &call), y; });
    Engine("xtensor").run(Kernel::Softmax, &call);
    compare(tolerance<T>,
            [&](const Engine& engine) { return engine.run(Kernel::SoftmaxBackward, &call), dx; });
  }
}

TEST_CASE_TEMPLATE("engines: moments, slopes and scaling of channels", T, float, double) {
  using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (int i = 0; i < 60; ++i) {
    ktape_batch_normalization call{.dtype = dtype_number<T>(), .outer = between(1, 50)};
    call.channels = between(1, 40), call.inner = between(0, 1) ? 1 : between(2, 60);
    CAPTURE(call.outer);
    CAPTURE(call.channels);
    CAPTURE(call.inner);
    const i64 size = call.outer * call.channels * call.inner;
    const auto x = numbers<T>(size), g = numbers<T>(size);
    const auto centre = numbers<Number>(call.channels), scale = numbers<Number>(call.channels),
               slope = numbers<Number>(call.channels), offset = numbers<Number>(call.channels);
    call.centre = centre.data(), call.scale = scale.data(), call.slope = slope.data(),
    call.offset = offset.data();
    std::vector<double> sums(static_cast<std::size_t>(2 * call.channels));
    call.first = sums.data(), call.second = sums.data() + call.channels;
    call.x = x.data(), call.g = g.data();
    for (const Kernel which : {Kernel::BatchMoments, Kernel::BatchSlopes})
      compare({.rtol = 1e-5, .atol = 1e-3},
              [&](const Engine& engine) { return engine.run(which, &call), sums; });
    auto y = x;
    call.y = y.data();
    for (const bool with_x : {true, false})
      for (const bool with_g : {true, false}) {
        if (!with_x && !with_g) continue;
        call.x = with_x ? x.data() : nullptr, call.g = with_g ? g.data() : nullptr;
        compare(tolerance<T>,
                [&](const Engine& engine) { return engine.run(Kernel::BatchAffine, &call), y; });
      }
  }
}

TEST_CASE("engines: an error about an unknown name lists the engines") {
  CHECK_THROWS_WITH_AS(Engine{"tinygrad"}, doctest::Contains("'native', 'xtensor', or a shared library"),
                       ValueError);
  CHECK_THROWS_WITH_AS(Engine{"tinygrad"}, doctest::Contains("received 'tinygrad'"), ValueError);
}

TEST_CASE("onednn runs products, all passes of convolutions, and batch normalization on bfloat16") {
  if (!kernels::multiplies_bfloat16()) return;
  const Engine engine("onednn");
  const auto a = numbers<bfloat16>(64 * 64), b = numbers<bfloat16>(64 * 64);
  auto c = numbers<bfloat16>(64 * 64);
  const ktape_matmul product{.dtype = KTAPE_BFLOAT16,
                             .rows = 64,
                             .columns = 64,
                             .inner = 64,
                             .a = a.data(),
                             .a_stride = 64,
                             .b = b.data(),
                             .b_stride = 64,
                             .c = c.data()};
  CHECK(engine.run(Kernel::Matmul, &product));
  for (const i64 groups : {1, 16}) {
    CAPTURE(groups);
    ktape_convolution call{.dtype = KTAPE_BFLOAT16, .batch = 2, .groups = groups};
    call.input_channels = call.output_channels = 16;
    for (int d = 0; d < 3; ++d) {
      call.strides[d] = call.dilation[d] = 1;
      call.input[d] = call.output[d] = d == 0 ? 1 : 8;
      call.window[d] = d == 0 ? 1 : 3, call.padding[d] = d == 0 ? 0 : 1;
    }
    auto x = numbers<bfloat16>(2 * 64 * 16), y = numbers<bfloat16>(2 * 64 * 16),
         kernel = numbers<bfloat16>(9 * 16 * 16);
    call.x = x.data(), call.y = y.data(), call.kernel = kernel.data();
    for (const Kernel pass :
         {Kernel::Convolution, Kernel::ConvolutionBackwardData, Kernel::ConvolutionBackwardKernel})
      CHECK(engine.run(pass, &call));
  }
  std::vector<double> means(64), variances(64);
  ktape_batch_normalization call{};
  call.dtype = KTAPE_BFLOAT16, call.outer = 64, call.channels = 64, call.inner = 1;
  call.x = a.data(), call.first = means.data(), call.second = variances.data();
  CHECK(engine.run(Kernel::BatchMoments, &call));
  CHECK_FALSE(Engine("native").run(Kernel::Matmul, &product));
}
