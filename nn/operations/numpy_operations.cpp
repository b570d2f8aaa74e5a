#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>

/// Element-wise functions of ktape::ops that K lacks.
namespace ktape::nn {
namespace {

template <Tensor (*f)(const TensorOrNumber&, const TensorOrNumber&)>
Tensor binary(const OperationCall& call) {
  return f(call.operand("x1"), call.operand("x2"));
}

template <Tensor (*f)(const TensorOrNumber&, const TensorOrNumber&)>
Tensor bits(const OperationCall& call) {
  return f(call.operand("x"), call.operand("y"));
}

ops::IsCloseOptions tolerances(const OperationCall& call) {
  return {.rtol = call.number("rtol"), .atol = call.number("atol"), .equal_nan = call.flag("equal_nan")};
}

void add_functions(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"Abs", "numpy", "x;", unary<ops::abs>, "-"},
      {"Angle", "numpy", "x;", unary<ops::angle>},
      {"Arccos", "numpy", "x;", unary<ops::arccos>},
      {"Arccosh", "numpy", "x;", unary<ops::arccosh>},
      {"Arcsin", "numpy", "x;", unary<ops::arcsin>},
      {"Arcsinh", "numpy", "x;", unary<ops::arcsinh>},
      {"Arctan", "numpy", "x;", unary<ops::arctan>},
      {"Arctanh", "numpy", "x;", unary<ops::arctanh>},
      {"Cbrt", "numpy", "x;", unary<ops::cbrt>},
      {"Ceil", "numpy", "x;", unary<ops::ceil>},
      {"Conj", "numpy", "x;", unary<ops::conj>},
      {"Conjugate", "numpy", "x;", unary<ops::conjugate>},
      {"Cosh", "numpy", "x;", unary<ops::cosh>},
      {"Deg2rad", "numpy", "x;", unary<ops::deg2rad>},
      {"Exp2", "numpy", "x;", unary<ops::exp2>},
      {"Fabs", "numpy", "x;", unary<ops::fabs>},
      {"Floor", "numpy", "x;", unary<ops::floor>},
      {"I0", "numpy", "x;", unary<ops::i0>},
      {"Imag", "numpy", "x;", unary<ops::imag>},
      {"Isinf", "numpy", "x;", unary<ops::isinf>},
      {"Isneginf", "numpy", "x;", unary<ops::isneginf>},
      {"Isposinf", "numpy", "x;", unary<ops::isposinf>},
      {"Isreal", "numpy", "x;", unary<ops::isreal>},
      {"Log10", "numpy", "x;", unary<ops::log10>},
      {"Log2", "numpy", "x;", unary<ops::log2>},
      {"Rad2deg", "numpy", "x;", unary<ops::rad2deg>},
      {"Real", "numpy", "x;", unary<ops::real>},
      {"Signbit", "numpy", "x;", unary<ops::signbit>},
      {"Sinc", "numpy", "x;", unary<ops::sinc>},
      {"Sinh", "numpy", "x;", unary<ops::sinh>},
      {"Tan", "numpy", "x;", unary<ops::tan>},
      {"Trunc", "numpy", "x;", unary<ops::trunc>},
      {"Erfc", "math", "x;", unary<ops::erfc>},
      {"Erfinv", "math", "x;", unary<ops::erfinv>},
      {"Arctan2", "numpy", "x1, x2;", binary<ops::arctan2>},
      {"DivideNoNan", "numpy", "x1, x2;", binary<ops::divide_no_nan>},
      {"FloorDivide", "numpy", "x1, x2;", binary<ops::floor_divide>},
      {"Fmax", "numpy", "x1, x2;", binary<ops::fmax>},
      {"Fmin", "numpy", "x1, x2;", binary<ops::fmin>},
      {"Fmod", "numpy", "x1, x2;", binary<ops::fmod>},
      {"Gcd", "numpy", "x1, x2;", binary<ops::gcd>},
      {"Heaviside", "numpy", "x1, x2;", binary<ops::heaviside>},
      {"Hypot", "numpy", "x1, x2;", binary<ops::hypot>},
      {"Lcm", "numpy", "x1, x2;", binary<ops::lcm>},
      {"Logaddexp", "numpy", "x1, x2;", binary<ops::logaddexp>},
      {"Logaddexp2", "numpy", "x1, x2;", binary<ops::logaddexp2>},
      {"Mod", "numpy", "x1, x2;", binary<ops::mod>},
      {"Nextafter", "numpy", "x1, x2;", binary<ops::nextafter>},
      {"Gammainc", "math", "x1, x2;", binary<ops::gammainc>},
      {"BitwiseLeftShift", "numpy", "x, y;", bits<ops::bitwise_left_shift>},
      {"BitwiseRightShift", "numpy", "x, y;", bits<ops::bitwise_right_shift>},
      {"LeftShift", "numpy", "x, y;", bits<ops::left_shift>},
      {"RightShift", "numpy", "x, y;", bits<ops::right_shift>},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace

void add_numpy_operations(std::vector<Operation>& all) {
  add_functions(all);
  const std::vector<Operation> operations{
      {"Ldexp", "numpy", "x1, x2;",
       [](const OperationCall& call) { return ops::ldexp(call.tensor("x1"), call.operand("x2")); }},
      {"NanToNum", "numpy", "x; nan=0.0, posinf=null, neginf=null",
       [](const OperationCall& call) {
         return ops::nan_to_num(call.tensor("x"), call.number("nan"),
                                call.value("posinf").as<std::optional<double>>("[NanToNum] posinf"),
                                call.value("neginf").as<std::optional<double>>("[NanToNum] neginf"));
       }},
      {"SaturateCast", "core", "x; dtype",
       [](const OperationCall& call) {
         return ops::saturate_cast(call.tensor("x"), DType(call.text("dtype")));
       }},
      {"Isclose", "numpy", "x1, x2, rtol!=1e-5, atol!=1e-8; equal_nan=false",
       [](const OperationCall& call) {
         return ops::isclose(call.operand("x1"), call.operand("x2"), tolerances(call));
       }},
      {"AllClose", "numpy", "x1, x2; rtol=1e-5, atol=1e-8, equal_nan=false",
       [](const OperationCall& call) {
         return ops::allclose(call.operand("x1"), call.operand("x2"), tolerances(call));
       }},
      {"Select", "numpy", "condlist, choicelist, default=0;",
       [](const OperationCall& call) {
         return ops::select(call.tensors("condlist"), call.tensors("choicelist"), call.operand("default"));
       }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
