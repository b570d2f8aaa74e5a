#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/scope.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/internal/selection.hpp>
#include <ktape/ops/parts.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <cstring>

namespace ktape::backend {

Tensor boolean_mask(const Tensor& tensor, const Tensor& mask) {
  expect_defined("boolean_mask", "tensor, mask", tensor, mask);
  if (!mask.dtype().is_bool())
    fail<TypeError>("[boolean_mask] mask must hold bools: received mask=", mask.dtype());
  if (mask.ndim() == 0 || mask.ndim() > tensor.ndim() ||
      !compatible(mask.shape(), Shape(tensor.shape().begin(), mask.ndim())))
    fail("[boolean_mask] mask must have the shape of the first axes of tensor=", tensor.shape(),
         ": received mask=", mask.shape());
  Shape rows{None};
  for (int d = mask.ndim(); d < tensor.ndim(); ++d) rows.push_back(tensor.shape()[d]);
  if (is_symbolic(tensor, mask))
    return defer_described("boolean_mask", {rows, tensor.dtype()}, boolean_mask, tensor,
                           WithoutGradient{mask});
  rows[0] = mask.size();
  return gather(reshape(tensor, rows), op_helpers::places_of_true(mask));
}

}  // namespace ktape::backend

namespace ktape {
namespace {

constexpr const char* op = "assign";

/// Returns the value that is assigned to a part of x, as a tensor of the part's shape.
Tensor value_of_part(const Variable& x, const ArrayLike& value, const Shape& part) {
  value.expect_defined(op, "the value");
  const Tensor& given = value.given();
  if (is_symbolic(given) || symbolic_mode())
    fail("[assign] a part of '", x.name(),
         "' must be assigned a tensor with a value, outside of K::symbolic: received value=", value.shape(),
         "; in a graph, K::update takes a new value for the whole variable");
  if (given.defined() && given.dtype() != x.dtype())
    fail<TypeError>("[assign] the value must have the dtype ", x.dtype(), " of '", x.name(),
                    "': received value=", given.dtype());
  if (!broadcasts_to(value.shape(), part))
    fail("[assign] the value must broadcast to the shape ", part, " of the part of '", x.name(),
         "': received value=", value.shape());
  return backend::broadcast_to(given.defined() ? given.detach() : value.tensor(x.dtype(), x.dtype(), op),
                               part);
}

void expect_assignable(const Variable& x) {
  if (!x.defined()) fail("[assign] x must be a variable: received an undefined variable");
}

/// Calls f(memory) on the elements of x, to change some of them.
template <class F>
void change_elements(Variable x, F f) {
  x.modify([&, bytes = static_cast<std::size_t>(x.size()) * x.dtype().size()](void* to, const void* from) {
    if (to != from) std::memcpy(to, from, bytes);
    f(static_cast<char*>(to));
  });
}

}  // namespace

void assign_part(const Variable& x, const Indices& part, const ArrayLike& value) {
  expect_assignable(x);
  const op_helpers::Selection selection = op_helpers::select(op, x.shape(), part.entries());
  const Tensor given = value_of_part(x, value, selection.shape).alias(selection.window.size);
  change_elements(x, [&](char* memory) { op_helpers::write(memory, x.shape(), given, selection.window); });
}

void assign_part(const Variable& x, const Tensor& part, const ArrayLike& value) {
  expect_assignable(x);
  expect_defined(op, "an index", part);
  const NoGrad off;
  const Tensor given = value_of_part(x, value, subscript(x.value(), part).shape());
  const Tensor rows =
      part.dtype().is_bool() ? op_helpers::places_of_true(part) : converted(part, DType::Int64);
  if (given.size() == 0) return;
  const std::size_t bytes = static_cast<std::size_t>(given.size() / rows.size()) * x.dtype().size();
  change_elements(x, [&](char* memory) {
    const auto* row = rows.pointer<std::int64_t>();
    const auto* from = static_cast<const char*>(given.raw());
    for (std::int64_t i = 0; i < rows.size(); ++i, from += bytes)
      std::memcpy(memory + static_cast<std::size_t>(row[i]) * bytes, from, bytes);
  });
}

}  // namespace ktape

namespace ktape::nn {

Operations part_operations() {
  static constexpr Operation rows[] = {
      {"boolean_mask", "", "tensor, mask;", calls<backend::boolean_mask>},
  };
  return rows;
}

}  // namespace ktape::nn
