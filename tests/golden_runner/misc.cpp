#include <ktape/ops/control/function.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/settings/config.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

Value text(std::string value) {
  Value out;
  out.kind = Value::Text;
  out.text = std::move(value);
  return out;
}

Value number(double value) {
  Value out;
  out.kind = Value::Real;
  out.number = value;
  return out;
}

/// Returns the attribute as numbers: a scalar, a list, or a list of lists.
ktape::ArrayLike literal(const Value& value) {
  if (value.kind != Value::List) return value.number;
  std::vector<double> row;
  Shape shape;
  const Value* level = &value;
  for (; level->kind == Value::List; level = &level->list.at(0))
    shape.push_back(static_cast<std::int64_t>(level->list.size()));
  auto flatten = [&](auto&& self, const Value& part) -> void {
    if (part.kind != Value::List) return row.push_back(part.number);
    for (const Value& item : part.list) self(self, item);
  };
  flatten(flatten, value);
  return ktape::ArrayLike(ktape::ArrayLike(row).tensor(std::nullopt, K::floatx()).alias(shape));
}

Results constant(const Call& c) {
  K::ConstantOptions options;
  c.set("dtype", options.dtype);
  c.set("shape", options.shape);
  return {K::constant(literal(c.value("value")), options)};
}

Results placeholder(const Call& c) {
  K::PlaceholderOptions options;
  c.set("shape", options.shape);
  c.set("ndim", options.ndim);
  c.set("dtype", options.dtype);
  c.set("sparse", options.sparse);
  c.set("ragged", options.ragged);
  return {K::placeholder(options)};
}

template <class F>
auto filled(F f) {
  return [f](const Call& c) -> Results {
    K::CreationOptions options;
    c.set("dtype", options.dtype);
    return {f(c, options)};
  };
}

ktape::Scalar scalar(const Call& c, const std::string& name) {
  if (c.value(name).kind == Value::Integer) return c.get<std::int64_t>(name);
  return c.get<double>(name);
}

Results arange(const Call& c) {
  K::ArangeOptions options;
  c.set("dtype", options.dtype);
  const ktape::Scalar start = scalar(c, "start"), step = c.has("step") ? scalar(c, "step") : 1;
  if (c.has("stop") && !c.none("stop")) return {K::arange(start, scalar(c, "stop"), step, options)};
  if (c.has("step")) return {K::arange(0, start.real() < 0 ? 0 : start, step, options)};
  return {K::arange(start, options)};
}

Results eye(const Call& c) {
  K::CreationOptions options;
  c.set("dtype", options.dtype);
  if (c.value("size").kind == Value::List) return {K::eye(c.get<Shape>("size"), options)};
  return {K::eye(c.get<std::int64_t>("size"), options)};
}

}  // namespace

void add_misc(Table& table) {
  auto& ops = table.ops;
  ops["zeros"] = filled([](const Call& c, auto& o) { return K::zeros(c.get<Shape>("shape"), o); });
  ops["ones"] = filled([](const Call& c, auto& o) { return K::ones(c.get<Shape>("shape"), o); });
  ops["zeros_like"] = filled([](const Call& c, auto& o) { return K::zeros_like(c["x"], o); });
  ops["ones_like"] = filled([](const Call& c, auto& o) { return K::ones_like(c["x"], o); });
  ops["full"] = [](const Call& c) -> Results {
    return {K::full(c.get<Shape>("shape"), c.get<double>("value"))};
  };
  ops["eye"] = eye;
  ops["placeholder"] = placeholder;
  ops["constant"] = constant;
  ops["arange"] = arange;
  ops["cast"] = [](const Call& c) -> Results { return {K::cast(c["x"], c.get<DType>("dtype"))}; };
  ops["cast_to_floatx"] = [](const Call& c) -> Results { return {K::cast_to_floatx(c["x"])}; };
  ops["size"] = [](const Call& c) -> Results { return {K::size(c["x"])}; };
  ops["identity"] = [](const Call& c) -> Results { return {K::identity(c["x"])}; };
  ops["shape"] = [](const Call& c) -> Results { return {K::shape(c["x"])}; };
  ops["int_shape"] = [](const Call& c) -> Results {
    const Shape shape = K::int_shape(c["x"]);
    return {ktape::ArrayLike(std::vector<std::int64_t>(shape.begin(), shape.end())).tensor("int64", "int64")};
  };
  ops["ndim"] = [](const Call& c) -> Results {
    return {ktape::ArrayLike(K::ndim(c["x"])).tensor("int64", "int64")};
  };
  ops["count_params"] = [](const Call& c) -> Results {
    return {ktape::ArrayLike(K::count_params(c["x"])).tensor("int64", "int64")};
  };

  table.settings["set_floatx"] = [](const Call& c) {
    K::set_floatx(c.get<std::string>("value"));
    return text(K::floatx().name());
  };
  table.settings["set_image_data_format"] = [](const Call& c) {
    K::set_image_data_format(c.get<std::string>("data_format"));
    return text(K::image_data_format());
  };
  table.settings["set_learning_phase"] = [](const Call& c) {
    K::set_learning_phase(c.get<int>("value"));
    Value phase = number(K::learning_phase());
    phase.kind = Value::Integer;
    return phase;
  };
  table.settings["set_epsilon"] = [](const Call& c) {
    K::set_epsilon(c.get<double>("value"));
    return number(K::epsilon());
  };
}

}  // namespace golden
