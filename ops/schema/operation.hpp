#pragma once
#include <ktape/autograd/symbol.hpp>
#include <ktape/ops/arguments/tensor_or_number.hpp>
#include <ktape/ops/schema/config.hpp>

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

/// Operations: the functions that a functional model may have between its layers, each with a name and arguments that a
/// config can hold. The source of an op has its row, beside the function:
///
///     namespace ktape::nn {
///     constexpr Operation rows[] = {{"Unfold", "nn", "x; kernel_size, dilation=1, padding=0, stride=1", calls<ops::unfold>}};
///     constinit const Operations patch_operations = rows;
///     }
///
/// Internal: sources only.
namespace ktape::nn {

/// An argument of an operation: a tensor, a list of tensors, or a value.
struct OperationArgument {
  std::vector<Tensor> tensors = {};
  bool is_list = false;
  Value value = {};

  bool has_tensors() const { return is_list || !tensors.empty(); }
};

class OperationCall;

/// An operation.
struct Operation {
  /// The function, which returns a tensor or a vector of tensors.
  class Run {
   public:
    template <class F>
    constexpr Run(F f) {
      if constexpr (std::is_same_v<std::invoke_result_t<F, const OperationCall&>, Tensor>) one_ = f;
      else several_ = f;
    }
    std::vector<Tensor> operator()(const OperationCall& call) const;

   private:
    Tensor (*one_)(const OperationCall&) = nullptr;
    std::vector<Tensor> (*several_)(const OperationCall&) = nullptr;
  };

  struct Parameter {
    std::string name;
    bool in_call = true;    ///< whether Keras takes the argument in the call, and not in the constructor
    bool is_plain = false;  ///< whether the argument is never a tensor
    bool spreads = false;   ///< whether Keras takes the tensors of the list as arguments of their own
    bool is_rest = false;   ///< whether the argument is a config of all arguments that have other names
    bool required = true;
    Value otherwise = {};  ///< the default
  };

  /// The name of the class in Keras 3, "ExpandDims"; for a function that Keras lacks, the name of the library.
  const char* name;
  /// Keras's module in keras.src.ops; empty for a function that Keras lacks.
  const char* module;
  /// The parameters of the call, a semicolon, and those of the constructor: "x; axis=null, keepdims=false".
  /// A name with an exclamation mark is never a tensor; a name with an asterisk takes all tensors that are left,
  /// a name with two all named values that are left.
  const char* signature;
  Run run;
  /// The ops that record the operation, separated by spaces, if their names differ from `name`.
  const char* ops = "";
  /// The names of the arguments that are recorded without names, if they are not the others of the signature in its
  /// order. A dash is an argument that is left out, "-axis" an option; "axis=0" sets an argument that is not
  /// recorded. " | " separates the orders of ops that record as many arguments as no other order has.
  const char* recorded = "";
  /// Returns the name of the operation as which a recorded call is written, and changes the attributes to
  /// those of that operation. Null for the operation itself.
  const char* (*written_as)(const std::vector<OperationArgument>& operands, Config& attributes) = nullptr;

  const std::vector<Parameter>& parameters() const;
  /// Returns whether Keras 3 has the operation.
  bool in_keras() const { return *module != '\0'; }
};

/// The operations of one source.
using Operations = std::span<const Operation>;

/// A call of an operation: one argument for each parameter, by name.
class OperationCall {
 public:
  OperationCall(const Operation& operation, std::vector<OperationArgument> arguments);
  /// Makes a call from arguments by name. An argument that is not given has its default. Throws ValueError,
  /// beginning with `what`, for an unknown name and a missing argument.
  static OperationCall by_name(const Operation& operation,
                               const std::vector<std::pair<std::string, OperationArgument>>& arguments,
                               const std::string& what);

  const Operation& operation() const { return *operation_; }
  const std::vector<OperationArgument>& arguments() const { return arguments_; }
  /// Returns the arguments in the constructor of Keras's class.
  Config attributes() const;

  bool has(const char* name) const;
  /// Throws ValueError for a parameter that is not in the list and has another value than its default: an argument that
  /// the function does not take.
  void expect_only(std::span<const char* const> names) const;
  Value value(const char* name) const { return at(name).value; }
  /// Returns a tensor. A number becomes a tensor of the dtype of the first tensor among the arguments.
  Tensor tensor(const char* name) const;
  /// Returns a tensor, or an undefined tensor for null.
  Tensor optional(const char* name) const;
  const std::vector<Tensor>& tensors(const char* name) const;
  TensorOrNumber operand(const char* name) const;
  Scalar scalar(const char* name) const;
  bool is_number(const char* name) const;

  Axes axes(const char* name) const { return value(name).as<Axes>(what(name)); }
  int axis(const char* name = "axis") const { return value(name).as<int>(what(name)); }
  std::int64_t integer(const char* name) const { return value(name).integer(what(name)); }
  double number(const char* name) const { return value(name).number(what(name)); }
  bool flag(const char* name) const { return value(name).boolean(what(name)); }
  std::string text(const char* name) const { return value(name).string(what(name)); }
  Shape shape(const char* name) const;
  std::optional<DType> dtype(const char* name = "dtype") const;
  std::string what(const char* name) const;

 private:
  friend class OperationSymbol;
  const OperationArgument& at(const char* name) const;

  const Operation* operation_;
  std::vector<OperationArgument> arguments_;
};

/// Returns a constant as a value of a config: a number, or Keras's {class_name: "__numpy__", config: {value,
/// dtype}}.
Value constant_value(const Tensor& constant, bool as_number);
/// Returns the constant of a value; a nested list has the given dtype. Throws ValueError, beginning with
/// `what`, for other values.
Tensor constant_from(const Value& value, DType dtype, const std::string& what);
/// Returns whether a value is a constant whose config names a dtype.
bool is_constant(const Value& value);

}  // namespace ktape::nn
