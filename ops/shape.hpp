#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/per_axis.hpp>
#include <ktape/ops/shape_like.hpp>

#include <string>
#include <vector>

/// Other shapes, orders and numbers of the same elements. Any dtype; differentiable to any order. Axes may be
/// negative; one that x does not have is a ValueError.
namespace ktape::backend {

/// The elements of x, row by row, under another shape; at most one extent may be -1 and follows from the
/// others. Shares x's memory. Throws ValueError when the sizes differ. `K.reshape`.
Tensor reshape(const Tensor& x, const ShapeLike& shape);

/// x with axis pattern[d] as its axis d. Throws ValueError unless the pattern names every axis once.
/// `K.permute_dimensions`.
Tensor permute_dimensions(const Tensor& x, const Shape& pattern);
/// x with its axes in reverse order. `K.transpose`.
Tensor transpose(const Tensor& x);

/// The tensors one after another along an axis that they have. Throws ValueError when there is none, and when
/// they differ in rank or in another extent; TypeError when they differ in dtype. `K.concatenate`.
Tensor concatenate(const TensorList& tensors, int axis = -1);
/// Tensors of one shape along a new axis, which becomes `axis` of the result. Errors as in `concatenate`.
/// `K.stack`.
Tensor stack(const TensorList& x, int axis = 0);

/// (samples, dim) to (samples, n, dim). Throws ValueError unless x has rank 2 and n is at least 0.
/// `K.repeat`.
Tensor repeat(const Tensor& x, std::int64_t n);
/// Each slice along the axis `rep` times in succession, as `np.repeat`. `K.repeat_elements`.
Tensor repeat_elements(const Tensor& x, std::int64_t rep, int axis);
/// x as a whole n[d] times along each axis d; a number is a list of one. Throws ValueError unless there is
/// one n, of at least 0, for each axis. `K.tile`.
Tensor tile(const Tensor& x, const ShapeLike& n);

/// One axis with all elements (`K.flatten`), or one of samples and one of all others (`K.batch_flatten`, rank
/// 1 or more). Shares x's memory.
Tensor flatten(const Tensor& x);
Tensor batch_flatten(const Tensor& x);

/// x with a new axis of extent 1, which becomes `axis` of the result. Shares x's memory. `K.expand_dims`.
Tensor expand_dims(const Tensor& x, int axis = -1);
/// x without an axis of extent 1. Shares x's memory. Throws ValueError when the extent is another.
/// `K.squeeze`.
Tensor squeeze(const Tensor& x, int axis);

/// x backwards along the axes. `K.reverse`.
Tensor reverse(const Tensor& x, const Axes& axes);

/// The block of x that begins at `start` and has the extents `size`; -1 there means to the end. Throws
/// ValueError when a list is not as long as x's rank or the block leaves x. `tf.slice`.
Tensor slice(const Tensor& x, const Shape& start, const Shape& size);

/// How `split` cuts an axis: into a number of equal parts, or into parts of these sizes.
class Sections {
 public:
  Sections(std::int64_t number) : number_(number) {}
  Sections(std::initializer_list<std::int64_t> sizes) : sizes_(sizes) {}
  Sections(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {}
  /// The sizes for an axis of this extent. Throws ValueError when they do not make it up.
  std::vector<std::int64_t> of(std::int64_t extent) const;

 private:
  std::int64_t number_ = 0;
  std::vector<std::int64_t> sizes_;
};

/// x in parts along an axis. Throws ValueError when the parts do not make up the axis. `tf.split`.
std::vector<Tensor> split(const Tensor& x, const Sections& sections, int axis = 0);
/// The slices of x along an axis, without that axis: the inverse of `stack`. `tf.unstack`.
std::vector<Tensor> unstack(const Tensor& x, int axis = 0);

struct PadOptions {
  std::string mode = "constant";  ///< or "reflect" (without the border) or "symmetric" (with it)
  Scalar constant_values = 0;
};

/// x with more elements before and after those of each axis. Throws ValueError unless there is one pair for
/// each axis, none negative, and a reflection is no longer than the axis. `tf.pad`.
Tensor pad(const Tensor& x, const std::vector<PaddingPair>& paddings, const PadOptions& options = {});

}  // namespace ktape::backend
