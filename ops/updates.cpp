#include <ktape/autograd/dispatch.hpp>
#include <ktape/autograd/symbolic.hpp>
#include <ktape/ops/kernels/map.hpp>
#include <ktape/ops/updates.hpp>

#include <cmath>

namespace ktape::backend {
namespace {

void expect_shape(const char* op, const Variable& x, const char* name, const Shape& shape) {
  if (shape != x.shape())
    fail("[", op, "] ", name, " must have the shape ", x.shape(), " of '", x.name(), "': received ", name,
         '=', shape);
}

void expect_like(const char* op, const Variable& x, const char* name, const Tensor& value) {
  expect_shape(op, x, name, value.shape());
  if (value.dtype() != x.dtype())
    fail<TypeError>("[", op, "] ", name, " must have the dtype ", x.dtype(), " of '", x.name(),
                    "': received ", name, '=', value.dtype());
}

void expect_number(const char* op, const Variable& x) {
  if (x.dtype().is_bool()) fail<TypeError>("[", op, "] x must be a number: received dtype=bool");
}

/// x = f(x, value), element by element.
template <class F>
Tensor combine(Variable x, F f, const Tensor& value) {
  dispatch(x.dtype(), [&]<class T>() {
    x.modify([&, from = value.pointer<T>(), n = x.size()](void* out, const void* old) {
      kernels::map<T>(n, static_cast<T*>(out), f, static_cast<const T*>(old), from);
    });
  });
  return x;
}

/// x = f(x, number).
template <class F>
Tensor combine_number(const char* op, Variable x, F f, Scalar number) {
  expect_number(op, x);
  if (!x.dtype().is_floating() && number.real() != std::trunc(number.real()))
    fail<TypeError>("[", op, "] a number must fit the dtype ", x.dtype(), " of '", x.name(), "': received ",
                    number.real());
  dispatch(x.dtype(), [&]<class T>() {
    x.modify([&, n = x.size()](void* out, const void* old) {
      const auto value = static_cast<kernels::compute_t<T>>(number.to<T>());
      kernels::map<T>(
          n, static_cast<T*>(out), [f, value](auto a) { return f(a, value); }, static_cast<const T*>(old));
    });
  });
  return x;
}

constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto minus = [](auto a, auto b) { return a - b; };

}  // namespace

Variable set_value(Variable x, const ArrayLike& value) {
  expect_shape("set_value", x, "value", value.shape());
  x.assign(value.tensor(x.dtype(), x.dtype()));
  return x;
}

void batch_set_value(const std::vector<std::pair<Variable, ArrayLike>>& tuples) {
  for (const auto& [x, value] : tuples) expect_shape("batch_set_value", x, "value", value.shape());
  for (const auto& [x, value] : tuples) set_value(x, value);
}

Tensor update(Variable x, const Tensor& new_x) {
  if (is_symbolic(new_x)) return defer_update("update", x, update, x, new_x);
  expect_like("update", x, "new_x", new_x);
  x.assign(new_x);
  return x;
}

Tensor update_add(Variable x, const Tensor& increment) {
  if (is_symbolic(increment)) return defer_update("update_add", x, [](const auto&... a) { return update_add(a...); }, x, increment);
  expect_number("update_add", x);
  expect_like("update_add", x, "increment", increment);
  return combine(x, plus, increment);
}
Tensor update_add(Variable x, Scalar increment) { return combine_number("update_add", x, plus, increment); }

Tensor update_sub(Variable x, const Tensor& decrement) {
  if (is_symbolic(decrement)) return defer_update("update_sub", x, [](const auto&... a) { return update_sub(a...); }, x, decrement);
  expect_number("update_sub", x);
  expect_like("update_sub", x, "decrement", decrement);
  return combine(x, minus, decrement);
}
Tensor update_sub(Variable x, Scalar decrement) {
  return combine_number("update_sub", x, minus, decrement);
}

Tensor moving_average_update(Variable x, const Tensor& value, double momentum) {
  if (is_symbolic(value)) return defer_update("moving_average_update", x, moving_average_update, x, value, momentum);
  if (!x.dtype().is_floating())
    fail<TypeError>("[moving_average_update] x must be floating: received dtype=", x.dtype());
  expect_like("moving_average_update", x, "value", value);
  const auto average = [momentum](auto a, auto v) {
    return a * decltype(a)(momentum) + v * decltype(a)(1 - momentum);
  };
  dispatch_floating(x.dtype(), [&]<class T>() {
    x.modify([&, from = value.pointer<T>(), n = x.size()](void* out, const void* old) {
      kernels::map<T>(n, static_cast<T*>(out), average, static_cast<const T*>(old), from);
    });
  });
  return x;
}

}  // namespace ktape::backend
