#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/scope.hpp>
#include <ktape/ops/control/optimize.hpp>
#include <ktape/ops/optimizer_update.hpp>

namespace ktape::backend {
namespace {

void expect_variable(const char* name, const Variable& x) {
  if (!x.defined()) fail("[adam_update] ", name, " must be a variable: received an undefined variable");
}

void check_like(const Variable& x, const char* name, const Tensor& other) {
  if (other.shape() != x.shape())
    fail("[adam_update] ", name, " must have the shape ", x.shape(), " of '", x.name(), "': received ", name,
         "=", other.shape());
  if (other.dtype() != x.dtype())
    fail<TypeError>("[adam_update] ", name, " must have the dtype ", x.dtype(), " of '", x.name(),
                    "': received ", name, "=", other.dtype());
}

}  // namespace

void adam_update(Assignable x, const Tensor& gradient, Assignable m, Assignable v, std::int64_t step,
                 const AdamOptions& options) {
  if (symbolic_mode())
    fail(
        "[adam_update] a symbolic update must be made of update, update_add and update_sub: received a "
        "call inside K::symbolic, where adam_update would happen at once");
  expect_variable("x", x), expect_variable("m", m), expect_variable("v", v);
  expect_defined("adam_update", "gradient", gradient);
  expect_value("adam_update", gradient);
  check_like(x, "gradient", gradient);
  check_like(x, "m", m.stored());
  check_like(x, "v", v.stored());
  if (!x.dtype().is_floating())
    fail<TypeError>("[adam_update] x must be floating: received dtype=", x.dtype());
  if (x.is(m) || x.is(v) || m.is(v))
    fail("[adam_update] x, m and v must be three variables: received '", x.name(), "', '", m.name(),
         "' and '", v.name(), "', two of which are one");
  if (step < 1) fail("[adam_update] step must be at least 1: received step=", step);
  for (double beta : {options.beta_1, options.beta_2})
    if (!(beta >= 0 && beta < 1)) fail("[adam_update] a beta must be in [0, 1): received beta=", beta);
  const double rate =
      op_helpers::adam_rate(options.learning_rate, options.beta_1, options.beta_2, static_cast<double>(step));
  const Variable state[] = {m, v};
  op_helpers::update<2>(x, gradient, state, {},
                        op_helpers::AdamStep{rate, options.beta_1, options.beta_2, options.epsilon});
}

}  // namespace ktape::backend
