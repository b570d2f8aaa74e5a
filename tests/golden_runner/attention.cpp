#include <ktape/ops/nn/attention.hpp>

#include "families.hpp"

namespace golden {

namespace K = ktape::backend;

void add_attention(Table& table) {
  table.ops["scaled_dot_product_attention"] = [](const Call& c) -> Results {
    K::AttentionOptions options;
    options.mask = c.optional("mask");
    c.set("causal", options.causal);
    c.set("scale", options.scale);
    return {K::scaled_dot_product_attention(c["query"], c["key"], c["value"], options)};
  };
}

}  // namespace golden
