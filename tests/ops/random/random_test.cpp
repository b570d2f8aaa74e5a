#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <ktape/autograd/graph/gradcheck.hpp>
#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/kernels/random/philox.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/settings/config.hpp>
#include <limits>
#include <span>
#include <vector>

#include "../../close.hpp"
#include "../catalogue.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::DType, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError, ktape::Variable;

namespace {

Closeness same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    return {"got " + std::string(a.dtype().name()) + ", want " + std::string(b.dtype().name())};
  return close(a, b, exactly);
}

double moment(const std::vector<double>& x, int power, double center = 0) {
  double sum = 0;
  for (double v : x) sum += std::pow(v - center, power);
  return sum / static_cast<double>(x.size());
}

/// Returns Kolmogorov and Smirnov's statistic times sqrt(n): above 1.95 once in a thousand samples of the
/// distribution.
double distance(std::vector<double> x, const std::function<double(double)>& cdf) {
  std::sort(x.begin(), x.end());
  const double n = static_cast<double>(x.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double f = cdf(x[i]), below = static_cast<double>(i) / n;
    worst = std::max({worst, f - below, below + 1 / n - f});
  }
  return worst * std::sqrt(n);
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }
double truncated_cdf(double z) {
  return (normal_cdf(std::clamp(z, -2.0, 2.0)) - normal_cdf(-2)) / (normal_cdf(2) - normal_cdf(-2));
}

/// Returns the word of the generator that makes element i of a float tensor.
std::uint32_t word_of(std::uint64_t key, std::int64_t i) {
  const std::int64_t word = i % 64, counter = i / 64 * 16 + word % 32 / 2;
  const auto words = ktape::kernels::philox(
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0},
      {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
  return words[static_cast<std::size_t>(word / 32 * 2 + word % 2)];
}

/// Sets the number of threads that the library may use. Looked up, so that the tests need not be linked to
/// OpenMP.
void set_threads(int n) {
  const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  REQUIRE_MESSAGE(static_cast<bool>(set), "the library is built with OpenMP");
  set(n);
}

}  // namespace

TEST_CASE("Philox gives the known answers of its authors") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(ktape::kernels::philox({0, 0, 0, 0}, {0, 0}) ==
        Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(ktape::kernels::philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(ktape::kernels::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("every uniform number is that of the plain generator at its place") {
  const std::uint64_t key = K::random_key(42);
  const Tensor x = K::random_uniform({100003}, {.dtype = "float32", .seed = 42});
  std::vector<double> wanted;
  for (std::int64_t i = 0; i < x.size(); ++i) wanted.push_back((word_of(key, i) >> 8) * 0x1p-24);
  CHECK(close(values(x), wanted, exactly));
}

TEST_CASE("random_key is the key of the seed, or of the next stream of the global generator") {
  CHECK(K::random_key(42) == K::random_key(42));
  CHECK(K::random_key(42) != K::random_key(43));
  K::set_random_seed(1);
  const std::uint64_t first = K::random_key(), second = K::random_key();
  CHECK(first != second);
  K::set_random_seed(1);
  CHECK(K::random_key() == first);
}

TEST_CASE("the number of threads changes no number") {
  const Shape shape{3, 100001};
  const std::vector<std::function<Tensor()>> draws = {
      [&] { return K::random_uniform(shape, {.dtype = "float32", .seed = 1}); },
      [&] { return K::random_uniform(shape, {.dtype = "float64", .seed = 1}); },
      [&] { return K::random_uniform(shape, {.maxval = 1000, .dtype = "int32", .seed = 1}); },
      [&] { return K::random_normal(shape, {.dtype = "float32", .seed = 1}); },
      [&] { return K::random_normal(shape, {.dtype = "float64", .seed = 1}); },
      [&] { return K::random_normal(shape, {.dtype = "float16", .seed = 1}); },
      [&] { return K::truncated_normal(shape, {.dtype = "float32", .seed = 1}); },
      [&] { return K::random_bernoulli(shape, {.p = 0.3, .seed = 1}); },
      [&] { return K::dropout(K::random_normal(shape, {.seed = 2}), 0.3, {.seed = 1}); },
  };
  for (const auto& draw : draws) {
    set_threads(1);
    const Tensor one = draw();
    for (int threads : {2, 3, 7}) {
      set_threads(threads);
      CHECK(same(one, draw()));
    }
  }
  set_threads(2);
}

TEST_CASE("a short tensor holds the first numbers of a long one") {
  const std::vector<double> longer = values(K::random_normal({5000}, {.dtype = "float64", .seed = 9}));
  for (std::int64_t n : {0, 1, 31, 32, 33, 63, 64, 65, 1000}) {
    const std::vector<double> x = values(K::random_normal({n}, {.dtype = "float64", .seed = 9}));
    CHECK(close(x, std::span(longer).first(x.size()), exactly));
  }
}

TEST_CASE("a seed repeats its numbers, calls without a seed draw new numbers, and set_random_seed restarts") {
  const Shape shape{100};
  CHECK(same(K::random_normal(shape, {.seed = 5}), K::random_normal(shape, {.seed = 5})));
  CHECK_FALSE(same(K::random_normal(shape, {.seed = 5}), K::random_normal(shape, {.seed = 6})));
  CHECK_FALSE(same(K::random_normal(shape, {.seed = 5}), K::random_normal(shape, {.seed = -5})));
  CHECK_FALSE(same(K::random_normal(shape), K::random_normal(shape)));

  K::set_random_seed(5);
  const Tensor first = K::random_normal(shape), second = K::random_normal(shape);
  CHECK_FALSE(same(first, second));
  CHECK_FALSE(same(first, K::random_normal(shape, {.seed = 5})));
  K::set_random_seed(5);
  K::random_normal(shape, {.seed = 1});  // draws nothing from the global generator
  CHECK(same(first, K::random_normal(shape)));
  CHECK(same(second, K::random_normal(shape)));
  K::set_random_seed(6);
  CHECK_FALSE(same(first, K::random_normal(shape)));
}

TEST_CASE("uniform numbers fill their range evenly") {
  for (const char* dtype : {"float16", "float32", "float64"}) {
    CAPTURE(dtype);
    const std::vector<double> x =
        values(K::random_uniform({200000}, {.minval = -2, .maxval = 3, .dtype = dtype, .seed = 11}));
    CHECK(*std::min_element(x.begin(), x.end()) >= -2);
    CHECK(*std::max_element(x.begin(), x.end()) < 3);
    CHECK(std::abs(moment(x, 1) - 0.5) < 5 * std::sqrt(25. / 12 / 200000));
    CHECK(close(moment(x, 2, 0.5), 25. / 12, {.rtol = 0.01}));
    if (dtype != std::string("float16")) CHECK(distance(x, [](double v) { return (v + 2) / 5; }) < 1.95);
    double product = 0;
    for (std::size_t i = 1; i < x.size(); ++i) product += (x[i] - 0.5) * (x[i - 1] - 0.5);
    CHECK(std::abs(product / 200000) < 5 * 25. / 12 / std::sqrt(200000.));
  }
}

TEST_CASE("a uniform number never reaches the upper bound, however narrow the range") {
  const float above = std::nextafter(1.f, 2.f);
  for (double v : values(K::random_uniform({1000}, {.minval = 1, .maxval = above, .dtype = "float32"})))
    REQUIRE(v == 1);
  for (const char* dtype : {"float16", "float32", "float64"}) {
    CHECK(values(K::random_uniform({100}, {.minval = 3, .maxval = 3, .dtype = dtype})) ==
          std::vector<double>(100, 3.0));
    const std::vector<double> x =
        values(K::random_uniform({100000}, {.minval = -1, .maxval = 0, .dtype = dtype}));
    CHECK(*std::max_element(x.begin(), x.end()) < 0);
  }
}

TEST_CASE("whole numbers are even over [minval, maxval) in every integer dtype") {
  for (const char* dtype : {"uint8", "int8", "int16", "int32", "int64"}) {
    CAPTURE(dtype);
    const Tensor x = K::random_uniform({100000}, {.minval = 3, .maxval = 13, .dtype = dtype, .seed = 1});
    CHECK(x.dtype() == dtype);
    std::vector<double> counts(10);
    for (double v : values(x)) {
      REQUIRE(v >= 3);
      REQUIRE(v < 13);
      ++counts[static_cast<std::size_t>(v - 3)];
    }
    double chi2 = 0;
    for (double c : counts) chi2 += (c - 10000) * (c - 10000) / 10000;
    CHECK(chi2 < 27.9);  // one in a thousand, 9 degrees of freedom
  }
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  const Tensor wide =
      K::random_uniform({100000}, {.minval = least, .maxval = most, .dtype = "int64", .seed = 2});
  CHECK(distance(values(wide), [](double v) { return v / 0x1p64 + 0.5; }) < 1.95);
  int odd = 0;
  for (std::int64_t i = 0; i < wide.size(); ++i) odd += static_cast<int>(wide.data<std::int64_t>()[i] & 1);
  CHECK(std::abs(odd - 50000) < 5 * std::sqrt(25000.));
  const std::vector<double> bytes =
      values(K::random_uniform({10000}, {.maxval = 256, .dtype = "uint8", .seed = 3}));
  CHECK(*std::max_element(bytes.begin(), bytes.end()) == 255);
  CHECK(*std::min_element(bytes.begin(), bytes.end()) == 0);
}

TEST_CASE("normal numbers have the moments, the shape and the tails of the distribution") {
  for (const char* dtype : {"float16", "float32", "float64"}) {
    CAPTURE(dtype);
    const std::vector<double> x = values(K::random_normal({200000}, {.dtype = dtype, .seed = 12}));
    CHECK(std::abs(moment(x, 1)) < 5 / std::sqrt(200000.));
    CHECK(std::abs(moment(x, 2) - 1) < 5 * std::sqrt(2 / 200000.));
    CHECK(std::abs(moment(x, 3)) < 5 * std::sqrt(15 / 200000.));
    CHECK(std::abs(moment(x, 4) - 3) < 5 * std::sqrt(96 / 200000.));
    if (dtype != std::string("float16")) CHECK(distance(x, normal_cdf) < 1.95);
    double near = 0, pairs = 0;
    for (std::size_t i = 32; i < x.size(); ++i) near += x[i] * x[i - 1], pairs += x[i] * x[i - 32];
    CHECK(std::abs(near / 200000) < 5 / std::sqrt(200000.));
    CHECK(std::abs(pairs / 200000) < 5 / std::sqrt(200000.));
  }
  const std::vector<double> x = values(K::random_normal({4000000}, {.seed = 13}));
  const auto beyond_4 = std::count_if(x.begin(), x.end(), [](double v) { return std::abs(v) > 4; });
  CHECK(std::abs(static_cast<double>(beyond_4) - 253.4) < 80);
  CHECK(std::count_if(x.begin(), x.end(), [](double v) { return !(std::abs(v) < 7); }) == 0);

  const std::vector<double> shifted = values(K::random_normal({100000}, {.mean = 5, .stddev = 2, .seed = 3}));
  CHECK(distance(shifted, [](double v) { return normal_cdf((v - 5) / 2); }) < 1.95);
  CHECK(values(K::random_normal({3}, {.mean = 5, .stddev = 0})) == std::vector<double>(3, 5.0));
}

TEST_CASE("truncated normal numbers stay within two standard deviations and keep the shape") {
  for (const char* dtype : {"float16", "float32", "float64"}) {
    CAPTURE(dtype);
    const std::vector<double> x =
        values(K::truncated_normal({200000}, {.mean = 1, .stddev = 0.5, .dtype = dtype, .seed = 4}));
    CHECK(*std::min_element(x.begin(), x.end()) >= 0);
    CHECK(*std::max_element(x.begin(), x.end()) <= 2);
    CHECK(*std::max_element(x.begin(), x.end()) > 1.999);
    if (dtype != std::string("float16"))
      CHECK(distance(x, [](double v) { return truncated_cdf((v - 1) / 0.5); }) < 1.95);
    CHECK(close(moment(x, 2, 1), 0.25 * 0.7737, {.rtol = 0.01}));
  }
  CHECK(values(K::truncated_normal({3}, {.mean = 5, .stddev = 0})) == std::vector<double>(3, 5.0));
}

TEST_CASE("bernoulli draws ones with probability p in any dtype") {
  for (double p : {0.01, 0.3, 0.5, 0.99}) {
    CHECK(std::abs(moment(values(K::random_bernoulli({100000}, {.p = p, .seed = 5})), 1) - p) <
          5 * std::sqrt(p * (1 - p) / 1e5));
    CHECK(same(K::random_bernoulli({1000}, {.p = p, .seed = 5}),
               K::random_binomial({1000}, {.p = p, .seed = 5})));
  }
  for (const char* dtype : {"bool", "uint8", "int32", "int64", "float16", "float64"}) {
    const Tensor x = K::random_bernoulli({1000}, {.p = 0.5, .dtype = dtype});
    CHECK(x.dtype() == dtype);
    for (double v : values(x)) REQUIRE((v == 0 || v == 1));
  }
  CHECK(moment(values(K::random_bernoulli({1000})), 1) == 0);
  CHECK(moment(values(K::random_bernoulli({1000}, {.p = 1})), 1) == 1);
}

TEST_CASE("random tensors may be scalars or empty, and have floatx where no dtype is given") {
  CHECK(K::random_normal({}).shape() == Shape{});
  CHECK(K::random_uniform({2, 0, 3}).size() == 0);
  CHECK(K::random_normal({2}).dtype() == K::floatx());
  K::set_floatx("float64");
  CHECK(K::random_normal({2}).dtype() == "float64");
  CHECK(K::random_bernoulli({2}).dtype() == "float64");
  K::set_floatx("float32");
}

TEST_CASE("random variables start as the random tensors of their seed") {
  CHECK(K::random_uniform_variable({1}, 0, 1, {.name = "u"}).name() == "u");
  CHECK(same(K::random_uniform_variable({3, 4}, 2, 5, {.seed = 1}),
             K::random_uniform({3, 4}, {.minval = 2, .maxval = 5, .seed = 1})));
  CHECK(same(K::random_normal_variable({3}, 1, 0.5, {.dtype = "float64", .seed = 7}),
             K::random_normal({3}, {.mean = 1, .stddev = 0.5, .dtype = "float64", .seed = 7})));
}

TEST_CASE("random ops refuse arguments that make no sense") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH_AS(
      K::random_normal({2}, {.dtype = "int32"}),
      "[random_normal] dtype must be floating (float16, bfloat16, float32 or float64): received dtype=int32",
      TypeError);
  CHECK_THROWS_WITH_AS(K::random_normal({2}, {.stddev = -1}),
                       "[random_normal] stddev must be at least 0: received stddev=-1", ValueError);
  CHECK_THROWS_WITH_AS(K::truncated_normal({2}, {.mean = nan}),
                       Contains("[truncated_normal] mean must be finite in float32"), ValueError);
  CHECK_THROWS_WITH_AS(K::random_normal({2}, {.mean = 1e6, .dtype = "float16"}), Contains("float16"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::random_normal({-2, 3}), Contains("[random_normal]"), ValueError);
  CHECK_THROWS_AS(K::random_normal({std::int64_t{1} << 40, std::int64_t{1} << 40}), ValueError);

  CHECK_THROWS_WITH_AS(K::random_uniform({2}, {.minval = 2}),
                       "[random_uniform] minval must not exceed maxval: received minval=2, maxval=1",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::random_uniform({2}, {.maxval = inf}), Contains("maxval must be finite"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::random_uniform({2}, {.minval = -3e38, .maxval = 3e38}),
                       Contains("maxval - minval must be finite"), ValueError);
  CHECK_THROWS_WITH_AS(K::random_uniform({2}, {.dtype = "bool"}), Contains("received dtype=bool"), TypeError);
  CHECK_THROWS_WITH_AS(K::random_uniform({2}, {.dtype = "int32"}), Contains("needs maxval"), ValueError);
  CHECK_THROWS_WITH_AS(K::random_uniform({2}, {.maxval = 0, .dtype = "int32"}), Contains("minval < maxval"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::random_uniform({2}, {.maxval = 2.5, .dtype = "int32"}), Contains("whole number"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::random_uniform({2}, {.maxval = 257, .dtype = "uint8"}), Contains("within uint8"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::random_uniform({2}, {.minval = -1, .maxval = 9, .dtype = "uint8"}),
                       Contains("minval=-1"), ValueError);

  CHECK_THROWS_WITH_AS(K::random_bernoulli({2}, {.p = 1.5}),
                       "[random_bernoulli] p must be between 0 and 1: received p=1.5", ValueError);
  CHECK_THROWS_WITH_AS(K::random_binomial({2}, {.p = nan}), Contains("[random_binomial]"), ValueError);

  const Tensor x = K::random_normal({2, 3});
  for (double level : {-0.5, 1.0, 1.5, nan})
    CHECK_THROWS_WITH_AS(K::dropout(x, level), Contains("[dropout] level must be at least 0 and below 1"),
                         ValueError);
  CHECK_THROWS_WITH_AS(K::dropout(K::random_uniform({2}, {.maxval = 9, .dtype = "int32"}), 0.5),
                       Contains("received dtype=int32"), TypeError);
  CHECK_THROWS_AS(K::dropout(Tensor(), 0.5), ValueError);
  CHECK_THROWS_WITH_AS(
      K::dropout(x, 0.5, {.noise_shape = {2, 2}}),
      "[dropout] noise_shape must broadcast to the shape of x: received noise_shape=(2, 2), x=(2, 3)",
      ValueError);
  CHECK_THROWS_AS(K::dropout(x, 0, {.noise_shape = {1, 2, 3}}), ValueError);
  CHECK_THROWS_AS(K::dropout(K::placeholder({ktape::None, 3}), 0.5, {.noise_shape = {2, 3, 1}}), ValueError);
}

TEST_CASE("dropout drops the share and scales the other elements") {
  for (const char* dtype : {"float16", "float32", "float64"}) {
    CAPTURE(dtype);
    const Tensor ones = K::random_uniform({100000}, {.minval = 1, .maxval = 1, .dtype = dtype});
    const std::vector<double> y = values(K::dropout(ones, 0.2, {.seed = 8}));
    const auto zeros = std::count(y.begin(), y.end(), 0.0);
    CHECK(std::abs(static_cast<double>(zeros) - 20000) < 5 * std::sqrt(16000.));
    for (double v : y) REQUIRE((v == 0 || v == 1.25));
  }
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x(xt::xarray<float>{inf, -inf, std::nanf(""), 1.f, inf, -inf, std::nanf(""), 2.f});
  for (double v : values(K::dropout(x, 0.999999, {.seed = 1}))) CHECK(v == 0);
}

TEST_CASE("dropout of level 0 is the tensor itself") {
  const Tensor x = K::random_normal({5});
  CHECK(K::dropout(x, 0).raw() == x.raw());
}

TEST_CASE("a noise shape makes entries share decisions") {
  const Tensor ones = K::random_uniform({50, 40, 6}, {.minval = 1, .maxval = 1});
  const Tensor shared = K::dropout(ones, 0.5, {.noise_shape = {ktape::None, 1, 6}, .seed = 3});
  const auto y = ktape::view<float>(shared);
  int dropped = 0;
  for (std::size_t i = 0; i < 50; ++i)
    for (std::size_t k = 0; k < 6; ++k) {
      dropped += y(i, 0, k) == 0.f;
      for (std::size_t j = 1; j < 40; ++j) REQUIRE(y(i, j, k) == y(i, 0, k));
    }
  CHECK(std::abs(dropped - 150) < 50);
  CHECK(same(K::dropout(ones, 0.5, {.noise_shape = {50, ktape::None, ktape::None}, .seed = 3}),
             K::dropout(ones, 0.5, {.seed = 3})));
}

TEST_CASE("the gradient of dropout is 0 for dropped entries") {
  const Variable x(K::random_normal({1000}, {.seed = 1}));
  const Tensor y = K::dropout(x, 0.4, {.seed = 2}), g = ktape::gradients(y, {x})[0];
  for (std::int64_t i = 0; i < 1000; ++i)
    REQUIRE(g.item(i) == (y.item(i) == 0 ? 0.f : static_cast<float>(1 / 0.6)));

  for (const Shape& noise : {Shape{}, Shape{1, 7}}) {
    const auto report = ktape::gradcheck(
        [&](const std::vector<Tensor>& in) {
          return K::dropout(in[0] * in[0], 0.3, {.noise_shape = noise, .seed = 4});
        },
        {K::random_normal({9, 7}, {.dtype = "float64", .seed = 6})}, {.second_order = true, .op = "dropout"});
    CHECK_MESSAGE(report.ok, report.message);
  }
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"dropout", [](In in) { return K::dropout(in[0], 0.4, {.seed = 3}); }, {normal({2, 3})}},
      // Settings and state.
      {"set_random_seed", no_gradient}, {"random_key", no_gradient},
      // New tensors, which depend on none.
      {"random_normal", no_gradient}, {"random_uniform", no_gradient}, {"random_binomial", no_gradient},
      {"random_bernoulli", no_gradient}, {"truncated_normal", no_gradient},
      {"random_uniform_variable", no_gradient}, {"random_normal_variable", no_gradient},
  };
});
// clang-format on

}  // namespace
