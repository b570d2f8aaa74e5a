#include <ktape/ops/random.hpp>

#include "families.hpp"

namespace golden {

namespace K = ktape::backend;

void add_random(Table& table) {
  table.ops["dropout"] = [](const Call& c) -> Results {
    return {K::dropout(c["x"], c.get<double>("level"))};
  };
}

}  // namespace golden
