#pragma once
#include <ktape/autograd/tensor.hpp>

#include <optional>

/// Activation functions of floating tensors: the result has x's shape and dtype; other dtypes are a
/// TypeError.
namespace ktape::backend {

/// exp(x) / sum(exp(x)) along the axis, computed from differences to the largest element. The result
/// remembers x: the crossentropies compute from it rather than from the rounded probabilities. Throws
/// ValueError for an axis that x does not have, so for every scalar. `K.softmax`.
Tensor softmax(const Tensor& x, int axis = -1);

/// log(softmax(x)), without its underflow. `tf.nn.log_softmax`.
Tensor log_softmax(const Tensor& x, int axis = -1);

/// 1 / (1 + exp(-x)). The result remembers x, as that of softmax does. `K.sigmoid`.
Tensor sigmoid(const Tensor& x);

/// 0.2 x + 0.5 between 0 and 1. `K.hard_sigmoid`.
Tensor hard_sigmoid(const Tensor& x);

struct ReluOptions {
  double alpha = 0;                      ///< slope below the threshold
  std::optional<double> max_value = {};  ///< the largest result
  double threshold = 0;                  ///< x up to it does not pass
};

/// x where x > threshold, else alpha * (x - threshold). With `max_value`, the first part is brought between 0
/// and it. The threshold is a gate, no shift: with a negative one, x between it and 0 passes unless there is
/// a `max_value`, which makes it 0. Integers are accepted: a leaky relu of them without threshold and
/// max_value is float32, otherwise the options must be whole numbers (TypeError). The gradient at the
/// threshold is 0 (alpha for a leaky one without threshold and max_value); at max_value it is 1, but 0 for
/// max_value = 6 without threshold, TF's relu6. NaN stays. `K.relu`.
Tensor relu(const Tensor& x, const ReluOptions& options = {});

/// x above 0, alpha * (exp(x) - 1) elsewhere. `K.elu`.
Tensor elu(const Tensor& x, double alpha = 1);

/// log(1 + exp(x)) for x of any size. `K.softplus`.
Tensor softplus(const Tensor& x);

/// x / (1 + |x|). `K.softsign`.
Tensor softsign(const Tensor& x);

struct GeluOptions {
  bool approximate = false;  ///< with tanh in place of erf
};

/// x * (1 + erf(x / sqrt(2))) / 2, or x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2. `tf.nn.gelu`.
Tensor gelu(const Tensor& x, const GeluOptions& options = {});

/// x / sqrt(max(sum(x^2), 1e-12)), the sum over the axes, by default over all. Throws ValueError for an axis
/// out of range. `K.l2_normalize`.
Tensor l2_normalize(const Tensor& x, const Axes& axis = {});

/// Whether the prediction of each sample's target is among the k largest: bool of shape (samples,), from
/// floating predictions (samples, classes) and int32 or int64 targets (samples,). Classes that tie with the
/// k-th place are all in; a target that is no class, or whose sample has a prediction that is not finite, is
/// not. Throws ValueError for other shapes, TypeError for other dtypes. `K.in_top_k`.
Tensor in_top_k(const Tensor& predictions, const Tensor& targets, std::int64_t k);

}  // namespace ktape::backend
