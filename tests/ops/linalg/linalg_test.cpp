#include <ktape/ktape.hpp>

#include "../catalogue.hpp"
#include "../check.hpp"

namespace K = ktape::backend;
using ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError;

namespace {
/// The largest difference between two tensors.
}  // namespace

TEST_CASE("dot sums over the last axis of x and the second to last of y") {
  const Tensor x = normal({2, 3}, 1), y = normal({4, 3, 5}, 2);
  CHECK(K::int_shape(K::dot(x, y)) == Shape{2, 4, 5});
  CHECK(close(K::dot(x, y), K::einsum("ik,jkl->ijl", {x, y}), {.atol = 1e-12}));
  CHECK(K::dot(K::constant({{1, 2}}, {.dtype = "int32"}), K::constant({{3}, {4}}, {.dtype = "int32"}))
            .item<int>() == 11);
  CHECK(K::dot(K::ones({2, 0}), K::ones({0, 3})).item<float>(1, 2) == 0);
  CHECK_THROWS_WITH_AS(
      K::dot(x, normal({2, 3}, 1)),
      "[dot] the last axis of x must have the extent of the second to last of y: received x=(2, 3), y=(2, 3)",
      ValueError);
  CHECK_THROWS_AS(K::dot(K::ones({3}), K::ones({3})), ValueError);
  CHECK_THROWS_AS(K::dot(K::ones({1, 1}), K::ones({1, 1}, {.dtype = "float64"})), TypeError);
}

TEST_CASE("products of every size and transposition agree, in both precisions") {
  for (int n : {1, 3, 17, 64, 130}) {
    const Tensor x = normal({n, n + 1}, n), y = normal({n + 1, n + 2}, n + 1);
    const Tensor product = K::matmul(x, y);
    Tensor byhand = K::sum(K::expand_dims(x, 2) * K::expand_dims(y, 0), 1);
    CHECK(close(product, byhand, {.atol = 1e-10}));
    CHECK(close(K::matmul(K::transpose(x), K::transpose(y), {.transpose_a = true, .transpose_b = true}),
                product, {.atol = 1e-10}));
    const Tensor single = K::matmul(K::cast(x, "float32"), K::cast(y, "float32"));
    CHECK(close(K::cast(single, "float64"), product, {.atol = 1e-3}));
  }
}

TEST_CASE("matmul broadcasts the batch axes") {
  const Tensor x = normal({5, 1, 2, 3}, 1), y = normal({4, 3, 2}, 2);
  CHECK(K::int_shape(K::matmul(x, y)) == Shape{5, 4, 2, 2});
  CHECK(close(K::matmul(x, y), K::einsum("...ij,...jk->...ik", {x, y}), {.atol = 1e-12}));
  CHECK_THROWS_WITH_AS(K::matmul(x, x),
                       "[matmul] inner dimensions must agree: received a=(5, 1, 2, 3), b=(5, 1, 2, 3)",
                       ValueError);
}

TEST_CASE("batch_dot sums over the named axes, of which none may be the batch") {
  CHECK(K::int_shape(K::batch_dot(K::ones({32, 20, 1}), K::ones({32, 30, 20}), {1, 2})) == Shape{32, 1, 30});
  CHECK(K::int_shape(K::batch_dot(K::ones({4, 3}), K::ones({4, 3}))) == Shape{4, 1});
  CHECK_THROWS_WITH_AS(K::batch_dot(K::ones({2, 3}), K::ones({2, 3}), 0),
                       "[batch_dot] axis 0 is the batch and cannot be summed over: received axes=(0, 0)",
                       ValueError);
}

TEST_CASE("einsum agrees with products and transposes, and refuses equations that do not fit") {
  const Tensor x = normal({2, 3}, 1), y = normal({3, 4}, 2), z = normal({4, 2}, 3);
  CHECK(close(K::einsum("ij,jk,ki->", {x, y, z}),
              K::sum(K::dot(K::dot(x, y), z) * K::eye(2, {.dtype = "float64"})), {.atol = 1e-12}));
  CHECK(close(K::einsum("ij->ji", {x}), K::transpose(x), exactly));
  CHECK(close(K::einsum("ij,jk", {x, y}), K::dot(x, y), {.atol = 1e-12}));
  CHECK_THROWS_WITH_AS(
      K::einsum("ij,jk->iz", {x, y}),
      "[einsum] a letter of the result must occur in an operand, not 'z': received equation='ij,jk->iz'",
      ValueError);
  CHECK_THROWS_AS(K::einsum("ii", {K::eye(2)}), ValueError);
  CHECK_THROWS_AS(K::einsum("ij,jk", {x}), ValueError);
  CHECK_THROWS_AS(K::einsum("ij,jk", {x, x}), ValueError);
}

TEST_CASE("bias_add reshapes a full bias for channels_first") {
  const Tensor x = K::zeros({1, 3, 2});
  CHECK(K::bias_add(x, K::constant({1, 2, 3}), {.data_format = "channels_first"}).item<float>(0, 2, 1) == 3);
  CHECK(K::bias_add(x, K::constant({1, 2})).item<float>(0, 2, 1) == 2);
  CHECK_THROWS_WITH_AS(
      K::bias_add(x, K::ones({4})),
      "[bias_add] the bias must fit x: received x=(1, 3, 2), bias=(4,), data_format=\"channels_last\"",
      ValueError);
  CHECK_THROWS_WITH_AS(K::bias_add(x, K::ones({1})), doctest::Contains("received x=(1, 3, 2), bias=(1,)"),
                       ValueError);
  CHECK_THROWS_AS(K::bias_add(x, K::ones({2}), {.data_format = "NHWC"}), ValueError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"dot", [](In in) { return K::dot(in[0], in[1]); }, {normal({2, 3}), normal({4, 3, 2}, 2)}},
      {"batch_dot", [](In in) { return K::batch_dot(in[0], in[1], {2, 1}); }, {normal({2, 2, 3}), normal({2, 3, 2}, 2)}},
      {"bias_add", [](In in) { return K::bias_add(in[0], in[1]); }, {normal({2, 3}), normal({3}, 2)}},
      {"matmul", [](In in) { return K::matmul(in[0], in[1], {.transpose_b = true}); }, {normal({2, 2, 3}), normal({4, 3}, 2)}},
      {"einsum", [](In in) { return K::einsum("bij,bkj->bik", {in[0], in[1]}); }, {normal({2, 2, 3}), normal({2, 2, 3}, 2)}},
  };
});
// clang-format on

}  // namespace
