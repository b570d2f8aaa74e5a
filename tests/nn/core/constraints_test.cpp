#include <ktape/nn/core/constraints.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

/// Returns a matrix whose columns have the norms 5 and 0.5.
Tensor columns() { return doubles({{3, 0.3}, {4, 0.4}}); }

Values norms(const Tensor& w, int axis = 0) { return values(K::norm(w, axis)); }

constexpr Tolerance but_for_epsilon{.rtol = 1e-6};

}  // namespace

TEST_CASE("MaxNorm scales down weights with a large norm, and changes others only by epsilon") {
  const double large = 2 / (5 + K::epsilon()), small = 0.5 / (0.5 + K::epsilon());
  CHECK(close(nn::MaxNorm(2)(columns()), doubles({{3 * large, 0.3 * small}, {4 * large, 0.4 * small}}),
              {.rtol = 1e-14}));
  CHECK(close(norms(nn::MaxNorm({.max_value = 1, .axis = 1})(columns()), 1)[0], 1, but_for_epsilon));
  CHECK(values(nn::MaxNorm(0)(columns())) == Values{0, 0, 0, 0});
}

TEST_CASE("UnitNorm gives each column the norm 1, and zeros stay zeros") {
  CHECK(close(nn::UnitNorm()(columns()), doubles({{0.6, 0.6}, {0.8, 0.8}}), but_for_epsilon));
  CHECK(values(nn::UnitNorm({.axis = {}})(doubles({0, 0}))) == Values{0, 0});
  // Over all axes: the norm of the matrix is sqrt(25 + 0.25).
  CHECK(close(nn::UnitNorm({.axis = {0, 1}})(columns()), columns() / std::sqrt(25.25), but_for_epsilon));
}

TEST_CASE("MinMaxNorm goes a part of the way to the nearest allowed norm") {
  const Values both = norms(nn::MinMaxNorm({.min_value = 1, .max_value = 2})(columns()));
  CHECK(close(both, Values{2, 1}, but_for_epsilon));
  const Values half = norms(nn::MinMaxNorm({.min_value = 1, .max_value = 3, .rate = 0.5})(columns()));
  CHECK(close(half, Values{4, 0.75}, but_for_epsilon));
  CHECK(close(nn::MinMaxNorm({.min_value = 1, .max_value = 3, .rate = 0})(columns()), columns(),
              but_for_epsilon));
}

TEST_CASE("NonNeg sets negative elements to 0, and keeps the dtype and infinities") {
  CHECK(values(nn::NonNeg()(doubles({-1, 0, 2, INFINITY, -INFINITY}))) == Values{0, 0, 2, INFINITY, 0});
  CHECK(nn::NonNeg()(K::constant({1.f})).dtype() == "float32");
}

TEST_CASE("a constraint made again from its config maps equally") {
  for (const nn::Constraint& constraint :
       {nn::Constraint(nn::MaxNorm({.max_value = 1.5, .axis = {0, 1}})),
        nn::Constraint(nn::UnitNorm({.axis = 1})), nn::Constraint(nn::NonNeg()),
        nn::Constraint(nn::MinMaxNorm({.min_value = 0.25, .max_value = 1, .rate = 0.5, .axis = 1}))}) {
    CAPTURE(constraint.class_name());
    const nn::Constraint again(constraint.to_value());
    CHECK(again.get_config() == constraint.get_config());
    CHECK(values(again(columns())) == values(constraint(columns())));
    CHECK(values(again.function()(columns())) == values(constraint(columns())));
  }
  CHECK_FALSE(nn::Constraint(None).function());
}

TEST_CASE("bad options of constraints") {
  CHECK_THROWS_WITH_AS(nn::MaxNorm(-1), "[MaxNorm] max_value must be at least 0: received max_value=-1",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::MaxNorm(NAN), "[MaxNorm] max_value must be at least 0: received max_value=nan",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::MinMaxNorm({.min_value = 2}),
                       "[MinMaxNorm] the bounds must be 0 <= min_value <= max_value: received min_value=2, "
                       "max_value=1",
                       ValueError);
  CHECK_THROWS_AS(nn::MinMaxNorm({.min_value = -1}), ValueError);
  CHECK_THROWS_AS(nn::MaxNorm({.axis = 2})(doubles({{1, 2}})), ValueError);
}
