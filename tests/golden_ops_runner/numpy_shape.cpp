#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>

#include <ktape/autograd/defer.hpp>
#include <ktape/ops/settings/config.hpp>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace ops = ktape::ops;
using ktape::ArrayLike, ktape::Scalar, ktape::TensorList;
using ktape::backend::PaddingPair, ktape::backend::PerAxis, ktape::backend::RangeBound;

std::optional<DType> dtype(const Call& c) { return get_or(c, "dtype", std::optional<DType>()); }

Scalar scalar(const Value& value) {
  if (value.kind == Value::Bool) return value.number != 0;
  if (value.kind == Value::Integer) return static_cast<std::int64_t>(value.number);
  return value.number;
}

template <class F>
auto joined(F f, const char* name = "xs") {
  return [f, name](const Call& c) -> Results { return {f(c.list(name))}; };
}

template <class F>
auto parts(F f) {
  return [f](const Call& c) -> Results {
    const Value& cuts = c.value("indices_or_sections");
    if (cuts.kind != Value::List) return f(c, ops::Cuts(static_cast<std::int64_t>(cuts.number)));
    return f(c, ops::Cuts(c.get<std::vector<std::int64_t>>("indices_or_sections")));
  };
}

ArrayLike bound(const Call& c, const std::string& name) {
  return c.given(name) ? ArrayLike(c[name]) : ArrayLike(c.get<double>(name));
}

ops::LinspaceOptions sampling(const Call& c) {
  ops::LinspaceOptions options;
  c.set("endpoint", options.endpoint), c.set("dtype", options.dtype), c.set("axis", options.axis);
  c.set("base", options.base);
  return options;
}

/// The samples, and the distance of two if it is asked for.
Results linspace(const Call& c) {
  const auto [samples, step] =
      ops::linspace_with_step(bound(c, "start"), bound(c, "stop"), get_or(c, "num", 50), sampling(c));
  return get_or(c, "retstep", false) ? Results{samples, step} : Results{samples};
}

Results arange(const Call& c) {
  const auto given = [&](const char* name) { return RangeBound(scalar(c.value(name))); };
  const ktape::backend::ArangeOptions options{.dtype = dtype(c)};
  if (!c.has("stop") || c.none("stop")) return {ops::arange(given("start"), options)};
  if (!c.has("step")) return {ops::arange(given("start"), given("stop"), 1, options)};
  return {ops::arange(given("start"), given("stop"), given("step"), options)};
}

/// The number of points of a window, which the files give as a tensor.
std::int64_t points(const Call& c) { return c["x"].item<std::int64_t>(); }

template <class F>
auto window(F f) {
  return [f](const Call& c) -> Results {
    return {ktape::is_symbolic(c["x"])
                ? ktape::defer(
                      "window", {{ktape::None}, ktape::backend::floatx()},
                      [f](const Tensor& x) { return f(x.item<std::int64_t>()); }, c["x"])
                : f(points(c))};
  };
}

void add_creation(Table& table) {
  table["zeros"] = [](const Call& c) -> Results { return {ops::zeros(c.get<Shape>("shape"), dtype(c))}; };
  table["ones"] = [](const Call& c) -> Results { return {ops::ones(c.get<Shape>("shape"), dtype(c))}; };
  table["full"] = [](const Call& c) -> Results {
    return {ops::full(c.get<Shape>("shape"), number_or_tensor(c, "fill_value"), dtype(c))};
  };
  table["zeros_like"] = [](const Call& c) -> Results { return {ops::zeros_like(c["x"], dtype(c))}; };
  table["ones_like"] = [](const Call& c) -> Results { return {ops::ones_like(c["x"], dtype(c))}; };
  table["full_like"] = [](const Call& c) -> Results {
    return {ops::full_like(c["x"], number_or_tensor(c, "fill_value"), dtype(c))};
  };
  table["array"] = [](const Call& c) -> Results { return {ops::array(c["x"], dtype(c))}; };
  table["convert_to_tensor"] = [](const Call& c) -> Results {
    return {ops::convert_to_tensor(c["x"], dtype(c))};
  };
  const auto columns = [](const Call& c) { return get_or(c, "M", std::optional<std::int64_t>()); };
  table["eye"] = [columns](const Call& c) -> Results {
    return {ops::eye(c.get<int>("N"), columns(c), get_or(c, "k", 0), dtype(c))};
  };
  table["tri"] = [columns](const Call& c) -> Results {
    return {ops::tri(c.get<int>("N"), columns(c), get_or(c, "k", 0), dtype(c))};
  };
  table["identity"] = [](const Call& c) -> Results { return {ops::identity(c.get<int>("n"), dtype(c))}; };
  table["linspace"] = linspace;
  table["logspace"] = [](const Call& c) -> Results {
    return {ops::logspace(bound(c, "start"), bound(c, "stop"), get_or(c, "num", 50), sampling(c))};
  };
  table["geomspace"] = [](const Call& c) -> Results {
    return {ops::geomspace(bound(c, "start"), bound(c, "stop"), get_or(c, "num", 50), sampling(c))};
  };
  table["arange"] = arange;
  table["meshgrid"] = [](const Call& c) -> Results {
    return ops::meshgrid(c.list("x"), get_or(c, "indexing", std::string("xy")));
  };
  table["vander"] = [](const Call& c) -> Results {
    return {
        ops::vander(c["x"], get_or(c, "N", std::optional<std::int64_t>()), get_or(c, "increasing", false))};
  };
  table["bartlett"] = window(ops::bartlett), table["hanning"] = window(ops::hanning);
  table["hamming"] = window(ops::hamming), table["blackman"] = window(ops::blackman);
  table["kaiser"] = [](const Call& c) -> Results {
    if (!ktape::is_symbolic(c["x"])) return {ops::kaiser(points(c), c["beta"].item<double>())};
    return {ktape::defer(
        "window", {{ktape::None}, ktape::backend::floatx()},
        [](const Tensor& x, const Tensor& beta) {
          return ops::kaiser(x.item<std::int64_t>(), beta.item<double>());
        },
        c["x"], c["beta"])};
  };
}

void add_joining(Table& table) {
  table["concatenate"] = [](const Call& c) -> Results {
    return {ops::concatenate(c.list("xs"), get_or(c, "axis", 0))};
  };
  table["stack"] = [](const Call& c) -> Results { return {ops::stack(c.list("x"), get_or(c, "axis", 0))}; };
  table["append"] = [](const Call& c) -> Results {
    return {ops::append(c["x1"], c["x2"], optional_axis(c))};
  };
  table["hstack"] = joined(ops::hstack), table["vstack"] = joined(ops::vstack);
  table["dstack"] = joined(ops::dstack), table["column_stack"] = joined(ops::column_stack);
  table["split"] = parts(
      [](const Call& c, const ops::Cuts& cuts) { return ops::split(c["x"], cuts, get_or(c, "axis", 0)); });
  table["array_split"] = parts([](const Call& c, const ops::Cuts& cuts) {
    return ops::array_split(c["x"], cuts, get_or(c, "axis", 0));
  });
  table["hsplit"] = parts([](const Call& c, const ops::Cuts& cuts) { return ops::hsplit(c["x"], cuts); });
  table["vsplit"] = parts([](const Call& c, const ops::Cuts& cuts) { return ops::vsplit(c["x"], cuts); });
  table["dsplit"] = parts([](const Call& c, const ops::Cuts& cuts) { return ops::dsplit(c["x"], cuts); });
  table["unstack"] = [](const Call& c) -> Results { return ops::unstack(c["x"], get_or(c, "axis", 0)); };
  table["repeat"] = [](const Call& c) -> Results {
    return {ops::repeat(c["x"], c.get<PerAxis<std::int64_t>>("repeats"), optional_axis(c))};
  };
  table["tile"] = [](const Call& c) -> Results {
    return {ops::tile(c["x"], c.get<PerAxis<std::int64_t>>("repeats"))};
  };
  table["pad"] = [](const Call& c) -> Results {
    std::optional<Scalar> fill;
    if (c.has("constant_values") && !c.none("constant_values")) fill = scalar(c.value("constant_values"));
    return {ops::pad(c["x"], c.get<PerAxis<PaddingPair>>("pad_width"),
                     get_or(c, "mode", std::string("constant")), fill)};
  };
}

void add_diagonals(Table& table) {
  table["diag"] = [](const Call& c) -> Results { return {ops::diag(c["x"], get_or(c, "k", 0))}; };
  table["diagflat"] = [](const Call& c) -> Results { return {ops::diagflat(c["x"], get_or(c, "k", 0))}; };
  table["diagonal"] = [](const Call& c) -> Results {
    return {ops::diagonal(c["x"], get_or(c, "offset", 0), get_or(c, "axis1", 0), get_or(c, "axis2", 1))};
  };
  table["trace"] = [](const Call& c) -> Results {
    return {ops::trace(c["x"], get_or(c, "offset", 0), get_or(c, "axis1", 0), get_or(c, "axis2", 1))};
  };
  table["tril"] = [](const Call& c) -> Results { return {ops::tril(c["x"], get_or(c, "k", 0))}; };
  table["triu"] = [](const Call& c) -> Results { return {ops::triu(c["x"], get_or(c, "k", 0))}; };
}

void add_arranging(Table& table) {
  table["rot90"] = [](const Call& c) -> Results {
    return {ops::rot90(c["array"], get_or(c, "k", 1), get_or(c, "axes", Axes{0, 1}))};
  };
  table["roll"] = [](const Call& c) -> Results {
    return {ops::roll(c["x"], c.get<PerAxis<std::int64_t>>("shift"), axes(c))};
  };
  table["flip"] = [](const Call& c) -> Results { return {ops::flip(c["x"], axes(c))}; };
  table["fliplr"] = unary(ops::fliplr), table["flipud"] = unary(ops::flipud),
  table["ravel"] = unary(ops::ravel);
  table["moveaxis"] = [](const Call& c) -> Results {
    return {ops::moveaxis(c["x"], c.get<Axes>("source"), c.get<Axes>("destination"))};
  };
  table["swapaxes"] = [](const Call& c) -> Results {
    return {ops::swapaxes(c["x"], c.get<int>("axis1"), c.get<int>("axis2"))};
  };
  table["broadcast_to"] = [](const Call& c) -> Results {
    return {ops::broadcast_to(c["x"], c.get<Shape>("shape"))};
  };
  table["reshape"] = [](const Call& c) -> Results {
    return {ops::reshape(c["x"], c.get<Shape>("newshape"))};
  };
  table["expand_dims"] = [](const Call& c) -> Results { return {ops::expand_dims(c["x"], axes(c))}; };
  table["squeeze"] = [](const Call& c) -> Results { return {ops::squeeze(c["x"], axes(c))}; };
  table["transpose"] = [](const Call& c) -> Results {
    return {ops::transpose(c["x"], get_or(c, "axes", ktape::OptionalShape()))};
  };
  table["rearrange"] = [](const Call& c) -> Results {
    std::map<std::string, std::int64_t> lengths;
    if (c.has("axes_lengths")) {
      const Value& given = c.value("axes_lengths");
      for (std::size_t i = 0; i < given.keys.size(); ++i)
        lengths[given.keys[i]] = static_cast<std::int64_t>(given.list[i].number);
    }
    return {ops::rearrange(c["tensor"], c.get<std::string>("pattern"), lengths)};
  };
  table["copy"] = unary(ops::copy);
  table["view"] = [](const Call& c) -> Results { return {ops::view(c["x"], dtype(c))}; };
  table["shape"] = [](const Call& c) -> Results { return {ops::shape(c["x"])}; };
  table["ndim"] = [](const Call& c) -> Results {
    return {ktape::backend::full({}, ops::ndim(c["x"]), DType::Int32)};
  };
  table["size"] = unary(ops::size);
}

}  // namespace

void add_numpy_shape(Table& table) {
  add_creation(table);
  add_joining(table);
  add_diagonals(table);
  add_arranging(table);
}

}  // namespace golden_ops
