#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("operations of elements that Keras writes have the values of their formulas") {
  const Tensor x = K::constant({{0.5, -2.}, {3., 1.}}), y = K::constant({{2., 0.}, {-1., 4.}});
  check_same(run("Reciprocal", {{"x", of(x)}}), 1.f / x);
  check_same(run("Rsqrt", {{"x", of(K::square(x))}}), 1.f / K::abs(x));
  check_same(run("TrueDivide", {{"x1", of(x)}, {"x2", value("4.0")}}), x / 4.f);
  check_same(run("DivideNoNan", {{"x1", of(x)}, {"x2", of(y)}}), K::constant({{0.25, 0.}, {-3., 0.25}}));
  check_same(run("Round", {{"x", of(K::constant({1.234, -2.718}))}, {"decimals", value("1")}}),
             K::constant({1.2, -2.7}));
  check_same(run("Isinf", {{"x", of(K::constant({1., -INFINITY, INFINITY}))}}),
             K::constant({false, true, true}, {.dtype = "bool"}));
  check_same(run("Isnan", {{"x", of(K::constant({1., NAN}))}}),
             K::constant({false, true}, {.dtype = "bool"}));
  check_same(run("LogicalAnd", {{"x1", of(x)}, {"x2", of(y)}}),
             K::constant({{true, false}, {true, true}}, {.dtype = "bool"}));
  check_same(run("LogicalNot", {{"x", of(y)}}),
             K::constant({{false, true}, {false, false}}, {.dtype = "bool"}));
  check_same(run("LogicalOr", {{"x1", of(y)}, {"x2", value("true")}}), K::cast(K::ones({2, 2}), "bool"));
  check_same(run("Copy", {{"x", of(x)}}), x);
  check_same(run("Size", {{"x", of(x)}}), K::constant(4, {.dtype = "int32"}));
  check_same(run("StopGradient", {{"variable", of(x)}}), x);
  check_same(run("ConvertToTensor", {{"x", of(x)}, {"dtype", value("\"int32\"")}}), K::cast(x, "int32"));
  check_same(run("PSNR", {{"x1", of(x)}, {"x2", of(y)}, {"max_val", value("2.0")}}),
             K::constant(10 * std::log10(4 / ((2.25 + 4 + 16 + 9) / 4))));
}

TEST_CASE("operations of two tensors convert them to their common dtype, as Keras does") {
  const Tensor whole = K::constant({1, 2}, {.dtype = "int32"}), real = K::constant({0.5, 2.});
  const Arguments mixed{{"x1", of(whole)}, {"x2", of(real)}}, integers{{"x1", of(whole)}, {"x2", of(whole)}};
  check_same(run("Add", mixed), K::constant({1.5, 4.}));
  check_same(run("Multiply", mixed), K::constant({0.5, 4.}));
  check_same(run("Maximum", mixed), K::constant({1., 2.}));
  check_same(run("Power", mixed), K::constant({1., 4.}));
  check_same(run("Divide", integers), K::constant({1., 1.}));
  check_same(run("Subtract", integers), K::constant({0, 0}, {.dtype = "int32"}));
  check_same(run("Equal", mixed), K::constant({false, true}, {.dtype = "bool"}));
}
