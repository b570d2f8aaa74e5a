#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>

namespace ktape::ops {

template <class F>
void fields(IsCloseOptions& options, F&& field) {
  field("rtol", options.rtol);
  field("atol", options.atol);
  field("equal_nan", options.equal_nan);
}

namespace K = backend;
using op_helpers::promoted;

namespace {

/// Calls a comparison of K, which compares numbers by their value, on tensors of one dtype.
template <class F>
Tensor compared(const char* op, const TensorOrNumber& x1, const TensorOrNumber& x2, F compare) {
  if (x1.is_number() != x2.is_number()) return compare(x1, x2);
  const auto [x, y] = promoted(op, x1, x2);
  return compare(x, y);
}

Tensor truth(const char* op, const TensorOrNumber& x, const char* name) {
  const Tensor tensor =
      x.is_number() ? K::full({}, x.number().real() != 0, DType::Bool) : x.tensor(op, DType::Bool);
  expect_defined(op, name, tensor);
  return K::as_dtype(tensor, DType::Bool);
}

}  // namespace

Tensor equal(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return compared("equal", x1, x2, [](const auto& x, const auto& y) { return K::equal(x, y); });
}
Tensor not_equal(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return compared("not_equal", x1, x2, [](const auto& x, const auto& y) { return K::not_equal(x, y); });
}
Tensor greater(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return compared("greater", x1, x2, [](const auto& x, const auto& y) { return K::greater(x, y); });
}
Tensor greater_equal(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return compared("greater_equal", x1, x2,
                  [](const auto& x, const auto& y) { return K::greater_equal(x, y); });
}
Tensor less(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return compared("less", x1, x2, [](const auto& x, const auto& y) { return K::less(x, y); });
}
Tensor less_equal(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  return compared("less_equal", x1, x2, [](const auto& x, const auto& y) { return K::less_equal(x, y); });
}

Tensor logical_and(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("logical_and");
  return truth("logical_and", x1, "x1") & truth("logical_and", x2, "x2");
}
Tensor logical_or(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("logical_or");
  return truth("logical_or", x1, "x1") | truth("logical_or", x2, "x2");
}
Tensor logical_xor(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("logical_xor");
  return truth("logical_xor", x1, "x1") ^ truth("logical_xor", x2, "x2");
}
Tensor logical_not(const Tensor& x) {
  const CalledOp called("logical_not");
  return ~truth("logical_not", x, "x");
}

Tensor bitwise_and(const TensorOrNumber& x, const TensorOrNumber& y) {
  const CalledOp called("bitwise_and");
  const auto [a, b] = promoted("bitwise_and", x, y);
  return a & b;
}
Tensor bitwise_or(const TensorOrNumber& x, const TensorOrNumber& y) {
  const CalledOp called("bitwise_or");
  const auto [a, b] = promoted("bitwise_or", x, y);
  return a | b;
}
Tensor bitwise_xor(const TensorOrNumber& x, const TensorOrNumber& y) {
  const CalledOp called("bitwise_xor");
  const auto [a, b] = promoted("bitwise_xor", x, y);
  return a ^ b;
}
Tensor bitwise_not(const Tensor& x) {
  const CalledOp called("bitwise_not");
  return ~x;
}
Tensor bitwise_invert(const Tensor& x) {
  const CalledOp called("bitwise_invert");
  return ~x;
}

Tensor isclose(const TensorOrNumber& x1, const TensorOrNumber& x2, const IsCloseOptions& options) {
  const CalledOp called("isclose");
  const auto [x, y] = op_helpers::promoted_floating("isclose", x1, x2);
  if (is_symbolic(x, y))
    return defer_described(
        "isclose", {broadcast_shapes("isclose", x.shape(), y.shape(), "x1", "x2"), DType::Bool},
        [](const Tensor& x, const Tensor& y, const IsCloseOptions& o) { return isclose(x, y, o); }, x, y,
        options);
  return op_helpers::compare<op_helpers::Elements::Floating>(
      "isclose",
      [o = options](auto a, auto b) {
        const auto finite = a - a == b - b, near = abs(a - b) <= abs(b) * o.rtol + o.atol;
        const auto close = (finite & near) | (a == b);
        return o.equal_nan ? close | !((a == a) | (b == b)) : close;
      },
      x, y);
}
Tensor allclose(const TensorOrNumber& x1, const TensorOrNumber& x2, const IsCloseOptions& options) {
  const CalledOp called("allclose");
  return K::all(isclose(x1, x2, options));
}

Tensor where(const TensorOrNumber& condition, const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const CalledOp called("where");
  const auto [x, y] = promoted("where", x1, x2);
  return K::where(truth("where", condition, "condition"), x, y);
}

Tensor select(const TensorList& condlist, const TensorList& choicelist, const TensorOrNumber& fallback) {
  const CalledOp called("select");
  expect_defined("select", "condlist", condlist.vector());
  expect_defined("select", "choicelist", choicelist.vector());
  if (condlist.size() != choicelist.size() || condlist.empty())
    fail("[select] there must be as many choices as conditions, at least one: received condlist of ",
         condlist.size(), ", choicelist of ", choicelist.size());
  const std::size_t last = condlist.size() - 1;
  Tensor out = where(condlist[last], choicelist[last], fallback);
  for (std::size_t i = last; i-- > 0;) out = where(condlist[i], choicelist[i], out);
  return out;
}

}  // namespace ktape::ops

namespace ktape::nn {
namespace {

bool is_bool(const std::vector<OperationArgument>& operands) {
  for (const OperationArgument& operand : operands)
    if (!operand.tensors.empty()) return operand.tensors[0].dtype().is_bool();
  return false;
}

const char* written_and(const std::vector<OperationArgument>& operands, Config&) {
  return is_bool(operands) ? nullptr : "BitwiseAnd";
}
const char* written_or(const std::vector<OperationArgument>& operands, Config&) {
  return is_bool(operands) ? nullptr : "BitwiseOr";
}
const char* written_xor(const std::vector<OperationArgument>& operands, Config&) {
  return is_bool(operands) ? nullptr : "BitwiseXor";
}
const char* written_not(const std::vector<OperationArgument>& operands, Config&) {
  return is_bool(operands) ? nullptr : "BitwiseNot";
}

constexpr Tensor (*chosen)(const TensorOrNumber&, const TensorOrNumber&, const TensorOrNumber&) = ops::where;

}  // namespace

Operations logic_operations() {
  static constexpr Operation rows[] = {
      {"Equal", "numpy", "x1, x2;", calls<ops::equal>},
      {"NotEqual", "numpy", "x1, x2;", calls<ops::not_equal>},
      {"Greater", "numpy", "x1, x2;", calls<ops::greater>},
      {"GreaterEqual", "numpy", "x1, x2;", calls<ops::greater_equal>},
      {"Less", "numpy", "x1, x2;", calls<ops::less>},
      {"LessEqual", "numpy", "x1, x2;", calls<ops::less_equal>},
      {"LogicalAnd", "numpy", "x1, x2;", calls<ops::logical_and>, "", "", written_and},
      {"LogicalOr", "numpy", "x1, x2;", calls<ops::logical_or>, "", "", written_or},
      {"LogicalXor", "numpy", "x1, x2;", calls<ops::logical_xor>, "", "", written_xor},
      {"LogicalNot", "numpy", "x;", calls<ops::logical_not>, "", "", written_not},
      {"BitwiseAnd", "numpy", "x, y;", calls<ops::bitwise_and>, "-"},
      {"BitwiseOr", "numpy", "x, y;", calls<ops::bitwise_or>, "-"},
      {"BitwiseXor", "numpy", "x, y;", calls<ops::bitwise_xor>, "-"},
      {"BitwiseNot", "numpy", "x;", calls<ops::bitwise_not>, "-"},
      {"BitwiseInvert", "numpy", "x;", calls<ops::bitwise_invert>, "-"},
      {"Isclose", "numpy", "x1, x2, rtol!=1e-5, atol!=1e-8; equal_nan=false", calls<ops::isclose>},
      {"AllClose", "numpy", "x1, x2; rtol=1e-5, atol=1e-8, equal_nan=false", calls<ops::allclose>},
      {"Where", "numpy", "condition, x1, x2;", calls<chosen>},
      {"Select", "numpy", "condlist, choicelist, default=0;", calls<ops::select>},
  };
  return rows;
}

}  // namespace ktape::nn
