#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/shape_like.hpp>

#include <optional>
#include <string>

/// Functions that make tensors and variables. A dtype that is not given is `floatx()`. Tensors have no names:
/// as in Keras, ops that make a tensor accept a `name`, but do not store the name.
namespace ktape::backend {

using ktape::None;

struct VariableOptions {
  std::optional<DType> dtype = {};
  std::string name = {};
  Constraint constraint = {};
};

struct ConstantOptions {
  std::optional<DType> dtype = {};
  OptionalShape shape = {};  ///< the shape to which the value is repeated (one element) or reshaped
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
  /// Throws ValueError for an undefined tensor.
  RangeBound(const Tensor& tensor) : number_(0), tensor_(tensor) {
    expect_defined("arange", "an argument", tensor);
  }
  RangeBound(const Variable& variable) : number_(0), tensor_(TensorArgument(variable)) {}
  /// Returns the tensor; undefined for a number.
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

/// Returns a variable that starts with the value. Numbers are converted to the dtype, or to floatx (a literal
/// that holds only bools is bool); tensors and xtensor expressions keep their dtype unless a dtype is given.
/// The open name scopes prefix the name. After `manual_variable_initialization(true)` the variable holds no
/// value until a value is set. `K.variable`.
///
///     Variable w = K::variable({1.f, 2.f}, {.name = "w"});
///     K::update_add(w, K::ones({2}));
///     std::cout << w;
Variable variable(const ArrayLike& value, const VariableOptions& options = {});
Variable variable(const ArrayLike& value, DType dtype);

/// Returns a tensor with the value; the dtype is chosen as in `variable`. With `shape`, a value of one
/// element is repeated and any other value is reshaped. Throws ValueError when the sizes differ.
/// `K.constant`.
///
///     std::cout << K::constant({{1, 2}, {3, 4}}, {.dtype = "float32"}) << "\n"
///               << K::constant(0.5, {.shape = {3}});
Tensor constant(const ArrayLike& value, const ConstantOptions& options = {});
Tensor constant(const ArrayLike& value, DType dtype);

/// Returns a tensor of the shape in which every element is `value`. Throws TypeError for a value that the
/// dtype cannot hold. `tf.fill`.
///
///     std::cout << K::full({2, 2}, 7.f);
Tensor full(const ShapeLike& shape, Scalar value, std::optional<DType> dtype = {});
/// Returns zeros or ones of a given shape (`K.zeros`, `K.ones`), or of the shape and dtype of x
/// (`K.zeros_like`, `K.ones_like`).
///
///     std::cout << K::zeros({2}) << " " << K::ones({2}, "int32") << "\n";
///     Tensor x = K::constant({5., 6.});
///     std::cout << K::zeros_like(x) << " " << K::ones_like(x);
Tensor zeros(const ShapeLike& shape, const CreationOptions& options = {});
Tensor zeros(const ShapeLike& shape, DType dtype);
Tensor ones(const ShapeLike& shape, const CreationOptions& options = {});
Tensor ones(const ShapeLike& shape, DType dtype);
Tensor zeros_like(const Tensor& x, const CreationOptions& options = {});
Tensor zeros_like(const Tensor& x, DType dtype);
Tensor ones_like(const Tensor& x, const CreationOptions& options = {});
Tensor ones_like(const Tensor& x, DType dtype);

/// Returns the identity matrix: `size` rows and columns for a number, rows by columns for a pair. `K.eye`.
///
///     std::cout << K::eye(2, {.dtype = "int32"});
Tensor eye(const ShapeLike& size, const CreationOptions& options = {});
Tensor eye(const ShapeLike& size, DType dtype);

/// Returns start, start + step, ... up to, not including, stop. With one argument the range begins at 0 and
/// ends before that argument (empty for a negative number). Without a dtype, or with int32, which counts as
/// no dtype, integers give int32 and real numbers floatx. Throws ValueError for a step of 0, a step that
/// leads away from stop, and arguments that are not finite. With a symbolic argument the length is None.
/// `K.arange`.
///
///     std::cout << K::arange(5) << " " << K::arange(1., 2., 0.5, {.dtype = "float32"});
Tensor arange(const RangeBound& stop, const ArangeOptions& options = {});
Tensor arange(const RangeBound& start, const RangeBound& stop, const RangeBound& step = 1,
              const ArangeOptions& options = {});
Tensor arange(const RangeBound& start, const RangeBound& stop, const RangeBound& step, DType dtype);

/// Returns a new tensor with the content of x, through which the gradient flows. `K.identity`.
///
///     std::cout << K::identity(K::constant({1., 2.}), {.name = "copy"});
Tensor identity(const Tensor& x, const IdentityOptions& options = {});

}  // namespace ktape::backend
