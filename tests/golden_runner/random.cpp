#include <ktape/ops/random/random.hpp>

#include "families.hpp"

namespace golden {

namespace K = ktape::backend;

void add_random(Table& table) {
  table.ops["dropout"] = [](const Call& c) -> Results {
    K::DropoutOptions options;
    if (c.has("noise_shape") && !c.none("noise_shape")) c.set("noise_shape", options.noise_shape);
    c.set("seed", options.seed);
    return {K::dropout(c["x"], c.get<double>("level"), options)};
  };
}

}  // namespace golden
