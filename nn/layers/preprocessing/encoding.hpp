#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/layer.hpp>

namespace ktape::nn {

struct CategoryEncodingOptions {
  std::optional<std::int64_t> num_tokens = {};  ///< required: the number of elements of an encoded vector
  std::string output_mode = "multi_hot";        ///< "multi_hot", "one_hot" or "count"
  bool sparse = false;                          ///< refused: outputs are dense
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that encodes whole numbers in [0, num_tokens) as vectors of num_tokens elements, in the layer's
/// dtype.
///
/// - "multi_hot": each row becomes a vector with 1 at the numbers in the row and 0 elsewhere: (..., n)
///   becomes (..., num_tokens).
/// - "count": each row becomes a vector that counts how often each number is in the row. With
///   `CallArguments::count_weights`, a tensor of the input's shape, the vector holds the sums of the weights
///   instead, and gradients flow to the weights.
/// - "one_hot": each number becomes a vector: (..., n) becomes (..., n, num_tokens); (..., 1) of rank 2 or
///   more becomes (..., num_tokens).
///
/// Throws ValueError, with the number in the message, for a number that is out of range or not whole. Throws
/// ValueError for weights in another mode than "count", and for weights of a wrong shape. Mirrors
/// `keras.layers.CategoryEncoding`.
///
///     nn::CategoryEncoding layer(4, {.output_mode = "one_hot"});
///     std::cout << layer(K::constant({0, 2}, {.dtype = "int32"}));
class CategoryEncoding : public Layer {
 public:
  explicit CategoryEncoding(const CategoryEncodingOptions& options);
  explicit CategoryEncoding(std::int64_t num_tokens, const CategoryEncodingOptions& options = {})
      : CategoryEncoding(internal::with("CategoryEncoding", "num_tokens", options,
                                        &CategoryEncodingOptions::num_tokens, num_tokens)) {}
};

}  // namespace ktape::nn
