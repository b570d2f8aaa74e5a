#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "networks.hpp"

using namespace networks;
using ktape::None, ktape::Shape;

TEST_CASE("the layers of DenseNet121") {
  const Names dense = layer_names(DenseNet121());
  CHECK(names_from(dense, "conv2_block1_0_bn", 7) ==
        Names{"conv2_block1_0_bn", "conv2_block1_0_relu", "conv2_block1_1_conv", "conv2_block1_1_bn",
              "conv2_block1_1_relu", "conv2_block1_2_conv", "conv2_block1_concat"});
  CHECK(names_from(dense, "pool4_bn", 4) == Names{"pool4_bn", "pool4_relu", "pool4_conv", "pool4_pool"});
  CHECK(names_from(dense, "conv5_block16_concat", 5) ==
        Names{"conv5_block16_concat", "bn", "relu", "avg_pool", "predictions"});
}

TEST_CASE("DenseNet121 halves the features between its blocks") {
  const nn::Model model = DenseNet121({.include_top = false, .input_shape = {64, 64, 3}});
  CHECK(model.name() == "densenet121");
  CHECK(model.get_layer("conv2_block6_concat").output().shape() == Shape{None, 16, 16, 256});
  CHECK(model.get_layer("pool2_pool").output().shape() == Shape{None, 8, 8, 128});
  CHECK(model.output().shape() == Shape{None, 2, 2, 1024});
}
