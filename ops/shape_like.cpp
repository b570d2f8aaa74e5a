#include <ktape/ops/inspection.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/shape_like.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace ktape::backend {
namespace {

Tensor integers(const Shape& shape, const Shape& elements, DType dtype) {
  Tensor out = Tensor::empty(shape, dtype);
  convert(out.raw(), dtype, elements.begin(), DType::Int64, elements.rank());
  return out;
}

Shape elements_of(const Tensor& x) {
  Shape out;
  const Tensor numbers = converted(x, DType::Int64);
  for (std::int64_t i = 0; i < numbers.size(); ++i) out.push_back(numbers.pointer<std::int64_t>()[i]);
  return out;
}

/// Returns whether an op only moves elements, without computing with their values.
bool moves_elements(std::string_view op) {
  constexpr std::string_view ops[] = {"index", "stack", "concatenate", "cast", "reshape"};
  return std::find(std::begin(ops), std::end(ops), op) != std::end(ops);
}

bool can_hold_extents(const Tensor& x) {
  return x.ndim() <= 1 && x.size() >= 0 && x.size() <= Shape::max_rank &&
         (x.dtype() == DType::Int32 || x.dtype() == DType::Int64);
}

/// Returns the known elements of a symbolic tensor of integers, some of which follow from shapes; None for
/// the others.
Shape known_elements(const Tensor& x) {
  if (!is_symbolic(x)) return elements_of(x);
  Shape unknown;
  for (std::int64_t i = 0; i < x.size(); ++i) unknown.push_back(None);
  const Symbol& symbol = *x.get()->symbol;
  if (symbol.op() == std::string_view("shape")) return symbol.operands()[0].tensor.shape();
  if (!moves_elements(symbol.op())) return unknown;
  std::vector<Tensor> values;
  std::vector<OperandValues::Source> sources;
  for (const Operand& operand : symbol.operands()) {
    if (!operand.tensor.defined() || !can_hold_extents(operand.tensor)) return unknown;
    sources.push_back(static_cast<OperandValues::Source>(values.size()));
    values.push_back(
        integers(operand.tensor.shape(), known_elements(operand.tensor), operand.tensor.dtype()));
  }
  std::vector<Tensor> moved;
  Results results(moved);
  symbol.run({sources, values.data(), nullptr}, results);
  return elements_of(moved[x.get()->output]);
}

void expect_integers(const Tensor& x) {
  if (!x.dtype().is_integer())
    fail<TypeError>("[shape] a tensor in the place of a shape must hold integers: received dtype=",
                    x.dtype());
}

}  // namespace

ShapeLike::ShapeLike(const Tensor& shape) {
  expect_defined("shape", "what stands in the place of a shape", shape);
  expect_integers(shape);
  if (shape.ndim() > 1 || shape.size() < 0)
    fail("[shape] a tensor in the place of a shape must be a list of known length: received shape=",
         shape.shape());
  if (shape.size() > Shape::max_rank)
    fail("[shape] a tensor has at most ", Shape::max_rank, " dimensions: received ", shape.size());
  known_ = known_elements(shape);
  if (is_symbolic(shape)) tensor_ = shape.ndim() == 1 ? shape : stack({shape});
}

ShapeLike::ShapeLike(std::initializer_list<Extent> extents) {
  bool waits = false;
  for (const Extent& extent : extents) {
    const Tensor& x = extent.tensor();
    if (x.defined()) expect_integers(x);
    if (x.defined() && x.size() != 1)
      fail("[shape] an extent must be one number: received a tensor of shape=", x.shape());
    known_.push_back(x.defined() ? known_elements(x)[0] : extent.number());
    waits = waits || is_symbolic(x);
  }
  if (!waits) return;
  std::vector<Tensor> parts;
  for (const Extent& extent : extents)
    parts.push_back(extent.tensor().defined() ? reshape(cast(extent.tensor(), DType::Int64), Shape())
                                              : integers({}, {extent.number()}, DType::Int64));
  tensor_ = stack(parts);
}

}  // namespace ktape::backend
