#include <ktape/autograd/symbol.hpp>
#include <ktape/ops/control/optimize.hpp>
#include <ktape/ops/updates.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;
using ktape::Variable;

/// Runs an update on a new variable and returns the variable's new value.
template <class F>
auto update(F f) {
  return [f](const Call& c) -> Results {
    const Variable x(c["x"]);
    const Tensor result = f(c, x);
    if (!ktape::is_symbolic(result) && result.raw() != x.value().raw())
      ktape::fail("[golden] an update must return the new value");
    return {result};
  };
}

Results adam_update(const Call& c) {
  const Variable x(c["x"]), m(c["m"]), v(c["v"]);
  K::AdamOptions options;
  c.set("learning_rate", options.learning_rate);
  c.set("beta_1", options.beta_1);
  c.set("beta_2", options.beta_2);
  c.set("epsilon", options.epsilon);
  K::adam_update(x, c["gradient"], m, v, c.get<std::int64_t>("step"), options);
  return {x, m, v};
}

}  // namespace

void add_updates(Table& table) {
  auto& ops = table.ops;
  table.updates = {"update", "update_add", "update_sub", "moving_average_update"};
  ops["adam_update"] = adam_update;
  ops["update"] = update([](const Call& c, Variable x) { return K::update(x, c["new_x"]); });
  ops["update_add"] = update([](const Call& c, Variable x) { return K::update_add(x, c["increment"]); });
  ops["update_sub"] = update([](const Call& c, Variable x) { return K::update_sub(x, c["decrement"]); });
  ops["moving_average_update"] = update([](const Call& c, Variable x) {
    return K::moving_average_update(x, c["value"], c.get<double>("momentum"));
  });
}

}  // namespace golden
