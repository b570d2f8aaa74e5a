#pragma once
#include <ktape/autograd/variable.hpp>

#include <optional>

namespace ktape::backend {

struct AttentionOptions {
  /// Of any dtype, broadcasts to (batch, heads, queries, keys): 0 hides a key from a query.
  TensorArgument mask = {};
  bool causal = false;               ///< query i looks at keys 0 to i only
  std::optional<double> scale = {};  ///< 1 / sqrt(dim) when it is not given
  bool heads_last = false;           ///< query, key, value and result are (batch, steps, heads, dim)
};

/// For each batch and head, softmax(scale * dot(query, transpose(key))) with the softmax over the keys that a
/// query may look at, dotted with value. query is (batch, heads, queries, dim), key (batch, heads, keys,
/// dim), value (batch, heads, keys, value_dim); the result is (batch, heads, queries, value_dim). A query
/// that may look at no key gives zeros.
///
/// Differentiable to any order with respect to query, key and value. The scores of all queries never exist at
/// once: memory grows with the steps, not with their square, but for second and higher derivatives. float16
/// is computed in float32.
///
/// Throws ValueError for shapes that do not fit each other and a mask that does not broadcast, TypeError for
/// dtypes that differ or are not floating. With `heads_last` as Keras's `dot_product_attention`.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options = {});

}  // namespace ktape::backend
