#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "../ops/check.hpp"

using doctest::Contains;
namespace K = ktape::backend;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor, ktape::TypeError, ktape::ValueError;

namespace {
Tensor of(const Shape& shape, ktape::DType dtype = "float32") {
  return K::placeholder({.shape = shape, .dtype = dtype});
}
}  // namespace

TEST_CASE("shapes broadcast as in NumPy") {
  CHECK(ktape::broadcast_shapes("add", {2, 3}, {3}) == Shape{2, 3});
  CHECK(ktape::broadcast_shapes("add", {2, 1}, {1, 3}) == Shape{2, 3});
  CHECK(ktape::broadcast_shapes("add", {}, {4}) == Shape{4});
  CHECK(ktape::broadcast_shapes("add", {0, 3}, {1, 3}) == Shape{0, 3});
  CHECK_THROWS_WITH_AS(ktape::broadcast_shapes("add", {2, 3}, {4, 3}),
                       "[add] shapes must broadcast: received x=(2, 3), y=(4, 3)", ValueError);
  CHECK_THROWS_AS(ktape::broadcast_shapes("add", {2, 0}, {2, 3}), ValueError);
}

TEST_CASE("broadcasting: the known extent decides unless it is 1") {
  CHECK(K::int_shape(of({None, 10}) - of({None, None})) == Shape{None, 10});
  CHECK(K::int_shape(of({None, 1}) * of({None, None})) == Shape{None, None});
  CHECK(K::int_shape(K::maximum(of({None}), of({4, 1}))) == Shape{4, None});
  CHECK(K::int_shape(K::greater(of({None}), of({7, 3}))) == Shape{7, 3});
  CHECK(K::int_shape(K::where(of({None, 1}, "bool"), of({1, None}), of({5}))) == Shape{None, 5});
  CHECK(K::int_shape(~of({None, 2}, "bool") & of({3, 1}, "bool")) == Shape{3, 2});
  CHECK_THROWS_WITH_AS(of({None, 2}) + of({None, 3}),
                       Contains("[add] shapes must broadcast: received x=(None, 2), y=(None, 3)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(of({None}) + of({None}, "float64"), Contains("must have one dtype"), TypeError);
}

TEST_CASE("reductions: the shape of the result") {
  const Tensor x = of({None, 3, None});
  CHECK(K::int_shape(K::sum(x, 1)) == Shape{None, None});
  CHECK(K::int_shape(K::mean(x, {0, 2}, true)) == Shape{1, 3, 1});
  CHECK(K::int_shape(K::max(x)) == Shape{});
  CHECK(K::int_shape(K::argmax(x, 0)) == Shape{3, None});
  CHECK(K::int_shape(K::l2_normalize(of({None, 3}), -1)) == Shape{None, 3});
  CHECK_THROWS_WITH_AS(K::sum(x, 3), Contains("received axis=3"), ValueError);
}

TEST_CASE("slices of an unknown extent are unknown, those of a known extent known") {
  CHECK(K::int_shape(of({None})[Slice(None, 2)]) == Shape{None});
  CHECK(K::int_shape(of({None})[Slice(-2, None)]) == Shape{None});
  CHECK(K::int_shape(of({None})[Slice(None, None, 3)]) == Shape{None});
  CHECK(K::int_shape(of({None, 5})[{1, Slice(None, 2)}]) == Shape{2});
  CHECK(K::int_shape(of({None, 5})[{Slice(3, 1), All}]) == Shape{0, 5});
  CHECK(K::int_shape(K::slice(of({None, 5}), {1, 2}, {3, -1})) == Shape{3, 3});
  CHECK(K::int_shape(K::slice(of({None, 5}), {1, 0}, {-1, 5})) == Shape{None, 5});
  const Tensor x = of({None});
  const auto f = K::function({x}, {x[Slice(None, 2)], x[Slice(-2, None)]});
  for (std::int64_t n : {0, 1, 2, 5})
    CHECK(f({K::ones({n})})[1].shape() == Shape{std::min<std::int64_t>(n, 2)});
}

TEST_CASE("reshape checks known extents at once, and the others when it runs") {
  CHECK(K::int_shape(K::reshape(of({None, 3}), {-1, 15})) == Shape{None, 15});
  CHECK(K::int_shape(K::reshape(of({4, 3}), {-1, 6})) == Shape{2, 6});
  CHECK(K::int_shape(K::batch_flatten(of({None, 2, 3}))) == Shape{None, 6});
  CHECK(K::int_shape(K::flatten(of({None, 0}))) == Shape{0});
  const Tensor x = of({None, 2}), y = K::reshape(x, {8, 1});
  CHECK(K::int_shape(y) == Shape{8, 1});
  const auto f = K::function({x}, {y});
  CHECK(f({K::ones({4, 2})})[0].shape() == Shape{8, 1});
  CHECK_THROWS_WITH_AS(f({K::ones({3, 2})}), Contains("[reshape] the shape must hold the 6 elements of x"),
                       ValueError);
  CHECK_THROWS_WITH_AS(K::reshape(of({None, 2}), {3, 1}),
                       Contains("[reshape] the shape must hold the elements of x: received x=(None, 2)"),
                       ValueError);
}

TEST_CASE("squeeze of an unknown extent is checked when it runs; unstack needs to know how many") {
  const Tensor x = of({None, None}), y = K::squeeze(x, 1);
  CHECK(K::int_shape(y) == Shape{None});
  const auto f = K::function({x}, {y});
  CHECK(f({K::ones({3, 1})})[0].shape() == Shape{3});
  CHECK_THROWS_WITH_AS(f({K::ones({3, 2})}), Contains("[squeeze] the axis must have extent 1"), ValueError);
  CHECK_THROWS_WITH_AS(K::unstack(x, 1), Contains("[unstack] the extent of the axis, and so the number of"),
                       ValueError);
  CHECK(K::unstack(of({None, 3}), 1).size() == 3);
}

TEST_CASE("joined, split and repeated extents are known where their parts are") {
  CHECK(K::int_shape(K::concatenate({of({None, 3}), of({None, None})}, 0)) == Shape{None, 3});
  CHECK(K::int_shape(K::concatenate({of({None, 3}), of({4, 2})}, 1)) == Shape{4, 5});
  CHECK(K::int_shape(K::stack({of({None, 2}), K::ones({5, 2})})) == Shape{2, 5, 2});
  const auto parts = K::split(of({None, 3}), 5);
  CHECK(parts.size() == 5);
  CHECK(K::int_shape(parts[4]) == Shape{None, 3});
  CHECK(K::int_shape(K::split(of({None, 3}), {2, 4})[1]) == Shape{4, 3});
  CHECK(K::int_shape(K::tile(of({None, 2}), {3, 2})) == Shape{None, 4});
  CHECK(K::int_shape(K::repeat_elements(of({None, 2}), 0, 0)) == Shape{0, 2});
  CHECK_THROWS_WITH_AS(K::stack({of({None, 2}), of({None, 3})}),
                       Contains("one shape: received (None, 2) and (None, 3)"), ValueError);
}

TEST_CASE("products: extents of which one is unknown are checked when they run") {
  CHECK(K::int_shape(K::dot(of({None, None}), K::ones({4, 2}))) == Shape{None, 2});
  CHECK(K::int_shape(K::batch_dot(of({None, 3}), of({4, None}))) == Shape{4, 1});
  CHECK(K::int_shape(K::matmul(of({None, 1, 2, 3}), of({7, None, 5}))) == Shape{None, 7, 2, 5});
  CHECK(K::int_shape(K::einsum("...ij,...jk->...ik", {of({None, 2, 3}), of({1, 3, None})})) ==
        Shape{None, 2, None});
  CHECK(K::int_shape(K::in_top_k(of({None, None}), of({4}, "int32"), 1)) == Shape{4});
  CHECK(K::int_shape(K::bias_add(of({2, None, None}), K::ones({3}))) == Shape{2, None, 3});
  CHECK(K::int_shape(K::clip(of({None, 2}), K::zeros({2}), K::ones({1}))) == Shape{None, 2});
  CHECK_THROWS_WITH_AS(K::dot(of({None, 3}), K::ones({4, 2})), Contains("received x=(None, 3), y=(4, 2)"),
                       ValueError);
}

TEST_CASE("in_top_k and bias_add check unknown samples, classes and channels when they run") {
  const Tensor scores = of({None, None}), targets = of({None}, "int32");
  const Tensor hits = K::in_top_k(scores, targets, 1);
  CHECK(K::int_shape(hits) == Shape{None});
  CHECK(K::int_shape(K::in_top_k(of({4, None}), targets, 1)) == Shape{4});
  CHECK_THROWS_WITH_AS(K::in_top_k(of({3, None}), of({4}, "int32"), 1),
                       Contains("received predictions=(3, None), targets=(4,)"), ValueError);
  const auto f = K::function({scores, targets}, {hits});
  CHECK(values(f({{{1.f, 3.f}, {5.f, 4.f}}, {1, 1}})[0]) == Values{1, 0});
  CHECK(values(f({{{1.f, 3.f, 4.f}, {6.f, 5.f, 5.f}, {1.f, 2.f, 1.f}}, {2, 0, 0}})[0]) == Values{1, 1, 0});
  CHECK_THROWS_WITH_AS(f({{{1.f, 3.f}, {5.f, 4.f}}, {1, 1, 1}}), Contains("[in_top_k]"), ValueError);

  const Tensor x = of({None, None, None}), bias = of({None});
  const Tensor last = K::bias_add(x, bias), first = K::bias_add(x, bias, {.data_format = "channels_first"});
  CHECK(K::int_shape(last) == Shape{None, None, None});
  CHECK(K::int_shape(K::bias_add(of({None, 4, None}), of({3}))) == Shape{None, 4, 3});
  CHECK(K::int_shape(K::bias_add(of({None, None, 5}), of({3}), {.data_format = "channels_first"})) ==
        Shape{None, 3, 5});
  CHECK_THROWS_WITH_AS(K::bias_add(of({None, None, 5}), of({3})), Contains("[bias_add]"), ValueError);
  const auto g = K::function({x, bias}, {last, first, K::gradients(K::sum(last), {bias})[0]});
  const auto out = g({K::zeros({1, 2, 2}), {1.f, 2.f}});
  CHECK(values(out[0]) == Values{1, 2, 1, 2});
  CHECK(values(out[1]) == Values{1, 1, 2, 2});
  CHECK(values(out[2]) == Values{2, 2});
  CHECK_THROWS_WITH_AS(g({K::zeros({1, 2, 3}), {1.f, 2.f}}), Contains("[bias_add]"), ValueError);
}

TEST_CASE("a shape that does not fit in memory is shown as given, with None") {
  constexpr std::int64_t huge = std::int64_t{1} << 30;
  CHECK_THROWS_WITH_AS(
      of({None, huge, huge}),
      "[placeholder] the tensor must fit in memory: received shape=(None, 1073741824, 1073741824)",
      ValueError);
  CHECK_THROWS_WITH_AS(K::resize_images(of({None, 2, 2, 1}), huge, huge, "channels_last"),
                       Contains("shape=(None, 2147483648, 2147483648, 1)"), ValueError);
}
