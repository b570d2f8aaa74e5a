#pragma once
#include <ktape/nn/layers/base/layer.hpp>

namespace ktape::nn {

struct CategoryEncodingOptions {
  std::string output_mode = "multi_hot";  ///< "one_hot" or "count"
  bool sparse = false;                    ///< refused: outputs are dense
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Whole numbers in [0, num_tokens) become vectors of num_tokens elements, in the layer's dtype.
///
/// - "multi_hot": each row becomes one vector, (..., n) becomes (..., num_tokens), with 1 at the numbers that
///   occur in it.
/// - "count": each row becomes one vector with the counts of the numbers; with `CallArguments::count_weights`,
///   of the input's shape, with the sums of their weights, through which gradients flow.
/// - "one_hot": each entry becomes a vector: (..., n) becomes (..., n, num_tokens), and (..., 1) of rank 2 or
///   more (..., num_tokens).
///
/// Throws ValueError for a number that is out of range or not whole, naming the number, and for weights in
/// another mode or shape. Mirrors `keras.layers.CategoryEncoding`.
class CategoryEncoding : public Layer {
 public:
  explicit CategoryEncoding(std::int64_t num_tokens, const CategoryEncodingOptions& options = {});
};

}  // namespace ktape::nn
