#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

#include <optional>

namespace ktape {

/// Anything that can become a tensor, as an argument: a number, a nested literal, a vector of numbers, a
/// tensor, a variable or an xtensor expression.
///
///     K::constant(3.f)   K::constant({{1, 2}, {3, 4}})   K::constant(xt::sin(a))
class ArrayLike {
 public:
  template <Arithmetic T>
  ArrayLike(T number) : numbers_{Scalar(number)} {}
  ArrayLike(std::initializer_list<ArrayLike> rows);
  template <Arithmetic T>
  ArrayLike(const std::vector<T>& numbers)
      : shape_{static_cast<std::int64_t>(numbers.size())}, numbers_(numbers.begin(), numbers.end()) {}
  ArrayLike(const Tensor& tensor) : tensor_(tensor) {
    tensor_.shape();
  }  ///< throws ValueError for an undefined one
  ArrayLike(const Variable& variable) : tensor_(TensorArgument(variable)) {}
  template <class E>
  requires xt::is_xexpression<E>::value ArrayLike(const E& expression) : tensor_(expression) {}

  /// The tensor it stands for, not recorded. Numbers take `dtype`, or without one `otherwise` (bool when all
  /// of them are bool); a tensor is converted only when `dtype` is given.
  Tensor tensor(std::optional<DType> dtype, DType otherwise) const;
  /// The tensor that was given, recorded as it is; undefined for numbers.
  const Tensor& given() const { return tensor_; }
  /// The number that was given alone.
  std::optional<Scalar> number() const {
    return given().defined() || shape_.rank() > 0 ? std::optional<Scalar>() : numbers_[0];
  }
  /// Whether all of the numbers are whole.
  bool whole() const;
  /// Its shape.
  const Shape& shape() const { return tensor_.defined() ? tensor_.shape() : shape_; }

 private:
  Shape shape_;
  std::vector<Scalar> numbers_;
  Tensor tensor_;
};

/// The tensor converted to another dtype, not recorded; the same memory when it has that dtype already.
Tensor converted(const Tensor& tensor, DType dtype);

}  // namespace ktape
