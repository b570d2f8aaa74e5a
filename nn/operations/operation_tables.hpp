#pragma once
#include <ktape/nn/operations/operation.hpp>

/// The tables of operations. Internal: sources only.
namespace ktape::nn {

// Each function adds the operations of one family.
void add_elementwise_operations(std::vector<Operation>& all);
void add_reduction_operations(std::vector<Operation>& all);
void add_shape_operations(std::vector<Operation>& all);
void add_indexing_operations(std::vector<Operation>& all);
void add_product_operations(std::vector<Operation>& all);
void add_nn_operations(std::vector<Operation>& all);
void add_layer_operations(std::vector<Operation>& all);
void add_numpy_operations(std::vector<Operation>& all);
void add_array_operations(std::vector<Operation>& all);
void add_linalg_operations(std::vector<Operation>& all);
void add_image_operations(std::vector<Operation>& all);
void add_signal_operations(std::vector<Operation>& all);
void add_backend_operations(std::vector<Operation>& all);

/// Returns the operations that the symbols with this op may record.
std::vector<const Operation*> operations_of_op(const std::string& op);

/// Returns an integer; nothing for null.
inline std::optional<std::int64_t> optional_integer(const OperationCall& call, const char* name) {
  return call.value(name).as<std::optional<std::int64_t>>(call.what(name));
}

/// Calls f on the argument x.
template <Tensor (*f)(const Tensor&)>
Tensor unary(const OperationCall& call) {
  return f(call.tensor("x"));
}

/// Calls f on two operands, of which one may be a number.
template <class F>
Tensor with_operands(const OperationCall& call, const char* first, const char* second, F f) {
  if (call.is_number(second)) return f(call.tensor(first), call.scalar(second));
  if (call.is_number(first)) return f(call.scalar(first), call.tensor(second));
  return f(call.tensor(first), call.tensor(second));
}

}  // namespace ktape::nn
