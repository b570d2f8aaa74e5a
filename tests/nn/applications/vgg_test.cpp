#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "networks.hpp"

namespace K = ktape::backend;
using namespace networks;
using ktape::None, ktape::Shape, ktape::Tensor;

TEST_CASE("the layers of VGG16") {
  CHECK(layer_names(VGG16({.include_top = false, .input_shape = {32, 32, 3}})).back() == "block5_pool");
  const Names vgg = layer_names(VGG16({.input_shape = {32, 32, 3}, .classes = 2}));
  CHECK(vgg.size() == 23);
  CHECK(names_from(vgg, "block1_conv1", 4) ==
        Names{"block1_conv1", "block1_conv2", "block1_pool", "block2_conv1"});
  CHECK(names_from(vgg, "block5_pool", 5) == Names{"block5_pool", "flatten", "fc1", "fc2", "predictions"});
}

TEST_CASE("VGG16 takes images of mode caffe: BGR, without the mean color") {
  const Tensor image = K::reshape(K::constant({255.f, 0.f, 100.f}), {1, 1, 1, 3});
  CHECK(close(vgg16::preprocess_input(image),
              K::reshape(K::constant({100 - 103.939f, -116.779f, 255 - 123.68f}), {1, 1, 1, 3}),
              {.rtol = 1e-5}));
  const nn::Model model = VGG16({.include_top = false, .input_shape = {32, 64, 3}, .pooling = "avg"});
  CHECK(model.name() == "vgg16");
  CHECK(model.output().shape() == Shape{None, 512});
}
