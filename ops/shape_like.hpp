#pragma once
#include <ktape/autograd/defer.hpp>

#include <concepts>
#include <vector>

namespace ktape::backend {

/// An extent of a shape: a number, or an integer tensor of one element such as `shape(x)[0]`.
class Extent {
 public:
  template <std::integral T>
  Extent(T number) : number_(static_cast<std::int64_t>(number)) {}
  Extent(NoneType) : number_(None) {}
  /// Throws ValueError for an undefined tensor.
  Extent(const Tensor& tensor) : tensor_(tensor) { expect_defined("shape", "an extent", tensor); }
  std::int64_t number() const { return number_; }
  /// Returns the tensor; undefined for a number.
  const Tensor& tensor() const { return tensor_; }

 private:
  std::int64_t number_ = None;
  Tensor tensor_;
};

/// An argument that is a shape or another list of whole numbers for the axes: a Shape, a braced list of
/// numbers and scalar tensors, a single number (a list of one), or an integer tensor of rank 1.
///
///     zeros({2, 3})   random_normal(shape(x))   random_normal({shape(x)[0], 3})
///
/// A symbolic tensor in the shape defers the op. The extents of a symbolic shape are known where they come
/// from the shape of a tensor by indexing, `stack`, `concatenate` and `cast`; other extents are None. Throws
/// ValueError for a tensor of rank 2 or more and a tensor of unknown length, TypeError for a tensor that does
/// not hold integers.
///
///     Tensor x = K::zeros({2, 3});
///     std::cout << K::random_normal(K::shape(x)).shape() << " "
///               << K::zeros({K::shape(x)[0], 4}).shape();
class ShapeLike {
 public:
  ShapeLike() = default;
  ShapeLike(const Shape& shape) : known_(shape) {}
  ShapeLike(const std::vector<std::int64_t>& shape) : known_(shape) {}
  ShapeLike(std::initializer_list<Extent> extents);
  ShapeLike(const Tensor& shape);
  template <std::integral T>
  ShapeLike(T extent) : known_{static_cast<std::int64_t>(extent)} {}

  /// Returns whether the shape contains a symbolic tensor.
  bool waits() const { return tensor_.defined(); }
  /// Returns the extents, with None in the place of extents that are not known yet.
  const Shape& known() const { return known_; }
  /// Returns the symbolic tensor of rank 1 that will hold the shape; undefined when the shape is not
  /// symbolic.
  const Tensor& tensor() const { return tensor_; }

 private:
  Shape known_;
  Tensor tensor_;
};

}  // namespace ktape::backend

/// Reads a symbolic shape as an operand of a deferred op.
template <>
class ktape::Argument<ktape::backend::ShapeLike> {
 public:
  Argument(const backend::ShapeLike& shape, std::vector<Operand>& operands)
      : known_(shape.known()), waits_(shape.waits()), tensor_(shape.tensor(), operands) {}
  backend::ShapeLike get(const OperandValues& values) const {
    return waits_ ? backend::ShapeLike(tensor_.get(values)) : backend::ShapeLike(known_);
  }
  bool same(const Argument& other) const {
    return waits_ == other.waits_ && known_ == other.known_ && tensor_.same(other.tensor_);
  }

 private:
  Shape known_;
  bool waits_;
  Argument<Tensor> tensor_;
};
