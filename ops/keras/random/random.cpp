#include <ktape/autograd/defer.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/keras/random/random.hpp>
#include <ktape/ops/keras/rows.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace ktape::random {

namespace K = backend;

SeedGenerator::SeedGenerator(std::optional<std::int64_t> seed)
    : state_(std::make_shared<std::int64_t>(seed ? *seed : static_cast<std::int64_t>(K::random_key() >> 1))) {
}

std::int64_t SeedGenerator::next() const {
  // The steps of splitmix: neighbouring states give unrelated seeds.
  auto z = static_cast<std::uint64_t>(*state_ += 0x1e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9, z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<std::int64_t>((z ^ (z >> 31)) >> 1);
}

Tensor normal(const K::ShapeLike& shape, double mean, double stddev, OptionalDType dtype, Seed seed) {
  return K::random_normal(shape, {.mean = mean, .stddev = stddev, .dtype = dtype, .seed = seed.number()});
}
Tensor truncated_normal(const K::ShapeLike& shape, double mean, double stddev, OptionalDType dtype,
                        Seed seed) {
  return K::truncated_normal(shape, {.mean = mean, .stddev = stddev, .dtype = dtype, .seed = seed.number()});
}
Tensor uniform(const K::ShapeLike& shape, double minval, double maxval, OptionalDType dtype, Seed seed) {
  return K::random_uniform(shape,
                           {.minval = minval, .maxval = maxval, .dtype = dtype, .seed = seed.number()});
}
Tensor randint(const K::ShapeLike& shape, std::int64_t minval, std::int64_t maxval, DType dtype, Seed seed) {
  if (!dtype.is_integer()) fail<TypeError>("[randint] dtype must be of integers: received dtype=", dtype);
  return K::random_uniform(shape,
                           {.minval = minval, .maxval = maxval, .dtype = dtype, .seed = seed.number()});
}

namespace {

/// Returns uniform numbers in (0, 1) for a tensor of n elements.
Tensor open_uniform(std::int64_t n, const Seed& seed) {
  return K::maximum(K::random_uniform({n}, {.dtype = DType::Float64, .seed = seed.number()}), 1e-300);
}

}  // namespace

Tensor categorical(const Tensor& given, std::int64_t num_samples, OptionalDType dtype, Seed seed) {
  const Tensor logits = op_helpers::floating("categorical", given, "logits");
  if (logits.ndim() != 2)
    fail("[categorical] logits must be (rows, classes): received logits=", logits.shape());
  if (num_samples < 0)
    fail("[categorical] num_samples must be at least 0: received num_samples=", num_samples);
  const DType wanted = dtype.value_or(DType::Int32);
  const std::int64_t rows = logits.shape()[0];
  const auto draw = [=](const Tensor& logits) {
    // The largest of logits with noise of Gumbel's distribution is a class with its probability.
    const std::int64_t rows = logits.shape()[0], classes = logits.shape()[1];
    const Tensor noise = -K::log(-K::log(open_uniform(rows * num_samples * classes, seed)));
    const Tensor scores =
        K::expand_dims(K::cast(logits, DType::Float64), 1) + K::reshape(noise, {rows, num_samples, classes});
    return K::cast(K::argmax(scores, -1), wanted);
  };
  return is_symbolic(logits)
             ? defer("categorical", {{rows, num_samples}, wanted}, draw, WithoutGradient{logits})
             : draw(logits);
}

Tensor shuffle(const Tensor& x, int given_axis, Seed seed) {
  expect_defined("shuffle", "x", x);
  const int axis = canonical_axis("shuffle", given_axis, x.ndim());
  const auto mixed = [axis, seed](const Tensor& x) {
    return ops::take(x, K::argsort(open_uniform(x.shape()[axis], seed)), axis);
  };
  return is_symbolic(x) ? defer("shuffle", {x.shape(), x.dtype()}, mixed, x) : mixed(x);
}

Tensor dropout(const Tensor& inputs, double rate, const K::ShapeLike& noise_shape, Seed seed) {
  const Tensor x = op_helpers::floating("dropout", inputs, "inputs");
  if (!(rate >= 0 && rate <= 1)) fail("[dropout] rate must be in [0, 1]: received rate=", rate);
  if (rate == 1) return x * 0;
  return K::dropout(x, rate, {.noise_shape = noise_shape, .seed = seed.number()});
}

namespace {

/// A source of uniform and normal numbers for rejection, which needs a number of draws that is not known before.
class Draws {
 public:
  explicit Draws(const Seed& seed) : state_(K::random_key(seed.number())) {}
  double uniform() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9, z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (static_cast<double>((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
  }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  /// Returns a number of the gamma distribution, by the method of Marsaglia and Tsang.
  double gamma(double alpha) {
    if (alpha < 1) return gamma(alpha + 1) * std::pow(uniform(), 1 / alpha);
    const double d = alpha - 1 / 3., c = 1 / std::sqrt(9 * d);
    while (true) {
      const double x = normal(), t = 1 + c * x, v = t * t * t;
      if (t > 0 && std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
  }

 private:
  std::uint64_t state_;
};

template <class F>
Tensor filled(const char* op, const Shape& shape, OptionalDType dtype, F next) {
  check_extents(op, shape, 8);
  Tensor out = Tensor::empty(shape, DType::Float64, op);
  std::generate_n(out.pointer<double>(), out.size(), next);
  return K::as_dtype(out, dtype.value_or(K::floatx()));
}

void expect_positive(const char* op, const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value))
    fail("[", op, "] ", name, " must be above 0: received ", name, '=', value);
}

}  // namespace

Tensor gamma(const Shape& shape, double alpha, OptionalDType dtype, Seed seed) {
  expect_positive("gamma", "alpha", alpha);
  Draws draws(seed);
  return filled("gamma", shape, dtype, [&] { return draws.gamma(alpha); });
}

Tensor beta(const Shape& shape, double alpha, double beta, OptionalDType dtype, Seed seed) {
  expect_positive("beta", "alpha", alpha), expect_positive("beta", "beta", beta);
  Draws draws(seed);
  return filled("beta", shape, dtype, [&] {
    const double a = draws.gamma(alpha), b = draws.gamma(beta);
    return a / (a + b);
  });
}

Tensor binomial(const Shape& shape, std::int64_t counts, double probabilities, OptionalDType dtype,
                Seed seed) {
  if (counts < 0 || counts > 1 << 20)
    fail("[binomial] counts must be in [0, 2^20]: received counts=", counts);
  if (!(probabilities >= 0 && probabilities <= 1))
    fail("[binomial] probabilities must be in [0, 1]: received probabilities=", probabilities);
  Draws draws(seed);
  return filled("binomial", shape, dtype, [&] {
    double successes = 0;
    for (std::int64_t i = 0; i < counts; ++i) successes += draws.uniform() < probabilities;
    return successes;
  });
}

}  // namespace ktape::random
