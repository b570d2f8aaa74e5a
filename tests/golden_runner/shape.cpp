#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/shape.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

/// Returns the caller of a function of a list and an optional axis.
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

K::Sections sections(const Call& c) {
  if (c.value("sections").kind == Value::Integer) return c.get<int>("sections");
  return c.get<std::vector<std::int64_t>>("sections");
}

Results pad(const Call& c) {
  K::PadOptions options;
  c.set("mode", options.mode);
  if (c.has("constant_values")) options.constant_values = c.get<double>("constant_values");
  return {K::pad(c["x"], c.get<std::vector<PaddingPair>>("paddings"), options)};
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
  ops["slice"] = [](const Call& c) -> Results {
    return {K::slice(c["x"], c.get<Shape>("start"), c.get<Shape>("size"))};
  };
  ops["split"] = [](const Call& c) { return K::split(c["x"], sections(c), c.get<int>("axis")); };
  ops["unstack"] = [](const Call& c) { return K::unstack(c["x"], c.get<int>("axis")); };
  ops["pad"] = pad;
  ops["broadcast_to"] = [](const Call& c) -> Results {
    return {K::broadcast_to(c["x"], c.get<Shape>("shape"))};
  };
  ops["sum_to"] = [](const Call& c) -> Results { return {K::sum_to(c["x"], c.get<Shape>("shape"))}; };
}

}  // namespace golden
