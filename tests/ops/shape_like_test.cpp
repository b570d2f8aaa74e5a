#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "check.hpp"

using doctest::Contains;
namespace K = ktape::backend;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError;

TEST_CASE("an empty symbolic shape defers the op, too") {
  const Tensor p = K::placeholder({None, 0});
  const Tensor y = K::reshape(p, K::shape(p));
  CHECK(K::int_shape(y) == Shape{None, 0});
  CHECK(K::function({p}, {y})({K::ones({3, 0})})[0].shape() == Shape{3, 0});
}

TEST_CASE("a shape may be a tensor, or a list with tensors in it") {
  const Tensor x = K::ones({2, 3});
  CHECK(K::zeros(K::shape(x)).shape() == Shape{2, 3});
  CHECK(K::ones({K::shape(x)[0], 4}).shape() == Shape{2, 4});
  CHECK(values(K::full(K::constant({2}, {.dtype = "int64"}), 7)) == Values{7, 7});
  CHECK(K::random_normal(K::shape(x)).shape() == Shape{2, 3});
  CHECK(K::random_uniform({3, K::shape(x)[1]}).shape() == Shape{3, 3});
  CHECK(values(K::eye(K::shape(x)[0])) == Values{1, 0, 0, 1});
  CHECK(values(K::arange(K::shape(x)[1])) == Values{0, 1, 2});
  CHECK(values(K::arange(1, K::shape(x)[1])) == Values{1, 2});
  CHECK(K::zeros(3).shape() == Shape{3});
  CHECK(K::zeros({}).shape() == Shape());
}

TEST_CASE("a tensor that cannot be a shape is refused") {
  CHECK_THROWS_WITH_AS(
      K::zeros(K::ones({2})),
      Contains("[shape] a tensor in the place of a shape must hold integers: received dtype=float32"),
      TypeError);
  CHECK_THROWS_WITH_AS(K::zeros(K::ones({2, 2}, {.dtype = "int32"})),
                       Contains("must be a list of known length: received shape=(2, 2)"), ValueError);
  CHECK_THROWS_WITH_AS(K::zeros({K::ones({2}, {.dtype = "int32"}), 3}),
                       Contains("[shape] an extent must be one number"), ValueError);
  CHECK_THROWS_AS(K::zeros(K::constant({-2, 3}, {.dtype = "int32"})), ValueError);
  const Tensor unknown = K::placeholder({.shape = {None}, .dtype = "int32"});
  CHECK_THROWS_WITH_AS(K::zeros(unknown), Contains("known length: received shape=(None,)"), ValueError);
}

TEST_CASE("sampling with an unknown batch draws new numbers at each call of a function") {
  const Tensor z = K::placeholder({None, 3}), n = K::placeholder({.shape = ktape::Shape(), .dtype = "int32"});
  const std::vector<Tensor> drawn{
      K::random_normal(K::shape(z)),
      K::random_normal({K::shape(z)[0], 2}),
      K::random_uniform(K::shape(z)),
      K::truncated_normal(K::shape(z)),
      K::random_bernoulli(K::shape(z), {.p = 0.5}),
      K::random_uniform({n, 5}, {.minval = 0, .maxval = 1000000, .dtype = "int32"})};
  const std::vector<Shape> known{{None, 3}, {None, 2}, {None, 3}, {None, 3}, {None, 3}, {None, 5}};
  for (std::size_t i = 0; i < drawn.size(); ++i) CHECK(K::int_shape(drawn[i]) == known[i]);
  CHECK(K::dtype(drawn[5]) == "int32");
  const auto f = K::function({z, n}, drawn);
  const auto first = f({K::ones({20, 3}), 30}), second = f({K::ones({20, 3}), 30});
  CHECK(first[1].shape() == Shape{20, 2});
  CHECK(first[5].shape() == Shape{30, 5});
  for (std::size_t i = 0; i < drawn.size(); ++i) CHECK(values(first[i]) != values(second[i]));
  CHECK_THROWS_AS(f({K::ones({20, 3}), -1}), ValueError);
}

TEST_CASE("a seed fixes the random numbers, and bad parameters are found when the graph is built") {
  const Tensor z = K::placeholder({None, 3});
  const auto f = K::function({z}, {K::random_normal(K::shape(z), {.seed = 5})});
  const Tensor eager = K::random_normal({4, 3}, {.seed = 5});
  CHECK(values(f({K::ones({4, 3})})[0]) == values(eager));
  CHECK_THROWS_WITH_AS(K::random_normal(K::shape(z), {.stddev = -1}), Contains("[random_normal] stddev"),
                       ValueError);
  CHECK_THROWS_AS(K::random_normal({K::shape(z)[0], -3}), ValueError);
}

TEST_CASE("without a symbolic shape, numbers are drawn once, when the expression is written") {
  const Tensor z = K::placeholder({None});
  const auto f = K::function({z}, {z + K::random_normal({1})});
  CHECK(values(f({{0.f}})[0]) == values(f({{0.f}})[0]));
}

TEST_CASE("zeros, ones, full, eye and arange take their shape from a tensor when the function runs") {
  const Tensor x = K::placeholder({None, 3});
  const std::vector<Tensor> made{K::zeros(K::shape(x)),
                                 K::ones({2, K::shape(x)[0]}),
                                 K::full(K::shape(x), 5, "int32"),
                                 K::eye(K::shape(x)[0]),
                                 K::eye(K::shape(x)),
                                 K::arange(K::shape(x)[0]),
                                 K::arange(0, K::shape(x)[0] * 2, 2)};
  const std::vector<Shape> known{{None, 3}, {2, None}, {None, 3}, {None, None}, {None, 3}, {None}, {None}};
  for (std::size_t i = 0; i < made.size(); ++i) CHECK(K::int_shape(made[i]) == known[i]);
  const auto out = K::function({x}, made)({K::ones({2, 3})});
  CHECK(values(out[0]) == Values(6, 0));
  CHECK(out[1].shape() == Shape{2, 2});
  CHECK(values(out[2]) == Values(6, 5));
  CHECK(values(out[3]) == Values{1, 0, 0, 1});
  CHECK(values(out[4]) == Values{1, 0, 0, 0, 1, 0});
  CHECK(values(out[5]) == Values{0, 1});
  CHECK(K::dtype(out[5]) == "int32");
  CHECK(values(out[6]) == Values{0, 2});
}

TEST_CASE("the elements of a shape tensor are known after indexing, stack, concatenate and cast") {
  const Tensor x = K::placeholder({None, 3, 4});
  const Tensor s = K::shape(x);
  CHECK(K::int_shape(K::zeros(s[{ktape::Slice(1, 3)}])) == Shape{3, 4});
  CHECK(K::int_shape(K::zeros(K::concatenate({s, K::constant({7}, {.dtype = "int32"})}))) ==
        Shape{None, 3, 4, 7});
  CHECK(K::int_shape(K::zeros(K::stack({s[2], s[0]}))) == Shape{4, None});
  CHECK(K::int_shape(K::zeros(K::cast(s, "int64"))) == Shape{None, 3, 4});
  CHECK(K::int_shape(K::zeros(s * 2)) == Shape{None, None, None});
}

TEST_CASE("reshape and tile take tensors, eager and symbolic") {
  const Tensor a = counted({2, 6}), b = K::zeros({3, 4});
  CHECK(K::reshape(a, K::shape(b)).shape() == Shape{3, 4});
  CHECK(K::reshape(a, {K::shape(b)[1], -1}).shape() == Shape{4, 3});
  CHECK(K::tile(a, K::constant({1, 2}, {.dtype = "int32"})).shape() == Shape{2, 12});
  CHECK(K::tile(counted({2}), 2).shape() == Shape{4});

  const Tensor x = K::placeholder({None, 6}), y = K::placeholder({None, 4});
  const std::vector<Tensor> made{
      K::reshape(x, K::shape(y)),          K::reshape(x, {K::shape(x)[0], 2, 3}),
      K::reshape(x, {K::shape(y)[0], -1}), K::reshape(K::ones({2, 6}), {K::shape(y)[0], 4}),
      K::tile(x, {K::shape(y)[0], 1}),     K::tile(K::ones({2}), K::shape(y)[0])};
  const std::vector<Shape> known{{None, 4}, {None, 2, 3}, {None, None}, {3, 4}, {None, 6}, {None}};
  for (std::size_t i = 0; i < made.size(); ++i) CHECK(K::int_shape(made[i]) == known[i]);
  const auto f = K::function({x, y}, made);
  const auto out = f({K::ones({2, 6}), K::ones({3, 4})});
  const std::vector<Shape> shapes{{3, 4}, {2, 2, 3}, {3, 4}, {3, 4}, {6, 6}, {6}};
  for (std::size_t i = 0; i < made.size(); ++i) CHECK(out[i].shape() == shapes[i]);
  CHECK_THROWS_WITH_AS(f({K::ones({2, 6}), K::ones({5, 4})}), Contains("[reshape]"), ValueError);
  CHECK_THROWS_AS(K::reshape(K::ones({2, 6}), {K::shape(y)[0], 5}), ValueError);
  CHECK_THROWS_AS(K::reshape(K::placeholder({None, 0}), {5}), ValueError);
}

TEST_CASE("the gradient of a reshape by a tensor reaches x") {
  const Tensor x = K::placeholder({None, 2});
  const Tensor y = K::reshape(x, {2, K::shape(x)[0]});
  const auto f = K::function({x}, K::gradients(K::sum(y * y), {x}));
  CHECK(values(f({{{1.f, 2.f}, {3.f, 4.f}}})[0]) == Values{2, 4, 6, 8});
}

TEST_CASE("the noise of dropout may take its shape from a tensor") {
  const Tensor x = K::placeholder({None, 50, 2});
  const Tensor y = K::dropout(x, 0.5, {.noise_shape = {K::shape(x)[0], 1, K::shape(x)[2]}});
  CHECK(K::int_shape(y) == Shape{None, 50, 2});
  const Tensor out = K::function({x}, {y})({K::ones({30, 50, 2})})[0];
  CHECK(values(K::max(out, 1)) == values(K::min(out, 1)));
}
