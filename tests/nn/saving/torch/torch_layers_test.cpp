#include <ktape/nn/saving/torch/torch_layers.hpp>

#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using nn::saving::torch_units;

TEST_CASE("torch: the layers of a model are units in their order") {
  const nn::Sequential inner({nn::Input({6, 6, 4}), nn::SeparableConv2D(3, 2, {.name = "separable"})},
                             {.name = "inner"});
  const nn::Sequential model({inner, nn::Flatten(), nn::Dense(2, {.name = "top"})});
  model.build({ktape::None, 6, 6, 4});
  const auto units = torch_units(model, true);
  REQUIRE(units.size() == 3);
  CHECK(units[0].path == "inner/separable");
  CHECK(units[0].weights[0].first == "depthwise_kernel");
  CHECK(units[1].weights[0].first == "pointwise_kernel");
  CHECK(units[2].path == "top");
  CHECK(units[2].sources("kernel") == std::vector<std::string>{"weight"});
  const ktape::Tensor depthwise = counted({4, 1, 2, 2}, "float32");
  CHECK(values(units[0].value("depthwise_kernel", {{"weight", depthwise}})) ==
        values(K::permute_dimensions(K::reshape(depthwise, {4, 1, 2, 2}), {2, 3, 0, 1})));
  CHECK(!units[2].value("kernel", {}).defined());
  CHECK(values(torch_units(model, false)[2].value("kernel", {{"weight", depthwise}})) == values(depthwise));
  CHECK_THROWS_WITH_AS(torch_units(nn::Sequential({nn::Dense(2)}), true), Contains("the model must be built"),
                       ktape::ValueError);
}
