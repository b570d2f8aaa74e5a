#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "networks.hpp"

using namespace networks;

TEST_CASE("Xception's layers") {
  const Names names = layer_names(Xception());
  CHECK(names_from(names, "block1_conv1", 3) == Names{"block1_conv1", "block1_conv1_bn", "block1_conv1_act"});
  CHECK(!has(names, "block2_sepconv1_act"));
  CHECK(has(names, "block2_sepconv2_act"));
  for (const char* name : {"block3_sepconv1_act", "block5_sepconv3_bn", "block12_sepconv3", "block13_pool"})
    CHECK(has(names, name));
  CHECK(names_from(names, "block14_sepconv2", 5) ==
        Names{"block14_sepconv2", "block14_sepconv2_bn", "block14_sepconv2_act", "avg_pool", "predictions"});
}

TEST_CASE("a separable convolution of Xception has two kernels and no bias") {
  const nn::Model xception = Xception({.include_top = false});
  CHECK(weight_names(xception.get_layer("block2_sepconv1")) ==
        Names{"block2_sepconv1/depthwise_kernel", "block2_sepconv1/pointwise_kernel"});
}
