#pragma once
#include <ktape/autograd/variable.hpp>

#include <optional>

namespace ktape::backend {

/// Options of `scaled_dot_product_attention`.
///
///     Tensor q = K::random_normal({2, 4, 5, 8});
///     std::cout << K::scaled_dot_product_attention(q, q, q, {.causal = true}).shape();
struct AttentionOptions {
  /// A mask of any dtype that broadcasts to (batch, heads, queries, keys): 0 hides a key from a query.
  TensorArgument mask = {};
  bool causal = false;               ///< query i sees keys 0 to i only
  std::optional<double> scale = {};  ///< the factor of the scores; 1 / sqrt(dim) when not given
  bool heads_last = false;           ///< query, key, value and result are (batch, steps, heads, dim)
};

/// Computes softmax(scale * dot(query, transpose(key))) for each batch and head, with the softmax over the
/// keys that a query may see, and multiplies the result by value. query is (batch, heads, queries, dim), key
/// (batch, heads, keys, dim), value (batch, heads, keys, value_dim); the result is (batch, heads, queries,
/// value_dim). A query that may see no key gives zeros. Keys and values that a query may not see have no
/// influence on its result and no gradient from it, whatever they are.
///
/// Differentiable to any order with respect to query, key and value. The scores of all queries are never in
/// memory at once: memory grows linearly with the number of steps, not with its square, except for second and
/// higher derivatives. float16 and bfloat16 are computed in float32.
///
/// Throws ValueError for shapes that do not fit each other and for a mask that does not broadcast, TypeError
/// for dtypes that differ or are not floating. With `heads_last` the layout is that of Keras's
/// `dot_product_attention`.
///
///     Tensor q = K::random_normal({2, 4, 5, 8});
///     std::cout << K::scaled_dot_product_attention(q, q, q).shape();
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {});

}  // namespace ktape::backend
