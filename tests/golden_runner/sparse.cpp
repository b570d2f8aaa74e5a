#include <ktape/ops/sparse.hpp>
#include <ktape/ops/values.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;
using ktape::SparseTensor;

bool is_sparse(const Call& c, const std::string& name) { return c.given(name + ".values"); }

SparseTensor sparse(const Call& c, const std::string& name) {
  const auto shape = K::get_value<std::int64_t>(c[name + ".shape"]);
  return SparseTensor(c[name + ".indices"], c[name + ".values"],
                      std::vector<std::int64_t>(shape.begin(), shape.end()));
}

Results concatenate(const Call& c) {
  const int axis = c.has("axis") ? c.get<int>("axis") : -1;
  std::vector<SparseTensor> all;
  std::vector<K::MixedList::Entry> mixed;
  for (int i = 0;; ++i) {
    const std::string name = "tensors/" + std::to_string(i);
    if (is_sparse(c, name)) mixed.emplace_back(all.emplace_back(sparse(c, name)));
    else if (c.given(name)) mixed.emplace_back(c[name]);
    else break;
  }
  if (all.size() < mixed.size()) return {K::concatenate(K::MixedList(mixed), axis)};
  const SparseTensor out = K::concatenate(all, axis);
  return {out.indices(), out.values(), integers(out.shape())};
}

}  // namespace

void add_sparse(Table& table) {
  auto& ops = table.ops;
  ops["to_dense"] = [](const Call& c) -> Results {
    return {is_sparse(c, "tensor") ? K::to_dense(sparse(c, "tensor")) : K::to_dense(c["tensor"])};
  };
  ops["is_sparse"] = [](const Call& c) -> Results {
    const bool yes = is_sparse(c, "tensor") ? K::is_sparse(sparse(c, "tensor")) : K::is_sparse(c["tensor"]);
    return {K::constant(yes, {.dtype = "bool"})};
  };
  ops["dot"] = [dense = ops["dot"]](const Call& c) -> Results {
    if (!is_sparse(c, "x")) return dense(c);
    return {K::dot(sparse(c, "x"), c["y"])};
  };
  ops["concatenate"] = [dense = ops["concatenate"]](const Call& c) -> Results {
    for (int i = 0; i < 9; ++i)
      if (is_sparse(c, "tensors/" + std::to_string(i))) return concatenate(c);
    return dense(c);
  };
}

}  // namespace golden
