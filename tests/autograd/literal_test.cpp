#include <doctest/doctest.h>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/xtensor.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>

#include <xtensor/xmath.hpp>

using namespace ktape;

namespace {
Tensor as(const ArrayLike& value, std::optional<DType> dtype = {}) { return value.tensor(dtype, "float32"); }
}  // namespace

TEST_CASE("numbers and nested literals become tensors of the requested dtype") {
  CHECK(as(3).shape() == Shape{});
  CHECK(as(3).dtype() == "float32");
  const Tensor matrix = as({{1, 2, 3}, {4, 5, 6}}, "int64");
  CHECK(matrix.shape() == Shape{2, 3});
  CHECK(matrix.item<int>(1, 0) == 4);
  CHECK(as({{{1}, {2}}}).shape() == Shape{1, 2, 1});
  CHECK(as({2, 0}, "bool").item<bool>(0));
}

TEST_CASE("a literal of bools alone is bool") {
  CHECK(as(true).dtype() == "bool");
  CHECK(as({true, false}).dtype() == "bool");
  CHECK(as({true, false}, "float64").dtype() == "float64");
  CHECK(as({true, 2}).dtype() == "float32");
}

TEST_CASE("vectors, tensors, variables and expressions are taken as well") {
  CHECK(as(std::vector<double>{1, 2}).shape() == Shape{2});
  CHECK(as(std::vector<int>{}).shape() == Shape{0});
  const Tensor t = as({1, 2}, "float64");
  CHECK(as(t).dtype() == "float64");
  CHECK(as(t).raw() == t.raw());
  CHECK(as(t, "int8").item<int>(1) == 2);
  CHECK(as(Variable(t)).item<double>(0) == 1);
  const xt::xarray<std::int64_t> a{5, 6};
  CHECK(as(a + 1).dtype() == "int64");
  CHECK(as(a + 1).item<int>(1) == 7);
}

TEST_CASE("numbers that the dtype cannot hold are refused") {
  CHECK_THROWS_WITH_AS(as({1, 300}, "uint8"),
                       "[literal] a number must fit the tensor's dtype uint8: received number=300",
                       TypeError);
  CHECK_THROWS_WITH_AS(as({1.9, -1.9}, "int32"),
                       "[literal] a number must fit the tensor's dtype int32: received number=1.9",
                       TypeError);
  CHECK(as(ArrayLike({1.9, -1.9}).truncated(), "int32").item<int>(1) == -1);
}

TEST_CASE("rows of different shapes are refused") {
  CHECK_THROWS_WITH_AS(as({{1, 2}, {3}}),
                       "[literal] a literal must have rows of one shape: received (2,) and (1,)", ValueError);
  CHECK_THROWS_WITH_AS(as({ArrayLike(1), {1, 2}}),
                       "[literal] a literal must have rows of one shape: received () and (2,)", ValueError);
  CHECK_THROWS_WITH_AS(
      as({ArrayLike(as(1)), 2}),
      "[literal] a literal must hold numbers only: received a tensor inside a nested literal", TypeError);
  CHECK_THROWS_WITH_AS(ktape::backend::constant({{{1, 2}, {3}}, {{1}, {2}}}),
                       "[constant] value must have rows of one shape: received (2,) and (1,)", ValueError);
  CHECK_THROWS_WITH_AS(ktape::backend::gather(ktape::backend::ones({3}), {{0, 1}, {2}}),
                       "[gather] indices must have rows of one shape: received (2,) and (1,)", ValueError);
  CHECK_THROWS_WITH_AS(ArrayLike(Tensor()).expect_defined("constant", "value"),
                       "[constant] value must be a tensor: received an undefined tensor (None)", ValueError);
}

TEST_CASE("conversion keeps the memory when the dtype stays") {
  const Tensor t = as({1.5, 2.5});
  CHECK(converted(t, "float32").raw() == t.raw());
  const Tensor whole = converted(t, "int32");
  CHECK(whole.dtype() == "int32");
  CHECK(whole.item<int>(1) == 2);
}

TEST_CASE("vectors of vectors are rows") {
  const std::vector<std::vector<float>> rows{{1, 2, 3}, {4, 5, 6}};
  const Tensor x = ArrayLike(rows).tensor({}, "float32");
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.item(1, 0) == 4);
  const std::vector<std::vector<std::vector<bool>>> deep{{{true}, {false}}};
  CHECK(ArrayLike(deep).tensor({}, "float32").dtype() == "bool");
  CHECK(ArrayLike(deep).shape() == Shape{1, 2, 1});
  CHECK(ArrayLike(std::vector<std::vector<int>>{}).shape() == Shape{0});
  CHECK_THROWS_WITH_AS(as(std::vector<std::vector<int>>{{1, 2}, {3}}),
                       "[literal] a literal must have rows of one shape: received (2,) and (1,)", ValueError);
}
