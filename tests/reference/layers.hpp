#pragma once
/// Results of layers, in float64: plain loops over every position and every cell of its window. Images have
/// their channels last.
#include "reference.hpp"

namespace reference {

/// The layout of windows on an image: one number for each spatial axis.
struct Windows {
  Extents strides, rates;
  bool same = false;  ///< padding "same", or "valid"
};

/// Returns the convolution of x (samples, space..., groups * in) with kernel (space..., in, groups * out).
Array conv(const Array& x, const Array& kernel, const Windows& windows, std::size_t groups = 1);
/// Returns the gradient of a convolution: x (samples, space..., in), kernel (space..., out, in).
Array conv_transpose(const Array& x, const Array& kernel, const Extents& output_shape,
                     const Windows& windows);
Array max_pool(const Array& x, const Extents& size, const Windows& windows);
Array average_pool(const Array& x, const Extents& size, const Windows& windows);

/// Returns the attention of query (batch, heads, queries, dim), key and value. A key counts where the mask is
/// not 0; a query without keys gives zeros.
Array attention(const Array& query, const Array& key, const Array& value, const Array& mask, bool causal);

// Return crossentropies over the last axis; with `from_logits`, output holds logits.
Array categorical_crossentropy(const Array& target, const Array& output, bool from_logits);
Array sparse_categorical_crossentropy(const Array& target, const Array& output, bool from_logits);
Array binary_crossentropy(const Array& target, const Array& output, bool from_logits);

// Returns the blocks of params that the rows of indices (rows, depth) name.
Array gather_nd(const Array& params, const Array& indices);
Array scatter_nd(const Array& indices, const Array& updates, const Extents& shape);
/// Returns the order of the elements along the last axis; equal elements keep their order, NaN is the
/// largest.
Array argsort(const Array& x, bool descending);

}  // namespace reference
