#include "../../ops/check.hpp"
#include "scripted.hpp"

namespace nn = ktape::nn;
using ktape::ValueError;

TEST_CASE("ReduceLROnPlateau lowers the rate after a plateau, and reports the rate") {
  const Scripted flat(losses({1, 1, 1, 1, 1}));
  const auto rates = run(flat, {nn::ReduceLROnPlateau({.monitor = "loss", .factor = 0.5, .patience = 2})},
                         nn::SGD(1.0))["learning_rate"];
  CHECK(rates == Values{1, 1, 1, 0.5, 0.5});
  const nn::ReduceLROnPlateau plateau({.monitor = "loss", .patience = 3});
  run(Scripted(losses({2, 1, 1, 1})), {plateau});
  CHECK(plateau.best() == 1);
  CHECK(plateau.wait() == 2);
  CHECK_THROWS_AS(nn::ReduceLROnPlateau({.factor = 1}), ValueError);
}
