#include <ktape/ktape.hpp>

#include <cmath>

#include "../../ops/check.hpp"
#include "networks.hpp"

namespace K = ktape::backend;
using namespace networks;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("each network has as many weights as Keras documents") {
  const std::vector<std::pair<std::string, std::int64_t>> documented{
      {"VGG16", 138357544},          {"ResNet50", 25636712},   {"ResNet50V2", 25613800},
      {"InceptionV3", 23851784},     {"Xception", 22910480},   {"MobileNetV2", 3538984},
      {"MobileNetV3Small", 2554968}, {"DenseNet121", 8062504}, {"EfficientNetB0", 5330571},
      {"ConvNeXtTiny", 28589128}};
  REQUIRE(all_applications().size() == documented.size());
  for (const auto& [given_name, count] : documented) {
    const auto& name = given_name;
    CAPTURE(name);
    const Application& one = application(name);
    const nn::Model model = one.make({});
    CHECK(model.count_params() == count);
    CHECK(model.output().shape() == Shape{None, 1000});
    const std::int64_t size = name == "MobileNetV3Small" ? None : one.image_size;
    CHECK(model.input().shape() == Shape{None, size, size, 3});
  }
}

TEST_CASE("the features of each network are as wide as Keras's, pooled or not") {
  const std::vector<std::pair<std::string, std::int64_t>> widths{
      {"VGG16", 512},           {"ResNet50", 2048},    {"ResNet50V2", 2048},      {"InceptionV3", 2048},
      {"Xception", 2048},       {"MobileNetV2", 1280}, {"MobileNetV3Small", 576}, {"DenseNet121", 1024},
      {"EfficientNetB0", 1280}, {"ConvNeXtTiny", 768}};
  const Tensor image = 255 * K::random_uniform({1, 96, 96, 3}, {.seed = 1});
  for (const auto& [given_name, width] : widths) {
    const auto& name = given_name;
    CAPTURE(name);
    const nn::Model features = application(name).make({.include_top = false});
    CHECK(features.output().shape() == Shape{None, None, None, width});
    const nn::Model pooled = application(name).make({.include_top = false, .pooling = "max"});
    CHECK(pooled.output().shape() == Shape{None, width});
    const Tensor y = features(image);
    CHECK(y.ndim() == 4);
    CHECK(y.shape()[1] == y.shape()[2]);
    CHECK(y.shape()[1] >= 1);
    const Values numbers = values(K::cast(y, "float64"));
    CHECK(std::all_of(numbers.begin(), numbers.end(), [](double v) { return std::isfinite(v); }));
  }
}

TEST_CASE("each network takes gray images of an odd size, and other classes") {
  const Tensor gray = normal({2, 75, 75, 1}, 6, "float32");
  for (const Application& one : all_applications()) {
    CAPTURE(one.name);
    for (const char* pooling : {"avg", "max"}) {
      const nn::Model features =
          one.make({.include_top = false, .input_shape = {75, 75, 1}, .pooling = pooling});
      const Tensor y = features(gray);
      CHECK(y.shape() == Shape{2, features.output().shape()[1]});
    }
    const nn::Model model = one.make({.input_shape = {75, 75, 1}, .classes = 10});
    const Tensor scores = model(gray);
    CHECK(scores.shape() == Shape{2, 10});
    CHECK(close(K::sum(scores, -1), K::ones({2}), {.rtol = 1e-5}));
    const nn::Model colored = one.make({.include_top = false, .input_shape = {75, 75, 3}});
    const Shape map = colored(normal({1, 75, 75, 3}, 7, "float32")).shape();
    CHECK(map ==
          Shape{1, colored.output().shape()[1], colored.output().shape()[2], colored.output().shape()[3]});
  }
}

TEST_CASE("images smaller than a network takes are refused, those of the least size not") {
  for (const Application& one : all_applications()) {
    CAPTURE(one.name);
    const std::int64_t least = one.name == "InceptionV3" ? 75 : one.name == "Xception" ? 71 : 32;
    const auto make = [&](std::int64_t columns) {
      return one.make({.include_top = false, .input_shape = {least, columns, 3}});
    };
    const std::string size = std::to_string(least);
    CHECK_THROWS_WITH_AS(make(least - 1),
                         Contains(('[' + one.name + "] input_shape must be at least " + size +
                                   " pixels high and wide: received input_shape=(" + size + ", ")
                                      .c_str()),
                         ValueError);
    CHECK(make(least).output().shape()[1] >= 1);
  }
}

TEST_CASE("applications are found by their names") {
  CHECK(application("Xception").image_size == 299);
  CHECK(application("Xception").make({.include_top = false}).name() == "xception");
  CHECK_THROWS_WITH_AS(application("ResNet5"), Contains("received name='ResNet5'; did you mean 'ResNet50'"),
                       ValueError);
}
