#pragma once
#include <doctest/doctest.h>
#include <ktape/autograd/graph/gradcheck.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/random/random.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/values.hpp>

#include <iomanip>
#include <sstream>
#include <vector>

#include "../close.hpp"

/// Helpers of the tests of the ops.
using Values = std::vector<double>;
using In = const std::vector<ktape::Tensor>&;

/// Returns the elements in order.
template <class T = double>
std::vector<T> values(const ktape::Tensor& x) {
  const auto array = ktape::backend::get_value<T>(x);
  return std::vector<T>(array.begin(), array.end());
}

inline ktape::Tensor doubles(const ktape::ArrayLike& value) {
  return ktape::backend::constant(value, {.dtype = "float64"});
}
inline ktape::Tensor ints(const ktape::ArrayLike& value, ktape::DType dtype = "int32") {
  return ktape::backend::constant(value, {.dtype = dtype});
}

/// Returns 0, 1, 2, ... in a shape.
inline ktape::Tensor counted(const ktape::Shape& shape, ktape::DType dtype = "float64") {
  namespace K = ktape::backend;
  return K::reshape(K::cast(K::arange(0, shape.count(), 1, {.dtype = "int64"}), dtype), shape);
}

/// Returns normally distributed numbers.
inline ktape::Tensor normal(const ktape::Shape& shape, int seed = 1, ktape::DType dtype = "float64") {
  return ktape::backend::random_normal(shape, {.dtype = dtype, .seed = seed});
}

/// Returns the gradient of the sum of f at x.
inline ktape::Tensor slope(const std::function<ktape::Tensor(const ktape::Tensor&)>& f,
                           const ktape::Tensor& x) {
  ktape::GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x), x);
}

/// Compares the gradients of the first and second order with central differences, for every subset of the
/// inputs.
inline void check_gradients(const char* op, const ktape::CheckedFunction& f,
                            const ktape::TensorList& inputs) {
  const ktape::GradcheckReport report = ktape::gradcheck(f, inputs, {.second_order = true, .op = op});
  CHECK_MESSAGE(report.ok, report.message);
}
inline void check_gradients(const ktape::CheckedFunction& f, const ktape::TensorList& inputs) {
  check_gradients("function", f, inputs);
}

/// Prints vectors that are compared with ==.
template <class T>
requires std::is_arithmetic_v<T>
struct doctest::StringMaker<std::vector<T>> {
  static String convert(const std::vector<T>& x) {
    constexpr std::size_t shown = 50;
    std::ostringstream out;
    out << std::setprecision(17) << '{';
    for (std::size_t i = 0; i < std::min(x.size(), shown); ++i) out << (i ? ", " : "") << +x[i];
    out << (x.size() > shown ? ", ...}" : "}");
    return out.str().c_str();
  }
};
