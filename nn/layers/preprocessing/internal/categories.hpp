#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>

/// Encodings of category numbers: as numbers, or as vectors with a place for each category.
namespace ktape::nn {

enum class OutputMode { Int, OneHot, MultiHot, Count, TfIdf };

/// The mode of this name; the names of Keras 2, "binary" and "tf-idf", are known too. Throws ValueError,
/// naming the layer, for one that is not among the `known`.
OutputMode output_mode(const char* layer, const std::string& name, std::initializer_list<OutputMode> known);
/// Keras 3's name.
const char* name_of(OutputMode mode);

/// The shape of what `encoded` makes of this shape; extents may be unknown.
Shape encoded_shape(const Shape& categories, OutputMode mode, std::int64_t depth);

/// int64 categories, in vectors of `depth` elements of the dtype. An entry outside of [0, depth) is in none.
///
/// - One-hot: a vector for each entry, 1 at its category: (..., n) becomes (..., n, depth), and (..., 1) of
///   rank 2 or more (..., depth).
/// - Multi-hot: a vector for each sample, which is a row of entries: (..., n) becomes (..., depth) with 1 at
///   the categories in the row, 0 elsewhere. A number alone is a row.
/// - Count: as multi-hot, with the number of entries, or with the sum of their weights, which have the shape
///   of the categories. Differentiable with respect to these.
Tensor encoded(const Tensor& categories, OutputMode mode, std::int64_t depth, DType dtype,
               const Tensor& weights = Tensor());

}  // namespace ktape::nn
