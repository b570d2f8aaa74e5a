#include <ktape/ops/shape.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

/// For a function of a list and an optional axis.
template <class F>
auto joining(F f) {
  return [f](const Call& c) -> Results {
    if (c.has("axis")) return {f(c.list("tensors"), c.get<int>("axis"))};
    return {f(c.list("tensors"))};
  };
}

Results expand_dims(const Call& c) {
  if (c.has("axis")) return {K::expand_dims(c["x"], c.get<int>("axis"))};
  return {K::expand_dims(c["x"])};
}

Results tile(const Call& c) {
  if (c.value("n").kind == Value::Integer) return {K::tile(c["x"], c.get<int>("n"))};
  return {K::tile(c["x"], c.get<Shape>("n"))};
}

Results reverse(const Call& c) { return {K::reverse(c["x"], c.get<Axes>("axes"))}; }

}  // namespace

void add_shape(Table& table) {
  auto& ops = table.ops;
  ops["transpose"] = [](const Call& c) -> Results { return {K::transpose(c["x"])}; };
  ops["reshape"] = [](const Call& c) -> Results { return {K::reshape(c["x"], c.get<Shape>("shape"))}; };
  ops["permute_dimensions"] = [](const Call& c) -> Results {
    return {K::permute_dimensions(c["x"], c.get<Shape>("pattern"))};
  };
  ops["concatenate"] = joining([](auto list, auto... axis) { return K::concatenate(list, axis...); });
  ops["stack"] = joining([](auto list, auto... axis) { return K::stack(list, axis...); });
  ops["repeat"] = [](const Call& c) -> Results { return {K::repeat(c["x"], c.get<int>("n"))}; };
  ops["repeat_elements"] = [](const Call& c) -> Results {
    return {K::repeat_elements(c["x"], c.get<int>("rep"), c.get<int>("axis"))};
  };
  ops["tile"] = tile;
  ops["flatten"] = [](const Call& c) -> Results { return {K::flatten(c["x"])}; };
  ops["batch_flatten"] = [](const Call& c) -> Results { return {K::batch_flatten(c["x"])}; };
  ops["expand_dims"] = expand_dims;
  ops["squeeze"] = [](const Call& c) -> Results { return {K::squeeze(c["x"], c.get<int>("axis"))}; };
  ops["reverse"] = reverse;
}

}  // namespace golden
