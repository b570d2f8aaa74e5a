#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>

/// Attention layers: each step of a query gets a weighted mean of the values; the weights say how well the
/// keys fit the query. A layer is called on {query, value} or {query, value, key}; without a key, the values
/// are the keys.
///
///     nn::MultiHeadAttention attention(8, 64);
///     Tensor y = attention({x, x}, {.use_causal_mask = true});
///     auto both = attention.apply({x, memory}, {.return_attention_scores = true});  // y, scores
///
/// The masks that the inputs carry, or the `mask` of the call, {query mask, value mask, key mask}, each
/// (batch, steps), mark the valid steps. A masked value or key gets weight 0 (Attention and AdditiveAttention
/// ignore the key mask), and the query mask is the mask of the output. With `use_causal_mask` query i sees
/// keys 0 to i only. A query that sees no key gives zeros. With `return_attention_scores`, `apply` returns
/// the weights, computed with masks and softmax, after the output. `dropout` is the rate at which weights
/// become 0, in training only.
///
/// All layers throw ValueError for another number of inputs, inputs that do not fit each other, and dropout
/// rates outside [0, 1).
namespace ktape::nn {

struct AttentionOptions {
  bool use_scale = false;          ///< whether the scores are multiplied by a weight
  std::string score_mode = "dot";  ///< "dot" or "concat"
  double dropout = 0;
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Luong's attention: dot(softmax(scores), value) for query (batch, queries, dim), value (batch, keys,
/// value_dim) and key (batch, keys, dim). The score of a query and a key is scale * dot(query, key) or, with
/// "concat", concat_score_weight * sum(tanh(scale * (query + key))). A masked query gives zeros. Weights:
/// scale, with `use_scale`, and concat_score_weight, with "concat", both of shape ().
///
///     Tensor query = K::random_normal({2, 3, 8}), value = K::random_normal({2, 5, 8});
///     nn::Attention dot, concat({.use_scale = true, .score_mode = "concat"});
///     nn::AdditiveAttention sum({.use_scale = false});
///     for (const nn::Layer& layer : {nn::Layer(dot), nn::Layer(concat), nn::Layer(sum)})
///       std::cout << layer({query, value}).shape()
///                 << " weights: " << layer.count_params() << "\n";
class Attention : public Layer {
 public:
  explicit Attention(const AttentionOptions& options = {});
  Variable scale() const { return weight("scale"); }
  Variable concat_score_weight() const { return weight("concat_score_weight"); }
};

struct AdditiveAttentionOptions {
  bool use_scale = true;
  double dropout = 0;
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Bahdanau's attention: dot(softmax(scores), value) with the scores sum(scale * tanh(query + key)), for
/// inputs as in Attention. Weight: scale (dim,), with `use_scale`.
class AdditiveAttention : public Layer {
 public:
  explicit AdditiveAttention(const AdditiveAttentionOptions& options = {});
  Variable scale() const { return weight("scale"); }
};

struct MultiHeadAttentionOptions {
  std::optional<std::int64_t> num_heads = {};  ///< required: the number of heads
  std::optional<std::int64_t> key_dim = {};    ///< required: the width of each head
  /// The number of features of the values in each head; key_dim by default.
  std::optional<std::int64_t> value_dim = {};
  double dropout = 0;
  bool use_bias = true;
  OptionalShape output_shape = {};  ///< the axes after batch and steps; by default the features of the query
  Axes attention_axes = {};         ///< the attended axes; by default all but batch and features
  /// The distance from which on keys are hidden: a query sees only keys at a smaller distance.
  std::optional<std::int64_t> sliding_window = {};
  /// Whether the fused kernel, which never stores all scores at once, is required. The fused kernel runs
  /// wherever possible in any case.
  std::optional<bool> flash_attention = {};
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  Regularizer activity_regularizer = {};  ///< the penalty on the output of each projection
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  bool use_gate = false;  ///< whether each head's result is multiplied by sigmoid(a projection of the query)
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Multi-head attention. Query, key and value are projected for each head, to key_dim, key_dim and value_dim
/// features. Each head computes dot(softmax(dot(query, transpose(key)) / sqrt(key_dim)), value). The results
/// of all heads together are projected to the output. Queries (batch, queries, features) give an output
/// (batch, queries, output_shape...) and scores (batch, heads, queries, keys). The `attention_mask` of the
/// call, (batch, queries, keys) or with an axis for the heads before the last two axes, hides keys from
/// queries where the mask is 0.
///
/// Inputs may have further axes. Attention runs over `attention_axes`; all other axes count as batch. Scores
/// are (batch..., heads, query axes..., key axes...).
///
/// Weights: query/kernel and key/kernel (features, heads, key_dim), value/kernel and, with `use_gate`,
/// gate/kernel (features, heads, value_dim), attention_output/kernel (heads, value_dim, output_shape...).
/// With `use_bias` each projection has a bias: query/bias (heads, key_dim), attention_output/bias
/// (output_shape...).
///
/// The layer calls `K::scaled_dot_product_attention`, unless scores are returned, dropout is active, or a
/// mask meets inputs with further axes. Also throws ValueError for numbers below 1, attention axes that the
/// inputs do not have, step masks, `use_causal_mask` and `sliding_window` unless attention runs over one axis
/// (for step masks: axis 1), and `flash_attention` together with dropout or scores.
///
///     nn::MultiHeadAttention attention(4, 8, {.use_bias = false, .output_shape = {3}});
///     Tensor x = K::random_normal({2, 5, 16});
///     std::cout << attention({x, x}, {.use_causal_mask = true}).shape()
///               << " weights: " << attention.count_params();
class MultiHeadAttention : public Layer {
 public:
  explicit MultiHeadAttention(const MultiHeadAttentionOptions& options);
  MultiHeadAttention(std::int64_t num_heads, const MultiHeadAttentionOptions& options)
      : MultiHeadAttention(internal::with("MultiHeadAttention", "num_heads", options,
                                          &MultiHeadAttentionOptions::num_heads, num_heads)) {}
  MultiHeadAttention(std::int64_t num_heads, std::int64_t key_dim,
                     const MultiHeadAttentionOptions& options = {})
      : MultiHeadAttention(num_heads, internal::with("MultiHeadAttention", "key_dim", options,
                                                     &MultiHeadAttentionOptions::key_dim, key_dim)) {}
};

struct GroupQueryAttentionOptions {
  std::optional<std::int64_t> head_dim = {};             ///< required: the width of each head
  std::optional<std::int64_t> num_query_heads = {};      ///< required: the number of heads of the query
  std::optional<std::int64_t> num_key_value_heads = {};  ///< required: the number of heads of key and value
  double dropout = 0;
  bool use_bias = true;
  std::optional<std::int64_t> sliding_window = {};
  std::optional<bool> flash_attention = {};
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  Regularizer activity_regularizer = {};  ///< the penalty on the output of each projection
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  bool use_gate = false;
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// Grouped query attention: MultiHeadAttention over sequences, (batch, steps, features), in which several
/// heads of the query share one head of key and value. The output has the features of the query. Also throws
/// ValueError unless num_query_heads is a multiple of num_key_value_heads.
///
///     nn::GroupQueryAttention attention(8, 4, 2), plain(8, 4, 2, {.use_bias = false});
///     Tensor x = K::random_normal({2, 5, 16});
///     std::cout << attention({x, x}).shape() << " weights: " << attention.count_params()
///               << "\n"
///               << plain({x, x}).shape() << " weights: " << plain.count_params();
class GroupQueryAttention : public Layer {
 public:
  explicit GroupQueryAttention(const GroupQueryAttentionOptions& options);
  GroupQueryAttention(std::int64_t head_dim, const GroupQueryAttentionOptions& options)
      : GroupQueryAttention(internal::with("GroupQueryAttention", "head_dim", options,
                                           &GroupQueryAttentionOptions::head_dim, head_dim)) {}
  GroupQueryAttention(std::int64_t head_dim, std::int64_t num_query_heads,
                      const GroupQueryAttentionOptions& options)
      : GroupQueryAttention(head_dim,
                            internal::with("GroupQueryAttention", "num_query_heads", options,
                                           &GroupQueryAttentionOptions::num_query_heads, num_query_heads)) {}
  GroupQueryAttention(std::int64_t head_dim, std::int64_t num_query_heads, std::int64_t num_key_value_heads,
                      const GroupQueryAttentionOptions& options = {})
      : GroupQueryAttention(
            head_dim, num_query_heads,
            internal::with("GroupQueryAttention", "num_key_value_heads", options,
                           &GroupQueryAttentionOptions::num_key_value_heads, num_key_value_heads)) {}
};
/// Another name of GroupQueryAttention in Keras.
using GroupedQueryAttention = GroupQueryAttention;

}  // namespace ktape::nn
