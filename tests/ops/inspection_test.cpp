#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "../autograd/written.hpp"
#include "catalogue.hpp"
#include "check.hpp"

namespace K = ktape::backend;
using ktape::gradients, ktape::Shape, ktape::Tensor, ktape::Variable;

TEST_CASE("tensors tell variables from others, their rank, size and dtype") {
  const Variable v = K::variable({{1., 2.}, {3., 4.}}, {.name = "v"});
  const Tensor t = v * 2.f;
  CHECK(K::is_tensor(v));
  CHECK_FALSE(K::is_tensor(Tensor()));
  CHECK(K::is_variable(v));
  CHECK_FALSE(K::is_variable(t));
  CHECK(K::count_params(v) == 4);
  CHECK(K::ndim(v) == 2);
  CHECK(K::size(v).item<int>() == 4);
  CHECK(K::dtype(K::size(v, {.name = "n"})) == "int32");
  CHECK(K::eval<int>(K::shape(v))(1) == 2);
}

TEST_CASE("values leave as xtensor arrays") {
  const Tensor a = K::constant({1.75, -1.75}), b = K::constant({2.f});
  CHECK(K::get_value<int>(a)(1) == -1);
  CHECK_THROWS_WITH_AS(K::batch_get_value({a, Tensor()}),
                       "[batch_get_value] x must be a tensor: received an undefined tensor (None)",
                       ktape::ValueError);
  CHECK(K::batch_get_value({a, b}) == std::vector{K::get_value(a), K::get_value(b)});
}

TEST_CASE("cast truncates, and passes the gradient between floating dtypes") {
  const Variable x = K::variable({1.75f, -1.75f, 300.f});
  CHECK(K::get_value<int>(K::cast(x, "int32"))(1) == -1);
  CHECK(K::cast(x, "uint8").item<int>(2) == 255);
  CHECK(K::cast(x, "bool").item<bool>(0));
  CHECK(K::gradients(K::sum(K::cast(x, "float64")), {x})[0].item<float>(0) == 1.f);
  CHECK_THROWS_AS(K::cast(x, "float12"), ktape::ValueError);
  CHECK(K::dtype(K::cast_to_floatx(K::constant({1, 2}, {.dtype = "int64"}))) == "float32");
}

TEST_CASE("cast_to_floatx keeps the gradient of tensors, variables and expressions' values") {
  const Variable x = K::variable({2, 3}, {.dtype = "float64"});
  const Tensor half = K::cast_to_floatx(x * x);
  CHECK(half.dtype() == "float32");
  const Tensor g = gradients(half, {x})[0];
  CHECK(g.dtype() == "float64");
  CHECK(values(g) == Values{4, 6});
  CHECK(values(gradients(K::cast_to_floatx(x), {x})[0]) == Values{1, 1});
  const Variable f = K::variable({1.f, 2.f});
  CHECK(values(gradients(K::cast_to_floatx(f), {f})[0]) == Values{1, 1});
  CHECK(K::cast_to_floatx(xt::xarray<double>{1, 2}).dtype() == "float32");
  CHECK(values(K::cast_to_floatx({1, 2})) == Values{1, 2});
}

TEST_CASE("print_tensor returns its argument, through which gradients flow") {
  const Variable x = K::variable({2.f});
  const Tensor y = K::square(x);
  const Tensor same = K::print_tensor(y, "y =");
  CHECK(K::gradients(same, {x})[0].item<float>() == 4.f);
  CHECK(K::print_tensor(y, "y =", {.summarize = std::numeric_limits<int>::max()}).shape() == Shape{1});
}

TEST_CASE("print_tensor puts a space between message and value") {
  const Tensor x = K::constant({1, 2});
  CHECK(written([&] { K::print_tensor(x, "x:"); }) == "x: " + to_string(x) + "\n");
  CHECK(written([&] { K::print_tensor(x); }) == to_string(x) + "\n");
}

TEST_CASE("names made in a scope have its prefix") {
  K::name_scope scope("tower");
  CHECK(K::variable({1.f}, {.name = "w"}).name() == "tower/w");
}

namespace {

Tensor cast_to_double_floatx(const Tensor& x) {
  K::set_floatx("float64");
  const Tensor y = K::cast_to_floatx(x);
  K::set_floatx("float32");
  return y;
}

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"cast_to_floatx", [](In in) { return cast_to_double_floatx(in[0] * 2); }, {normal({2})}},
      {"cast", [](In in) { return K::cast(in[0] * 2, "float64"); }, {normal({2})}},
      // What a tensor is.
      {"is_tensor", no_gradient}, {"is_variable", no_gradient}, {"shape", no_gradient},
      {"int_shape", no_gradient}, {"ndim", no_gradient}, {"size", no_gradient}, {"dtype", no_gradient},
      {"count_params", no_gradient},
      // Values that leave, and enter variables.
      {"eval", no_gradient}, {"get_value", no_gradient}, {"batch_get_value", no_gradient},
      // The identity, but it prints at every call: its gradient is in inspection_test.cpp.
      {"print_tensor", no_gradient},
  };
});
// clang-format on

}  // namespace
