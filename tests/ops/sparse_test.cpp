#include <ktape/ktape.hpp>

#include <sstream>

#include "catalogue.hpp"
#include "check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

const ArrayLike corners = {{0, 1}, {1, 0}, {1, 2}};

/// 0 5 0
/// 6 0 7
SparseTensor example() { return SparseTensor(corners, {5.f, 6.f, 7.f}, {2, 3}); }

}  // namespace

TEST_CASE("a sparse tensor stores coordinates and values") {
  const SparseTensor s = example();
  CHECK(K::is_sparse(s));
  CHECK_FALSE(K::is_sparse(K::ones({2})));
  CHECK(s.indices().dtype() == "int64");
  CHECK(values(s.values()) == Values{5, 6, 7});
  CHECK(K::int_shape(s) == Shape{2, 3});
  CHECK(K::ndim(s) == 2);
  CHECK(K::dtype(s) == "float32");
  CHECK(SparseTensor(K::constant({{0}}, {.dtype = "uint8"}), doubles({1}), {4}).dtype() == "float64");
}

TEST_CASE("to_dense writes the zeros out") {
  CHECK(values(K::to_dense(example())) == Values{0, 5, 0, 6, 0, 7});
  CHECK(K::eval(example())(1, 2) == 7.f);
  const Tensor dense = K::ones({2});
  CHECK(K::to_dense(dense).raw() == dense.raw());
  const SparseTensor bits({{1}}, K::constant({true}), {3});
  CHECK(K::to_dense(bits).dtype() == "bool");
  CHECK(values(K::to_dense(bits)) == Values{0, 1, 0});
  CHECK(values(K::to_dense(SparseTensor(K::zeros({0, 2}, {.dtype = "int32"}), K::zeros({0}), {1, 2}))) ==
        Values{0, 0});
  check_gradients(
      [](In in) {
        return K::square(K::to_dense(SparseTensor(corners, in[0], {2, 3})));
      },
      {normal({3})});
}

TEST_CASE("a sparse tensor is checked when it is made") {
  CHECK_THROWS_WITH_AS(
      SparseTensor({{0, 1}, {2, 0}}, {1.f, 2.f}, {2, 2}),
      "[SparseTensor] coordinates must lie inside of dense_shape=(2, 2): received (2, 0) in row 1 of "
      "indices",
      ValueError);
  CHECK_THROWS_AS(SparseTensor({{0, -1}}, {1.f}, {2, 2}), ValueError);
  CHECK_THROWS_WITH_AS(
      SparseTensor({{0, 1}, {0, 1}}, {1.f, 2.f}, {2, 2}),
      "[SparseTensor] coordinates must not repeat: received (0, 1) in rows 0 and 1 of indices", ValueError);
  CHECK_THROWS_WITH_AS(
      SparseTensor({{1, 0}, {0, 1}}, {1.f, 2.f}, {2, 2}),
      "[SparseTensor] coordinates must be in row-major order: received (0, 1) after (1, 0) in row 1 "
      "of indices",
      ValueError);
  CHECK_THROWS_WITH_AS(SparseTensor({{0, 1}}, {1.f, 2.f}, {2, 2}),
                       "[SparseTensor] indices must have a row of 2 coordinates for each value: received "
                       "indices=(1, 2), values=(2,), dense_shape=(2, 2)",
                       ValueError);
  CHECK_THROWS_AS(SparseTensor({{0}}, {1.f}, {2, 2}), ValueError);
  CHECK_THROWS_AS(SparseTensor({{0}}, {1.f}, {-2}), ValueError);
  CHECK_THROWS_WITH_AS(SparseTensor(K::zeros({1, 1}), {1.f}, {2}),
                       "[SparseTensor] indices must be integers: received indices=float32", TypeError);
}

TEST_CASE("a sparse tensor prints its parts") {
  std::ostringstream text;
  text << example();
  CHECK(text.str() ==
        "SparseTensor(indices=tensor([[0, 1],\n"
        "                             [1, 0],\n"
        "                             [1, 2]], shape=(3, 2), dtype=int64),\n"
        "             values=tensor([5., 6., 7.], shape=(3,), dtype=float32),\n"
        "             dense_shape=(2, 3))");
}

TEST_CASE("dot multiplies the stored elements only") {
  const Tensor y = K::constant({{1, 2}, {3, 4}, {5, 6}});
  CHECK(values(K::dot(example(), y)) == Values{15, 20, 41, 54});
  const SparseTensor empty(K::zeros({0, 2}, {.dtype = "int64"}), K::zeros({0}), {2, 3});
  CHECK(values(K::dot(empty, y)) == Values{0, 0, 0, 0});
  for (const char* dtype : {"uint8", "int32", "int64", "float16", "float64"}) {
    const SparseTensor s(corners, K::cast(example().values(), dtype), {2, 3});
    CHECK(K::dot(s, K::cast(y, dtype)).dtype() == dtype);
    CHECK(values(K::dot(s, K::cast(y, dtype))) == Values{15, 20, 41, 54});
  }
  CHECK_THROWS_WITH_AS(K::dot(example(), K::ones({2, 2})),
                       "[dot] the inner extents must agree: received x=(2, 3), y=(2, 2)", ValueError);
  CHECK_THROWS_WITH_AS(K::dot(example(), K::ones({3})),
                       "[dot] a sparse x and y must have rank 2: received x=(2, 3), y=(3,)", ValueError);
  CHECK_THROWS_WITH_AS(K::dot(example(), doubles({{1}, {2}, {3}})),
                       "[dot] x and y must have one dtype: received x=float32, y=float64", TypeError);
}

TEST_CASE("dot agrees with the dense product, large and in parallel") {
  const Tensor mask = K::random_bernoulli({300, 200}, {.p = 0.1, .seed = 4});
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < 300; ++i)
    for (std::int64_t j = 0; j < 200; ++j)
      if (mask.item(i, j) != 0) places.insert(places.end(), {i, j});
  const Tensor indices = K::reshape(K::constant(places, {.dtype = "int64"}), {-1, 2});
  const Variable weights = K::variable(normal({indices.shape()[0]})), y = K::variable(normal({200, 70}, 2));
  const SparseTensor s(indices, weights, {300, 200});
  const Tensor product = K::dot(s, y), dense = K::dot(K::to_dense(s), y), g = normal({300, 70}, 3);
  CHECK(close(product, dense, {.atol = 1e-12}));
  const auto ours = K::gradients(product * g, {weights, y}), theirs = K::gradients(dense * g, {weights, y});
  for (int i : {0, 1}) CHECK(close(ours[i], theirs[i], {.atol = 1e-11}));
}

TEST_CASE("gradients of dot flow to the values and to the dense side") {
  check_gradients(
      [](In in) {
        return K::square(K::dot(SparseTensor(corners, in[0], {2, 3}), in[1]));
      },
      {normal({3}), normal({3, 2}, 2)});
}

TEST_CASE("sparse tensors concatenate to a sparse one") {
  const SparseTensor a = example(), b({{0, 0}, {1, 1}}, {1.f, 2.f}, {2, 2});
  const SparseTensor wide = K::concatenate({a, b}, 1);
  CHECK(wide.shape() == Shape{2, 5});
  CHECK(values(wide.indices()) == Values{0, 1, 0, 3, 1, 0, 1, 2, 1, 4});
  CHECK(values(wide.values()) == Values{5, 1, 6, 7, 2});
  CHECK(K::concatenate({b, b, b}).shape() == Shape{2, 6});
  CHECK(values(K::to_dense(K::concatenate({b, b}, 0))) == Values{1, 0, 0, 2, 1, 0, 0, 2});
  CHECK_THROWS_WITH_AS(K::concatenate({a, b}, 0),
                       "[concatenate] the shapes must agree in all axes but 0: received (2, 3) and (2, 2)",
                       ValueError);
  CHECK_THROWS_AS(K::concatenate({a, SparseTensor({{0}}, {1.f}, {2})}), ValueError);
  CHECK_THROWS_AS(K::concatenate({a, SparseTensor({{0, 0}}, doubles({1}), {2, 2})}), TypeError);
  CHECK_THROWS_AS(K::concatenate(std::vector<SparseTensor>{}), ValueError);
  check_gradients(
      [](In in) {
        const SparseTensor left(corners, in[0], {2, 3}), right({{1, 0}}, in[1], {2, 1});
        return K::square(K::concatenate({right, left}).values());
      },
      {normal({3}), normal({1}, 2)});
}

TEST_CASE("a sparse tensor that was never made is refused by name") {
  const SparseTensor none;
  CHECK_THROWS_WITH_AS(K::to_dense(none),
                       "[to_dense] x must be a tensor: received an undefined tensor (None)", ValueError);
  CHECK_THROWS_WITH_AS(K::dot(none, K::ones({2, 2})), doctest::Contains("[dot] x must be a tensor"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::concatenate(std::vector<SparseTensor>{none}),
                       doctest::Contains("[concatenate] a tensor must be"), ValueError);
}

TEST_CASE("the parts of a sparse tensor must have values") {
  const Tensor later = K::placeholder({.shape = {1, 2}, .dtype = "int64", .name = "corners"});
  CHECK_THROWS_WITH_AS(SparseTensor(later, {1.f}, {2, 2}), doctest::Contains("corners"), ValueError);
}

TEST_CASE("a mixed list becomes dense") {
  const Variable column = K::variable({{8}, {9}});
  const Tensor both = K::concatenate({example(), column}, 1);
  CHECK(values(K::concatenate_mixed({example(), column}, 1)) == values(both));
  CHECK(values(both) == Values{0, 5, 0, 8, 6, 0, 7, 9});
  CHECK(values(K::concatenate({Tensor(column), Tensor(column), example()})) ==
        Values{8, 8, 0, 5, 0, 9, 9, 6, 0, 7});
  CHECK(K::gradients(both, {column})[0].defined());
}

TEST_CASE("a sparse variable changes its values") {
  SparseVariable s = K::variable(example(), {.name = "links"});
  CHECK(s.values().name() == "links");
  CHECK(K::is_sparse(s));
  const Tensor y = K::ones({3, 1});
  const Tensor slope = K::gradients(K::sum(K::dot(s, y)), {s.values()})[0];
  CHECK(values(slope) == Values{1, 1, 1});
  K::update_sub(s.values(), 2 * slope);
  CHECK(values(K::to_dense(s)) == Values{0, 3, 0, 4, 0, 5});
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"to_dense",
       [](In in) { return K::square(K::to_dense(ktape::SparseTensor({{0, 1}, {2, 0}}, in[0], {3, 2}))); },
       {normal({2})}},
      {"dot",
       [](In in) { return K::dot(ktape::SparseTensor({{0, 1}, {2, 0}}, in[0], {3, 2}), in[1]); },
       {normal({2}), normal({2, 3}, 2)}},
      {"concatenate_mixed",
       [](In in) { return K::concatenate_mixed({ktape::SparseTensor({{0, 1}, {2, 0}}, in[0], {3, 2}), in[1]}, 1); },
       {normal({2}), normal({3, 1}, 2)}},
      // What a tensor is.
      {"is_sparse", no_gradient},
  };
});
// clang-format on

}  // namespace
