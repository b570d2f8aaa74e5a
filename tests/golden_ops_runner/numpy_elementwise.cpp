#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace ops = ktape::ops;
using ktape::TensorOrNumber;

auto function(Tensor (*f)(const Tensor&)) { return unary(f); }
auto function(Tensor (*f)(const TensorOrNumber&, const TensorOrNumber&), const char* x = "x1",
              const char* y = "x2") {
  return binary([f](const auto& a, const auto& b) { return f(a, b); }, x, y);
}

void add_unary(Table& table) {
  const std::pair<const char*, Tensor (*)(const Tensor&)> functions[] = {
      {"floor", ops::floor},
      {"ceil", ops::ceil},
      {"trunc", ops::trunc},
      {"sqrt", ops::sqrt},
      {"rsqrt", ops::rsqrt},
      {"reciprocal", ops::reciprocal},
      {"cbrt", ops::cbrt},
      {"square", ops::square},
      {"exp", ops::exp},
      {"expm1", ops::expm1},
      {"exp2", ops::exp2},
      {"log", ops::log},
      {"log2", ops::log2},
      {"log10", ops::log10},
      {"log1p", ops::log1p},
      {"sin", ops::sin},
      {"cos", ops::cos},
      {"tan", ops::tan},
      {"arcsin", ops::arcsin},
      {"arccos", ops::arccos},
      {"arctan", ops::arctan},
      {"sinh", ops::sinh},
      {"cosh", ops::cosh},
      {"tanh", ops::tanh},
      {"arcsinh", ops::arcsinh},
      {"arccosh", ops::arccosh},
      {"arctanh", ops::arctanh},
      {"deg2rad", ops::deg2rad},
      {"rad2deg", ops::rad2deg},
      {"sinc", ops::sinc},
      {"erf", ops::erf},
      {"erfc", ops::erfc},
      {"erfinv", ops::erfinv},
      {"i0", ops::i0},
      {"abs", ops::abs},
      {"absolute", ops::absolute},
      {"fabs", ops::fabs},
      {"negative", ops::negative},
      {"sign", ops::sign},
      {"angle", ops::angle},
      {"real", ops::real},
      {"conj", ops::conj},
      {"conjugate", ops::conjugate},
      {"imag", ops::imag},
      {"isnan", ops::isnan},
      {"isfinite", ops::isfinite},
      {"isinf", ops::isinf},
      {"isposinf", ops::isposinf},
      {"isneginf", ops::isneginf},
      {"isreal", ops::isreal},
      {"signbit", ops::signbit},
      {"logical_not", ops::logical_not},
      {"bitwise_not", ops::bitwise_not},
      {"bitwise_invert", ops::bitwise_invert}};
  for (const auto& [name, f] : functions) table[name] = function(f);
}

void add_binary(Table& table) {
  const std::pair<const char*, Tensor (*)(const TensorOrNumber&, const TensorOrNumber&)> functions[] = {
      {"add", ops::add},
      {"subtract", ops::subtract},
      {"multiply", ops::multiply},
      {"divide", ops::divide},
      {"true_divide", ops::true_divide},
      {"divide_no_nan", ops::divide_no_nan},
      {"floor_divide", ops::floor_divide},
      {"mod", ops::mod},
      {"fmod", ops::fmod},
      {"power", ops::power},
      {"maximum", ops::maximum},
      {"minimum", ops::minimum},
      {"fmax", ops::fmax},
      {"fmin", ops::fmin},
      {"arctan2", ops::arctan2},
      {"hypot", ops::hypot},
      {"logaddexp", ops::logaddexp},
      {"logaddexp2", ops::logaddexp2},
      {"heaviside", ops::heaviside},
      {"nextafter", ops::nextafter},
      {"gammainc", ops::gammainc},
      {"gcd", ops::gcd},
      {"lcm", ops::lcm},
      {"equal", ops::equal},
      {"not_equal", ops::not_equal},
      {"greater", ops::greater},
      {"greater_equal", ops::greater_equal},
      {"less", ops::less},
      {"less_equal", ops::less_equal},
      {"logical_and", ops::logical_and},
      {"logical_or", ops::logical_or},
      {"logical_xor", ops::logical_xor}};
  for (const auto& [name, f] : functions) table[name] = function(f);
  const std::pair<const char*, Tensor (*)(const TensorOrNumber&, const TensorOrNumber&)> bits[] = {
      {"bitwise_and", ops::bitwise_and},
      {"bitwise_or", ops::bitwise_or},
      {"bitwise_xor", ops::bitwise_xor},
      {"bitwise_left_shift", ops::bitwise_left_shift},
      {"bitwise_right_shift", ops::bitwise_right_shift},
      {"left_shift", ops::left_shift},
      {"right_shift", ops::right_shift}};
  for (const auto& [name, f] : bits) table[name] = function(f, "x", "y");
}

ops::IsCloseOptions closeness(const Call& c) {
  ops::IsCloseOptions options;
  c.set("rtol", options.rtol), c.set("atol", options.atol), c.set("equal_nan", options.equal_nan);
  return options;
}

ktape::backend::Bound bound(const Call& c, const std::string& name) {
  if (c.given(name)) return c[name];
  if (!c.has(name) || c.none(name)) return ktape::None;
  return with_operand(c, name, [](const auto& b) { return ktape::backend::Bound(b); });
}

Results where(const Call& c) {
  if (!c.given("x1") && !c.has("x1")) return ops::where(c["condition"]);
  return with_operand(c, "x1", [&](const auto& x) {
    return with_operand(c, "x2", [&](const auto& y) { return Results{ops::where(c["condition"], x, y)}; });
  });
}

Results select(const Call& c) {
  const auto conditions = c.list("condlist"), choices = c.list("choicelist");
  if (!c.has("default") && !c.given("default")) return {ops::select(conditions, choices)};
  return with_operand(c, "default",
                      [&](const auto& d) { return Results{ops::select(conditions, choices, d)}; });
}

}  // namespace

void add_numpy_elementwise(Table& table) {
  add_unary(table);
  add_binary(table);
  table["round"] = [](const Call& c) -> Results { return {ops::round(c["x"], get_or(c, "decimals", 0))}; };
  table["nan_to_num"] = [](const Call& c) -> Results {
    const auto bound = [&](const char* name) { return get_or(c, name, std::optional<double>()); };
    return {ops::nan_to_num(c["x"], get_or(c, "nan", 0.0), bound("posinf"), bound("neginf"))};
  };
  table["ldexp"] = [](const Call& c) -> Results {
    return with_operand(c, "x2", [&](const auto& n) { return Results{ops::ldexp(c["x1"], n)}; });
  };
  table["isclose"] = [](const Call& c) -> Results { return {ops::isclose(c["x1"], c["x2"], closeness(c))}; };
  table["allclose"] = [](const Call& c) -> Results {
    return {ops::allclose(c["x1"], c["x2"], closeness(c))};
  };
  table["clip"] = [](const Call& c) -> Results {
    return {ops::clip(c["x"], bound(c, "x_min"), bound(c, "x_max"))};
  };
  table["saturate_cast"] = [](const Call& c) -> Results {
    return {ops::saturate_cast(c["x"], c.get<DType>("dtype"))};
  };
  table["where"] = where;
  table["select"] = select;
}

}  // namespace golden_ops
