#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/sets.hpp>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace ops = ktape::ops;

/// One bound of a slice.
ktape::Slice::Bound bound(const Value& slice, const std::string& key) {
  for (std::size_t i = 0; i < slice.keys.size(); ++i)
    if (slice.keys[i] == key && slice.list[i].kind == Value::Integer)
      return static_cast<std::int64_t>(slice.list[i].number);
  return ktape::None;
}

ktape::Indices indices(const Value& key) {
  std::vector<ktape::Index> entries;
  for (const Value& entry : key.list) {
    if (entry.kind == Value::None) entries.emplace_back(ktape::NewAxis);
    else if (entry.kind == Value::Text) entries.emplace_back(ktape::Ellipsis);
    else if (entry.kind == Value::Object)
      entries.emplace_back(ktape::Slice(bound(entry, "start"), bound(entry, "stop"), bound(entry, "step")));
    else entries.emplace_back(static_cast<std::int64_t>(entry.number));
  }
  return entries;
}

ops::OneHotOptions encoding(const Call& c) {
  ops::OneHotOptions options;
  c.set("dtype", options.dtype);
  return options;
}

Results unique(const Call& c) {
  ops::UniqueOptions options;
  c.set("sorted", options.sorted), c.set("return_index", options.return_index);
  c.set("return_inverse", options.return_inverse), c.set("return_counts", options.return_counts);
  c.set("axis", options.axis), c.set("size", options.size);
  if (c.has("fill_value") && !c.none("fill_value")) options.fill_value = c.value("fill_value").number;
  return ops::unique(c["x"], options);
}

void add_selections(Table& table) {
  table["take"] = [](const Call& c) -> Results {
    return {ops::take(c["x"], c["indices"], optional_axis(c))};
  };
  table["take_along_axis"] = [](const Call& c) -> Results {
    return {ops::take_along_axis(c["x"], c["indices"], optional_axis(c))};
  };
  table["get_item"] = [](const Call& c) -> Results {
    return {ops::get_item(c["x"], indices(c.value("key")))};
  };
  table["slice"] = [](const Call& c) -> Results {
    return {ops::slice(c["inputs"], c.get<Shape>("start_indices"), c.get<Shape>("shape"))};
  };
  table["slice_update"] = [](const Call& c) -> Results {
    return {ops::slice_update(c["inputs"], c.get<Shape>("start_indices"), c["updates"])};
  };
  table["scatter"] = [](const Call& c) -> Results {
    return {ops::scatter(c["indices"], c["values"], c.get<Shape>("shape"))};
  };
  table["scatter_update"] = [](const Call& c) -> Results {
    return {ops::scatter_update(c["inputs"], c["indices"], c["updates"],
                                get_or(c, "reduction", std::optional<std::string>()))};
  };
  table["top_k"] = [](const Call& c) -> Results {
    const auto [values, places] = ops::top_k(c["x"], c.get<int>("k"), get_or(c, "sorted", true));
    return {values, places};
  };
  table["in_top_k"] = [](const Call& c) -> Results {
    return {ops::in_top_k(c["targets"], c["predictions"], c.get<int>("k"))};
  };
  table["one_hot"] = [](const Call& c) -> Results {
    return {ops::one_hot(c["x"], c.get<int>("num_classes"), get_or(c, "axis", -1), encoding(c))};
  };
  table["multi_hot"] = [](const Call& c) -> Results {
    return {ops::multi_hot(c["inputs"], c.get<int>("num_classes"), get_or(c, "axis", -1), encoding(c))};
  };
  table["nonzero"] = [](const Call& c) -> Results { return ops::nonzero(c["x"]); };
  table["unravel_index"] = [](const Call& c) -> Results {
    return ops::unravel_index(c["indices"], c.get<Shape>("shape"));
  };
}

}  // namespace

void add_indexing(Table& table) {
  add_selections(table);
  table["searchsorted"] = [](const Call& c) -> Results {
    return {ops::searchsorted(c["sorted_sequence"], c["values"], get_or(c, "side", std::string("left")))};
  };
  table["digitize"] = [](const Call& c) -> Results { return {ops::digitize(c["x"], c["bins"])}; };
  table["bincount"] = [](const Call& c) -> Results {
    return {ops::bincount(c["x"], c.optional("weights"), get_or(c, "minlength", 0))};
  };
  table["histogram"] = [](const Call& c) -> Results {
    std::optional<std::pair<double, double>> range;
    if (c.has("range") && !c.none("range")) {
      const auto bounds = c.get<std::array<double, 2>>("range");
      range = {bounds[0], bounds[1]};
    }
    const auto [counts, edges] = ops::histogram(c["x"], get_or(c, "bins", 10), range);
    return {counts, edges};
  };
  table["unique"] = unique;
  table["isin"] = [](const Call& c) -> Results {
    ops::IsInOptions options;
    c.set("assume_unique", options.assume_unique), c.set("invert", options.invert);
    return {ops::isin(c["x1"], c["x2"], options)};
  };
}

}  // namespace golden_ops
