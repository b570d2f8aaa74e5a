#include <ktape/ktape.hpp>
#include <ktape/nn/compiled/plan.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

namespace {

nn::PlannedCall call(const nn::Layer& layer, int input, int result) {
  return {.layer = layer,
          .plain = true,
          .inputs = {input},
          .first_result = result,
          .run = [=](std::vector<Tensor>& slots) {
            slots[static_cast<std::size_t>(result)] = layer(slots[static_cast<std::size_t>(input)]);
          }};
}

}  // namespace

TEST_CASE("a plan joins neighbouring layers and calls the others") {
  const ktape::NoGrad off;
  const nn::Layer dense = nn::Dense(4), exp = nn::Lambda([](const Tensor&x) { return K::exp(x); }),
                  relu = nn::ReLU(), last = nn::Dense(2);
  const std::vector<nn::PlannedCall> calls{call(dense, 0, 1), call(exp, 1, 2), call(relu, 1, 3),
                                           call(last, 3, 4)};
  std::vector<Tensor> called(5), slots(5);
  const Tensor x = called[0] = slots[0] = normal({3, 5}, 1, "float32");
  for (const nn::PlannedCall& each : calls) each.run(called);
  const nn::Plan plan = nn::make_plan(calls, slots, 1, {2, 4});
  for (const int output : {2, 4}) CHECK(close(slots[output], called[output], {.rtol = 1e-5, .atol = 1e-6}));
  if (K::backend() != "onednn") return;
  CHECK(plan.has_networks);
  REQUIRE(plan.items.size() == 2);
  CHECK(plan.items[0].calls == std::vector<std::size_t>{0, 2, 3});
  CHECK(plan.items[0].outputs == std::vector{1, 4});
  CHECK(plan.items[1].calls == std::vector<std::size_t>{1});
  std::vector<Tensor> run(5);
  run[0] = x;
  nn::run_plan(plan, calls, run);
  for (const int output : {2, 4}) CHECK(close(run[output], called[output], {.rtol = 1e-5, .atol = 1e-6}));
  CHECK_FALSE(run[1].defined());
}

TEST_CASE("networks read float32 tensors with 2 to 5 axes, without a mask") {
  CHECK(nn::fits_network(K::zeros({2, 3})));
  CHECK(nn::fits_network(K::zeros({2, 3, 3})));
  CHECK(nn::fits_network(K::zeros({2, 3, 3, 1})));
  CHECK_FALSE(nn::fits_network(K::zeros({2})));
  CHECK_FALSE(nn::fits_network(K::zeros({0, 3})));
  CHECK_FALSE(nn::fits_network(K::zeros({2, 3}, {.dtype = "float64"})));
  CHECK_FALSE(nn::fits_network(nn::with_mask(K::zeros({2, 3}), K::ones({2, 3}, {.dtype = "bool"}))));
  CHECK_FALSE(nn::fits_network(Tensor()));
}
