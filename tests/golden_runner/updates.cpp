#include <ktape/ops/updates.hpp>

#include "families.hpp"

namespace golden {

namespace K = ktape::backend;
using ktape::Variable;

void add_updates(Table& table) {
  auto& ops = table.ops;
  ops["update"] = [](const Call& c) -> Results { return {K::update(Variable(c["x"]), c["new_x"]).value()}; };
  ops["update_add"] = [](const Call& c) -> Results { return {K::update_add(Variable(c["x"]), c["increment"]).value()}; };
  ops["update_sub"] = [](const Call& c) -> Results { return {K::update_sub(Variable(c["x"]), c["decrement"]).value()}; };
  ops["moving_average_update"] = [](const Call& c) -> Results {
    return {K::moving_average_update(Variable(c["x"]), c["value"], c.get<double>("momentum")).value()};
  };
}

}  // namespace golden
