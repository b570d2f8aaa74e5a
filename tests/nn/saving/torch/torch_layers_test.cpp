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
  const auto units = torch_units(model);
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
  CHECK(values(torch_units(model, {.transposes = false})[2].value("kernel", {{"weight", depthwise}})) ==
        values(depthwise));
  CHECK_THROWS_WITH_AS(torch_units(nn::Sequential({nn::Dense(2)})), Contains("the model must be built"),
                       ktape::ValueError);
}

TEST_CASE("torch: an attention layer is four units, or two where its projections are packed") {
  const ktape::Tensor in = nn::Input({5, 6});
  const nn::Model model(in, nn::MultiHeadAttention(2, 3, {.name = "mha"})({in, in}));
  const auto each = torch_units(model);
  REQUIRE(each.size() == 4);
  CHECK(each[1].path == "mha/key");
  CHECK(each[3].path == "mha/attention_output");
  const ktape::Tensor matrix = counted({6, 6}, "float32");
  CHECK(values(each[0].value("query/kernel", {{"weight", matrix}})) == values(K::transpose(matrix)));
  CHECK(each[0].value("query/kernel", {{"weight", matrix}}).shape() == ktape::Shape{6, 2, 3});
  CHECK(each[3].value("attention_output/kernel", {{"weight", matrix}}).shape() == ktape::Shape{2, 3, 6});
  // Tensors that do not fit keep their shapes, which the error of the assignment names.
  CHECK(each[0].value("query/kernel", {{"weight", counted({9, 4}, "float32")}}).shape() ==
        ktape::Shape{4, 9});

  const auto packed = torch_units(model, {.packed_attention = true});
  REQUIRE(packed.size() == 2);
  CHECK(packed[0].path == "mha");
  CHECK(packed[1].path == "mha/out_proj");
  CHECK(packed[0].sources("value/bias") == std::vector<std::string>{"in_proj_bias"});
  const ktape::Tensor three = counted({18, 6}, "float32");
  CHECK(values(packed[0].value("key/kernel", {{"in_proj_weight", three}})) ==
        values(K::transpose(K::split(three, 3, 0)[1])));
  CHECK(packed[0].value("key/kernel", {{"in_proj_weight", counted({4, 6}, "float32")}}).shape() ==
        ktape::Shape{4, 6});
  const auto keras = torch_units(model, {.transposes = false, .packed_attention = true});
  CHECK(values(keras[0].value("value/kernel", {{"in_proj_weight", K::transpose(three)}})) ==
        values(K::transpose(K::split(three, 3, 0)[2])));
}
