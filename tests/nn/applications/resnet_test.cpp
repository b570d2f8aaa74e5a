#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "networks.hpp"

using namespace networks;

TEST_CASE("ResNet50's layers stand in the order of Keras's model.layers") {
  const Names names = layer_names(ResNet50());
  CHECK(names.size() == 177);
  CHECK(names_from(names, "conv1_pad", 6) ==
        Names{"conv1_pad", "conv1_conv", "conv1_bn", "conv1_relu", "pool1_pad", "pool1_pool"});
  CHECK(names_from(names, "conv2_block1_1_conv", 12) ==
        Names{"conv2_block1_1_conv", "conv2_block1_1_bn", "conv2_block1_1_relu", "conv2_block1_2_conv",
              "conv2_block1_2_bn", "conv2_block1_2_relu", "conv2_block1_0_conv", "conv2_block1_3_conv",
              "conv2_block1_0_bn", "conv2_block1_3_bn", "conv2_block1_add", "conv2_block1_out"});
  CHECK(names_from(names, "conv5_block3_out", 3) == Names{"conv5_block3_out", "avg_pool", "predictions"});
}

TEST_CASE("ResNet50V2's layers") {
  const Names names = layer_names(ResNet50V2());
  CHECK(names.size() == 192);
  for (const char* name : {"conv1_conv", "conv2_block1_preact_bn", "conv2_block1_0_conv",
                           "conv3_block4_2_pad", "conv5_block3_out"})
    CHECK(has(names, name));
  CHECK(!has(names, "conv1_bn"));
  CHECK(!has(names, "conv2_block1_0_bn"));
  CHECK(names_from(names, "post_bn", 4) == Names{"post_bn", "post_relu", "avg_pool", "predictions"});
}
