#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace ktape::nn::onnx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns a row for an operator of one tensor.
Row unary(const char* op) {
  return [op](const Translation& t) { return Names{t.node(op, {t("x")})}; };
}

/// Returns a row for a formula of one tensor.
template <class F>
Row formula(F f) {
  return [f](const Translation& t) { return Names{f(t, t("x"))}; };
}

std::string number(const Translation& t, double value) {
  return t.graph.number(value, t.call->tensor("x").dtype());
}

/// Returns a row for an operator of two tensors or numbers.
Row binary(const char* op) {
  return [op](const Translation& t) { return Names{t.node(op, {t("x1"), t("x2")})}; };
}

/// Returns a row for a comparison, in which boolean operands count as numbers.
Row comparison(const char* op, bool negated = false) {
  return [=](const Translation& t) {
    const auto operand = [&](const char* name) {
      const DType dtype = t.call->tensor(name).dtype();
      return t.graph.cast(t(name), dtype, dtype.is_bool() ? DType(DType::Int32) : dtype);
    };
    const std::string same = t.node(op, {operand("x1"), operand("x2")});
    return Names{negated ? t.node("Not", {same}) : same};
  };
}

/// Returns a row for a formula of two tensors.
template <class F>
Row pair_formula(F f) {
  return [f](const Translation& t) { return Names{f(t, t("x1"), t("x2"))}; };
}

/// Returns the rest of a division of floating numbers with the sign of y: C's rest, and y where that has the wrong sign.
std::string floating_modulo(const Translation& t, const std::string& x, const std::string& y) {
  const std::string zero = t.graph.number(0, t.dtype());
  const std::string rest = t.node("Mod", {x, y}, {{"fmod", std::int64_t{1}}});
  const std::string wrong =
      t.node("Less", {t.node("Mul", {t.node("Sign", {rest}), t.node("Sign", {y})}), zero});
  return t.node("Where", {wrong, t.node("Add", {rest, y}), rest});
}

std::string floor_quotient(const Translation& t, const std::string& x, const std::string& y) {
  if (t.dtype().is_floating()) {
    const std::string zero = t.graph.number(0, t.dtype()), ratio = t.node("Div", {x, y});
    const std::string whole =
        t.node("Round", {t.node("Div", {t.node("Sub", {x, floating_modulo(t, x, y)}), y})});
    return t.node("Where", {t.node("Equal", {y, zero}), ratio, whole});
  }
  const std::string zero = t.graph.number(0, t.dtype()), quotient = t.node("Div", {x, y});
  const std::string rest = t.node("Sub", {x, t.node("Mul", {quotient, y})});
  const std::string wrong =
      t.node("And", {t.node("Not", {t.node("Equal", {rest, zero})}),
                     t.node("Xor", {t.node("Less", {rest, zero}), t.node("Less", {y, zero})})});
  return t.node("Sub", {quotient, t.graph.cast(wrong, DType::Bool, t.dtype())});
}

std::string modulo(const Translation& t, const std::string& x, const std::string& y) {
  if (!t.dtype().is_floating()) return t.node("Mod", {x, y});
  return floating_modulo(t, x, y);
}

Names logical(const Translation& t, const char* op, const char* bits) {
  const bool truth = t.dtype().is_bool();
  const char *first = truth ? "x1" : "x", *second = truth ? "x2" : "y";
  return {t.node(truth ? op : bits, {t(first), t(second)})};
}

Names clipped(const Translation& t) {
  std::string x = t("x");
  if (t.call->has("x_min")) x = t.node("Max", {x, t("x_min")});
  if (t.call->has("x_max")) x = t.node("Min", {x, t("x_max")});
  return {x};
}

Names where(const Translation& t) {
  const DType condition = t.call->tensor("condition").dtype();
  const auto branch = [&](const char* name) {
    return t.graph.cast(t(name), t.call->tensor(name).dtype(), t.dtype());
  };
  return {
      t.node("Where", {t.graph.cast(t("condition"), condition, DType::Bool), branch("x1"), branch("x2")})};
}

Names power(const Translation& t) {
  if (t.call->is_number("x2") && t.call->number("x2") == 2) return {t.node("Mul", {t("x1"), t("x1")})};
  return {t.node("Pow", {t("x1"), t("x2")})};
}

/// Returns a row for a sum, difference, ... of which operands may be of a small integer type.
Row arithmetic(const char* op) {
  return [op](const Translation& t) {
    const DType dtype = t.dtype();
    const bool small = dtype.is_integer() && dtype.size() < 4;  // ONNX Runtime computes in 32 and 64 bits
    if (!small) return Names{t.node(op, {t("x1"), t("x2")})};
    const auto wide = [&](const char* name) { return t.graph.cast(t(name), dtype, DType::Int32); };
    return Names{t.graph.cast(t.node(op, {wide("x1"), wide("x2")}), DType::Int32, dtype)};
  };
}

Names rounded(const Translation& t) {
  const double decimals = t.call->number("decimals");
  if (decimals == 0) return {t.node("Round", {t("x")})};
  const std::string scale = number(t, std::pow(10., decimals));
  return {t.node("Div", {t.node("Round", {t.node("Mul", {t("x"), scale})}), scale})};
}

/// Returns the numbers that nan_to_num puts in the place of NaN and the infinities.
std::string replacement(const Translation& t, double x) {
  const auto bound = [&](const char* name) { return t.call->value(name).as<std::optional<double>>(name); };
  return t.graph.constant(ops::nan_to_num(backend::constant(x, {.dtype = t.call->tensor("x").dtype()}),
                                          t.call->number("nan"), bound("posinf"), bound("neginf")));
}

Names nan_to_num(const Translation& t) {
  std::string x = t.node("Where", {t.node("IsNaN", {t("x")}), replacement(t, NAN), t("x")});
  for (const bool negative : {false, true}) {
    const std::string infinite =
        t.node("IsInf", {t("x")},
               {{"detect_negative", std::int64_t{negative}}, {"detect_positive", std::int64_t{!negative}}});
    x = t.node("Where", {infinite, replacement(t, negative ? -infinity : infinity), x});
  }
  return {x};
}

std::string signbit(const Translation& t, const std::string& x) {
  const std::string zero = number(t, 0), below = t.node("Less", {x, zero});
  if (!t.call->tensor("x").dtype().is_floating()) return below;
  const std::string inverse = t.node("Less", {t.node("Reciprocal", {x}), zero});
  return t.node("Or", {below, t.node("And", {t.node("Equal", {x, zero}), inverse})});
}

std::string sinc(const Translation& t, const std::string& x) {
  const std::string at_0 = t.node("Equal", {x, number(t, 0)}), one = number(t, 1);
  const std::string angle = t.node("Mul", {t.node("Where", {at_0, one, x}), number(t, std::numbers::pi)});
  return t.node("Where", {at_0, one, t.node("Div", {t.node("Sin", {angle}), angle})});
}

std::string angle(const Translation& t, const std::string& x) {
  const std::string zero = number(t, 0), wrong = t.node("IsNaN", {x});
  const std::string rest = t.node("Where", {wrong, x, zero});
  return t.node("Where", {t.node("Less", {x, zero}), number(t, std::numbers::pi), rest});
}

std::string divide_no_nan(const Translation& t, const std::string& x, const std::string& y) {
  const std::string zero = t.graph.number(0, t.dtype()), one = t.graph.number(1, t.dtype());
  const std::string none = t.node("Equal", {y, zero});
  return t.node("Where", {none, zero, t.node("Div", {x, t.node("Where", {none, one, y})})});
}

std::string heaviside(const Translation& t, const std::string& x, const std::string& y) {
  const std::string zero = t.graph.number(0, t.dtype());
  const std::string step =
      t.node("Where", {t.node("IsNaN", {x}), x, t.node("Max", {t.node("Sign", {x}), zero})});
  return t.node("Where", {t.node("Equal", {x, zero}), y, step});
}

/// Returns a row for log(exp(a x) + exp(a y)) / a.
Row sum_of_exponentials(double a) {
  return pair_formula([a](const Translation& t, const std::string& x, const std::string& y) {
    const auto scaled = [&](const char* op, const std::string& z) {
      return t.node(op, {z, t.graph.number(a, t.dtype())});
    };
    const std::string distance = scaled("Mul", t.node("Neg", {t.node("Abs", {t.node("Sub", {x, y})})}));
    return t.node("Add", {t.node("Max", {x, y}), scaled("Div", t.node("Softplus", {distance}))});
  });
}

Names isclose(const Translation& t) {
  const std::string x = t("x1"), y = t("x2");
  const DType dtype = t.call->tensor("x1").dtype();
  const auto option = [&](const char* name) { return t.graph.number(t.call->number(name), dtype); };
  const std::string size = t.node("Abs", {y}), distance = t.node("Abs", {t.node("Sub", {x, y})});
  const std::string room = t.node("Add", {t.node("Mul", {size, option("rtol")}), option("atol")});
  const std::string finite = t.node("Less", {size, t.graph.number(infinity, dtype)});
  const std::string near = t.node("And", {finite, t.node("LessOrEqual", {distance, room})});
  const std::string close = t.node("Or", {near, t.node("Equal", {x, y})});
  if (!t.call->flag("equal_nan")) return {close};
  return {t.node("Or", {close, t.node("And", {t.node("IsNaN", {x}), t.node("IsNaN", {y})})})};
}

Names cast(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  return {t.graph.cast(t("x"), x.dtype(), t.dtype())};
}

Names filled_like(const Translation& t, double value) {
  return {t.node("Expand", {t.graph.number(value, t.dtype()), t.node("Shape", {t("x")})})};
}

Names finite(const Translation& t) {
  return {t.node("Not", {t.node("Or", {t.node("IsNaN", {t("x")}), t.node("IsInf", {t("x")})})})};
}

Row infinite(std::int64_t negative, std::int64_t positive) {
  return [=](const Translation& t) {
    return Names{t.node("IsInf", {t("x")}, {{"detect_negative", negative}, {"detect_positive", positive}})};
  };
}

void add_unary(RowTable& rows) {
  for (const auto& [name, op] :
       std::initializer_list<std::pair<const char*, const char*>>{{"Absolute", "Abs"},
                                                                  {"Abs", "Abs"},
                                                                  {"Fabs", "Abs"},
                                                                  {"Negative", "Neg"},
                                                                  {"Sqrt", "Sqrt"},
                                                                  {"Reciprocal", "Reciprocal"},
                                                                  {"Exp", "Exp"},
                                                                  {"Log", "Log"},
                                                                  {"Sign", "Sign"},
                                                                  {"Sin", "Sin"},
                                                                  {"Cos", "Cos"},
                                                                  {"Tan", "Tan"},
                                                                  {"Tanh", "Tanh"},
                                                                  {"Sinh", "Sinh"},
                                                                  {"Cosh", "Cosh"},
                                                                  {"Arcsin", "Asin"},
                                                                  {"Arccos", "Acos"},
                                                                  {"Arctan", "Atan"},
                                                                  {"Arcsinh", "Asinh"},
                                                                  {"Arccosh", "Acosh"},
                                                                  {"Arctanh", "Atanh"},
                                                                  {"Erf", "Erf"},
                                                                  {"Isnan", "IsNaN"},
                                                                  {"Floor", "Floor"},
                                                                  {"Ceil", "Ceil"},
                                                                  {"LogicalNot", "Not"},
                                                                  {"BitwiseNot", "BitwiseNot"},
                                                                  {"BitwiseInvert", "BitwiseNot"}})
    rows[name] = unary(op);
  rows["Copy"] = rows["identity"] = [](const Translation& t) { return Names{t("x")}; };
  rows["StopGradient"] = [](const Translation& t) { return Names{t("variable")}; };
  rows["Square"] = formula([](const Translation& t, const std::string& x) { return t.node("Mul", {x, x}); });
  rows["Rsqrt"] = formula(
      [](const Translation& t, const std::string& x) { return t.node("Reciprocal", {t.node("Sqrt", {x})}); });
  rows["Expm1"] = formula([](const Translation& t, const std::string& x) {
    return t.node("Sub", {t.node("Exp", {x}), number(t, 1)});
  });
  rows["Log1p"] = formula([](const Translation& t, const std::string& x) {
    return t.node("Log", {t.node("Add", {x, number(t, 1)})});
  });
  for (const auto& [name, base] :
       std::initializer_list<std::pair<const char*, double>>{{"Log10", 10}, {"Log2", 2}})
    rows[name] = formula([base = base](const Translation& t, const std::string& x) {
      return t.node("Div", {t.node("Log", {x}), number(t, std::log(base))});
    });
  rows["Exp2"] = formula([](const Translation& t, const std::string& x) {
    return t.node("Exp", {t.node("Mul", {x, number(t, std::log(2.))})});
  });
  rows["Erfc"] = formula([](const Translation& t, const std::string& x) {
    return t.node("Sub", {number(t, 1), t.node("Erf", {x})});
  });
  rows["Trunc"] = formula([](const Translation& t, const std::string& x) {
    return t.node("Mul", {t.node("Sign", {x}), t.node("Floor", {t.node("Abs", {x})})});
  });
  rows["Round"] = rounded, rows["NanToNum"] = nan_to_num;
  rows["Signbit"] = formula(signbit), rows["Sinc"] = formula(sinc), rows["Angle"] = formula(angle);
  rows["Isfinite"] = finite;
  rows["Isinf"] = infinite(1, 1), rows["Isposinf"] = infinite(0, 1), rows["Isneginf"] = infinite(1, 0);
  rows["Cast"] = cast;
  rows["OnesLike"] = [](const Translation& t) { return filled_like(t, 1); };
  rows["ZerosLike"] = [](const Translation& t) { return filled_like(t, 0); };
}

void add_binary(RowTable& rows) {
  rows["Add"] = arithmetic("Add"), rows["Subtract"] = arithmetic("Sub"), rows["Multiply"] = arithmetic("Mul");
  rows["Divide"] = rows["TrueDivide"] = binary("Div");
  rows["Power"] = power;
  rows["Maximum"] = rows["Fmax"] = binary("Max"), rows["Minimum"] = rows["Fmin"] = binary("Min");
  rows["Equal"] = comparison("Equal"), rows["NotEqual"] = comparison("Equal", true);
  rows["Greater"] = comparison("Greater"), rows["GreaterEqual"] = comparison("GreaterOrEqual");
  rows["Less"] = comparison("Less"), rows["LessEqual"] = comparison("LessOrEqual");
  for (const char* name : {"LogicalAnd", "BitwiseAnd"})
    rows[name] = [](const Translation& t) { return logical(t, "And", "BitwiseAnd"); };
  for (const char* name : {"LogicalOr", "BitwiseOr"})
    rows[name] = [](const Translation& t) { return logical(t, "Or", "BitwiseOr"); };
  for (const char* name : {"LogicalXor", "BitwiseXor"})
    rows[name] = [](const Translation& t) { return logical(t, "Xor", "BitwiseXor"); };
  rows["FloorDivide"] = pair_formula(floor_quotient), rows["Mod"] = pair_formula(modulo);
  rows["Fmod"] = [](const Translation& t) {
    return Names{t.node("Mod", {t("x1"), t("x2")}, {{"fmod", std::int64_t{1}}})};
  };
  rows["Hypot"] = pair_formula([](const Translation& t, const std::string& x, const std::string& y) {
    return t.node("Sqrt", {t.node("Add", {t.node("Mul", {x, x}), t.node("Mul", {y, y})})});
  });
  rows["DivideNoNan"] = pair_formula(divide_no_nan), rows["Heaviside"] = pair_formula(heaviside);
  rows["Logaddexp"] = sum_of_exponentials(1), rows["Logaddexp2"] = sum_of_exponentials(std::numbers::ln2);
  rows["Isclose"] = isclose, rows["Clip"] = clipped, rows["Where"] = where;
}

}  // namespace

void add_elementwise_rows(RowTable& rows) {
  add_unary(rows);
  add_binary(rows);
}

}  // namespace ktape::nn::onnx
