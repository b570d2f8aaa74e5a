#include <ktape/ktape.hpp>

#include "catalogue.hpp"
#include "check.hpp"

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("broadcast_to repeats along axes of extent 1 and along new leading axes") {
  CHECK(values(K::broadcast_to(counted({2, 1}), {2, 3})) == Values{0, 0, 0, 1, 1, 1});
  CHECK(values(K::broadcast_to(counted({2}), {3, 2})) == Values{0, 1, 0, 1, 0, 1});
  CHECK(values(K::broadcast_to(ints(7), {2, 2})) == Values{7, 7, 7, 7});
  CHECK(K::broadcast_to(counted({1, 3}), {0, 3}).shape() == Shape{0, 3});
  for (const char* dtype : {"bool", "uint8", "int64", "float16", "float32"})
    CHECK(K::broadcast_to(K::ones({1}, {.dtype = dtype}), {2}).dtype() == dtype);
}

TEST_CASE("sum_to adds over the axes that broadcast_to repeats") {
  const Tensor x = counted({2, 3});
  CHECK(values(K::sum_to(x, {2, 1})) == Values{3, 12});
  CHECK(values(K::sum_to(x, {3})) == Values{3, 5, 7});
  CHECK(values(K::sum_to(x, {})) == Values{15});
  CHECK(K::sum_to(x, {2, 3}).raw() == x.raw());
  CHECK(values(K::sum_to(K::zeros({0, 3}), {3})) == Values{0, 0, 0});
}

TEST_CASE("broadcast_to and sum_to are the gradients of each other") {
  const Variable row = counted({3}), block = counted({2, 3});
  CHECK(values(gradients(K::broadcast_to(row, {2, 3}), {row}, {block})[0]) == Values{3, 5, 7});
  CHECK(values(gradients(K::sum_to(block, {3}), {block}, {row})[0]) == Values{0, 1, 2, 0, 1, 2});
  check_gradients([](In in) { return K::square(K::broadcast_to(in[0], {2, 3, 2})); }, {normal({3, 1})});
  check_gradients([](In in) { return K::square(K::sum_to(in[0], {3, 1})); }, {normal({2, 3, 2})});
}

TEST_CASE("shapes that do not broadcast are refused") {
  CHECK_THROWS_WITH_AS(K::broadcast_to(counted({2}), {3}), doctest::Contains("[broadcast_to]"), ValueError);
  CHECK_THROWS_AS(K::broadcast_to(counted({2, 1}), {2}), ValueError);
  CHECK_THROWS_WITH_AS(K::sum_to(counted({2}), {3}), doctest::Contains("[sum_to]"), ValueError);
  CHECK_THROWS_WITH_AS(K::sum_to(K::ones({2}, {.dtype = "bool"}), {1}),
                       "[sum_to] x must be a number: received dtype=bool", TypeError);
  CHECK_THROWS_AS(K::sum_to(counted({2}), {2, 2}), ValueError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"broadcast_to", [](In in) { return K::broadcast_to(in[0], {2, 3, 2}); }, {normal({3, 1})}},
      {"sum_to", [](In in) { return K::sum_to(in[0], {3, 1}); }, {normal({2, 3, 2})}},
  };
});
// clang-format on

}  // namespace
