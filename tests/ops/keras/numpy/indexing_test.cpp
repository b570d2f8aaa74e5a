#include <doctest/doctest.h>
#include <ktape/autograd/symbol.hpp>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/sets.hpp>
#include <ktape/ops/operators.hpp>

#include <limits>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor, ktape::TypeError, ktape::ValueError;

TEST_CASE("ops: indices out of range are named, negative ones count from the end") {
  const Tensor x = doubles({{1., 2., 3.}, {4., 5., 6.}});
  CHECK(values(ops::take(x, ints({-1, 0}), 1)) == Values{3, 1, 6, 4});
  CHECK_THROWS_WITH_AS(ops::take(x, ints({3}), 1), "[take] indices must be in [-3, 3): received index=3",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::take(x, doubles({1.})),
                       "[take] indices must be integers: received indices=float64", TypeError);
  CHECK_THROWS_WITH_AS(ops::take_along_axis(x, ints({1}), 1),
                       "[take_along_axis] x and indices must have one rank: received x=(2, 3), indices=(1,)",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::scatter(ints({{4}}), doubles({1.}), {4}),
                       "[scatter] indices of axis 0 must be in [-4, 4): received index=4", ValueError);
  CHECK_THROWS_WITH_AS(
      ops::slice_update(x, {1, 1}, doubles({{1., 2., 3.}})),
      "[slice_update] the block must lie in the inputs=(2, 3): received start_indices=(1, 1), "
      "updates=(1, 3)",
      ValueError);
  CHECK_THROWS_WITH_AS(
      ops::scatter_update(x, ints({{0}}), doubles({{1., 2., 3.}}), "mean"),
      "[scatter_update] reduction must be None, \"add\", \"max\", \"min\" or \"mul\": received "
      "reduction=\"mean\"",
      ValueError);
  CHECK_THROWS_WITH_AS(ops::unravel_index(ints({6}), {2, 3}),
                       "[unravel_index] indices must be in [-6, 6): received index=6", ValueError);
  CHECK(ops::take(K::zeros({0, 3}), ints({1}), 1).shape() == Shape{0, 1});
}

TEST_CASE("ops: one hot rows, also for indices that are no class") {
  CHECK(values(ops::one_hot(ints({1, -1, 5}), 2)) == Values{0, 1, 0, 0, 0, 0});
  CHECK(ops::one_hot(ints({{0, 1}}), 3, 1).shape() == Shape{1, 3, 2});
  CHECK(values(ops::multi_hot(ints({2, 0, 2}), 3)) == Values{1, 0, 1});
  CHECK(values(ops::in_top_k(ints({1, 0}), doubles({{0.1, 0.9}, {0.2, 0.8}}), 1)) == Values{1, 0});
}

TEST_CASE("ops: in_top_k of targets of any rank") {
  const Tensor scores = doubles({{{0.1, 0.9, 0.8, 0.8}, {0.05, 0.95, 0., 1.}},
                                 {{0.9, 0.1, 0.8, 0.8}, {0.1, 0.8, 0.3, 1.}}}),
               targets = ints({{1, 2}, {0, 3}}, "uint8");
  const Tensor found = ops::in_top_k(targets, scores, 2);
  CHECK(found.dtype() == "bool");
  CHECK(found.shape() == Shape{2, 2});
  CHECK(values(found) == Values{1, 0, 1, 1});
  CHECK(values(ops::in_top_k(ints(1), doubles({0.2, 0.8}), 1)) == Values{1});
  CHECK(values(ops::in_top_k(ints({{1}}), doubles({{{0.1, NAN, 0.5}}}), 2)) == Values{0});
  CHECK_THROWS_WITH_AS(ops::in_top_k(ints({{1, 2, 0}}), scores, 1),
                       "[in_top_k] predictions must have the axes of targets, then the classes: received "
                       "targets=(1, 3), predictions=(2, 2, 4)",
                       ValueError);
  const Tensor open = K::placeholder({.shape = Shape{None, None}, .dtype = "int32"});
  const Tensor promised = ops::in_top_k(open, scores, 2);
  CHECK(values(K::function({open}, {promised})({K::cast(targets, "int32")})[0]) == Values{1, 0, 1, 1});
}

TEST_CASE("ops: updates take the dtype of the inputs") {
  const Tensor zeros = K::zeros({4}, {.dtype = "int32"}), at = ints({{1}, {3}}),
               updates = doubles({1.5, -2.5});
  for (const char* reduction : {"add", "max", "min", "mul"})
    CHECK(ops::scatter_update(zeros, at, updates, reduction).dtype() == "int32");
  CHECK(values(ops::scatter_update(zeros, at, updates)) == Values{0, 1, 0, -2});
  CHECK(values(ops::scatter_update(doubles({1., 2.}), ints({{0}}), ints({7}))) == Values{7, 2});
  CHECK(values(ops::scatter_update(K::zeros({2}, {.dtype = "bool"}), ints({{0}}), ints({7}))) ==
        Values{1, 0});
  CHECK(values(ops::slice_update(zeros, {1}, updates)) == Values{0, 1, -2, 0});
  CHECK(ops::slice_update(K::zeros({2}, {.dtype = "float16"}), {0}, updates).dtype() == "float16");
  const Tensor open = K::placeholder({.shape = Shape{4}});
  CHECK(ops::slice_update(open, {0}, updates).dtype() == open.dtype());
  CHECK(values(K::function({open}, {ops::scatter_update(open, at, updates)})({K::zeros({4})})[0]) ==
        Values{0, 1.5, 0, -2.5});
}

TEST_CASE("ops: sorted sequences, counts and sets") {
  const Tensor bins = doubles({0., 1., 2.5});
  CHECK(values(ops::searchsorted(bins, doubles({1., 3., -1.}))) == Values{1, 3, 0});
  CHECK(values(ops::searchsorted(bins, doubles({1., std::numeric_limits<double>::quiet_NaN()}), "right")) ==
        Values{2, 3});
  CHECK(values(ops::digitize(doubles({1., 0.5, 9.}), bins)) == Values{2, 1, 3});
  CHECK(values(ops::digitize(doubles({1., 0.5, 9.}), doubles({2.5, 1., 0.}))) == Values{1, 2, 0});
  CHECK_THROWS_WITH_AS(ops::searchsorted(K::zeros({2, 2}), bins),
                       "[searchsorted] sorted_sequence must be a vector: received sorted_sequence=(2, 2)",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::bincount(ints({1, -2})), "[bincount] x must not be negative: received -2",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::histogram(bins, 0), "[histogram] bins must be at least 1: received bins=0",
                       ValueError);
  CHECK_THROWS_AS(ops::histogram(doubles({1., std::numeric_limits<double>::infinity()})), ValueError);
  const auto nans =
      doubles({1., std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()});
  CHECK(ops::unique(nans)[0].size() == 3);
  CHECK(values(ops::isin(ints({1, 2}), ints({2, 9}))) == Values{0, 1});
  CHECK(values(ops::nonzero(doubles({0., 2., -1.}))[0]) == Values{1, 2});
}

TEST_CASE("ops: sets of numbers in a small and in a large range") {
  using Whole = std::numeric_limits<std::int64_t>;
  std::int64_t far = 4;
  SUBCASE("small") {}
  SUBCASE("large") { far = Whole::max(); }
  const Tensor x = ints({far, -2, 3, -2, 0, 3, far, -2}, "int64");
  const auto found = ops::unique(x, {.return_index = true, .return_inverse = true, .return_counts = true});
  CHECK(found[0].item<std::int64_t>(3) == far);
  CHECK(values(ops::unique(x)[0] - far) == values(found[0] - far));
  CHECK(values(found[1]) == Values{1, 4, 2, 0});
  CHECK(values(found[2]) == Values{3, 0, 2, 0, 1, 2, 3, 0});
  CHECK(values(found[3]) == Values{3, 1, 2, 2});
  CHECK(ops::unique(ints({Whole::max(), Whole::min(), Whole::max()}, "int64"))[0].size() == 2);
  CHECK(ops::unique(K::zeros({0}, {.dtype = "int64"}))[0].size() == 0);
}

TEST_CASE("ops: results of unknown length are computed when a graph runs") {
  const Tensor x = K::placeholder({None});
  const Tensor unique = ops::unique(x)[0], places = ops::nonzero(x)[0], counts = ops::where(x > 1)[0];
  CHECK(unique.shape() == Shape{None});
  const auto results = K::function({x}, {unique, places, counts})({{3.f, 0.f, 3.f}});
  CHECK(values(results[0]) == Values{0, 3});
  CHECK(values(results[1]) == Values{0, 2});
  CHECK(values(results[2]) == Values{0, 2});
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  const Tensor x = normal({3, 4}), u = normal({2, 4}, 2), v = normal({4}), rows = ints({{2}, {0}}), twice = ints({{1}, {1}});
  return {
      {"ops::take", [](In in) { return ops::take(in[0], ints({{-1, 0}, {2, 2}}), 1); }, {x}},
      {"ops::take_along_axis", [](In in) { return ops::take_along_axis(in[0], ints({{2}, {-1}, {0}}), 1); }, {x}},
      {"ops::get_item", [](In in) { return ops::get_item(in[0], {Slice(1, None), -1}); }, {x}},
      {"ops::slice", [](In in) { return ops::slice(in[0], {1, 0}, {2, 3}); }, {x}},
      {"ops::slice_update", of2([](const Tensor& a, const Tensor& b) { return ops::slice_update(a, {1, 0}, b); }), {x, u}},
      {"ops::scatter", [=](In in) { return ops::scatter(twice, in[0], {3, 4}); }, {u}},
      {"ops::scatter_update", of2([=](const Tensor& a, const Tensor& b) { return ops::scatter_update(a, rows, b); }), {x, u}},
      {"ops::scatter_update", of2([=](const Tensor& a, const Tensor& b) { return ops::scatter_update(a, twice, b); }), {x, u}},
      {"ops::scatter_update", of2([=](const Tensor& a, const Tensor& b) { return ops::scatter_update(a, twice, b, "add"); }), {x, u}},
      {"ops::scatter_update", of2([=](const Tensor& a, const Tensor& b) { return ops::scatter_update(a, twice, b, "max"); }), {x, u}},
      {"ops::scatter_update", of2([=](const Tensor& a, const Tensor& b) { return ops::scatter_update(a, twice, b, "min"); }), {x, u}},
      {"ops::scatter_update", of2([=](const Tensor& a, const Tensor& b) { return ops::scatter_update(a, twice, b, "mul"); }), {x, u}},
      {"ops::top_k", [](In in) { return ops::top_k(in[0], 2).values; }, {x}},
      {"ops::bincount", [](In in) { return ops::bincount(ints({0, 2, 2, 1}), in[0]); }, {v}},
      {"ops::in_top_k", no_gradient}, {"ops::one_hot", no_gradient}, {"ops::multi_hot", no_gradient}, {"ops::nonzero", no_gradient},
      {"ops::unravel_index", no_gradient}, {"ops::searchsorted", no_gradient}, {"ops::digitize", no_gradient},
      {"ops::histogram", no_gradient}, {"ops::unique", no_gradient}, {"ops::isin", no_gradient},
  };
});
// clang-format on

}  // namespace

TEST_CASE("ops: one hot takes whole floats, and a graph does, too") {
  const Tensor x = doubles({2., 0.});
  CHECK(values(ops::one_hot(x, 3)) == Values{0, 0, 1, 1, 0, 0});
  CHECK(values(ops::multi_hot(x, 3)) == Values{1, 0, 1});
  CHECK_THROWS_WITH_AS(ops::one_hot(doubles({0.5}), 3),
                       "[one_hot] an index must be a whole number: received index=0.5", ValueError);
  CHECK_THROWS_WITH_AS(ops::multi_hot(doubles({0.5}), 3),
                       "[multi_hot] an index must be a whole number: received index=0.5", ValueError);
  const Tensor in = K::placeholder({.shape = {None}, .dtype = "float64"});
  const K::Function f = K::function({in}, {ops::one_hot(in, 3)});
  CHECK(values(f({x})[0]) == Values{0, 0, 1, 1, 0, 0});
  CHECK_THROWS_AS(f({doubles({0.5})}), ValueError);
}
