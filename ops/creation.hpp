#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/shape_like.hpp>

#include <optional>
#include <string>

/// Making tensors and variables. A dtype that is not given is `floatx()`. Tensors have no names: the `name`
/// of an op that makes one is accepted, as in Keras, and not kept.
namespace ktape::backend {

using ktape::None;

struct VariableOptions {
  std::optional<DType> dtype = {};
  std::string name = {};
  Constraint constraint = {};
};

struct ConstantOptions {
  std::optional<DType> dtype = {};
  OptionalShape shape = {};  ///< the value is repeated (one element) or reshaped to it
  std::string name = {};
};

struct CreationOptions {
  std::optional<DType> dtype = {};
  std::string name = {};
};

struct ArangeOptions {
  std::optional<DType> dtype = {};
};

/// An argument of `arange`: a number, or a tensor of one element.
class RangeBound {
 public:
  template <Arithmetic T>
  RangeBound(T number) : number_(number) {}
  RangeBound(Scalar number) : number_(number) {}
  /// Throws ValueError when it is undefined.
  RangeBound(const Tensor& tensor) : number_(0), tensor_(tensor) {
    expect_defined("arange", "an argument", tensor);
  }
  RangeBound(const Variable& variable) : number_(0), tensor_(TensorArgument(variable)) {}
  /// Undefined for a number.
  const Tensor& tensor() const { return tensor_; }
  bool real() const;
  Scalar number() const;

 private:
  Scalar number_;
  Tensor tensor_;
};

struct IdentityOptions {
  std::string name = {};
};

/// A variable that starts with the value. Numbers become the dtype, or floatx (a literal of bools alone is
/// bool); tensors and xtensor expressions keep their own dtype unless one is given. The open name scopes go
/// before the name. After `manual_variable_initialization(true)` the variable holds no value until one is
/// set. `K.variable`.
Variable variable(const ArrayLike& value, const VariableOptions& options = {});

/// A tensor with the value; dtypes as in `variable`. With `shape`, a value of one element is repeated and
/// another is reshaped. Throws ValueError when the sizes differ. `K.constant`.
Tensor constant(const ArrayLike& value, const ConstantOptions& options = {});

/// A tensor of the shape that holds `value` throughout. Throws TypeError for one that the dtype cannot hold.
/// `tf.fill`.
Tensor full(const ShapeLike& shape, Scalar value, std::optional<DType> dtype = {});
/// Zeros and ones of a shape (`K.zeros`, `K.ones`), or of the shape and dtype of x (`K.zeros_like`,
/// `K.ones_like`).
Tensor zeros(const ShapeLike& shape, const CreationOptions& options = {});
Tensor ones(const ShapeLike& shape, const CreationOptions& options = {});
Tensor zeros_like(const Tensor& x, const CreationOptions& options = {});
Tensor ones_like(const Tensor& x, const CreationOptions& options = {});

/// The identity matrix of size rows, or rows by columns. `K.eye`.
Tensor eye(const ShapeLike& size, const CreationOptions& options = {});

/// start, start + step, ... up to, not including, stop; with one argument from 0 to it (empty when it is
/// negative). Without a dtype (or with int32, which stands for it) integers give int32 and real numbers
/// floatx. Throws ValueError for a step of 0, one that leads away from stop, and arguments that are not
/// finite. With a symbolic tensor among them the length is None. `K.arange`.
Tensor arange(const RangeBound& stop, const ArangeOptions& options = {});
Tensor arange(const RangeBound& start, const RangeBound& stop, const RangeBound& step = 1,
              const ArangeOptions& options = {});

/// A tensor with the content of x; the gradient passes. `K.identity`.
Tensor identity(const Tensor& x, const IdentityOptions& options = {});

}  // namespace ktape::backend
