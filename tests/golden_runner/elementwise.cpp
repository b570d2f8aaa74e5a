#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

template <class F>
auto unary(F f) {
  return [f](const Call& c) -> Results { return {f(c["x"])}; };
}

/// Returns y, which may be a number.
Tensor second(const Call& c) {
  return c.given("y") ? c["y"] : K::full({}, c.get<double>("y"), c["x"].dtype());
}

template <class F>
auto binary(F f) {
  return [f](const Call& c) -> Results { return {f(c["x"], second(c))}; };
}

K::Bound bound(const Call& c, const std::string& name) {
  if (c.given(name)) return c[name];
  if (c.none(name)) return ktape::None;
  return c.get<double>(name);
}

Results pow(const Call& c) {
  if (c.given("a")) return {K::pow(c["x"], c["a"])};
  if (c.value("a").kind == Value::Integer) return {K::pow(c["x"], c.get<int>("a"))};
  return {K::pow(c["x"], c.get<double>("a"))};
}

}  // namespace

void add_elementwise(Table& table) {
  auto& ops = table.ops;
  ops["abs"] = unary([](const Tensor& x) { return K::abs(x); });
  ops["sqrt"] = unary([](const Tensor& x) { return K::sqrt(x); });
  ops["square"] = unary([](const Tensor& x) { return K::square(x); });
  ops["exp"] = unary([](const Tensor& x) { return K::exp(x); });
  ops["log"] = unary([](const Tensor& x) { return K::log(x); });
  ops["round"] = unary([](const Tensor& x) { return K::round(x); });
  ops["sign"] = unary([](const Tensor& x) { return K::sign(x); });
  ops["sin"] = unary([](const Tensor& x) { return K::sin(x); });
  ops["cos"] = unary([](const Tensor& x) { return K::cos(x); });
  ops["tanh"] = unary([](const Tensor& x) { return K::tanh(x); });
  ops["erf"] = unary([](const Tensor& x) { return K::erf(x); });
  ops["expm1"] = unary([](const Tensor& x) { return K::expm1(x); });
  ops["log1p"] = unary([](const Tensor& x) { return K::log1p(x); });
  ops["is_nan"] = unary([](const Tensor& x) { return K::is_nan(x); });
  ops["is_finite"] = unary([](const Tensor& x) { return K::is_finite(x); });
  ops["pow"] = pow;
  ops["where"] = [](const Call& c) -> Results { return {K::where(c["condition"], c["x"], c["y"])}; };
  ops["clip"] = [](const Call& c) -> Results {
    return {K::clip(c["x"], bound(c, "min_value"), bound(c, "max_value"))};
  };
  ops["add"] = binary([](const Tensor& x, const Tensor& y) { return x + y; });
  ops["subtract"] = binary([](const Tensor& x, const Tensor& y) { return x - y; });
  ops["multiply"] = binary([](const Tensor& x, const Tensor& y) { return x * y; });
  ops["divide"] = binary([](const Tensor& x, const Tensor& y) { return x / y; });
  ops["maximum"] = binary([](const Tensor& x, const Tensor& y) { return K::maximum(x, y); });
  ops["minimum"] = binary([](const Tensor& x, const Tensor& y) { return K::minimum(x, y); });
  ops["equal"] = binary([](const Tensor& x, const Tensor& y) { return K::equal(x, y); });
  ops["not_equal"] = binary([](const Tensor& x, const Tensor& y) { return K::not_equal(x, y); });
  ops["greater"] = binary([](const Tensor& x, const Tensor& y) { return K::greater(x, y); });
  ops["greater_equal"] = binary([](const Tensor& x, const Tensor& y) { return K::greater_equal(x, y); });
  ops["less"] = binary([](const Tensor& x, const Tensor& y) { return K::less(x, y); });
  ops["less_equal"] = binary([](const Tensor& x, const Tensor& y) { return K::less_equal(x, y); });
}

}  // namespace golden
