#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/shape_like.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// Random tensors. Every number depends on the seed and on its place alone: neither the number of threads nor
/// the width of the processor's vectors changes one. (On a processor without fused multiply-add the last
/// digit of a normal number may differ.) A call with a seed gives the same numbers each time; a call without
/// one draws the next stream of the global generator, which starts at random and which `set_random_seed`
/// fixes.
///
/// Numbers are drawn when the function is called: `random_normal({3})` beside a placeholder is drawn once,
/// when it is written, and the same at each call of a function. To draw anew, give a shape that waits, as
/// `random_normal(shape(x))` or `random_normal({shape(x)[0], 3})` does for a symbolic x, or write it inside
/// `K::symbolic` or in a callable of the graph.
///
/// All functions throw ValueError for a shape with negative extents and for bounds or parameters that are not
/// finite in the dtype, and TypeError for a dtype that they do not make. A dtype that is not given is
/// `floatx()`.
namespace ktape::backend {

struct RandomNormalOptions {
  Scalar mean = 0.0;
  Scalar stddev = 1.0;
  std::optional<DType> dtype = {};
  std::optional<std::int64_t> seed = {};
};

struct RandomUniformOptions {
  Scalar minval = 0.0;
  std::optional<Scalar> maxval = {};  ///< 1 for floating dtypes; integers need one
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
  ShapeLike noise_shape = {};  ///< the shape of the keep or drop decisions; that of x when empty
  std::optional<std::int64_t> seed = {};
};

/// Starts the global generator anew: the same seed, then the same calls, give the same numbers.
/// `tf.random.set_seed`.
void set_random_seed(std::int64_t seed);

/// The key of a stream of random numbers: the seed's, or the next one of the global generator. For ops that
/// draw numbers.
std::uint64_t random_key(std::optional<std::int64_t> seed = {});

/// Normal numbers, floating. Throws ValueError when stddev < 0. `K.random_normal`.
Tensor random_normal(const ShapeLike& shape, const RandomNormalOptions& options = {});

/// Normal numbers, those beyond two standard deviations drawn again; floating. Throws ValueError when stddev
/// < 0. `K.truncated_normal`.
Tensor truncated_normal(const ShapeLike& shape, const RandomNormalOptions& options = {});

/// Uniform numbers in [minval, maxval): real numbers for a floating dtype, whole ones for an integer dtype.
/// Throws ValueError when minval > maxval, and for integers when maxval is missing, when there is no number
/// between the bounds and when a bound is not a whole number of the dtype. `K.random_uniform`.
Tensor random_uniform(const ShapeLike& shape, const RandomUniformOptions& options = {});

/// 1 with probability p, else 0, in any dtype. Throws ValueError unless 0 <= p <= 1. `K.random_bernoulli`.
Tensor random_bernoulli(const ShapeLike& shape, const RandomBernoulliOptions& options = {});
/// The same under its older name. `K.random_binomial`.
Tensor random_binomial(const ShapeLike& shape, const RandomBernoulliOptions& options = {});

/// A variable with uniform numbers in [low, high). `K.random_uniform_variable`.
Variable random_uniform_variable(const Shape& shape, Scalar low, Scalar high,
                                 const RandomVariableOptions& options = {});
/// A variable with normal numbers. `K.random_normal_variable`.
Variable random_normal_variable(const Shape& shape, Scalar mean, Scalar scale,
                                const RandomVariableOptions& options = {});

/// Each entry of x becomes 0 with probability `level`, else x / (1 - level); whatever the learning phase. x
/// is floating. With a noise shape, which must broadcast to x's (None stands for x's extent), entries share
/// decisions. Level 0 returns x. The gradient drops the same entries. Throws ValueError unless 0 <= level < 1
/// and for a noise shape that does not fit, TypeError for an x that is not floating. `K.dropout`.
Tensor dropout(const Tensor& x, double level, const DropoutOptions& options = {});

}  // namespace ktape::backend
