#include <ktape/ops/control/function.hpp>
#include <ktape/ops/control/optimize.hpp>

#include "../catalogue.hpp"
#include "../check.hpp"

#include <cmath>

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("adam_update is a step of Adam") {
  Variable x = K::variable({1., 2.}), m = K::zeros({2}), v = K::zeros({2});
  K::adam_update(x, K::constant({0.5, -2.}), m, v, 1, {.learning_rate = 0.1});
  CHECK(close(x.item(0), 0.9, {.rtol = 1e-5}));
  CHECK(close(x.item(1), 2.1, {.rtol = 1e-5}));
  CHECK(close(m.item(1), -0.2));
  CHECK(close(v.item(1), 0.004));
}

TEST_CASE("adam_update is never deferred") {
  Variable x = K::variable({1.}), m = K::zeros({1}), v = K::zeros({1});
  CHECK_THROWS_WITH_AS(K::symbolic([&] { return K::adam_update(x, K::ones({1}), m, v, 1), 0; })(),
                       doctest::Contains("[adam_update] a symbolic update must be made of update"),
                       ValueError);
  CHECK(x.item(0) == 1);
}

TEST_CASE("adam_update refuses one variable for two") {
  Variable x = K::variable({1., 2.}, {.name = "x"}), m = K::variable({0., 0.}, {.name = "m"});
  const Tensor g = K::ones({2});
  CHECK_THROWS_WITH_AS(K::adam_update(x, g, x, x, 1),
                       "[adam_update] x, m and v must be three variables: received 'x', 'x' and 'x', two of "
                       "which are one",
                       ValueError);
  CHECK_THROWS_AS(K::adam_update(x, g, m, m, 1), ValueError);
  CHECK_THROWS_AS(K::adam_update(x, g, m, x, 1), ValueError);
  CHECK(values(x) == Values{1, 2});
  CHECK_THROWS_WITH_AS(K::adam_update(x, g, m, Variable(), 1),
                       "[adam_update] v must be a variable: received an undefined variable", ValueError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      // Values that leave, and enter variables.
      {"adam_update", no_gradient},
  };
});
// clang-format on

}  // namespace
