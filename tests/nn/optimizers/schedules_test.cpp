#include <ktape/nn/optimizers/schedules.hpp>
#include <ktape/nn/optimizers/sgd.hpp>

#include <cmath>
#include <numbers>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;

TEST_CASE("decays have the rates of their formulas") {
  const nn::ExponentialDecay exponential(0.1, 10, 0.5);
  CHECK(close(exponential(0), 0.1));
  CHECK(close(exponential(5), 0.1 * std::sqrt(0.5)));
  const nn::InverseTimeDecay inverse({.initial_learning_rate = 1, .decay_steps = 2, .decay_rate = 0.5});
  CHECK(close(inverse(4), 1 / (1 + 0.5 * 2)));
  const nn::PolynomialDecay linear(
      {.initial_learning_rate = 1, .decay_steps = 10, .end_learning_rate = 0.2, .power = 1});
  CHECK(close(linear(5), 0.6));
  CHECK(close(linear(100), 0.2));
}

TEST_CASE("a piecewise constant rate changes after its boundaries") {
  const nn::PiecewiseConstantDecay steps({3, 6}, {1, 0.5, 0.1});
  CHECK(steps(3) == 1);
  CHECK(steps(4) == 0.5);
  CHECK(steps(7) == 0.1);
}

TEST_CASE("a cosine falls from the initial rate to alpha, and may restart") {
  const nn::CosineDecay cosine({.initial_learning_rate = 1, .decay_steps = 8, .alpha = 0.1});
  CHECK(close(cosine(0), 1.0));
  CHECK(close(cosine(2), 0.9 * (1 + std::cos(std::numbers::pi / 4)) / 2 + 0.1));
  CHECK(close(cosine(8), 0.1));
  const nn::CosineDecayRestarts again({.initial_learning_rate = 1, .first_decay_steps = 4, .m_mul = 0.5});
  CHECK(close(again(4), 0.5, {.rtol = 1e-6}));
}

TEST_CASE("bad options of schedules") {
  CHECK_THROWS_WITH_AS(nn::ExponentialDecay(0.1, 0, 0.5),
                       "[ExponentialDecay] decay_steps must be above 0: received decay_steps=0", ValueError);
  CHECK_THROWS_WITH_AS(
      nn::PiecewiseConstantDecay({1, 2}, {0.1}),
      "[PiecewiseConstantDecay] there must be one value more than boundaries: received 2 boundaries "
      "and 1 values",
      ValueError);
  CHECK_THROWS_AS(nn::PiecewiseConstantDecay({2, 1}, {0.1, 0.2, 0.3}), ValueError);
  CHECK(nn::ExponentialDecay(
            {.initial_learning_rate = 1, .decay_steps = 2, .decay_rate = 0.25, .staircase = true})(3) ==
        0.25);
  CHECK(nn::CosineDecayRestarts({.initial_learning_rate = 1, .first_decay_steps = 4, .t_mul = 1})(4) == 1);
}

TEST_CASE("the rates of a schedule that have no default must be given, in configs too") {
  CHECK_THROWS_WITH_AS(
      nn::CosineDecay({.decay_steps = 10}),
      "[CosineDecay] initial_learning_rate must be given: received initial_learning_rate=None", ValueError);
  CHECK_THROWS_WITH_AS(nn::ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 10}),
                       "[ExponentialDecay] decay_rate must be given: received decay_rate=None", ValueError);
  for (const char* name :
       {"ExponentialDecay", "InverseTimeDecay", "PolynomialDecay", "CosineDecay", "CosineDecayRestarts"}) {
    const nn::Config steps{{"decay_steps", 9}, {"decay_rate", 0.5}}, first_steps{{"first_decay_steps", 9}};
    const bool restarts = std::string(name) == "CosineDecayRestarts";
    const bool rated = std::string(name) == "ExponentialDecay" || std::string(name) == "InverseTimeDecay";
    const nn::Config config = restarts ? first_steps : rated ? steps : nn::Config{{"decay_steps", 9}};
    CHECK_THROWS_WITH_AS(
        nn::SGD({.learning_rate = nn::Schedule(nn::Config{{"class_name", name}, {"config", config}})}),
        doctest::Contains("] initial_learning_rate must be given: received"), ValueError);
  }
}
