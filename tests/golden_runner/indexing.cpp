#include <ktape/ops/indexing.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

/// Returns an index from the attributes: a number is a position, [start, stop, step] a slice.
ktape::Indices indices(const Call& c) {
  using Bound = ktape::Slice::Bound;
  const auto whole = [](const Value& v) { return static_cast<std::int64_t>(v.number); };
  const auto bound = [&](const Value& v) {
    return v.kind == Value::None ? Bound(ktape::None) : Bound(whole(v));
  };
  std::vector<ktape::Index> out;
  for (const Value& entry : c.value("indices").list) {
    const auto& parts = entry.list;
    if (entry.kind == Value::List)
      out.push_back(ktape::Slice(bound(parts[0]), bound(parts[1]), bound(parts[2])));
    else out.push_back(whole(entry));
  }
  return out;
}

K::SortOptions sort_options(const Call& c) {
  K::SortOptions options;
  c.set("direction", options.direction);
  return options;
}

int axis(const Call& c) { return c.has("axis") ? c.get<int>("axis") : -1; }

}  // namespace

void add_indexing(Table& table) {
  table.ops["gather"] = [](const Call& c) -> Results { return {K::gather(c["reference"], c["indices"])}; };
  table.ops["one_hot"] = [](const Call& c) -> Results {
    return {K::one_hot(c["indices"], c.get<std::int64_t>("num_classes"))};
  };
  auto& ops = table.ops;
  ops["index"] = [](const Call& c) -> Results { return {K::index(c["x"], indices(c))}; };
  ops["gather_nd"] = [](const Call& c) -> Results { return {K::gather_nd(c["params"], c["indices"])}; };
  ops["scatter_nd"] = [](const Call& c) -> Results {
    return {K::scatter_nd(c["indices"], c["updates"], c.get<Shape>("shape"))};
  };
  ops["sort"] = [](const Call& c) -> Results { return {K::sort(c["values"], axis(c), sort_options(c))}; };
  ops["argsort"] = [](const Call& c) -> Results {
    return {K::argsort(c["values"], axis(c), sort_options(c))};
  };
  ops["top_k"] = [](const Call& c) -> Results {
    const auto [values, indices] = K::top_k(c["x"], c.get<std::int64_t>("k"));
    return {values, indices};
  };
}

}  // namespace golden
