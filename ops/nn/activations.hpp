#pragma once
#include <ktape/autograd/tensor.hpp>

#include <optional>

/// Activation functions. Each takes a floating tensor x and returns a tensor with the shape and dtype of x,
/// unless its comment says otherwise. An x of another dtype is a TypeError.
namespace ktape::backend {

/// Returns exp(x) / sum(exp(x)) along the axis. The exponents are differences to the largest element, so that
/// exp does not overflow. The result remembers x, and the crossentropies compute from x rather than from the
/// rounded probabilities. Throws ValueError for an axis that x does not have; a scalar has no axis.
/// `K.softmax`.
///
///     Tensor x = K::constant({1., 2., 3.});
///     std::cout << K::softmax(x) << "\n" << K::log_softmax(x);
Tensor softmax(const Tensor& x, int axis = -1);

/// Returns log(softmax(x)) along the axis, also where softmax(x) underflows to 0. `tf.nn.log_softmax`.
Tensor log_softmax(const Tensor& x, int axis = -1);

/// Returns 1 / (1 + exp(-x)). The result remembers x, as the result of `softmax` does. `K.sigmoid`.
///
///     Tensor x = K::constant({-2., 0., 2.});
///     std::cout << K::sigmoid(x) << " " << K::hard_sigmoid(x);
Tensor sigmoid(const Tensor& x);

/// Returns 0.2 x + 0.5, clipped to [0, 1]. `K.hard_sigmoid`.
Tensor hard_sigmoid(const Tensor& x);

struct ReluOptions {
  double alpha = 0;                      ///< the slope below the threshold
  std::optional<double> max_value = {};  ///< the upper bound of the result; no bound when not given
  double threshold = 0;                  ///< elements up to the threshold are treated as negative
};

/// Returns x where x > threshold and alpha * (x - threshold) elsewhere. With `max_value`, the elements above
/// the threshold are clipped to [0, max_value]. The threshold does not shift x: with a negative threshold, an
/// x between the threshold and 0 stays x without a `max_value` and becomes 0 with a `max_value`.
///
/// Integers are accepted: the result is float32 for alpha != 0 without threshold and max_value; otherwise the
/// options must be whole numbers (TypeError). The gradient at the threshold is 0 (alpha where alpha != 0 and
/// threshold and max_value are not used). The gradient at max_value is 1, but 0 for max_value = 6 without
/// threshold, as in TF's relu6. NaN stays NaN. `K.relu`.
///
///     Tensor x = K::constant({-1., 3., 9.});
///     std::cout << K::relu(x) << " " << K::relu(x, {.alpha = 0.1, .max_value = 6});
Tensor relu(const Tensor& x, const ReluOptions& options = {});

/// Returns x where x > 0 and alpha * (exp(x) - 1) elsewhere. `K.elu`.
///
///     std::cout << K::elu(K::constant({-1., 3.}));
Tensor elu(const Tensor& x, double alpha = 1);

/// Returns log(1 + exp(x)), without overflow for large x. `K.softplus`.
///
///     Tensor x = K::constant({-1., 0., 1.});
///     std::cout << K::softplus(x) << " " << K::softsign(x);
Tensor softplus(const Tensor& x);

/// Returns x / (1 + |x|). `K.softsign`.
Tensor softsign(const Tensor& x);

struct GeluOptions {
  bool approximate = false;  ///< use the formula with tanh in place of erf
};

/// Returns x * (1 + erf(x / sqrt(2))) / 2, or, with `approximate`, x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715
/// x^3))) / 2. `tf.nn.gelu`.
///
///     std::cout << K::gelu(K::constant({-1., 0., 1.}), {.approximate = true});
Tensor gelu(const Tensor& x, const GeluOptions& options = {});

/// Returns x / sqrt(max(sum(x^2), 1e-12)). The sum is taken over the given axes, by default over all axes.
/// Throws ValueError for an axis out of range. `K.l2_normalize`.
///
///     std::cout << K::l2_normalize(K::constant({3., 4.}));
Tensor l2_normalize(const Tensor& x, const Axes& axis = {});

/// Returns whether the prediction for each sample's target is among the k largest predictions of the sample:
/// a bool tensor of shape (samples,). `predictions` is floating, (samples, classes); `targets` is int32 or
/// int64, (samples,). All classes that tie with the k-th largest prediction count as among the k largest. The
/// result is false for a target that is not a class and for a sample with a prediction that is not finite.
/// Throws ValueError for other shapes, TypeError for other dtypes. `K.in_top_k`.
///
///     std::cout << K::in_top_k(K::constant({{0.9, 0.1}, {0.8, 0.2}}),
///                              K::constant({0, 1}, {.dtype = "int32"}), 1);
Tensor in_top_k(const Tensor& predictions, const Tensor& targets, std::int64_t k);

}  // namespace ktape::backend
