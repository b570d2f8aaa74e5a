#pragma once
#include <ktape/autograd/base/shape.hpp>
#include <ktape/autograd/tensor.hpp>

#include <optional>
#include <string>
#include <vector>

/// The axes that attention runs over, and masks over these. Internal.
namespace ktape::nn {

/// The axes of MultiHeadAttention's inputs that attention runs over; the other axes, but for the features,
/// count as batch. A projection has the axes of its input with (heads, dim) for the features. The ops want it
/// folded: (batch, steps, heads, dim). Scores are (batch..., heads, query axes..., key axes...), folded
/// (batch, heads, queries, keys).
class AttentionAxes {
 public:
  AttentionAxes() = default;
  /// Throws ValueError, naming the layer, for axes that an input of the rank does not have, its batch and
  /// features, and axes named twice.
  AttentionAxes(const std::string& layer, const Axes& axes, int rank);

  const std::vector<int>& list() const { return attended_; }
  bool one() const { return attended_.size() == 1; }
  /// Returns whether tensors are folded as they come.
  bool plain() const { return rank_ == 3; }
  /// Returns how many axes of the scores are of queries and keys.
  int pairs() const { return 2 * static_cast<int>(attended_.size()); }
  /// Returns whether two inputs are alike in the axes that are not attended over.
  bool share_batch(const Shape& a, const Shape& b) const;
  /// The axes of the scores that are normalized together.
  Axes of_softmax() const;

  Tensor folded(const Tensor& projection) const;
  /// Gives a tensor that was computed from a folded query the axes of the query.
  Tensor unfolded(const Tensor& folded, const Tensor& query) const;
  Tensor unfolded_scores(const Tensor& folded, const Tensor& query, const Tensor& key) const;
  Tensor folded_scores(const Tensor& scores) const;

  /// Returns a mask (batch, queries, keys) or (batch, heads, queries, keys) with axes that broadcast to
  /// scores.
  Tensor mask(const Tensor& given) const;
  /// Returns a mask over steps, (batch, steps), of the query or of the keys, with axes that broadcast to
  /// scores. Throws ValueError, naming the layer, when attention does not run over the steps.
  Tensor step_mask(const std::string& layer, const Tensor& mask, bool of_query) const;

 private:
  int rank_ = 3;  ///< the rank of the inputs
  std::vector<int> attended_{1}, rest_{0};
};

/// Returns a mask of any dtype as one of bool, with a new axis.
Tensor as_bool(const Tensor& mask, int new_axis);
/// Returns the logical and of two masks, of which either may be undefined.
Tensor both(const Tensor& a, const Tensor& b);
/// Returns a mask of the keys (columns) that each query (row) may see: with `causal`, no later key; with a
/// window, no key at the distance of the window or farther.
Tensor reachable(const Tensor& query, int query_axis, const Tensor& key, int key_axis, bool causal,
                 std::optional<std::int64_t> window);

}  // namespace ktape::nn
