#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Attention layers: each step of a query gets a weighted mean of the values; the weight of a value grows
/// with the product of its key and the query. A layer is called on {query, value} or {query, value, key};
/// without a key, the values are the keys.
///
///     nn::MultiHeadAttention attention(8, 64);
///     Tensor y = attention({x, x}, {.use_causal_mask = true});
///     auto both = attention.apply({x, memory}, {.return_attention_scores = true});  // y, scores
///
/// The masks that the inputs carry, or the `mask` of the call, {query mask, value mask, key mask}, each
/// (batch, steps), say which steps count: a hidden value or key gets no weight, and the query mask is the
/// mask of the output. With `use_causal_mask` query i looks at keys 0 to i only. A query that may look at no
/// key gets zeros. With `return_attention_scores`, `apply` returns the weights (after masks and softmax)
/// after the output. `dropout` is the rate at which weights become 0 in training.
///
/// All throw ValueError for another number of inputs, inputs that do not fit each other, and dropout rates
/// outside [0, 1).
namespace ktape::nn {

struct AttentionOptions {
  bool use_scale = false;          ///< the scores are multiplied by a weight
  std::string score_mode = "dot";  ///< or "concat"
  double dropout = 0;
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Luong's attention: dot(softmax(scores), value) of query (batch, queries, dim), value (batch, keys,
/// value_dim) and key (batch, keys, dim). The scores are scale * dot(query, transpose(key)) or, with
/// "concat", concat_score_weight * sum(tanh(scale * (query + key))), over all pairs of a query and a key. A
/// masked query gives zeros. Weights: scale, with `use_scale`, and concat_score_weight, both of shape ().
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
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Bahdanau's attention: as Attention, with the scores sum(scale * tanh(query + key)). Weight: scale (dim,),
/// with `use_scale`.
class AdditiveAttention : public Layer {
 public:
  explicit AdditiveAttention(const AdditiveAttentionOptions& options = {});
  Variable scale() const { return weight("scale"); }
};

struct MultiHeadAttentionOptions {
  std::optional<std::int64_t> value_dim = {};  ///< features of the values in a head; key_dim by default
  double dropout = 0;
  bool use_bias = true;
  OptionalShape output_shape = {};  ///< extents after batch and steps; the query's features by default
  Axes attention_axes = {};         ///< axes that attention runs over; by default all but batch and features
  /// Keys at this distance from the query, and farther ones, are hidden.
  std::optional<std::int64_t> sliding_window = {};
  /// Whether to insist on the kernel that never has all scores at once; it runs wherever it can.
  std::optional<bool> flash_attention = {};
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  Regularizer activity_regularizer = {};  ///< the penalty on the output of each projection
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  bool use_gate = false;  ///< each head's result is multiplied by sigmoid(a projection of the query)
  std::optional<std::int64_t> seed = {};
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Query, key and value are projected for each head, to key_dim, key_dim and value_dim features. A head
/// computes dot(softmax(dot(query, transpose(key)) / sqrt(key_dim)), value); a last projection maps the
/// results of all heads to the output. (batch, queries, features) gives (batch, queries, output_shape...) and
/// scores (batch, heads, queries, keys). The `attention_mask` of the call, (batch, queries, keys) or with an
/// axis for the heads before these two, hides keys from queries where it is 0.
///
/// Inputs may have further axes. Attention runs over `attention_axes`, all others count as batch; scores are
/// (batch..., heads, query axes..., key axes...).
///
/// Weights: query/kernel (features, heads, key_dim) and query/bias (heads, key_dim); key, value and, with
/// `use_gate`, gate have a kernel and a bias of these shapes, too; attention_output/kernel (heads, value_dim,
/// output_shape...) and attention_output/bias (output_shape...).
///
/// Calls that neither return scores nor apply dropout run `K::scaled_dot_product_attention`. Also throws
/// ValueError for numbers below 1, attention axes that the inputs do not have, step masks and
/// `use_causal_mask` unless attention runs over one axis (for step masks: axis 1), and `flash_attention`
/// together with dropout or scores.
class MultiHeadAttention : public Layer {
 public:
  MultiHeadAttention(std::int64_t num_heads, std::int64_t key_dim,
                     const MultiHeadAttentionOptions& options = {});
};

struct GroupQueryAttentionOptions {
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
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// MultiHeadAttention over sequences, (batch, steps, features), in which several heads of the query share one
/// head of key and value. The output has the features of the query. Also throws ValueError when the heads of
/// the query do not divide into those of key and value.
class GroupQueryAttention : public Layer {
 public:
  GroupQueryAttention(std::int64_t head_dim, std::int64_t num_query_heads, std::int64_t num_key_value_heads,
                      const GroupQueryAttentionOptions& options = {});
};
/// Keras's name.
using GroupedQueryAttention = GroupQueryAttention;

}  // namespace ktape::nn
