#include <ktape/ops/control/function.hpp>
#include <ktape/ops/fusion/fusion_scope.hpp>
#include <ktape/ops/internal/sparse_symbolic.hpp>

#include <cmath>

namespace ktape::backend {

Tensor placeholder(const PlaceholderOptions& options) {
  if (!options.shape && !options.ndim) fail("[placeholder] a shape or ndim must be given: received neither");
  if (options.ragged)
    fail("[placeholder] there are no ragged tensors: received ragged=true, sparse=",
         options.sparse ? "true" : "false");
  if (options.ndim && (*options.ndim < 0 || *options.ndim > Shape::max_rank))
    fail("[placeholder] ndim must be in [0, ", Shape::max_rank, "]: received ndim=", *options.ndim);
  Shape shape;
  if (options.shape) shape = *options.shape;
  else
    for (int i = 0; i < *options.ndim; ++i) shape.push_back(None);
  const std::string name =
      options.name.empty() ? "Placeholder_" + std::to_string(get_uid("Placeholder")) : options.name;
  const DType dtype = options.dtype.value_or(floatx());
  if (!options.sparse) return make_placeholder(shape, dtype, current_name_scope() + name);
  const auto part = [&](const char* what, const Shape& shape, DType dtype) {
    return make_placeholder(shape, dtype, current_name_scope() + name + '/' + what);
  };
  return sparse_from({part("indices", {None, shape.rank()}, DType::Int64), part("values", {None}, dtype),
                      part("shape", {shape.rank()}, DType::Int64)},
                     shape);
}

Tensor placeholder(std::initializer_list<std::int64_t> shape) {
  PlaceholderOptions options;
  options.shape = shape;
  return placeholder(options);
}

bool is_placeholder(const Tensor& x) {
  const auto parts = sparse_parts(x);
  const Tensor& made = parts ? parts->indices : x;
  return is_symbolic(made) && made.get()->symbol->placeholder();
}
bool is_keras_tensor(const Tensor& x) { return is_symbolic(x) && x.get()->symbol->owner(); }

namespace {

void expect_fit(const std::string& name, std::size_t i, const Tensor& input, const Shape& shape) {
  const Shape& wanted = input.shape();
  bool fits = shape.rank() == wanted.rank();
  for (int axis = 0; fits && axis < shape.rank(); ++axis)
    fits = wanted[axis] == None || wanted[axis] == shape[axis];
  if (!fits) fail("[", name, "] input ", i, " must have the shape ", wanted, ": received shape=", shape);
}

/// Returns the given value as a tensor; inside of K::symbolic a variable becomes a symbolic tensor.
Tensor value_of(const std::string& name, const FunctionValue& given, DType dtype) {
  const Variable variable = variable_of(given.given());
  return variable.defined() ? converted(variable.value(), dtype) : given.tensor(dtype, dtype, name.c_str());
}

}  // namespace

std::vector<Tensor> Function::operator()(const FunctionValues& given) const {
  if (!graph_) fail("[function] a function must be made by K::function: received a default-made Function");
  const std::vector<FunctionValue>& values = given.list();
  if (values.size() != inputs_.size())
    fail("[", name_, "] there must be one value per input: received ", values.size(), " for ", inputs_.size(),
         " inputs");
  const SymbolicScope at_once(false);
  std::optional<learning_phase_scope> phase;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Tensor& input = inputs_[i].tensor();
    const FunctionValue& value = values[i];
    value.expect_defined(name_.c_str(), "a value");
    if (inputs_[i].is_learning_phase()) {
      const Tensor number = value.tensor({}, DType::Float32);
      if (is_symbolic(number) || number.size() != 1)
        fail("[", name_, "] the learning phase must be the number 0 or 1: received a ",
             is_symbolic(number) ? "symbolic tensor" : "tensor", " of shape=", number.shape());
      const double given = number.item<double>();
      if (given != 0 && given != 1) fail("[", name_, "] the learning phase must be 0 or 1: received ", given);
      phase.emplace(given == 1);
      continue;
    }
    if (value.is_sparse() != is_sparse(input))
      fail<TypeError>("[", name_, "] input ", i, " must be ", is_sparse(input) ? "sparse" : "dense",
                      ": received a ", value.is_sparse() ? "sparse" : "dense", " tensor");
    expect_fit(name_, i, input, value.is_sparse() ? value.sparse().shape() : value.shape());
    if (value.is_sparse()) tensors.push_back(value.sparse().indices());
    tensors.push_back(value_of(name_, value, input.dtype()));
    if (value.is_sparse()) tensors.push_back(as_tensor(value.sparse().shape()));
    else expect_value(name_.c_str(), tensors.back());
  }
  FusionScope fused(compile_);
  std::vector<Tensor> results = graph_->run(tensors);
  fused.finish();
  return results;
}

Function function(const FunctionInputs& inputs, const TensorList& outputs, const TensorList& updates,
                  const FunctionOptions& options) {
  Function f;
  f.name_ = options.name.empty() ? "function" : options.name;
  f.inputs_ = inputs.list();
  std::vector<Tensor> tensors;
  bool phase = false;
  for (const FunctionInput& input : f.inputs_) {
    if (input.is_learning_phase()) {
      if (phase) fail("[", f.name_, "] the learning phase must be named once: received it twice");
      phase = true;
    } else if (const auto parts = sparse_parts(input.tensor())) {
      tensors.insert(tensors.end(), {parts->indices, parts->values, parts->dense_shape});
    } else {
      tensors.push_back(input.tensor());
    }
  }
  for (const Tensor& update : updates)
    if (update.defined() && !is_symbolic(update))
      fail("[", f.name_,
           "] an update must be symbolic: received an update by a value, which has run already; "
           "make it of a symbolic value or inside K::symbolic");
  f.compile_ = options.compile && compiles_graphs();
  f.graph_ =
      std::make_shared<const Graph>(f.name_.c_str(), tensors, outputs.vector(), updates.vector(), f.compile_);
  return f;
}

}  // namespace ktape::backend
