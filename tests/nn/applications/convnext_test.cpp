#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "networks.hpp"

using namespace networks;
using ktape::Tensor;

TEST_CASE("the layers of ConvNeXtTiny") {
  const nn::Model next = ConvNeXtTiny({.name = "mine"});
  const Names modern = layer_names(next);
  CHECK(names_from(modern, "mine_prestem_normalization", 8) ==
        Names{"mine_prestem_normalization", "mine_stem", "mine_stage_0_block_0_depthwise_conv",
              "mine_stage_0_block_0_layernorm", "mine_stage_0_block_0_pointwise_conv_1",
              "mine_stage_0_block_0_gelu", "mine_stage_0_block_0_pointwise_conv_2",
              "mine_stage_0_block_0_layer_scale"});
  CHECK(has(modern, "mine_downsampling_block_2"));
  CHECK(has(modern, "mine_stage_2_block_8_identity"));
  CHECK(modern.back() == "mine_head_dense");
  CHECK(values(next.get_layer("mine_stage_3_block_2_layer_scale").get_weights()[0])[767] == double(1e-6f));
}

TEST_CASE("ConvNeXtTiny comes back from its JSON, with its special layers") {
  const Tensor x = normal({1, 32, 32, 3}, 5, "float32");
  const nn::Model next = ConvNeXtTiny({.include_top = false, .input_shape = {32, 32, 3}});
  const nn::Model again = nn::model_from_json(next.to_json());
  again.set_weights(next.get_weights());
  CHECK(values(again(x)) == values(next(x)));
  CHECK(next.to_json().find("keras.src.applications.convnext") != std::string::npos);
}
