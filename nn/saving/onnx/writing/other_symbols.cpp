#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/shape_like.hpp>

#include <algorithm>

/// Ops that are no operations: parts of other ops, and ops whose arguments are not recorded.
namespace ktape::nn::onnx {
namespace {

Names same(const Translation& t) { return {t(0)}; }

/// A conversion whose dtype is not recorded.
Names converted(const Translation& t) {
  if (described_arguments(t.symbol)) return {};
  return {t.graph.cast(t(0), t.operand(0).dtype(), t.dtype())};
}

/// The layer Reshape: the batch is that of x, and one extent may be unknown.
Names reshaped(const Translation& t) {
  if (described_arguments(t.symbol) || t.symbol.operands().size() != 1) return {};
  Integers shape = integers_of(t.result().shape);
  const bool open = std::count(shape.begin() + 1, shape.end(), None) > 0;
  if (shape[0] == None) shape[0] = open ? 0 : -1;
  std::replace(shape.begin() + 1, shape.end(), std::int64_t{None}, std::int64_t{-1});
  return {t.graph.reshaped(t(0), shape)};
}

/// A tensor of one number, whose shape is computed: [op, shape, number, dtype].
Names filled(const Translation& t) {
  const std::vector<DescribedArgument>* const described = described_arguments(t.symbol);
  if (!described || described->size() != 4) return {};
  const auto& number = std::any_cast<const Scalar&>(described->at(2).value);
  const std::string shape = t.graph.cast(t(0), t.operand(0).dtype(), DType::Int64);
  return {t.node("Expand", {t.graph.number(number.real(), t.dtype()), shape})};
}

/// A range whose bounds are tensors or numbers: [stop, options] or [start, stop, step, options].
Names arange(const Translation& t) {
  const std::vector<DescribedArgument>* const described = described_arguments(t.symbol);
  if (!described) t.fail("its arguments are not recorded");
  const DType dtype = t.dtype();
  Names bounds;
  std::size_t next = 0;
  for (std::size_t i = 0; i + 1 < described->size(); ++i) {
    const DescribedArgument& bound = described->at(i);
    if (bound.operands == 0) {
      bounds.push_back(t.graph.number(std::any_cast<const Scalar&>(bound.value).real(), dtype));
      continue;
    }
    const Tensor& x = t.operand(next);
    bounds.push_back(t.graph.cast(x.ndim() > 0 ? t.graph.reshaped(t(next), {}) : t(next), x.dtype(), dtype));
    ++next;
  }
  if (bounds.size() == 1) bounds = {t.graph.number(0, dtype), bounds[0], t.graph.number(1, dtype)};
  return {t.node("Range", bounds)};
}

}  // namespace

void add_creation_symbols(RowTable& rows) {
  for (const char* op : {"zeros", "ones", "full", "constant"}) rows[op] = filled;
  rows["arange"] = arange;
}

void add_other_symbols(RowTable& rows) {
  for (const char* op : {"identity", "variable", "with_mask", "stop_gradient", "print_tensor"})
    rows[op] = same;
  rows["cast"] = converted;
  rows["reshape"] = reshaped;
}

}  // namespace ktape::nn::onnx
