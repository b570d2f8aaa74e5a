// The dtypes of results, compared with the lattice of types that Keras 3 has from JAX. 64-bit dtypes stay, which Keras halves.
#include <doctest/doctest.h>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/logic.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/numpy/statistics.hpp>
#include <ktape/ops/settings/config.hpp>

#include <functional>
#include <map>
#include <set>

#include "../check.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::DType, ktape::Tensor;

namespace {

const std::vector<std::string> dtypes{"bool",  "uint8",    "int8",    "int16",   "int32",
                                      "int64", "bfloat16", "float16", "float32", "float64"};

/// The next types above a type.
const std::map<std::string, std::vector<std::string>> above{
    {"bool", {"uint8", "int8"}}, {"uint8", {"int16"}},
    {"int8", {"int16"}},         {"int16", {"int32"}},
    {"int32", {"int64"}},        {"int64", {"bfloat16", "float16"}},
    {"bfloat16", {"float32"}},   {"float16", {"float32"}},
    {"float32", {"float64"}},    {"float64", {}}};

std::set<std::string> bounds_of(const std::string& type) {
  std::set<std::string> out{type};
  for (const std::string& next : above.at(type)) out.merge(bounds_of(next));
  return out;
}

/// Returns the least type that is above both.
std::string least_bound(const std::string& a, const std::string& b) {
  const std::set<std::string> of_a = bounds_of(a), of_b = bounds_of(b);
  std::string least;
  for (const std::string& type : of_a)
    if (of_b.count(type) && (least.empty() || bounds_of(type).size() > bounds_of(least).size())) least = type;
  return least;
}

std::string floating_of(const std::string& type) {
  return DType(type).is_floating() ? type : K::floatx().name();
}

using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

void expect_dtypes(const std::map<std::string, Function>& functions, const ktape::Shape& shape,
                   const std::function<std::string(const std::string&, const std::string&)>& expected) {
  for (const auto& [name, f] : functions)
    for (const std::string& a : dtypes)
      for (const std::string& b : dtypes) {
        const Tensor x = K::ones(shape, {.dtype = a}), y = K::ones(shape, {.dtype = b});
        const std::string found = f(x, y).dtype().name();
        CHECK_MESSAGE(found == expected(a, b), name << " of " << a << " and " << b << " is " << found);
        const Tensor open = K::placeholder({.shape = shape, .dtype = a});
        const std::string promised = f(open, y).dtype().name();
        CHECK_MESSAGE(promised == expected(a, b),
                      name << " promises " << promised << " for " << a << " and " << b);
      }
}

}  // namespace

TEST_CASE("ops: products have the common dtype of their factors") {
  const std::map<std::string, Function> products{
      {"dot", [](const Tensor& x, const Tensor& y) { return ops::dot(x, y); }},
      {"inner", [](const Tensor& x, const Tensor& y) { return ops::inner(x, y); }},
      {"outer", [](const Tensor& x, const Tensor& y) { return ops::outer(x, y); }},
      {"vdot", [](const Tensor& x, const Tensor& y) { return ops::vdot(x, y); }},
      {"kron", [](const Tensor& x, const Tensor& y) { return ops::kron(x, y); }},
      {"tensordot", [](const Tensor& x, const Tensor& y) { return ops::tensordot(x, y, 1); }}};
  expect_dtypes(products, {2, 2}, least_bound);
  const std::map<std::string, Function> wide{
      {"matmul", [](const Tensor& x, const Tensor& y) { return ops::matmul(x, y); }},
      {"einsum", [](const Tensor& x, const Tensor& y) {
         return ops::einsum("ij,jk->ik", {x, y});
       }}};
  expect_dtypes(wide, {2, 2}, [](const std::string& a, const std::string& b) {
    return a == "int8" && b == "int8" ? "int32" : least_bound(a, b);
  });
}

TEST_CASE("ops: functions of two tensors have their common dtype") {
  const Tensor truth = K::constant({true, false});
  expect_dtypes({{"add", [](const Tensor& x, const Tensor& y) { return ops::add(x, y); }},
                 {"multiply", [](const Tensor& x, const Tensor& y) { return ops::multiply(x, y); }},
                 {"maximum", [](const Tensor& x, const Tensor& y) { return ops::maximum(x, y); }},
                 {"minimum", [](const Tensor& x, const Tensor& y) { return ops::minimum(x, y); }},
                 {"where", [=](const Tensor& x, const Tensor& y) { return ops::where(truth, x, y); }},
                 {"concatenate",
                  [](const Tensor& x, const Tensor& y) {
                    return ops::concatenate({x, y}, 0);
                  }},
                 {"append", [](const Tensor& x, const Tensor& y) { return ops::append(x, y); }}},
                {2}, least_bound);
  expect_dtypes({{"divide", [](const Tensor& x, const Tensor& y) { return ops::divide(x, y); }},
                 {"average", [](const Tensor& x, const Tensor& y) { return ops::average(x, {}, y); }},
                 {"hypot", [](const Tensor& x, const Tensor& y) { return ops::hypot(x, y); }},
                 {"arctan2", [](const Tensor& x, const Tensor& y) { return ops::arctan2(x, y); }}},
                {2},
                [](const std::string& a, const std::string& b) { return floating_of(least_bound(a, b)); });
}

TEST_CASE("ops: the dtype of the first tensor stays") {
  const auto first = [](const std::string& a, const std::string& b) { return static_cast<void>(b), a; };
  expect_dtypes(
      {{"slice_update", [](const Tensor& x, const Tensor& y) { return ops::slice_update(x, {0}, y); }},
       {"scatter_update",
        [](const Tensor& x, const Tensor& y) {
          return ops::scatter_update(x, ints({{0}, {1}}), y);
        }},
       {"full_like", [](const Tensor& x, const Tensor& y) { return ops::full_like(x, y); }}},
      {2}, first);
  expect_dtypes({{"clip", [](const Tensor& x, const Tensor& y) { return ops::clip(x, y, y); }}}, {2},
                [](const std::string& a, const std::string&) { return a == "bool" ? "int32" : a; });
}

TEST_CASE("ops: attention has the common floating dtype of query, key and value") {
  expect_dtypes({{"dot_product_attention",
                  [](const Tensor& q, const Tensor& k) { return ops::dot_product_attention(q, k, k); }}},
                {1, 2, 1, 2},
                [](const std::string& a, const std::string& b) { return floating_of(least_bound(a, b)); });
}

TEST_CASE("ops: products of narrow factors are those of int32, wrapped") {
  const Tensor x = ints({100, 100}, "int8"), truth = K::constant({true, false});
  CHECK(ops::matmul(x, x).item<int>() == 20000);
  CHECK(ops::einsum("i,i->", {x, x}).item<int>() == 20000);
  CHECK(ops::dot(x, x).item<int>() == 32);  // 20000 - 78 * 256
  CHECK(ops::matmul(x, truth).item<int>() == 100);
  CHECK(ops::matmul(truth, truth).item<bool>());
  CHECK(values(ops::outer(truth, truth)) == Values{1, 0, 0, 0});
  CHECK(values(ops::matmul(K::constant({{true, true}}), K::constant({true, true}))) == Values{1});
}

TEST_CASE("ops: clip compares in the common dtype, and keeps that of x") {
  const Tensor x = ints({-5, 0, 5});
  CHECK(values(ops::clip(x, doubles(-1.5), doubles(2.5))) == Values{-1, 0, 2});
  CHECK(values(ops::clip(x, ints({0}, "int64"), 3)) == Values{0, 0, 3});
  CHECK(values(ops::clip(K::cast(x, "float16"), doubles({-1., 1., 1.}), ktape::None)) == Values{-1, 1, 5});
  CHECK(values(ops::clip(K::constant({true, false}), 1, 2)) == Values{1, 1});
  CHECK_THROWS_WITH_AS(ops::clip(x, doubles({1., 2.}), 3),
                       "[clip] min_value must broadcast to x of shape (3,): received min_value=(2,)",
                       ktape::ValueError);
}
