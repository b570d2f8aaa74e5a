#include <ktape/nn/core/initializers.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("set_random_seed fixes random initializers; one with a seed is fixed anyway") {
  const nn::GlorotUniform glorot;
  K::set_random_seed(1);
  const Values first = values(glorot({4, 3})), second = values(glorot({4, 3}));
  CHECK(first != second);
  K::set_random_seed(1);
  CHECK(values(glorot({4, 3})) == first);
  const nn::HeNormal seeded({.seed = 7});
  CHECK(values(seeded({4, 3})) == values(seeded({4, 3})));
  CHECK(values(seeded({4, 3})) == values(nn::HeNormal({.seed = 7})({4, 3})));
}

TEST_CASE("the moments and bounds of random initializers") {
  const Shape shape{50, 200};
  const auto deviation = [&](const nn::Initializer& f) { return K::std(f(shape, "float64")).item<double>(); };
  const auto bound = [&](const nn::Initializer& f) {
    return K::max(K::abs(f(shape, "float64"))).item<double>();
  };
  CHECK(close(deviation(nn::RandomNormal({.stddev = 0.5, .seed = 1})), 0.5, {.rtol = 0.03}));
  CHECK(close(K::mean(nn::RandomNormal({.mean = 2, .seed = 1})(shape)).item(), 2, {.rtol = 0.01}));
  CHECK(bound(nn::RandomUniform({.seed = 1})) <= 0.05);
  CHECK(close(deviation(nn::RandomUniform({.minval = -1, .maxval = 1, .seed = 1})), 1 / std::sqrt(3.0),
              {.rtol = 0.03}));
  CHECK(bound(nn::TruncatedNormal({.stddev = 0.5, .seed = 1})) <= 1);
  CHECK(bound(nn::TruncatedNormal({.stddev = 0.5, .seed = 1})) > 0.95);
  CHECK(close(deviation(nn::LecunNormal({.seed = 1})), std::sqrt(1 / 50.0), {.rtol = 0.03}));
  CHECK(close(deviation(nn::VarianceScaling(
                  {.scale = 3, .mode = "fan_out", .distribution = "untruncated_normal", .seed = 1})),
              std::sqrt(3 / 200.0), {.rtol = 0.03}));
}

TEST_CASE("orthogonal matrices, tall, wide and of more axes") {
  for (const Shape& shape : {Shape{5, 3}, Shape{3, 5}, Shape{2, 2, 3, 4}, Shape{4, 4}}) {
    CAPTURE(shape);
    const Tensor q = K::reshape(nn::Orthogonal({.gain = 2})(shape, "float64"), {-1, shape.back()});
    const bool tall = q.shape()[0] >= q.shape()[1];
    const Tensor product = K::matmul(q, q, {.transpose_a = tall, .transpose_b = !tall});
    const Tensor unit = K::eye(product.shape()[0], {.dtype = "float64"});
    CHECK(close(product, 4 * unit, {.atol = 1e-12}));
  }
  CHECK(nn::Orthogonal()({0, 3}).shape() == Shape{0, 3});
  CHECK_THROWS_WITH_AS(nn::Orthogonal()({3}),
                       "[Orthogonal] the shape must have rank 2 or more: received shape=(3,)", ValueError);
}

TEST_CASE("an initializer is a name, an object or a callable, whose shape and dtype are checked") {
  CHECK(values(nn::Initializer("ones")({2})) == Values{1, 1});
  CHECK(values(nn::Constant(0.5)({2})) == Values{0.5, 0.5});
  CHECK(values(nn::IdentityInitializer({.gain = 3})({2, 2})) == Values{3, 0, 0, 3});
  CHECK(nn::Zeros()({2}, "float16").dtype() == "float16");
  const nn::Initializer counted = [](const Shape& shape, DType dtype) {
    return K::reshape(K::arange(0, shape.count(), 1, {.dtype = dtype}), shape);
  };
  CHECK(values(counted({2, 2}, "float64")) == Values{0, 1, 2, 3});
  const nn::Initializer other = [](const Shape&, DType) { return K::zeros({3}); };
  CHECK_THROWS_WITH_AS(
      other({2}), "[function] an initializer must return the shape (2,): received shape=(3,)", ValueError);
  CHECK_THROWS_WITH_AS(other({3}, "float64"),
                       "[function] an initializer must return the dtype float64: received dtype=float32",
                       TypeError);
}

TEST_CASE("bad options of initializers") {
  CHECK_THROWS_WITH_AS(nn::VarianceScaling({.scale = 0}),
                       "[VarianceScaling] scale must be above 0: received scale=0", ValueError);
  CHECK_THROWS_WITH_AS(nn::VarianceScaling({.mode = "fan"}),
                       "[VarianceScaling] mode must be 'fan_in', 'fan_out' or 'fan_avg': received mode='fan'",
                       ValueError);
  CHECK_THROWS_AS(nn::VarianceScaling({.distribution = "normal"}), ValueError);
  CHECK_THROWS_WITH_AS(nn::IdentityInitializer()({2}),
                       "[Identity] the shape must have rank 2: received shape=(2,)", ValueError);
}

TEST_CASE("STFT makes the kernels of a Fourier transform") {
  const Shape shape{4, 1, 3};
  const nn::STFT plain({.window = None, .scaling = std::nullopt});
  const Values cosines{1, 1, 1, 1, 0, -1, 1, -1, 1, 1, 0, -1};
  const Values real = values(plain(shape, "float64"));
  CHECK(close(real, cosines, {.atol = 1e-12}));
  const Values imag = values(nn::STFT({.side = "imag", .window = None})(shape, "float64"));
  CHECK(close(imag[4], -1, {.rtol = 1e-12}));  // -sin(2 pi / 4)

  // The window is what the bin of frequency 0 holds.
  const auto window = [](const nn::STFTOptions& options, std::int64_t steps) {
    return values(K::slice(nn::STFT(options)({steps, 1, 2}, "float64"), {0, 0, 0}, {-1, 1, 1}));
  };
  const auto check = [](const Values& got, const Values& want) {
    REQUIRE(got.size() == want.size());
    CHECK(close(got, want, {.rtol = 1e-6}));
  };
  check(window({.window = "hann", .scaling = std::nullopt}, 5), {0, 0.5, 1, 0.5, 0});
  check(window({.window = "hann", .scaling = std::nullopt, .periodic = true}, 4), {0, 0.5, 1, 0.5});
  check(window({.window = "hamming", .scaling = std::nullopt}, 3), {0.08, 1, 0.08});
  check(window({.window = "bartlett", .scaling = std::nullopt}, 5), {0, 0.5, 1, 0.5, 0});
  check(window({.window = "triang", .scaling = std::nullopt}, 4), {0.25, 0.75, 0.75, 0.25});
  check(window({.window = "triang", .scaling = std::nullopt}, 3), {0.5, 1, 0.5});
  check(window({.window = "cosine", .scaling = std::nullopt}, 3), {0.5, 1, 0.5});
  check(window({.window = "bohman", .scaling = std::nullopt}, 3), {0, 1, 0});
  check(window({.window = {3, 4}}, 2), {0.6, 0.8});
  check(window({.window = {3, 1}, .scaling = "spectrum"}, 2), {0.75, 0.25});

  const nn::Initializer again(nn::Value(nn::Config{
      {"class_name", "STFTInitializer"}, {"config", nn::Config{{"side", "imag"}, {"window", "hann"}}}}));
  CHECK(again.class_name() == "STFT");
  CHECK(values(again(shape)) == values(nn::STFT({.side = "imag"})(shape)));
  CHECK_THROWS_WITH_AS(nn::STFT({.window = "han"}), doctest::Contains("': received window='han'"),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::STFT({.side = "left"}), doctest::Contains("side must be 'real' or 'imag'"),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::STFT()({4, 2, 3}), doctest::Contains("the shape must be (steps, 1, bins)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::STFT({.window = {1, 2}})(shape),
                       doctest::Contains("a value for each of the 4 steps"), ValueError);
}
