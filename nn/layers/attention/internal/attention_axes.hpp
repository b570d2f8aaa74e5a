#pragma once
#include <ktape/autograd/base/shape.hpp>
#include <ktape/autograd/tensor.hpp>

#include <optional>
#include <string>
#include <vector>

/// The axes that attention runs over, and masks over these axes.
namespace ktape::nn {

/// The axes of the inputs of a MultiHeadAttention that attention runs over ("attended"). The other axes,
/// without the features, form the batch. A projection has the axes of the projected input, with (heads, dim)
/// in the place of the features. Ops take projections in folded form: (batch, steps, heads, dim). Scores are
/// (batch..., heads, query axes..., key axes...); folded scores are (batch, heads, queries, keys).
class AttentionAxes {
 public:
  AttentionAxes() = default;
  /// Resolves the axes for inputs of a rank. Throws ValueError, naming the layer, for an axis that such an
  /// input does not have, for the axes of batch and features, and for an axis that is named twice.
  AttentionAxes(const std::string& layer, const Axes& axes, int rank);

  const std::vector<int>& list() const { return attended_; }
  bool one() const { return attended_.size() == 1; }
  /// Returns whether tensors need no folding, because the inputs have rank 3.
  bool plain() const { return rank_ == 3; }
  /// Returns the number of axes of the scores that belong to queries and keys.
  int pairs() const { return 2 * static_cast<int>(attended_.size()); }
  /// Returns whether two inputs have compatible extents in the axes that are not attended.
  bool share_batch(const Shape& a, const Shape& b) const;
  /// Returns the axes of the scores that are normalized together.
  Axes of_softmax() const;

  Tensor folded(const Tensor& projection) const;
  /// Returns the result of attention with the axes of the query. `folded` is the result for the folded
  /// projections.
  Tensor unfolded(const Tensor& folded, const Tensor& query) const;
  Tensor unfolded_scores(const Tensor& folded, const Tensor& query, const Tensor& key) const;
  Tensor folded_scores(const Tensor& scores) const;

  /// Returns a mask over queries and keys as bool, with axes of extent 1 inserted before the query axes up to
  /// the rank of the scores. `given` has batch axes, perhaps a heads axis, query axes and key axes.
  Tensor mask(const Tensor& given) const;
  /// Returns a mask over the steps, (batch, steps), of the query or of the keys in the form of `mask`. Throws
  /// ValueError, naming the layer, unless attention runs over the steps, axis 1, alone.
  Tensor step_mask(const std::string& layer, const Tensor& mask, bool of_query) const;

 private:
  int rank_ = 3;  ///< the rank of the inputs
  std::vector<int> attended_{1}, rest_{0};
};

/// Returns a mask of any dtype as bool, with a new axis; undefined for an undefined mask.
Tensor as_bool(const Tensor& mask, int new_axis);
/// Returns the logical and of two masks. An undefined mask hides no step.
Tensor both(const Tensor& a, const Tensor& b);
/// Returns a mask of the keys (columns) that each step of the query (row) may see: with `causal` no later
/// key, with a window no key at the distance of the window or farther. Undefined without both.
Tensor reachable(const Tensor& query, int query_axis, const Tensor& key, int key_axis, bool causal,
                 std::optional<std::int64_t> window);

}  // namespace ktape::nn
