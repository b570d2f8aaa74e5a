#include <ktape/ops/indexing.hpp>

#include "families.hpp"

namespace golden {

namespace K = ktape::backend;

void add_indexing(Table& table) {
  table.ops["gather"] = [](const Call& c) -> Results { return {K::gather(c["reference"], c["indices"])}; };
  table.ops["one_hot"] = [](const Call& c) -> Results {
    return {K::one_hot(c["indices"], c.get<std::int64_t>("num_classes"))};
  };
}

}  // namespace golden
