#include <ktape/ktape.hpp>

#include <limits>

#include "catalogue.hpp"
#include "check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

constexpr double NaN = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                       highest = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("positions remove axes, slices keep them") {
  const Tensor x = counted({3, 4});
  CHECK(values(x[1]) == Values{4, 5, 6, 7});
  CHECK(x[{1, -1}].shape() == Shape{});
  CHECK(x[{1, -1}].item<double>() == 7);
  CHECK(values(x[{Slice(0, 2), Slice(1, 3)}]) == Values{1, 2, 5, 6});
  CHECK(values(x[{All, 3}]) == Values{3, 7, 11});
  CHECK(x[{}].shape() == x.shape());
  const Variable v = K::variable({{1.f, 2.f}, {3.f, 4.f}});
  CHECK(v[{1, 0}].item() == 3.f);
  CHECK(values(K::index(x, std::vector<Index>{2, Slice(3, None)})) == Values{11});
}

TEST_CASE("slices work as in Python") {
  const Tensor x = counted({5});
  CHECK(values(x[Slice(1, None)]) == Values{1, 2, 3, 4});
  CHECK(values(x[Slice(None, -2)]) == Values{0, 1, 2});
  CHECK(values(x[Slice(-2, None)]) == Values{3, 4});
  CHECK(values(x[Slice(None, None, 2)]) == Values{0, 2, 4});
  CHECK(values(x[Slice(None, None, -1)]) == Values{4, 3, 2, 1, 0});
  CHECK(values(x[Slice(3, None, -2)]) == Values{3, 1});
  CHECK(values(x[Slice(-1, 1, -1)]) == Values{4, 3, 2});
  CHECK(values(x[Slice(2, 0, -1)]) == Values{2, 1});
  CHECK(values(x[Slice(-100, 100)]) == Values{0, 1, 2, 3, 4});
  CHECK(values(x[Slice(100, -100, -3)]) == Values{4, 1});
  CHECK(x[Slice(3, 1)].shape() == Shape{0});
  CHECK(x[Slice(7, 9)].shape() == Shape{0});
  CHECK(values(x[Slice(1, None, highest)]) == Values{1});
  CHECK(values(x[Slice(None, None, lowest)]) == Values{4});
  CHECK(values(x[Slice(lowest, highest)]) == Values{0, 1, 2, 3, 4});
  CHECK(K::zeros({0})[Slice(None, None, -1)].shape() == Shape{0});
}

TEST_CASE("NewAxis adds an axis of extent 1, the ellipsis takes the axes that are not named") {
  const Tensor x = counted({2, 3, 4});
  CHECK(x[NewAxis].shape() == Shape{1, 2, 3, 4});
  CHECK(x[{All, None, 1}].shape() == Shape{2, 1, 4});
  CHECK(x[{Ellipsis, 0}].shape() == Shape{2, 3});
  CHECK(x[{0, Ellipsis, NewAxis}].shape() == Shape{3, 4, 1});
  CHECK(x[Ellipsis].shape() == x.shape());
  CHECK(x[{0, 1, Ellipsis, 2}].item<double>() == 6);
  CHECK(values(x[{Ellipsis, Slice(None, None, -1), 3}]) == Values{11, 7, 3, 23, 19, 15});
}

TEST_CASE("an index that does not fit is refused") {
  const Tensor x = K::ones({2, 3});
  CHECK_THROWS_WITH_AS((x[{0, 3}]), "[index] a position must be in [-3, 3) on axis 1 of x=(2, 3): received 3",
                       ValueError);
  CHECK_THROWS_AS(x[-3], ValueError);
  CHECK_THROWS_WITH_AS((x[{0, 0, 0}]),
                       "[index] an index must not name more axes than x has: received x=(2, 3), axes=3",
                       ValueError);
  CHECK_THROWS_AS((x[{Ellipsis, Ellipsis}]), ValueError);
  CHECK_THROWS_AS((x[Slice(0, 1, 0)]), ValueError);
  CHECK_THROWS_AS(Tensor()[0], ValueError);
}

TEST_CASE("gradients go back to where an index picked") {
  check_gradients(
      [](In in) {
        return (in[0] * in[0])[{Slice(None, None, -2), NewAxis, 1}];
      },
      {counted({4, 3})});
  check_gradients([](In in) { return (in[0] * in[0])[{Slice(1, 1)}]; }, {counted({4, 3})});
  check_gradients([](In in) { return in[0][0] * in[0][-1]; }, {counted({4, 3})});
}

TEST_CASE("gather picks along axis 0") {
  const Tensor x = counted({3, 2});
  CHECK(values(K::gather(x, ints({2, 0, 2}))) == Values{4, 5, 0, 1, 4, 5});
  CHECK(K::gather(x, ints({{0, 1}, {1, 2}}, "int64")).shape() == Shape{2, 2, 2});
  CHECK(K::gather(x, ints(1, "uint8")).shape() == Shape{2});
  CHECK(K::gather(x, ints(std::vector<int>{})).shape() == Shape{0, 2});
  for (const char* dtype : {"bool", "int16", "float16", "float32"}) {
    CAPTURE(dtype);
    CHECK(values(K::gather(K::constant({1, 0, 1}, {.dtype = dtype}), ints({1, 2}))) == Values{0, 1});
  }
  check_gradients([](In in) { return K::gather(in[0] * in[0], in[1]); }, {x, ints({2, 0, 2, 2})});
  check_gradients([](In in) { return K::gather(in[0] * in[0], in[1]); },
                  {counted({4}), ints({{1, 1}, {0, 3}})});
}

TEST_CASE("gather adds up the gradients of many repeated indices") {
  const Variable x = K::zeros({300, 64});
  std::vector<std::int64_t> places(3000);
  for (int i = 0; i < 3000; ++i) places[static_cast<std::size_t>(i)] = i * 7 % 200;
  const Tensor g = gradients(K::gather(x, K::constant(places, {.dtype = "int64"})), {x})[0];
  CHECK(K::min(g[Slice(0, 200)]).item() == 15.f);
  CHECK(K::max(g).item() == 15.f);
  CHECK(K::max(g[Slice(200, None)]).item() == 0.f);
}

TEST_CASE("an index out of range is named") {
  const Tensor x = K::ones({3, 2});
  CHECK_THROWS_WITH_AS(K::gather(x, ints({0, 5})),
                       "[gather] indices must be in [0, 3) for reference=(3, 2): received index=5",
                       ValueError);
  CHECK_THROWS_AS(K::gather(x, ints({-1})), ValueError);
  CHECK_THROWS_AS(K::gather(K::constant(1), ints({0})), ValueError);
  CHECK_THROWS_WITH_AS(K::gather(x, K::ones({1})),
                       "[gather] indices must be integers: received indices=float32", TypeError);
}

TEST_CASE("one_hot is 1 at the index, and zeros for an index out of range") {
  CHECK(values(K::one_hot(ints({0, 2, -1, 3}), 3)) == Values{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(K::one_hot(ints({{1}, {0}}), 4).shape() == Shape{2, 1, 4});
  CHECK(K::one_hot(ints(1), 2).dtype() == "float32");
  CHECK(K::one_hot(ints({1}), 0).shape() == Shape{1, 0});
  CHECK_THROWS_AS(K::one_hot(ints({1}), -1), ValueError);
  CHECK_THROWS_AS(K::one_hot(K::ones({1}), 2), TypeError);
}

TEST_CASE("gather_nd and scatter_nd undo one another") {
  const Tensor x = counted({2, 3, 2});
  CHECK(values(K::gather_nd(x, ints({{1, 2}, {0, 0}}))) == Values{10, 11, 0, 1});
  CHECK(values(K::gather_nd(x, ints({{1, 2, 1}}))) == Values{11});
  CHECK(K::gather_nd(x, K::zeros({4, 0}, {.dtype = "int32"})).shape() == Shape{4, 2, 3, 2});
  CHECK(values(K::scatter_nd(ints({{1}, {3}, {1}}), K::constant({1, 2, 4}), {4})) == Values{0, 5, 0, 2});
  CHECK(values(K::scatter_nd(ints({{0}}), ints({{7, 8}}), {2, 2})) == Values{7, 8, 0, 0});
  CHECK_THROWS_WITH_AS(K::gather_nd(x, ints({{0, 3}})),
                       "[gather_nd] indices of axis 1 must be in [0, 3): received index=3", ValueError);
  CHECK_THROWS_AS(K::gather_nd(x, ints({{0, 0, 0, 0}})), ValueError);
  CHECK_THROWS_AS(K::gather_nd(x, ints(1)), ValueError);
  CHECK_THROWS_WITH_AS(K::scatter_nd(ints({{0}}), K::ones({2}), {4}),
                       "[scatter_nd] updates must have the shape (1,): received updates=(2,)", ValueError);
  CHECK_THROWS_AS(K::scatter_nd(ints({{4}}), K::ones({1}), {4}), ValueError);
  CHECK_THROWS_AS(K::scatter_nd(ints({{0}}), K::constant({true}), {4}), TypeError);
  check_gradients([](In in) { return K::gather_nd(in[0] * in[0], in[1]); },
                  {x, ints({{1, 2}, {1, 2}, {0, 1}})});
  check_gradients(
      [](In in) {
        return K::scatter_nd(in[1], in[0] * in[0], {4, 2});
      },
      {counted({3, 2}), ints({{1}, {3}, {1}})});
}

TEST_CASE("top_k finds the largest") {
  const Tensor x = K::constant({{3, 1, 3, 2}, {0, 5, -1, 5}});
  const auto [best, at] = K::top_k(x, 3);
  CHECK(values(best) == Values{3, 3, 2, 5, 5, 0});
  CHECK(values(at) == Values{0, 2, 3, 1, 3, 0});
  CHECK(at.dtype() == "int32");
  CHECK(values(K::top_k(K::constant({1., inf, NaN, -inf}), 2).values)[1] == inf);
  CHECK(K::top_k(x, 0).values.shape() == Shape{2, 0});
  CHECK(values(K::top_k(ints({4, 6, 5})).values) == Values{6});
  CHECK_THROWS_WITH_AS(K::top_k(x, 5), "[top_k] k must be in [0, 4] for x=(2, 4): received k=5", ValueError);
  CHECK_THROWS_AS(K::top_k(x, -1), ValueError);
  CHECK_THROWS_AS(K::top_k(K::constant(1), 1), ValueError);
  check_gradients([](In in) { return K::top_k(in[0] * in[0], 2).values; },
                  {K::constant({{3., 1., 2.}, {4., 6., 5.}}, {.dtype = "float64"})});
}

TEST_CASE("sort and argsort order along an axis, NaN last, equal elements as they came") {
  const Tensor many = K::zeros({std::int64_t{1} << 44, 0});
  CHECK(K::sort(many).shape() == many.shape());
  const Tensor x = K::constant({{3, 1, 2}, {-1, 5, -1}});
  CHECK(values(K::sort(x)) == Values{1, 2, 3, -1, -1, 5});
  CHECK(values(K::sort(x, 0)) == Values{-1, 1, -1, 3, 5, 2});
  CHECK(values(K::sort(x, -1, {.direction = "DESCENDING"})) == Values{3, 2, 1, 5, -1, -1});
  CHECK(values(K::argsort(x)) == Values{1, 2, 0, 0, 2, 1});
  CHECK(values(K::argsort(x, -1, {.direction = "DESCENDING"})) == Values{0, 2, 1, 1, 0, 2});
  CHECK(values(K::argsort(x, 0)) == Values{1, 0, 1, 0, 1, 0});
  CHECK(K::argsort(x).dtype() == "int32");
  CHECK(values(K::argsort(K::constant({NaN, 1., -inf, inf}))) == Values{2, 1, 3, 0});
  CHECK(values(K::sort(K::constant({true, false, true}))) == Values{0, 1, 1});
  CHECK(K::sort(K::zeros({0, 3})).shape() == Shape{0, 3});
  CHECK(K::sort(K::zeros({3, 0}), 0).shape() == Shape{3, 0});
  CHECK_THROWS_AS(K::sort(x, 2), ValueError);
  CHECK_THROWS_WITH_AS(K::sort(x, 0, {.direction = "up"}),
                       "[sort] direction must be \"ASCENDING\" or \"DESCENDING\": received direction=\"up\"",
                       ValueError);
  check_gradients([](In in) { return K::sort(in[0] * in[0], 0); },
                  {K::constant({{3., 1., 2.}, {4., 6., 5.}}, {.dtype = "float64"})});
}

TEST_CASE("indices are integers in a tensor, or a literal") {
  const Tensor x = counted({3, 2});
  CHECK(values(K::gather(x, {2, 0})) == Values{4, 5, 0, 1});
  CHECK(values(K::gather(x, 1)) == Values{2, 3});
  CHECK(K::gather(x, {{0, 1}, {1, 2}}).shape() == Shape{2, 2, 2});
  CHECK(values(x[ints({2, 0})]) == Values{4, 5, 0, 1});
  CHECK(x[ints(1)].shape() == Shape{2});
  const Variable v = x, at = ints({1});
  CHECK(values(v[at]) == Values{2, 3});
  CHECK(values(K::gradients(K::sum(v[at]), {v})[0]) == Values{0, 0, 1, 1, 0, 0});
  CHECK(values(K::one_hot({1, 0}, 2)) == Values{0, 1, 1, 0});
  CHECK_THROWS_WITH_AS(
      x[ints({3})], "[gather] indices must be in [0, 3) for reference=(3, 2): received index=3", ValueError);
  CHECK_THROWS_AS(x[doubles({0})], TypeError);
  CHECK_THROWS_AS(K::gather(x, {0.5}), TypeError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  const Tensor ids = ints({2, 0, 2});
  return {
      {"gather", [ids](In in) { return K::gather(in[0], ids); }, {normal({3, 2})}},
      {"index", [](In in) { return K::index(in[0], {1, ktape::Slice(0, None, 2)}); }, {normal({2, 4})}},
      {"gather_nd", [](In in) { return K::gather_nd(in[0], K::constant({{0, 1}, {1, 1}}, {.dtype = "int32"})); },
       {normal({2, 2})}},
      {"scatter_nd", [](In in) { return K::scatter_nd(K::constant({{1}, {1}}, {.dtype = "int32"}), in[0], {3}); }, {normal({2})}},
      {"sort", [](In in) { return K::sort(in[0]); }, {normal({2, 3})}},
      {"top_k", [](In in) { return K::top_k(in[0], 2).values; }, {normal({2, 3})}},
      // New tensors, which depend on none.
      {"one_hot", no_gradient},
      // Results that jump.
      {"argsort", no_gradient},
  };
});
// clang-format on

}  // namespace
