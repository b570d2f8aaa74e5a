#pragma once
#include <ktape/autograd/symbolic/defer.hpp>

#include <concepts>
#include <vector>

namespace ktape::backend {

/// One extent of a shape: a number, or an integer tensor of one element, as `shape(x)[0]` is.
class Extent {
 public:
  template <std::integral T>
  Extent(T number) : number_(static_cast<std::int64_t>(number)) {}
  Extent(NoneType) : number_(None) {}
  /// Throws ValueError when it is undefined.
  Extent(const Tensor& tensor) : tensor_(tensor) { expect_defined("shape", "an extent", tensor); }
  std::int64_t number() const { return number_; }
  /// Undefined for a number.
  const Tensor& tensor() const { return tensor_; }

 private:
  std::int64_t number_ = None;
  Tensor tensor_;
};

/// A shape, or another list of whole numbers for each axis, as an argument: a Shape, a braced list of numbers
/// and scalar tensors, a number alone for a list of one, or an integer tensor of rank 1.
///
///     zeros({2, 3})   random_normal(shape(x))   random_normal({shape(x)[0], 3})
///
/// A symbolic tensor in it makes the op wait. What it will hold is known where it comes from the shape of a
/// tensor, by indexing, `stack`, `concatenate` and `cast`; other extents are None. Throws ValueError for a
/// tensor of rank 2 or more and one of unknown length, TypeError for one that does not hold integers.
class ShapeLike {
 public:
  ShapeLike() = default;
  ShapeLike(const Shape& shape) : known_(shape) {}
  ShapeLike(const std::vector<std::int64_t>& shape) : known_(shape) {}
  ShapeLike(std::initializer_list<Extent> extents);
  ShapeLike(const Tensor& shape);
  template <std::integral T>
  ShapeLike(T extent) : known_{static_cast<std::int64_t>(extent)} {}

  /// Whether a symbolic tensor is in it.
  bool waits() const { return tensor_.defined(); }
  /// The numbers, with None in the place of those that wait.
  const Shape& known() const { return known_; }
  /// What it waits for, a symbolic tensor of rank 1; undefined when it does not.
  const Tensor& tensor() const { return tensor_; }

 private:
  Shape known_;
  Tensor tensor_;
};

}  // namespace ktape::backend

/// An op that waits reads a shape that waits as an operand.
template <>
class ktape::Argument<ktape::backend::ShapeLike> {
 public:
  Argument(const backend::ShapeLike& shape, std::vector<Operand>& operands)
      : known_(shape.known()), waits_(shape.waits()), tensor_(shape.tensor(), operands) {}
  backend::ShapeLike get(const OperandValues& values) const {
    return waits_ ? backend::ShapeLike(tensor_.get(values)) : backend::ShapeLike(known_);
  }

 private:
  Shape known_;
  bool waits_;
  Argument<Tensor> tensor_;
};
