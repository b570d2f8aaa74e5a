#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/shape_like.hpp>

#include <memory>
#include <optional>

/// The functions of keras.random. A seed is a number, for which a call always gives the same numbers, a SeedGenerator, which gives
/// each call its own numbers, or None: the next numbers of the global generator. A dtype that is not given is floatx().
///
///     namespace random = ktape::random;
///     random::SeedGenerator seed(7);
///     Tensor noise = random::normal({2, 3}, 0, 1, {}, seed), draws = random::categorical(logits, 4, {}, seed);
namespace ktape::random {

/// A sequence of seeds that starts with a number. Copies share the sequence.
///
///     ktape::random::SeedGenerator seed(7);
///     Tensor a = ktape::random::normal({2}, 0, 1, {}, seed),
///            b = ktape::random::normal({2}, 0, 1, {}, seed);
///     std::cout << a << " " << b;
class SeedGenerator {
 public:
  explicit SeedGenerator(std::optional<std::int64_t> seed = {});
  /// Returns the next seed.
  std::int64_t next() const;

 private:
  std::shared_ptr<std::int64_t> state_;
};

/// The seed of a call.
class Seed {
 public:
  Seed() = default;
  Seed(NoneType) {}
  template <std::integral T>
  Seed(T seed) : number_(static_cast<std::int64_t>(seed)) {}
  Seed(const SeedGenerator& generator) : number_(generator.next()) {}
  const std::optional<std::int64_t>& number() const { return number_; }

 private:
  std::optional<std::int64_t> number_;
};

/// The dtype of a result; not given, the floatx.
///
///     std::cout << ktape::random::normal({2}, 0, 1, "float64", 7).dtype();
using OptionalDType = std::optional<DType>;

/// Returns normal numbers (`truncated_normal`: at most two deviations from the mean), or uniform numbers in [minval, maxval).
///
///     std::cout << ktape::random::normal({2}, 0, 1, {}, 7) << "\n"
///               << ktape::random::truncated_normal({2}, 0, 1, {}, 7) << "\n"
///               << ktape::random::uniform({2}, 0, 1, {}, 7);
Tensor normal(const backend::ShapeLike& shape, double mean = 0, double stddev = 1, OptionalDType dtype = {},
              Seed seed = {});
Tensor truncated_normal(const backend::ShapeLike& shape, double mean = 0, double stddev = 1,
                        OptionalDType dtype = {}, Seed seed = {});
Tensor uniform(const backend::ShapeLike& shape, double minval = 0, double maxval = 1,
               OptionalDType dtype = {}, Seed seed = {});
/// Returns whole numbers in [minval, maxval), int32 by default.
///
///     std::cout << ktape::random::randint({5}, 0, 10, "int32", 7);
Tensor randint(const backend::ShapeLike& shape, std::int64_t minval, std::int64_t maxval,
               DType dtype = DType::Int32, Seed seed = {});
/// Returns the classes, int32 by default, of num_samples draws for each row of logits, (rows, classes).
///
///     Tensor logits = K::constant({{0., 0., 9.}});
///     std::cout << ktape::random::categorical(logits, 4, {}, 7);
Tensor categorical(const Tensor& logits, std::int64_t num_samples, OptionalDType dtype = {}, Seed seed = {});
/// Returns x with its slices along the axis in random order. Differentiable.
///
///     std::cout << ktape::random::shuffle(K::constant({1., 2., 3., 4.}), 0, 7);
Tensor shuffle(const Tensor& x, int axis = 0, Seed seed = {});
/// Returns the inputs with elements set to 0 with the probability `rate`, the others divided by 1 - rate; rate 1 gives zeros.
/// Differentiable. Throws ValueError unless 0 <= rate <= 1.
///
///     std::cout << ktape::random::dropout(ops::ones({6}), 0.5, {}, 7);
Tensor dropout(const Tensor& inputs, double rate, const backend::ShapeLike& noise_shape = {}, Seed seed = {});
/// Returns numbers of the gamma distribution of the shape alpha > 0, of the beta distribution, or the number of successes in
/// `counts` trials (0 to 2^20) of a probability. A parameter is a number, or an array that broadcasts to the shape. No gradient.
/// Throws ValueError for parameters outside of their range.
///
///     std::cout << ktape::random::gamma({2}, 3, {}, 7) << " "
///               << ktape::random::beta({2}, 2, 2, {}, 7) << " "
///               << ktape::random::binomial({2}, 10, 0.5, {}, 7) << "\n";
///     Tensor counts = K::constant({{5}, {500}}, {.dtype = "int32"});
///     std::cout << ktape::random::binomial({2, 3}, counts, {0.1, 0.5, 0.9}, {}, 7);
Tensor gamma(const Shape& shape, const ArrayLike& alpha, OptionalDType dtype = {}, Seed seed = {});
Tensor beta(const Shape& shape, const ArrayLike& alpha, const ArrayLike& beta, OptionalDType dtype = {},
            Seed seed = {});
Tensor binomial(const Shape& shape, const ArrayLike& counts, const ArrayLike& probabilities,
                OptionalDType dtype = {}, Seed seed = {});

}  // namespace ktape::random
