#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "catalogue.hpp"

namespace K = ktape::backend;
using ktape::All, ktape::Ellipsis, ktape::NewAxis, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using ktape::TypeError, ktape::ValueError, ktape::Variable;

namespace {

Variable counting(const Shape& shape, ktape::DType dtype = "float32") {
  return K::variable(counted(shape, dtype), {.dtype = dtype, .name = "v"});
}

}  // namespace

TEST_CASE("a part of a variable reads as the part of its value") {
  const Variable v = counting({2, 3});
  CHECK(values(v[0]) == Values{0, 1, 2});
  CHECK(values(v[{All, -1}]) == Values{2, 5});
  CHECK(values(v[0] + v[1] * 2.f) == Values{6, 9, 12});
  CHECK(v[1].item(2) == 5);
  CHECK(values(v[1][Slice(None, None, -1)]) == Values{5, 4, 3});
  CHECK(values(K::stack({v[0], v[1]})) == values(v));
  auto row = v[0];
  row = K::zeros({3});
  CHECK(values(row) == Values{0, 0, 0});
  CHECK(values(v) == Values{0, 1, 2, 3, 4, 5});
}

TEST_CASE("an assignment to a part of a variable changes the part alone") {
  const Variable v = counting({3, 4});
  v[{All, 0}] = {-1., -2., -3.};
  CHECK(values(v) == Values{-1, 1, 2, 3, -2, 5, 6, 7, -3, 9, 10, 11});
  v[{Slice(None, None, -2), Slice(1, 3)}] = K::constant({{20., 21.}, {22., 23.}});
  CHECK(values(v) == Values{-1, 22, 23, 3, -2, 5, 6, 7, -3, 20, 21, 11});
  v[{1, Ellipsis}] = 7;
  CHECK(values(v[1]) == Values{7, 7, 7, 7});
  v[0] = v[2];
  CHECK(values(v[0]) == Values{-3, 20, 21, 11});
  v[{-1, -1}] = 0.5f;
  CHECK(v.value().item(2, 3) == 0.5f);
  v[{Slice(0, 0)}] = K::zeros({0, 4});
  v[{NewAxis, 2}] = K::ones({1, 4});
  CHECK(values(v[2]) == Values{1, 1, 1, 1});
  v[Ellipsis] = 0;
  CHECK(values(v) == Values(12, 0));
}

TEST_CASE("values broadcast to the part, also from the part of another place of the variable") {
  const Variable v = counting({2, 3});
  v[Ellipsis] = {1., 2., 3.};
  CHECK(values(v) == Values{1, 2, 3, 1, 2, 3});
  v[{All, Slice(1, None)}] = v[{All, Slice(None, -1)}];
  CHECK(values(v) == Values{1, 1, 2, 1, 1, 2});
  v[{All, Slice(0, 2)}] = K::constant({{5.}, {6.}});
  CHECK(values(v) == Values{5, 5, 2, 6, 6, 2});
  v[All] = v;
  CHECK(values(v) == Values{5, 5, 2, 6, 6, 2});
}

TEST_CASE("integers and masks name parts of a variable") {
  const Variable v = counting({4, 2});
  v[ints({3, 0, 3})] = K::constant({{1., 1.}, {2., 2.}, {9., 8.}});
  CHECK(values(v) == Values{2, 2, 2, 3, 4, 5, 9, 8});
  v[v > 3] = 0;
  CHECK(values(v) == Values{2, 2, 2, 3, 0, 0, 0, 0});
  const Tensor rows = K::constant({false, true, false, true}, {.dtype = "bool"});
  v[rows] = {{5., 6.}, {7., 8.}};
  CHECK(values(v) == Values{2, 2, 5, 6, 0, 0, 7, 8});
  CHECK(values(v[rows]) == Values{5, 6, 7, 8});
  v[v > 100] = 1;
  CHECK(values(v) == Values{2, 2, 5, 6, 0, 0, 7, 8});
}

TEST_CASE("every dtype has parts, and numbers must fit the dtype") {
  for (const char* dtype :
       {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}) {
    const Variable v = K::variable(K::zeros({2, 2}, {.dtype = dtype}), {.dtype = dtype});
    v[{All, 1}] = 1;
    CHECK(values(K::cast(v, "float64")) == Values{0, 1, 0, 1});
  }
  const Variable bytes = counting({2}, "uint8");
  CHECK_THROWS_AS(bytes[0] = 300, TypeError);
  CHECK_THROWS_WITH_AS(bytes[0] = K::ones({}),
                       "[assign] the value must have the dtype uint8 of 'v': received value=float32",
                       TypeError);
  CHECK(values(K::cast(bytes, "float64")) == Values{0, 1});
}

TEST_CASE("results from before an assignment keep their values and gradients") {
  const Variable v = counting({3});
  const Tensor before = v.value();
  ktape::GradientTape tape;
  const Tensor square = K::sum(K::square(v));
  v[1] = 10.f;
  CHECK(values(before) == Values{0, 1, 2});
  CHECK(values(v) == Values{0, 10, 2});
  CHECK(values(tape.gradient(square, v)) == Values{0, 2, 4});
}

TEST_CASE("no gradient passes an assignment") {
  const Variable v = counting({2}), w = counting({2});
  ktape::GradientTape tape;
  v[All] = K::square(w);
  const Tensor loss = K::sum(K::square(v));
  const std::vector<Tensor> gradients = tape.gradient(loss, std::vector<Variable>{v, w});
  CHECK(values(gradients[0]) == Values{0, 2});
  CHECK(!gradients[1].defined());
}

TEST_CASE("an assignment that cannot be made changes nothing") {
  const Variable v = counting({2, 3});
  CHECK_THROWS_WITH_AS(
      (v[{All, 0}] = K::ones({3})),
      "[assign] the value must broadcast to the shape (2,) of the part of 'v': received value=(3,)",
      ValueError);
  CHECK_THROWS_WITH_AS(v[0] = Tensor(), doctest::Contains("[assign] the value must be a tensor"), ValueError);
  CHECK_THROWS_AS(v[2] = 1, ValueError);
  CHECK_THROWS_WITH_AS(ktape::assign_part(v, 2, 1),
                       doctest::Contains("[assign] a position must be in [-2, 2) on axis 0"), ValueError);
  CHECK_THROWS_WITH_AS(ktape::assign_part(v, Slice(None, None, 0), 1),
                       "[assign] a step must not be 0: received step=0", ValueError);
  CHECK_THROWS_AS(v[ints({0, 2})] = 1, ValueError);
  CHECK_THROWS_AS(v[K::constant({0.5})] = 1, TypeError);
  CHECK_THROWS_WITH_AS(ktape::assign_part(Variable(), 0, 1),
                       "[assign] x must be a variable: received an undefined variable", ValueError);
  const Tensor symbol = K::placeholder({.shape = Shape{3}});
  CHECK_THROWS_WITH_AS(v[0] = symbol,
                       doctest::Contains("[assign] a part of 'v' must be assigned a tensor with a value"),
                       ValueError);
  CHECK(values(v) == Values{0, 1, 2, 3, 4, 5});
}

TEST_CASE("masks choose slices of the first axes") {
  const Tensor x = counted({2, 2, 3});
  CHECK(values(x[x > 8]) == Values{9, 10, 11});
  const Tensor matrix = K::constant({{true, false}, {false, true}}, {.dtype = "bool"});
  CHECK(x[matrix].shape() == Shape{2, 3});
  CHECK(values(x[matrix]) == Values{0, 1, 2, 9, 10, 11});
  CHECK(K::boolean_mask(x, K::cast(K::constant({0, 0}), "bool")).shape() == Shape{0, 2, 3});
  CHECK_THROWS_WITH_AS(K::boolean_mask(x, ints({0, 1})),
                       "[boolean_mask] mask must hold bools: received mask=int32", TypeError);
  CHECK_THROWS_WITH_AS(
      K::boolean_mask(x, K::constant({true}, {.dtype = "bool"})),
      "[boolean_mask] mask must have the shape of the first axes of tensor=(2, 2, 3): received mask=(1,)",
      ValueError);
  const Tensor symbol = K::placeholder({.shape = Shape{None, 3}});
  CHECK(K::boolean_mask(symbol, symbol > 0).shape() == Shape{None});
  CHECK(symbol[symbol[{All, 0}] > 0].shape() == Shape{None, 3});
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"boolean_mask", of2([](const Tensor& x, const Tensor& y) { return K::boolean_mask(x * y, K::greater(y, 0)); }), {normal({2, 3}), normal({2, 3}, 2)}},
      {"boolean_mask", [](In in) { return K::boolean_mask(in[0], K::greater(K::sum(in[0], -1), 0)); }, {normal({4, 3})}},
  };
});
// clang-format on

}  // namespace
