#include "../../hdf5.hpp"

#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "networks.hpp"

namespace K = ktape::backend;
using namespace networks;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("the layers of the mobile networks") {
  const nn::Model v2 = MobileNetV2();
  CHECK(v2.name() == "mobilenetv2_1.00_224");
  const Names names = layer_names(v2);
  CHECK(names_from(names, "Conv1", 9) == Names{"Conv1", "bn_Conv1", "Conv1_relu", "expanded_conv_depthwise",
                                               "expanded_conv_depthwise_BN", "expanded_conv_depthwise_relu",
                                               "expanded_conv_project", "expanded_conv_project_BN",
                                               "block_1_expand"});
  CHECK(has(names, "block_1_pad"));
  CHECK(has(names, "block_2_add"));
  CHECK(has(names, "block_16_project_BN"));
  CHECK(names_from(names, "Conv_1", 3) == Names{"Conv_1", "Conv_1_bn", "out_relu"});
  CHECK(names.back() == "predictions");
  const Names v3 = layer_names(MobileNetV3Small());
  for (const char* name :
       {"conv", "conv_bn", "expanded_conv_depthwise_pad", "expanded_conv_squeeze_excite_avg_pool",
        "expanded_conv_squeeze_excite_conv_1", "expanded_conv_1_expand_bn", "expanded_conv_10_add",
        "conv_1_bn", "conv_2", "logits"})
    CHECK(has(v3, name));
  CHECK(v3.back() == "predictions");
  const Names plain = layer_names(MobileNetV3Small({.minimalistic = true}));
  CHECK(!has(plain, "expanded_conv_squeeze_excite_conv"));
}

TEST_CASE("the weights of MobileNetV3Small's layers stand in Keras's order") {
  const nn::Model model = MobileNetV3Small();
  CHECK(weight_names(model.get_layer("conv_bn")) ==
        Names{"conv_bn/gamma", "conv_bn/beta", "conv_bn/moving_mean", "conv_bn/moving_variance"});
  CHECK(weight_names(model.get_layer("conv_2")) == Names{"conv_2/kernel", "conv_2/bias"});
}

TEST_CASE("a network of other classes, another size and another activation") {
  const nn::Model model = small_mobilenet();
  CHECK(model.name() == "mobilenetv2_0.35_32");
  const Tensor x = normal({2, 32, 32, 3}, 1, "float32"), y = model(x);
  CHECK(y.shape() == Shape{2, 5});
  CHECK(close(K::sum(y, -1), K::ones({2})));
  const nn::Model logits = MobileNetV3Small({.alpha = 0.75,
                                             .minimalistic = true,
                                             .classes = 3,
                                             .classifier_activation = None,
                                             .include_preprocessing = false,
                                             .name = "mine"});
  CHECK(logits.name() == "mine");
  CHECK(logits(x).shape() == Shape{2, 3});
  CHECK(!close(K::sum(logits(x), -1), K::ones({2}), {.rtol = 1e-3}));
}

TEST_CASE("MobileNetV3Small is saved and loaded" * needs_hdf5) {
  const Files files;
  const Tensor x = normal({1, 32, 32, 3}, 5, "float32");
  const nn::Model mobile = MobileNetV3Small({.input_shape = {32, 32, 3}, .classes = 4});
  mobile.save(files.folder() + "/mobile.keras");
  CHECK(values(nn::load_model(files.folder() + "/mobile.keras")(x)) == values(mobile(x)));
}

TEST_CASE("a width that is not above 0 is an error") {
  CHECK_THROWS_WITH_AS(MobileNetV2({.alpha = 0}), "[MobileNetV2] alpha must be above 0: received alpha=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(MobileNetV3Small({.alpha = -1}), Contains("alpha must be above 0: received alpha=-1"),
                       ValueError);
}
