#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>

/// Encodes category numbers as integers, or as vectors with an element for each category.
namespace ktape::nn {

enum class OutputMode { Int, OneHot, MultiHot, Count, TfIdf };

/// Returns the mode with the given name. The names of Keras 2, "binary" and "tf-idf", are known, too. Throws
/// ValueError, naming the layer, for a name that is not among the `known` modes.
OutputMode output_mode(const char* layer, const std::string& name, std::initializer_list<OutputMode> known);
/// Returns the name of the mode in Keras 3.
const char* name_of(OutputMode mode);

/// Returns the shape of the result of `encoded` for categories of a shape. Extents may be unknown.
Shape encoded_shape(const Shape& categories, OutputMode mode, std::int64_t depth);

/// Encodes int64 categories as vectors of `depth` elements of the dtype; `OutputMode::Int` only converts the
/// categories to the dtype. A category outside of [0, depth) is left out.
///
/// - One-hot: each entry becomes a vector with 1 at its category: (..., n) becomes (..., n, depth); (..., 1)
///   of rank 2 or more becomes (..., depth).
/// - Multi-hot: each row of entries becomes a vector with 1 at the categories in the row and 0 elsewhere:
///   (..., n) becomes (..., depth). A scalar is a row of one entry.
/// - Count: each row of entries becomes a vector with the number of entries of each category or, with
///   `weights` of the shape of the categories, with the sums of the weights. Gradients flow to the weights.
Tensor encoded(const Tensor& categories, OutputMode mode, std::int64_t depth, DType dtype,
               const Tensor& weights = Tensor());

}  // namespace ktape::nn
