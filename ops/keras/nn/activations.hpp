#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

/// Activation functions of keras.ops. x is converted to floatx() if it holds integers or bools; except for `glu`, a result
/// has the shape of x. Differentiable to any order.
///
///     ops::gelu(x), ops::leaky_relu(x, 0.1), ops::softmax(x, {0, 2}), ops::glu(x, 1);
///     ops::relu(x), ops::relu6(x), ops::elu(x), ops::celu(x, 0.5), ops::selu(x), ops::sigmoid(x), ops::log_sigmoid(x);
///     ops::silu(x), ops::swish(x), ops::hard_sigmoid(x), ops::hard_silu(x), ops::hard_swish(x), ops::hard_tanh(x);
///     ops::hard_shrink(x), ops::soft_shrink(x, 0.2), ops::tanh_shrink(x), ops::threshold(x, 0, -1), ops::softplus(x);
///     ops::softsign(x), ops::squareplus(x), ops::log_softmax(x), ops::sparsemax(x), ops::sparse_plus(x);
///     ops::sparse_sigmoid(x);
namespace ktape::ops {

/// Returns max(x, 0), in the dtype of x; min(max(x, 0), 6); or x above 0, negative_slope * x elsewhere.
///
///     Tensor x = K::constant({-1., 3., 9.});
///     std::cout << ops::relu(x) << " " << ops::relu6(x) << "\n";
///     std::cout << ops::leaky_relu(K::constant({-1., 3.}));
Tensor relu(const Tensor& x);
Tensor relu6(const Tensor& x);
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.2);
/// Returns x above 0, alpha * (exp(x) - 1) elsewhere; for `celu` alpha * (exp(x / alpha) - 1), where alpha must not be 0
/// (ValueError); for `selu` with constants that keep mean 0 and variance 1.
///
///     Tensor x = K::constant({-1., 3.});
///     std::cout << ops::elu(x) << " " << ops::selu(x) << " " << ops::celu(x);
Tensor elu(const Tensor& x, double alpha = 1);
Tensor celu(const Tensor& x, double alpha = 1);
Tensor selu(const Tensor& x);
/// Returns x times the standard normal distribution function of x, by default approximated with tanh.
///
///     Tensor x = K::constant({-1., 0., 1.});
///     std::cout << ops::gelu(x) << " " << ops::gelu(x, false);
Tensor gelu(const Tensor& x, bool approximate = true);
/// Returns the first half of x along the axis times the sigmoid of the second half. Throws ValueError for an odd extent.
///
///     std::cout << ops::glu(K::constant({1., 2., 0., 100.}));
Tensor glu(const Tensor& x, int axis = -1);
/// Returns 1 / (1 + exp(-x)), its logarithm, or x times the former (`silu`, `swish`).
///
///     std::cout << ops::silu(K::constant({-1., 0., 1.})) << "\n";
///     Tensor x = K::constant({-2., 0., 2.});
///     std::cout << ops::sigmoid(x) << " " << ops::log_sigmoid(x);
Tensor sigmoid(const Tensor& x);
Tensor log_sigmoid(const Tensor& x);
Tensor silu(const Tensor& x);
Tensor swish(const Tensor& x);
/// Returns relu6(x + 3) / 6, x times that, or x limited to [-1, 1].
///
///     Tensor x = K::constant({-9., 0., 0.5});
///     std::cout << ops::hard_sigmoid(x) << " " << ops::hard_tanh(x) << "\n";
///     std::cout << ops::hard_silu(K::constant({-3., 0., 3.}));
Tensor hard_sigmoid(const Tensor& x);
Tensor hard_silu(const Tensor& x);
Tensor hard_swish(const Tensor& x);
Tensor hard_tanh(const Tensor& x);
/// Returns x where |x| > threshold, else 0; x moved by the threshold towards 0, at most to 0; or x - tanh(x).
///
///     Tensor x = K::constant({-1., 0.2, 2.});
///     std::cout << ops::hard_shrink(x) << " " << ops::soft_shrink(x) << " "
///               << ops::tanh_shrink(x);
Tensor hard_shrink(const Tensor& x, double threshold = 0.5);
Tensor soft_shrink(const Tensor& x, double threshold = 0.5);
Tensor tanh_shrink(const Tensor& x);
/// Returns x above the threshold, default_value elsewhere.
///
///     std::cout << ops::threshold(K::constant({-1., 0.5, 2.}), 1, 0);
Tensor threshold(const Tensor& x, double threshold, double default_value);
/// Returns log(1 + exp(x)), x / (1 + |x|), or (x + sqrt(x^2 + b)) / 2.
///
///     Tensor x = K::constant({-1., 0., 1.});
///     std::cout << ops::softplus(x) << "\n"
///               << ops::softsign(x) << "\n"
///               << ops::squareplus(x);
Tensor softplus(const Tensor& x);
Tensor softsign(const Tensor& x);
Tensor squareplus(const Tensor& x, double b = 4);
/// Returns exp(x) / sum(exp(x)) along one or several axes, or its logarithm.
///
///     Tensor x = K::constant({1., 2., 3.});
///     std::cout << ops::softmax(x) << "\n" << ops::log_softmax(x);
Tensor softmax(const Tensor& x, const Axes& axis = -1);
Tensor log_softmax(const Tensor& x, const Axes& axis = -1);
/// Returns the point of the probability simplex that is nearest to x, along the axis.
///
///     std::cout << ops::sparsemax(K::constant({1., 2., 0.1}));
Tensor sparsemax(const Tensor& x, int axis = -1);
/// Returns 0 below -1 and ((x + 1) / 2)^2 between -1 and 1; above 1 `sparse_plus` gives x. The derivative (x + 1) / 2 between -1
/// and 1, 0 below and 1 above, is `sparse_sigmoid`.
///
///     Tensor x = K::constant({-2., 0., 2.});
///     std::cout << ops::sparse_plus(x) << " " << ops::sparse_sigmoid(x);
Tensor sparse_plus(const Tensor& x);
Tensor sparse_sigmoid(const Tensor& x);

}  // namespace ktape::ops
