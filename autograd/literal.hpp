#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ktape {

/// An argument that can become a tensor: a number, a nested literal, a vector of numbers or of vectors, a
/// tensor, a variable or an xtensor expression.
///
///     K::constant(3.f)   K::constant({{1, 2}, {3, 4}})   K::constant(rows)   K::constant(xt::sin(a))
///
/// The op that takes the argument throws ValueError for rows of different shapes and TypeError for tensors
/// inside a literal.
///
///     std::cout << K::constant({{1, 2}, {3, 4}}) << " " << K::constant(2.5) << " "
///               << K::constant(std::vector<int>{1, 2});
class ArrayLike {
 public:
  template <Arithmetic T>
  ArrayLike(T number) : numbers_{Scalar(number)} {}
  ArrayLike(std::initializer_list<ArrayLike> rows);
  template <Arithmetic T>
  ArrayLike(const std::vector<T>& numbers)
      : shape_{static_cast<std::int64_t>(numbers.size())}, numbers_(numbers.begin(), numbers.end()) {}
  template <class T>
  ArrayLike(const std::vector<std::vector<T>>& rows)
      : ArrayLike(std::span<const ArrayLike>(std::vector<ArrayLike>(rows.begin(), rows.end()))) {}
  ArrayLike(const Tensor& tensor) : tensor_(tensor), from_tensor_(true) {}
  ArrayLike(const Variable& variable) : tensor_(TensorArgument(variable)), from_tensor_(true) {}
  template <XtensorExpression E>
  ArrayLike(const E& expression) : ArrayLike(Tensor(expression)) {}

  /// Throws, naming the argument, when the argument is an undefined tensor or a literal that is not an array.
  void expect_defined(const char* op, const char* name) const {
    if (from_tensor_) ktape::expect_defined(op, name, tensor_);
    if (fault_) fail_as_no_array(op, name);
  }
  /// Returns the argument as a tensor, not recorded. Numbers are converted to `dtype`, or without a dtype to
  /// `otherwise` (to bool when all numbers are bools); a tensor is converted only when `dtype` is given. Any
  /// number converts to bool, by `!= 0`. Throws TypeError, naming the op, for a number that another dtype
  /// does not hold.
  Tensor tensor(std::optional<DType> dtype, DType otherwise, const char* op = "literal") const;
  /// Returns the array with the fractions of its numbers cut off.
  ArrayLike truncated() const;
  /// Returns the given tensor, with its place on the tape; undefined for numbers.
  const Tensor& given() const { return tensor_; }
  /// Returns the number when the argument is a single number.
  std::optional<Scalar> number() const {
    return from_tensor_ || shape_.rank() > 0 ? std::optional<Scalar>() : numbers_[0];
  }
  const Shape& shape() const { return from_tensor_ ? tensor_.shape() : shape_; }

 private:
  /// The reason why a nested literal is not an array.
  struct Fault {
    std::string reason;
    bool of_type;  ///< true: throws TypeError; false: throws ValueError
  };

  explicit ArrayLike(std::span<const ArrayLike> rows);
  [[noreturn]] void fail_as_no_array(const char* op, const char* name) const;

  Shape shape_;
  std::vector<Scalar> numbers_;
  Tensor tensor_;
  bool from_tensor_ = false;  ///< made from a tensor, which may be undefined
  std::shared_ptr<const Fault> fault_;
};

/// Returns the tensor converted to a dtype, not recorded. A tensor that has the dtype already keeps its
/// memory.
///
///     std::cout << ktape::converted(K::constant({1.7, -2.2}), ktape::DType::Int32);
Tensor converted(const Tensor& tensor, DType dtype);

}  // namespace ktape
