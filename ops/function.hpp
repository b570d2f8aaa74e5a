#pragma once
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/symbolic/graph.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/sparse.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Graphs: placeholders, what ops make of them, and functions that run it all on values.
///
/// An op on a symbolic tensor computes nothing. It says which shape the result will have (dimensions that
/// nobody knows yet are None), finds shapes that cannot fit, and waits. A function runs what waits.
///
///     Tensor x = K::placeholder({K::None, 3});
///     Tensor y = K::relu(K::dot(x, w));                  // shape (None, 2)
///     auto f = K::function({x}, {y, K::gradients(K::sum(y), {x})[0]});
///     auto results = f({K::ones({5, 3})});
///
/// What waits and what does not: an op waits when one of its arguments does. A Variable among the others is
/// read when the function runs; a Tensor is the value that it was when it was taken, so that
/// `Tensor old = w;` keeps its value through updates. (A reference to a Tensor made from a variable is the
/// variable.) An op that has all values runs at once, as everywhere: in `square(w) + x` the function adds the
/// square that w had when this was written, and `random_normal({3}) + x` adds the same numbers each time.
///
/// Inside `K::symbolic` everything waits: variables are read, random numbers drawn, the learning phase asked
/// for and updates made when the function runs. So Keras's optimizers work as written:
///
///     auto updates = K::symbolic([&] {
///       Tensor v = 0.9f * velocity - 0.1f * K::gradients(loss, {w})[0];
///       return std::vector{K::update(velocity, v), K::update(w, w + v)};
///     })();
///     auto step = K::function({x}, {loss}, updates);
namespace ktape::backend {

/// Calls func so that everything in it waits for a function: variables are read, random numbers drawn and
/// updates made when that runs. `K.symbolic`.
template <class F>
auto symbolic(F func) {
  return [func = std::move(func)](auto&&... arguments) mutable {
    const SymbolicScope waiting;
    return func(std::forward<decltype(arguments)>(arguments)...);
  };
}

/// Calls func so that in it, inside of `symbolic` too, what has a value runs at once. `K.eager`.
template <class F>
auto eager(F func) {
  return [func = std::move(func)](auto&&... arguments) mutable {
    const SymbolicScope at_once(false);
    return func(std::forward<decltype(arguments)>(arguments)...);
  };
}

struct PlaceholderOptions {
  OptionalShape shape = {};         ///< None for an unknown dimension
  std::optional<int> ndim = {};     ///< in place of a shape: this many unknown dimensions
  std::optional<DType> dtype = {};  ///< floatx() by default
  bool sparse = false;              ///< it waits for a SparseTensor
  std::string name = {};            ///< "Placeholder" with a number by default
  bool ragged = false;              ///< refused: there are no ragged tensors
};

/// A symbolic tensor that waits for a value. Throws ValueError without a shape and ndim, for extents below 0
/// and for a ragged one. `K.placeholder`.
Tensor placeholder(const PlaceholderOptions& options);
Tensor placeholder(std::initializer_list<std::int64_t> shape);
template <std::same_as<Shape> S>
Tensor placeholder(const S& shape) {
  PlaceholderOptions options;
  options.shape = shape;
  return placeholder(options);
}

/// Whether x is a placeholder. `K.is_placeholder`.
bool is_placeholder(const Tensor& x);
/// Whether x was made by `nn::Input` or by a layer. `K.is_keras_tensor`.
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
  /// Undefined for the learning phase.
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
  bool is_phase_ = false;
};

/// The inputs of a function: a braced list, or a vector, as `model.inputs()` is.
class FunctionInputs {
 public:
  FunctionInputs(std::initializer_list<FunctionInput> inputs) : list_(inputs) {}
  FunctionInputs(std::vector<FunctionInput> inputs) : list_(std::move(inputs)) {}
  FunctionInputs(const std::vector<Tensor>& tensors) : list_(tensors.begin(), tensors.end()) {}
  const std::vector<FunctionInput>& list() const { return list_; }

 private:
  std::vector<FunctionInput> list_;
};

/// A value for an input of a function: what can become a tensor, or a sparse tensor.
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

struct FunctionOptions {
  std::string name = {};  ///< for messages
};

/// A graph that is ready to run. Copies share it, and several threads may call it.
class Function {
 public:
  /// Runs the graph on one value per input, of a shape that fits (ValueError), converted to the input's
  /// dtype, and then the updates. Returns the outputs, which are not recorded. Variables and the learning
  /// phase are read now; the graph alone is kept. A call that throws changes no variable.
  std::vector<Tensor> operator()(const FunctionValues& values) const;

 private:
  friend Function function(const FunctionInputs& inputs, const TensorList& outputs, const TensorList& updates,
                           const FunctionOptions& options);
  std::shared_ptr<const Graph> graph_;
  std::vector<FunctionInput> inputs_;
  std::string name_;
};

/// The function from inputs (placeholders, or other symbolic tensors, which then are given instead of
/// computed) to outputs. The updates, results of `update`, `update_add` and so on of symbolic values or
/// inside `K::symbolic`, compute their new values from the variables as the call finds them, and then all
/// assign, or none when one throws; updates of the same variable follow each other. Throws ValueError when an
/// output needs a placeholder that is not among the inputs, for an undefined tensor, and for an update that
/// has run already. `K.function`.
Function function(const FunctionInputs& inputs, const TensorList& outputs, const TensorList& updates = {},
                  const FunctionOptions& options = {});

}  // namespace ktape::backend
