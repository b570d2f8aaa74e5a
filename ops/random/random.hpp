#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/shape_like.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// Random tensors. Each random number depends only on the seed and on the position of the element; neither
/// the number of threads nor the width of the processor's vectors changes a number. (On a processor without
/// fused multiply-add the last digit of a normal number may differ.) Calls with equal seeds give equal
/// numbers. A call without a seed draws the next stream of the global generator. The generator starts at a
/// random state; `set_random_seed` sets the state.
///
/// Numbers are drawn when the function is called: `random_normal({3})` in an expression with a placeholder is
/// drawn once, when the expression is written, and is constant over all calls of a function. To draw new
/// numbers at each call, give a symbolic shape, as in `random_normal(shape(x))` or
/// `random_normal({shape(x)[0], 3})` with a symbolic x, or call `random_normal` inside `K::symbolic` or in a
/// callable of the graph.
///
/// All functions throw ValueError for a shape with negative extents and for bounds or parameters that are not
/// finite in the dtype, and TypeError for a dtype that the function does not make. A dtype that is not given
/// is `floatx()`.
namespace ktape::backend {

struct RandomNormalOptions {
  Scalar mean = 0.0;
  Scalar stddev = 1.0;
  std::optional<DType> dtype = {};
  std::optional<std::int64_t> seed = {};
};

struct RandomUniformOptions {
  Scalar minval = 0.0;
  std::optional<Scalar> maxval = {};  ///< 1 by default for floating dtypes; required for integers
  std::optional<DType> dtype = {};
  std::optional<std::int64_t> seed = {};
};

struct RandomBernoulliOptions {
  double p = 0.0;  ///< the probability of 1
  std::optional<DType> dtype = {};
  std::optional<std::int64_t> seed = {};
};

struct RandomVariableOptions {
  std::optional<DType> dtype = {};
  std::string name = {};
  std::optional<std::int64_t> seed = {};
};

struct DropoutOptions {
  ShapeLike noise_shape = {};  ///< the shape of the keep or drop decisions; the shape of x when empty
  std::optional<std::int64_t> seed = {};
};

/// Sets the state of the global generator. The sequence of calls after the function gives equal numbers for
/// equal seeds. `tf.random.set_seed`.
///
///     K::set_random_seed(3);
///     Tensor a = K::random_normal({2});
///     K::set_random_seed(3);
///     std::cout << K::all(K::equal(a, K::random_normal({2})));
void set_random_seed(std::int64_t seed);

/// Returns the key of a stream of random numbers: the key of the seed, or the next key of the global
/// generator. For ops that draw numbers.
///
///     K::set_random_seed(3);
///     auto first = K::random_key(), second = K::random_key();
///     std::cout << (first == second) << " " << (K::random_key(7) == K::random_key(7));
std::uint64_t random_key(std::optional<std::int64_t> seed = {});

/// Returns normally distributed numbers of a floating dtype. Throws ValueError when stddev < 0.
/// `K.random_normal`.
///
///     std::cout << K::random_normal({2}, {.mean = 5, .stddev = 0.1, .seed = 7}) << " "
///               << K::truncated_normal({2}, {.seed = 7});
Tensor random_normal(const ShapeLike& shape, const RandomNormalOptions& options = {});

/// Returns normally distributed numbers of a floating dtype; numbers beyond two standard deviations are drawn
/// again. Throws ValueError when stddev < 0. `K.truncated_normal`.
Tensor truncated_normal(const ShapeLike& shape, const RandomNormalOptions& options = {});

/// Returns uniformly distributed numbers in [minval, maxval): real numbers for a floating dtype, whole
/// numbers for an integer dtype. Throws ValueError when minval > maxval. For an integer dtype throws
/// ValueError also when maxval is missing, when there is no number between the bounds, and when a bound is
/// not a whole number of the dtype. `K.random_uniform`.
///
///     std::cout << K::random_uniform(
///         {3}, {.minval = 0, .maxval = 10, .dtype = "int32", .seed = 7});
Tensor random_uniform(const ShapeLike& shape, const RandomUniformOptions& options = {});

/// Returns 1 with probability p, else 0, for each element, in any dtype. Throws ValueError unless 0 <= p <=
/// 1. `K.random_bernoulli`.
Tensor random_bernoulli(const ShapeLike& shape, const RandomBernoulliOptions& options = {});
/// Calls `random_bernoulli`, under the older name of Keras. `K.random_binomial`.
///
///     std::cout << K::random_binomial({6}, {.p = 0.5, .seed = 7}) << " "
///               << K::random_bernoulli({6}, {.p = 0.5, .seed = 7});
Tensor random_binomial(const ShapeLike& shape, const RandomBernoulliOptions& options = {});

/// Returns a variable with uniformly distributed numbers in [low, high). `K.random_uniform_variable`.
Variable random_uniform_variable(const Shape& shape, Scalar low, Scalar high,
                                 const RandomVariableOptions& options = {});
Variable random_uniform_variable(const Shape& shape, Scalar low, Scalar high, DType dtype);
/// Returns a variable with normally distributed numbers. `K.random_normal_variable`.
///
///     std::cout << K::random_normal_variable({2}, 0, 1, {.seed = 7}) << " "
///               << K::random_uniform_variable({2}, 0, 1, {.seed = 7});
Variable random_normal_variable(const Shape& shape, Scalar mean, Scalar scale,
                                const RandomVariableOptions& options = {});
Variable random_normal_variable(const Shape& shape, Scalar mean, Scalar scale, DType dtype);

/// Sets each element of x to 0 with probability `level` and divides the other elements by 1 - level, in
/// training and in testing. x is floating. A noise shape must broadcast to the shape of x (None stands for
/// the extent of x); elements that share an element of the noise share its decision. Level 0 returns x. The
/// gradient drops the elements that x drops. Throws ValueError unless 0 <= level < 1 and for a noise shape
/// that does not fit, TypeError for an x that is not floating. `K.dropout`.
///
///     std::cout << K::dropout(K::ones({6}), 0.5, {.seed = 7});
Tensor dropout(const Tensor& x, double level, const DropoutOptions& options = {});

}  // namespace ktape::backend
