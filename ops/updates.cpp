#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/autograd/reading.hpp>
#include <ktape/autograd/scope.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/kernels/elementwise/elementwise.hpp>
#include <ktape/ops/updates.hpp>

/// Reads a tensor as an operand of a deferred update, and copies a number.
template <>
class ktape::Argument<ktape::ArrayLike> {
 public:
  Argument(const ArrayLike& value, std::vector<Operand>& operands) : given_(value.given(), operands) {
    if (!value.given().defined()) numbers_ = value;
  }
  ArrayLike get(const OperandValues& values) const { return numbers_ ? *numbers_ : given_.get(values); }

 private:
  std::optional<ArrayLike> numbers_;
  Argument<Tensor> given_;
};

namespace ktape::backend {
namespace {

void expect_variable(const char* op, const Variable& x) {
  if (!x.defined()) fail("[", op, "] x must be a variable: received an undefined variable");
}

/// Returns whether an update by this value is deferred.
bool waits(const ArrayLike& value) { return is_symbolic(value.given()) || symbolic_mode(); }

void expect_shape(const char* op, const Variable& x, const char* name, const Shape& shape) {
  if (!compatible(shape, x.shape()))
    fail("[", op, "] ", name, " must have the shape ", x.shape(), " of '", x.name(), "': received ", name,
         '=', shape);
}

void expect_like(const char* op, const Variable& x, const char* name, const ArrayLike& value) {
  expect_shape(op, x, name, value.shape());
  if (value.given().defined() && value.given().dtype() != x.dtype())
    fail<TypeError>("[", op, "] ", name, " must have the dtype ", x.dtype(), " of '", x.name(),
                    "': received ", name, '=', value.given().dtype());
}

/// Returns the value converted to the dtype of x where `call` of a layer with a mixed policy updates x;
/// otherwise the value, whose dtype must fit.
ArrayLike autocast(const Variable& x, const ArrayLike& value) {
  const Tensor& given = value.given();
  const bool mixed = AutocastScope::dtype() && given.defined() && given.dtype().is_floating();
  return mixed && x.dtype().is_floating() ? ArrayLike(as_dtype(given, x.dtype())) : value;
}

/// Returns the value as a tensor; numbers get the dtype of x.
Tensor like_variable(const char* op, const Variable& x, const ArrayLike& value) {
  return value.given().defined() ? value.given() : value.tensor(x.dtype(), x.dtype(), op);
}

/// Returns the value converted to x's dtype; the assignment cannot fail then.
Tensor assignable(const char* op, const Variable& x, const ArrayLike& value) {
  expect_variable(op, x);
  value.expect_defined(op, "value");
  expect_shape(op, x, "value", value.shape());
  const Tensor converted =
      (x.dtype().is_integer() ? value.truncated() : value).tensor(x.dtype(), x.dtype(), op);
  expect_value(op, converted);
  return converted;
}

/// x = f(x, value), element by element.
template <class F>
Tensor combine(Variable x, F f, const Tensor& value) {
  const auto loop = kernels::element_loop<kernels::Elements::Number, 2>(x.dtype(), f);
  x.modify([&, from = value.raw(), n = x.size()](void* out, const void* old) {
    const void* const operands[] = {old, from};
    kernels::map_elements(loop, n, out, operands);
  });
  return x;
}

/// x = f(x, number).
template <class F>
Tensor combine_number(Variable x, F f, Scalar number) {
  dispatch_native_number(op_helpers::compute_dtype(x.dtype()), [&]<class T>() {
    const auto change = [f, value = number.to<T>()](auto a) { return f(a, value); };
    const auto loop = kernels::loop_of_dtype(kernels::detail::loop_of<T, T, decltype(change), 1>, &change, 1,
                                             x.dtype(), false);
    x.modify([&, n = x.size()](void* out, const void* old) { kernels::map_elements(loop, n, out, &old); });
  });
  return x;
}

/// Assigns f(x, change) to x; deferred for a symbolic change.
template <class F>
Tensor change(const char* op, Variable x, F f, const char* name, const ArrayLike& given) {
  expect_variable(op, x);
  given.expect_defined(op, name);
  const ArrayLike by = autocast(x, given);
  if (x.dtype().is_bool()) fail<TypeError>("[", op, "] x must be a number: received dtype=bool");
  by.number() ? expect_fits(op, *by.number(), x.dtype()) : expect_like(op, x, name, by);
  if (waits(by))
    return defer_update(
        op, x, [=](const Variable& x, const ArrayLike& by) { return change(op, x, f, name, by); }, x, by);
  if (by.number()) return combine_number(x, f, *by.number());
  return combine(x, f, like_variable(op, x, by));
}

}  // namespace

Variable set_value(Assignable x, const ArrayLike& value) {
  x.assign(assignable("set_value", x, value));
  return x;
}

void batch_set_value(const std::vector<std::pair<Assignable, ArrayLike>>& tuples) {
  std::vector<std::pair<Variable, Tensor>> values;
  for (const auto& [x, value] : tuples) values.emplace_back(x, assignable("batch_set_value", x, value));
  assign_all(values);
}

Tensor update(Assignable x, const ArrayLike& value) {
  expect_variable("update", x);
  value.expect_defined("update", "new_x");
  const ArrayLike new_x = autocast(x, value);
  expect_like("update", x, "new_x", new_x);
  if (waits(new_x)) return defer_update("update", x, update, x, new_x);
  x.assign(like_variable("update", x, new_x));
  return x;
}

namespace {
Tensor added(const char* op, Variable x, const char* name, const ArrayLike& value) {
  return change(
      op, x, [](auto a, auto b) { return a + b; }, name, value);
}
Tensor subtracted(const char* op, Variable x, const char* name, const ArrayLike& value) {
  return change(
      op, x, [](auto a, auto b) { return a - b; }, name, value);
}
}  // namespace

Tensor update_add(Assignable x, const ArrayLike& increment) {
  return added("update_add", x, "increment", increment);
}

Tensor update_sub(Assignable x, const ArrayLike& decrement) {
  return subtracted("update_sub", x, "decrement", decrement);
}

Tensor moving_average_update(Assignable x, const ArrayLike& value, double momentum) {
  constexpr const char* op = "moving_average_update";
  expect_variable(op, x);
  value.expect_defined(op, "value");
  if (!x.dtype().is_floating()) fail<TypeError>("[", op, "] x must be floating: received dtype=", x.dtype());
  if (!broadcasts_to(value.shape(), x.shape())) expect_shape(op, x, "value", value.shape());
  if (waits(value)) return defer_update(op, x, moving_average_update, x, value, momentum);
  const auto average = [momentum](auto a, auto v) {
    return a * decltype(a)(momentum) + v * decltype(a)(1 - momentum);
  };
  return combine(x, average, broadcast_to(value.tensor(x.dtype(), x.dtype(), op), x.shape()));
}

}  // namespace ktape::backend

namespace ktape {

void Variable::assign(const ArrayLike& value) {
  value.expect_defined("assign", "value");
  assign(backend::like_variable("assign", *this, value));
}

Tensor Variable::assign_add(const ArrayLike& value) {
  return backend::added("assign_add", *this, "value", value);
}

Tensor Variable::assign_sub(const ArrayLike& value) {
  return backend::subtracted("assign_sub", *this, "value", value);
}

}  // namespace ktape
