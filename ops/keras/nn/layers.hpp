#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

#include <optional>
#include <string>

/// Convolutions, pooling, normalization and attention of keras.ops, for one, two or three spatial axes (as many as the rank
/// of the inputs minus 2). Inputs are (samples, spatial..., channels), or (samples, channels, spatial...) with the
/// data_format "channels_first"; image_data_format() when not given. Differentiable to any order; shapes and names that do not
/// fit are a ValueError.
///
///     ops::conv(x, kernel, {.strides = 2, .padding = "same"});
///     ops::max_pool(x, 2), ops::adaptive_average_pool(x, {2, 4}), ops::normalize(x, -1, 1);
///     ops::conv_transpose(x, kernel, {.strides = 2}), ops::depthwise_conv(x, kernel), ops::average_pool(x, 2);
///     ops::separable_conv(x, kernel, pointwise), ops::adaptive_max_pool(x, 3), ops::moments(x, {0, 1}).mean;
///     ops::batch_normalization(x, mean, variance, -1), ops::layer_normalization(x), ops::rms_normalization(x);
///     ops::dot_product_attention(query, key, value, {.is_causal = true});
namespace ktape::ops {

/// A window, a kernel or strides of a spatial op: a number for all axes, or a number for each axis.
///
///     std::cout << ops::max_pool(ops::ones({1, 6, 6, 1}), {2, 3}).shape() << " "
///               << ops::gaussian_blur(ops::ones({1, 5, 5, 1}), 3, 0.5).shape();
using Extents = backend::PerAxis<std::int64_t>;

struct ConvOptions {
  Extents strides = 1;
  std::string padding = "valid";  ///< "valid", "same", or "causal" with one axis
  std::optional<std::string> data_format = {};
  Extents dilation_rate = 1;
};

/// Returns the convolution with a kernel (spatial..., channels / groups, filters): a kernel with fewer input channels convolves
/// the channels in as many groups.
///
///     Tensor x = ops::ones({1, 5, 5, 1}), kernel = ops::ones({3, 3, 1, 2});
///     std::cout << ops::conv(x, kernel).shape() << " "
///               << ops::conv(x, kernel, {.strides = 2, .padding = "same"}).shape();
Tensor conv(const Tensor& inputs, const Tensor& kernel, const ConvOptions& options = {});

struct ConvTransposeOptions {
  Extents strides = 1;
  std::string padding = "valid";  ///< "valid" or "same"
  std::optional<Extents> output_padding =
      {};  ///< the elements by which each axis grows beyond the smallest result
  std::optional<std::string> data_format = {};
  Extents dilation_rate = 1;
};

/// Returns the transposed convolution with a kernel (spatial..., filters, channels).
///
///     std::cout << ops::conv_transpose(ops::ones({1, 4, 4, 3}), ops::ones({3, 3, 2, 3}),
///                                      {.strides = 2, .padding = "same"})
///                      .shape();
Tensor conv_transpose(const Tensor& inputs, const Tensor& kernel, const ConvTransposeOptions& options = {});
/// Returns each channel convolved with its own filters; the kernel is (spatial..., channels, multiplier), one or two axes.
///
///     std::cout << ops::depthwise_conv(ops::ones({1, 5, 5, 3}), ops::ones({3, 3, 3, 2}))
///                      .shape();
Tensor depthwise_conv(const Tensor& inputs, const Tensor& kernel, const ConvOptions& options = {});
/// Returns a depthwise convolution, mixed by a pointwise kernel (1..., channels * multiplier, filters).
///
///     std::cout << ops::separable_conv(ops::ones({1, 5, 5, 3}), ops::ones({3, 3, 3, 1}),
///                                      ops::ones({1, 1, 3, 8}))
///                      .shape();
Tensor separable_conv(const Tensor& inputs, const Tensor& depthwise_kernel, const Tensor& pointwise_kernel,
                      const ConvOptions& options = {});

/// Options of `max_pool` and `average_pool`.
///
///     std::cout << ops::max_pool(ops::ones({1, 5, 5, 1}), 3,
///                                {.strides = 1, .padding = "same"})
///                      .shape();
struct PoolOptions {
  std::optional<Extents> strides = {};  ///< the pool size when not given
  std::string padding = "valid";        ///< "valid" or "same"
  std::optional<std::string> data_format = {};
};

/// Returns the largest element, or the mean of the elements inside of x, of each window.
///
///     Tensor x = ops::reshape(ops::arange(0., 16.), {1, 4, 4, 1});
///     std::cout << ops::ravel(ops::max_pool(x, 2)) << " "
///               << ops::ravel(ops::average_pool(x, 2));
Tensor max_pool(const Tensor& inputs, const Extents& pool_size, const PoolOptions& options = {});
Tensor average_pool(const Tensor& inputs, const Extents& pool_size, const PoolOptions& options = {});

/// Options of `adaptive_max_pool` and `adaptive_average_pool`.
///
///     std::cout << ops::adaptive_max_pool(ops::ones({1, 3, 8}), 4,
///                                         {.data_format = "channels_first"})
///                      .shape();
struct AdaptivePoolOptions {
  std::optional<std::string> data_format = {};
};

/// Returns the largest element or the mean of windows that give the output size: along an axis of n positions, window i of m
/// reaches from floor(i n / m) to ceil((i + 1) n / m). The extents must be known in graphs.
///
///     Tensor x = ops::reshape(ops::arange(0., 5.), {1, 5, 1});
///     std::cout << ops::ravel(ops::adaptive_max_pool(x, 2)) << " "
///               << ops::ravel(ops::adaptive_average_pool(x, 2));
Tensor adaptive_max_pool(const Tensor& inputs, const Extents& output_size,
                         const AdaptivePoolOptions& options = {});
Tensor adaptive_average_pool(const Tensor& inputs, const Extents& output_size,
                             const AdaptivePoolOptions& options = {});

struct Moments {
  Tensor mean, variance;
};

/// Returns the mean and the population variance over the axes; of half precision, clipped to the range of float16, as in Keras.
///
///     auto [mean, variance] = ops::moments(K::constant({1., 2., 3.}), 0);
///     std::cout << mean << " " << variance;
Moments moments(const Tensor& x, const Axes& axes, bool keepdims = false);
/// Returns x / max(norm, epsilon) with the norm of the order along the axis; epsilon() when not given.
///
///     std::cout << ops::normalize(K::constant({3., 4.}));
Tensor normalize(const Tensor& x, const Axes& axis = -1, double order = 2,
                 std::optional<double> epsilon = {});

/// Returns (x - mean) / sqrt(variance + epsilon) * scale + offset; the statistics, scale and offset are vectors along the axis.
///
///     Tensor x = K::constant({{1., 10.}, {3., 30.}});
///     std::cout << ops::batch_normalization(x, K::constant({2., 20.}),
///                                           K::constant({1., 100.}), -1);
Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance, int axis,
                           const Tensor& offset = {}, const Tensor& scale = {}, double epsilon = 1e-3);

/// Options of `layer_normalization`.
///
///     std::cout << ops::layer_normalization(K::constant({{1., 2.}, {3., 4.}}), {}, {},
///                                           {.axis = 0, .epsilon = 1e-6});
struct LayerNormalizationOptions {
  Axes axis = -1;                      ///< the normalized axes, which are the axes of gamma and beta
  std::optional<double> epsilon = {};  ///< epsilon() when not given
  bool rms_scaling = false;  ///< for old models: x / sqrt(variance + epsilon) * gamma, without mean and beta
};

/// Returns x with mean 0 and variance 1 over the axes, times gamma plus beta, in the dtype of x.
///
///     Tensor x = K::constant({1., 2., 3.});
///     std::cout << ops::layer_normalization(x) << "\n" << ops::rms_normalization(x);
Tensor layer_normalization(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                           const LayerNormalizationOptions& options = {});
/// Returns x / sqrt(mean(x^2) + epsilon) * scale, with the mean over the axes; epsilon() when not given.
Tensor rms_normalization(const Tensor& x, const Tensor& scale = {}, const Axes& axis = -1,
                         std::optional<double> epsilon = {});

struct DotProductAttentionOptions {
  TensorArgument bias = {};  ///< is added to the scores, and broadcasts to (batch, heads, queries, keys)
  TensorArgument mask = {};  ///< hides a key from a query where the mask is 0; broadcasts as the bias does
  std::optional<double> scale = {};  ///< the factor of the scores; 1 / sqrt(width) when not given
  bool is_causal = false;            ///< query i sees keys 0 to i only
  std::optional<bool> flash_attention =
      {};  ///< true refuses a bias and a soft cap, for which the scores are stored; no effect otherwise
  std::optional<double> attn_logits_soft_cap = {};  ///< c: scores s become c tanh(s / c)
};

/// Returns softmax(scale * query key^T) value for each head; tensors are (batch, time, heads, width), and are converted to
/// their common floating dtype. A query that sees no key gives zeros. Hidden keys and values have no influence, whatever
/// they are.
///
///     Tensor q = ktape::random::normal({2, 5, 4, 8});
///     std::cout << ops::dot_product_attention(q, q, q, {.is_causal = true}).shape();
Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                             const DotProductAttentionOptions& options = {});

}  // namespace ktape::ops
