#pragma once
#include <doctest/doctest.h>
#include <ktape/autograd/gradcheck.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/random.hpp>
#include <ktape/ops/shape.hpp>

#include <vector>

/// What the tests of the ops have in common.
using Values = std::vector<double>;
using In = const std::vector<ktape::Tensor>&;

/// The elements in order.
inline Values values(const ktape::Tensor& x) {
  const auto array = ktape::backend::get_value<double>(x);
  return {array.begin(), array.end()};
}

/// 0, 1, 2, ... in a shape.
inline ktape::Tensor counted(const ktape::Shape& shape, ktape::DType dtype = "float64") {
  namespace K = ktape::backend;
  return K::reshape(K::cast(K::arange(0, shape.count(), 1, {.dtype = "int64"}), dtype), shape);
}

/// Numbers without a pattern.
inline ktape::Tensor normal(const ktape::Shape& shape, int seed = 1) {
  return ktape::backend::random_normal(shape, {.dtype = "float64", .seed = seed});
}

/// Compares the gradients of the first and second order with central differences, for every
/// subset of the inputs.
inline void check_gradients(const ktape::CheckedFunction& f, const ktape::TensorList& inputs) {
  const ktape::GradcheckReport report = ktape::gradcheck(f, inputs, {.second_order = true});
  CHECK_MESSAGE(report.ok, report.message);
}
