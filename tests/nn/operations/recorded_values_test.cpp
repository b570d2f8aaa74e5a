#include <ktape/ktape.hpp>
#include <ktape/nn/operations/recorded_values.hpp>

#include "../../ops/check.hpp"

namespace nn = ktape::nn;

TEST_CASE("arguments of ops are values of configs, if configs have a form for them") {
  const auto flag = nn::recorded_values(true);
  REQUIRE(flag.has_value());
  REQUIRE(flag->size() == 1);
  CHECK(nn::to_json(flag->at(0)) == "true");
  struct Unknown {};
  CHECK_FALSE(nn::recorded_values(Unknown()).has_value());
}
