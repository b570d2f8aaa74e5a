#pragma once
#include <ktape/autograd/graph/graph.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/sparse.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

/// Graphs: placeholders, results of ops on placeholders, and functions that run the graph on values.
///
/// An op on a symbolic tensor computes no value. The op computes the shape of the result (unknown dimensions
/// are None), throws for shapes that cannot fit, and is deferred until a function runs the op.
///
///     Tensor x = K::placeholder({K::None, 3});
///     Tensor y = K::relu(K::dot(x, w));                  // shape (None, 2)
///     auto f = K::function({x}, {y, K::gradients(K::sum(y), {x})[0]});
///     auto results = f({K::ones({5, 3})});
///
/// An op is deferred when one of its arguments is symbolic. A Variable among the arguments of a deferred op
/// is read when the function runs. A Tensor keeps its value, so after `Tensor old = w;` updates of w do not
/// change `old`. (A reference to a Tensor made from a variable is the variable.) An op whose arguments all
/// have values runs at once: in `square(w) + x` the function adds the square that w had when the expression
/// was written, and `random_normal({3}) + x` adds equal numbers at each call.
///
/// Inside `K::symbolic` every op is deferred: variables are read, random numbers drawn, the learning phase
/// read and updates made when the function runs. So Keras's optimizers work as written:
///
///     auto updates = K::symbolic([&] {
///       Tensor v = 0.9f * velocity - 0.1f * K::gradients(loss, {w})[0];
///       return std::vector{K::update(velocity, v), K::update(w, w + v)};
///     })();
///     auto step = K::function({x}, {loss}, updates);
namespace ktape::backend {

/// Returns a callable that calls func with every op deferred: variables are read, random numbers drawn and
/// updates made when a function runs. `K.symbolic`.
///
///     auto f = K::symbolic([](const Tensor& x) { return x * 2; });
///     Tensor x = K::placeholder({2});
///     std::cout << K::function({x}, {f(x)})({K::constant({1., 2.})})[0] << " ";
///     std::cout << K::eager([](const Tensor& x) { return x * 2; })(
///         K::constant({1., 2.}));
template <class F>
auto symbolic(F func) {
  return [func = std::move(func)](auto&&... arguments) mutable {
    const SymbolicScope waiting;
    return func(std::forward<decltype(arguments)>(arguments)...);
  };
}

/// Returns a callable that calls func with ops on values run at once, also inside of `symbolic`. `K.eager`.
template <class F>
auto eager(F func) {
  return [func = std::move(func)](auto&&... arguments) mutable {
    const SymbolicScope at_once(false);
    return func(std::forward<decltype(arguments)>(arguments)...);
  };
}

struct PlaceholderOptions {
  OptionalShape shape = {};         ///< the shape; None for an unknown dimension
  std::optional<int> ndim = {};     ///< a number of unknown dimensions, instead of a shape
  std::optional<DType> dtype = {};  ///< the dtype; floatx() by default
  bool sparse = false;              ///< the placeholder accepts a SparseTensor as its value
  std::string name = {};            ///< the name; "Placeholder" with a number by default
  bool ragged = false;              ///< true is refused: there are no ragged tensors
};

/// Returns a symbolic tensor whose value is given when a function runs. Throws ValueError without a shape and
/// ndim, for extents below 0, and with `ragged`. `K.placeholder`.
///
///     Tensor x = K::placeholder({K::None, 3});
///     auto f = K::function({x}, {K::sum(x, 1), K::gradients(K::sum(x * x), {x})[0]});
///     auto results = f({K::constant({{1., 2., 3.}})});
///     std::cout << results[0] << " " << results[1] << "\n";
///     Tensor any = K::placeholder({.ndim = 2, .dtype = "int32"});
///     std::cout << K::int_shape(any) << " " << any.dtype();
Tensor placeholder(const PlaceholderOptions& options);
Tensor placeholder(std::initializer_list<std::int64_t> shape);
template <std::same_as<Shape> S>
Tensor placeholder(const S& shape) {
  PlaceholderOptions options;
  options.shape = shape;
  return placeholder(options);
}

/// Returns whether x is a placeholder. `K.is_placeholder`.
bool is_placeholder(const Tensor& x);
/// Returns whether x was made by `nn::Input` or by a layer. `K.is_keras_tensor`.
bool is_keras_tensor(const Tensor& x);

/// An input of a function: a symbolic tensor, or the learning phase.
///
///     auto f = K::function({x, K::learning_phase()}, {y});
///     f({value, 1});
class FunctionInput {
 public:
  FunctionInput(const Tensor& tensor) : tensor_(tensor) {}
  FunctionInput(LearningPhase) : is_phase_(true) {}
  bool is_learning_phase() const { return is_phase_; }
  /// Returns the symbolic tensor; undefined for the learning phase.
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
  bool is_phase_ = false;
};

/// The inputs of a function: a braced list, or a vector such as `model.inputs()`.
///
///     Tensor x = K::placeholder({2}), y = K::placeholder({2});
///     auto f = K::function({x, y}, {x + y});
///     std::cout << f({K::ones({2}), K::constant({1., 2.})})[0];
class FunctionInputs {
 public:
  FunctionInputs(std::initializer_list<FunctionInput> inputs) : list_(inputs) {}
  FunctionInputs(std::vector<FunctionInput> inputs) : list_(std::move(inputs)) {}
  FunctionInputs(const std::vector<Tensor>& tensors) : list_(tensors.begin(), tensors.end()) {}
  const std::vector<FunctionInput>& list() const { return list_; }

 private:
  std::vector<FunctionInput> list_;
};

/// A value for an input of a function: a value that converts to a tensor, or a sparse tensor.
class FunctionValue : public ArrayLike {
 public:
  using ArrayLike::ArrayLike;
  FunctionValue(const SparseTensor& sparse) : ArrayLike(sparse.values()), sparse_(sparse), is_sparse_(true) {}
  FunctionValue(const SparseVariable& sparse) : FunctionValue(SparseTensor(sparse)) {}
  bool is_sparse() const { return is_sparse_; }
  const SparseTensor& sparse() const { return sparse_; }

 private:
  SparseTensor sparse_;
  bool is_sparse_ = false;
};

/// The values for a call of a function: a braced list, or a vector.
class FunctionValues {
 public:
  FunctionValues(std::initializer_list<FunctionValue> values) : list_(values) {}
  FunctionValues(std::vector<FunctionValue> values) : list_(std::move(values)) {}
  FunctionValues(const std::vector<Tensor>& tensors) : list_(tensors.begin(), tensors.end()) {}
  const std::vector<FunctionValue>& list() const { return list_; }

 private:
  std::vector<FunctionValue> list_;
};

/// Options of `K::function`.
///
///     Tensor x = K::placeholder({2});
///     auto f = K::function({x}, {K::exp(x) + K::exp(x)}, {.compile = true});
///     std::cout << f({K::zeros({2})})[0];
struct FunctionOptions {
  std::string name = {};  ///< the name in error messages
  /// Whether the graph is compiled. Equal ops then run once, ops on constants and unchanged variables keep
  /// their results, and element-wise ops on large tensors run together, a block of elements at a time in the
  /// cache. Results, errors and gradients are those of the function that is not compiled, bit for bit.
  /// Has no effect if the environment variable KTAPE_COMPILE is 0.
  bool compile = false;
};

/// A graph that is ready to run. Copies share the graph, and several threads may call one function.
class Function {
 public:
  /// Runs the graph on one value per input, then runs the updates, and returns the outputs. Each value must
  /// fit the shape of its input (ValueError) and is converted to the dtype of the input. Variables and the
  /// learning phase are read at the time of the call. The outputs are not recorded on the tape, and no
  /// intermediate value is kept. A call that throws changes no variable.
  std::vector<Tensor> operator()(const FunctionValues& values) const;

 private:
  friend Function function(const FunctionInputs& inputs, const TensorList& outputs, const TensorList& updates,
                           const FunctionOptions& options);
  std::shared_ptr<const Graph> graph_;
  std::vector<FunctionInput> inputs_;
  std::string name_;
  bool compile_ = false;
};

/// Makes a function from inputs to outputs. Inputs are placeholders or other symbolic tensors; a symbolic
/// tensor among the inputs is given instead of computed. `updates` are results of `update`, `update_add` and
/// so on, made from symbolic values or inside `K::symbolic`. All updates compute their new values from the
/// values that the variables have at the start of the call, and then assign together, or none of them when
/// one throws; updates of one variable are applied in order. Throws ValueError when an output needs a
/// placeholder that is not among the inputs, for an undefined tensor, and for an update that has run already.
/// `K.function`.
Function function(const FunctionInputs& inputs, const TensorList& outputs, const TensorList& updates = {},
                  const FunctionOptions& options = {});
/// Makes a function from inputs to outputs without updates. A template, so that `{}` stands for no updates.
///
///     auto f = K::function({x}, {y}, {.compile = true});
template <class Options = FunctionOptions>
Function function(const FunctionInputs& inputs, const TensorList& outputs,
                  const std::type_identity_t<Options>& options) {
  return function(inputs, outputs, TensorList(), options);
}

}  // namespace ktape::backend
