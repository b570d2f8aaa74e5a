#include <ktape/autograd/base/called_op.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/ops/broadcasting.hpp>
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
  const CalledOp called("normal");
  return K::random_normal(shape, {.mean = mean, .stddev = stddev, .dtype = dtype, .seed = seed.number()});
}
Tensor truncated_normal(const K::ShapeLike& shape, double mean, double stddev, OptionalDType dtype,
                        Seed seed) {
  const CalledOp called("truncated_normal");
  return K::truncated_normal(shape, {.mean = mean, .stddev = stddev, .dtype = dtype, .seed = seed.number()});
}
Tensor uniform(const K::ShapeLike& shape, double minval, double maxval, OptionalDType dtype, Seed seed) {
  const CalledOp called("uniform");
  return K::random_uniform(shape,
                           {.minval = minval, .maxval = maxval, .dtype = dtype, .seed = seed.number()});
}
Tensor randint(const K::ShapeLike& shape, std::int64_t minval, std::int64_t maxval, DType dtype, Seed seed) {
  const CalledOp called("randint");
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
  const CalledOp called("categorical");
  const Tensor logits = op_helpers::floating("categorical", given, "logits");
  if (logits.ndim() != 2)
    fail("[categorical] logits must be (rows, classes): received logits=", logits.shape());
  if (num_samples < 0)
    fail("[categorical] num_samples must be at least 0: received num_samples=", num_samples);
  const DType wanted = dtype.value_or(DType::Int32);
  const std::int64_t rows = logits.shape()[0];
  if (is_symbolic(logits))
    return defer(
        impure("categorical"), {{rows, num_samples}, wanted},
        [=](const Tensor& logits) { return categorical(logits, num_samples, wanted, seed); },
        WithoutGradient{logits});
  // The largest of logits with noise of Gumbel's distribution is a class with its probability.
  const std::int64_t classes = logits.shape()[1];
  const Tensor noise = -K::log(-K::log(open_uniform(rows * num_samples * classes, seed)));
  const Tensor scores =
      K::expand_dims(K::cast(logits, DType::Float64), 1) + K::reshape(noise, {rows, num_samples, classes});
  return K::cast(K::argmax(scores, -1), wanted);
}

Tensor shuffle(const Tensor& x, int given_axis, Seed seed) {
  const CalledOp called("shuffle");
  expect_defined("shuffle", "x", x);
  const int axis = canonical_axis("shuffle", given_axis, x.ndim());
  if (is_symbolic(x))
    return defer(
        impure("shuffle"), info_of(x), [axis, seed](const Tensor& x) { return shuffle(x, axis, seed); }, x);
  return ops::take(x, K::argsort(open_uniform(x.shape()[axis], seed)), axis);
}

Tensor dropout(const Tensor& inputs, double rate, const K::ShapeLike& noise_shape, Seed seed) {
  const CalledOp called("dropout");
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

/// Returns numbers of the shape in the dtype, by `next` of a source of draws.
template <class F>
Tensor drawn(const char* op, const Shape& shape, OptionalDType dtype, const Seed& seed, F next) {
  check_extents(op, shape, 8);
  Draws draws(seed);
  Tensor out = Tensor::empty(shape, DType::Float64, op);
  for (std::int64_t i = 0; i < out.size(); ++i) out.pointer<double>()[i] = next(draws, i);
  return K::as_dtype(out, dtype.value_or(K::floatx()));
}

/// A parameter of a distribution, one number or one for each draw.
struct Parameter {
  const char* name;
  const ArrayLike& given;

  Tensor tensor(const char* op) const {
    given.expect_defined(op, name);
    return given.given().defined() ? given.given() : given.tensor(DType::Float64, DType::Float64, op);
  }
};

/// The numbers of a parameter; `[i]` is the one of draw i.
class Numbers {
 public:
  /// Throws ValueError unless the parameter broadcasts to the shape and each number is valid, by the rule.
  template <class Valid>
  Numbers(const char* op, const char* name, const Tensor& given, const Shape& shape, const char* rule,
          Valid valid)
      : values_(converted(given, DType::Float64)) {
    if (!broadcasts_to(given.shape(), shape))
      fail("[", op, "] ", name, " must broadcast to the shape ", shape, ": received ", name, '=',
           given.shape());
    for (std::int64_t i = 0; i < values_.size(); ++i)
      if (const double value = values_.pointer<double>()[i]; !valid(value))
        fail("[", op, "] ", name, " must be ", rule, ": received ", name, '=', value);
    if (values_.size() != 1) values_ = K::broadcast_to(values_, shape);
  }
  double operator[](std::int64_t i) const { return values_.pointer<double>()[values_.size() == 1 ? 0 : i]; }

 private:
  Tensor values_;
};

/// Calls f with the values of the parameters, when a graph runs if some are symbolic.
template <class F>
Tensor with_values(const char* op, const Shape& shape, OptionalDType dtype, const Tensor& a, const Tensor& b,
                   F f) {
  const auto later = [=](const Tensor& a, const Tensor& b) { return with_values(op, shape, dtype, a, b, f); };
  if (is_symbolic(a, b))
    return defer(impure(op), {shape, dtype.value_or(K::floatx())}, later, WithoutGradient{a},
                 WithoutGradient{b});
  return f(a, b);
}

bool positive(double value) { return value > 0 && std::isfinite(value); }

constexpr double most_trials = 1 << 20;

}  // namespace

Tensor gamma(const Shape& shape, const ArrayLike& alpha, OptionalDType dtype, Seed seed) {
  const CalledOp called("gamma");
  const Tensor given = Parameter{"alpha", alpha}.tensor("gamma");
  return with_values("gamma", shape, dtype, given, given, [=](const Tensor& alpha, const Tensor&) {
    const Numbers a("gamma", "alpha", alpha, shape, "above 0", positive);
    return drawn("gamma", shape, dtype, seed,
                 [&](Draws& draws, std::int64_t i) { return draws.gamma(a[i]); });
  });
}

Tensor beta(const Shape& shape, const ArrayLike& alpha, const ArrayLike& beta, OptionalDType dtype,
            Seed seed) {
  const CalledOp called("beta");
  const Tensor first = Parameter{"alpha", alpha}.tensor("beta"),
               second = Parameter{"beta", beta}.tensor("beta");
  return with_values("beta", shape, dtype, first, second, [=](const Tensor& alpha, const Tensor& beta) {
    const Numbers a("beta", "alpha", alpha, shape, "above 0", positive),
        b("beta", "beta", beta, shape, "above 0", positive);
    return drawn("beta", shape, dtype, seed, [&](Draws& draws, std::int64_t i) {
      const double x = draws.gamma(a[i]), y = draws.gamma(b[i]);
      return x / (x + y);
    });
  });
}

Tensor binomial(const Shape& shape, const ArrayLike& counts, const ArrayLike& probabilities,
                OptionalDType dtype, Seed seed) {
  const CalledOp called("binomial");
  const Tensor trials = Parameter{"counts", counts}.tensor("binomial"),
               chances = Parameter{"probabilities", probabilities}.tensor("binomial");
  return with_values(
      "binomial", shape, dtype, trials, chances, [=](const Tensor& trials, const Tensor& chances) {
        const Numbers n("binomial", "counts", trials, shape, "whole numbers in [0, 2^20]",
                        [](double n) { return n >= 0 && n <= most_trials && n == std::floor(n); }),
            p("binomial", "probabilities", chances, shape, "in [0, 1]",
              [](double p) { return p >= 0 && p <= 1; });
        return drawn("binomial", shape, dtype, seed, [&](Draws& draws, std::int64_t i) {
          double successes = 0;
          for (auto left = static_cast<std::int64_t>(n[i]); left > 0; --left)
            successes += draws.uniform() < p[i];
          return successes;
        });
      });
}

}  // namespace ktape::random
