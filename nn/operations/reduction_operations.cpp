#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

template <Tensor (*f)(const Tensor&, const Axes&, bool)>
Tensor over_axes(const OperationCall& call) {
  return f(call.tensor("x"), call.axes("axis"), call.flag("keepdims"));
}

template <Tensor (*f)(const Tensor&, const Axes&, bool),
          Tensor (*with_initial)(const TensorOrNumber&, const TensorOrNumber&)>
Tensor extreme(const OperationCall& call) {
  const Tensor result = over_axes<f>(call);
  return call.has("initial") ? with_initial(result, call.operand("initial")) : result;
}

template <Tensor (*f)(const Tensor&, int)>
Tensor position(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  if (call.has("axis")) {
    const Tensor at = f(x, call.axis());
    return call.flag("keepdims") ? K::expand_dims(at, call.axis()) : at;
  }
  const Tensor at = f(K::flatten(x), -1);
  return call.flag("keepdims")
             ? K::reshape(at, Shape(std::vector<std::int64_t>(static_cast<std::size_t>(x.ndim()), 1)))
             : at;
}

template <Tensor (*f)(const Tensor&, int)>
Tensor running(const OperationCall& call) {
  const Tensor x = call.has("dtype") ? K::cast(call.tensor("x"), *call.dtype()) : call.tensor("x");
  return call.has("axis") ? f(x, call.axis()) : f(K::flatten(x), 0);
}

Tensor product(const OperationCall& call) {
  const Tensor result = over_axes<K::prod>(call);
  return call.has("dtype") ? K::cast(result, *call.dtype()) : result;
}

Tensor norm(const OperationCall& call) {
  const Value order = call.value("ord");
  if (order.is_null() || order == Value("euclidean")) return over_axes<K::norm>(call);
  ops::NormOrder given = 0.;
  if (order == Value("inf") || order == Value("-inf")) given = order == Value("inf") ? INFINITY : -INFINITY;
  else if (order.is_string()) given = order.string();
  else given = order.number("[Norm] ord");
  return ops::norm(call.tensor("x"), given, call.axes("axis"), call.flag("keepdims"));
}

}  // namespace

void add_reduction_operations(std::vector<Operation>& all) {
  const char* const reduced = "x; axis=null, keepdims=false";
  const std::vector<Operation> operations{
      {"Sum", "numpy", reduced, over_axes<K::sum>},
      {"Mean", "numpy", reduced, over_axes<K::mean>},
      {"Var", "numpy", reduced, over_axes<K::var>},
      {"Std", "numpy", reduced, over_axes<K::std>},
      {"Any", "numpy", reduced, over_axes<K::any>},
      {"All", "numpy", reduced, over_axes<K::all>},
      {"Logsumexp", "math", reduced, over_axes<K::logsumexp>},
      {"Amax", "numpy", reduced, over_axes<K::max>},
      {"Amin", "numpy", reduced, over_axes<K::min>},
      {"Max", "numpy", "x; axis=null, keepdims=false, initial=null", extreme<K::max, K::maximum>, "",
       "x, axis, keepdims"},
      {"Min", "numpy", "x; axis=null, keepdims=false, initial=null", extreme<K::min, K::minimum>, "",
       "x, axis, keepdims"},
      {"Prod", "numpy", "x; axis=null, keepdims=false, dtype=null", product, "", "x, axis, keepdims"},
      {"Norm", "linalg", "x; ord=null, axis=null, keepdims=false", norm, "", "x, axis, keepdims"},
      {"Argmax", "numpy", "x; axis=null, keepdims=false", position<K::argmax>, "", "x, axis"},
      {"Argmin", "numpy", "x; axis=null, keepdims=false", position<K::argmin>, "", "x, axis"},
      {"Cumsum", "numpy", "x; axis=null, dtype=null", running<K::cumsum>, "", "x, axis"},
      {"Cumprod", "numpy", "x; axis=null, dtype=null", running<K::cumprod>, "", "x, axis"},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
