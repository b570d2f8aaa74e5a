#include <ktape/ops/nn/pooling.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

template <class F>
auto pool(F f) {
  return [f](const Call& c) -> Results {
    K::PoolOptions options;
    c.set("strides", options.strides);
    c.set("padding", options.padding);
    c.set("data_format", options.data_format);
    c.set("pool_mode", options.pool_mode);
    return {f(c["x"], c.get<K::PerAxis<std::int64_t>>("pool_size"), options)};
  };
}

}  // namespace

void add_pooling(Table& table) {
  table.ops["pool2d"] = pool(K::pool2d);
  table.ops["pool3d"] = pool(K::pool3d);
}

}  // namespace golden
