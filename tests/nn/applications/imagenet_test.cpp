#include "../../ops/check.hpp"
#include "../data/files.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace applications = nn::applications;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

const char* const three_classes = R"({"0": ["n01", "tench"], "1": ["n02", "shark"], "2": ["n03", "hen"]})";

}  // namespace

TEST_CASE("images are preprocessed as each kind of network expects") {
  // A red and a gray pixel.
  const Tensor image = K::constant({{{255.f, 0.f, 0.f}, {127.5f, 127.5f, 127.5f}}});
  const auto with = [&](const char* mode) {
    return values(applications::preprocess_input(image, {.mode = mode}));
  };
  CHECK(with("tf") == Values{1, -1, -1, 0, 0, 0});
  const double gray = 127.5;
  CHECK(close(with("caffe"),
              Values{-103.939, -116.779, 255 - 123.68, gray - 103.939, gray - 116.779, gray - 123.68},
              {.rtol = 1e-6}));
  CHECK(close(with("torch"),
              Values{(1 - 0.485) / 0.229, -0.456 / 0.224, -0.406 / 0.225,  //
                     (0.5 - 0.485) / 0.229, (0.5 - 0.456) / 0.224, (0.5 - 0.406) / 0.225},
              {.rtol = 1e-5}));
}

TEST_CASE("images may be integers, batches, have their channels first, or wait for their values") {
  const Tensor bytes = K::constant({{{255, 0, 0}, {0, 255, 0}}}, {.dtype = "uint8"});
  const Tensor x = applications::preprocess_input(bytes);
  CHECK(x.dtype() == K::floatx());
  CHECK(x.shape() == Shape{1, 2, 3});
  CHECK(close(values(applications::preprocess_input(K::stack({bytes, bytes})))[11], -123.68, {.rtol = 1e-6}));
  const Tensor first = K::permute_dimensions(x, {2, 0, 1}),
               same = applications::preprocess_input(K::permute_dimensions(bytes, {2, 0, 1}),
                                                     {"channels_first"});
  CHECK(values(first) == values(same));
  const Tensor in = nn::Input({1, 2, 3});
  const auto f = K::function({in}, {applications::preprocess_input(in)});
  CHECK(values(f({K::cast(K::expand_dims(bytes, 0), "float32")})[0]) == values(x));
}

TEST_CASE("each network has its preprocessing of images") {
  const Tensor white = K::constant({{{255.f, 255.f, 255.f}}});
  const auto first = [&](const char* name) {
    return values(applications::application(name).preprocess_input(white, ""))[0];
  };
  for (const char* name : {"VGG16", "ResNet50"}) CHECK(close(first(name), 255 - 103.939, {.rtol = 1e-6}));
  for (const char* name : {"ResNet50V2", "InceptionV3", "Xception", "MobileNetV2"}) CHECK(first(name) == 1);
  for (const char* name : {"MobileNetV3Small", "EfficientNetB0", "ConvNeXtTiny"}) CHECK(first(name) == 255);
  CHECK(close(first("DenseNet121"), (1 - 0.485) / 0.229, {.rtol = 1e-6}));
}

TEST_CASE("tensors that are no images, and unknown modes, are refused") {
  CHECK_THROWS_WITH_AS(applications::preprocess_input(K::ones({4, 4, 1})),
                       "[preprocess_input] images must have 3 channels, alone or in a batch: received "
                       "shape=(4, 4, 1)",
                       ValueError);
  CHECK_THROWS_WITH_AS(applications::preprocess_input(K::ones({4, 3})),
                       Contains("alone or in a batch: received shape=(4, 3)"), ValueError);
  CHECK_THROWS_WITH_AS(applications::preprocess_input(K::ones({4, 4, 3}), {.mode = "tv"}),
                       Contains("mode must be \"caffe\", \"tf\" or \"torch\": received mode=\"tv\""),
                       ValueError);
  CHECK_THROWS_WITH_AS(applications::preprocess_input(K::ones({4, 4, 3}), {.data_format = "last"}),
                       Contains("received data_format=\"last\""), ValueError);
}

TEST_CASE("the best classes are named, the best first") {
  const Files files;
  const std::string index = files.write("index.json", three_classes);
  const Tensor scores = K::constant({{0.2f, 0.5f, 0.3f}, {0.4f, 0.2f, 0.4f}});
  const auto best = applications::decode_predictions(scores, index, {.top = 2});
  REQUIRE(best.size() == 2);
  REQUIRE(best[0].size() == 2);
  CHECK(best[0][0].class_name == "n02");
  CHECK(best[0][0].class_description == "shark");
  CHECK(best[0][0].score == 0.5);
  CHECK(best[0][1].class_description == "hen");
  CHECK(best[1][0].class_description == "tench");
  CHECK(best[1][1].class_description == "hen");
  CHECK(applications::decode_predictions(scores, index)[1].size() == 3);
}

TEST_CASE("scores that do not fit the class index, and damaged ones, are refused") {
  const Files files;
  const std::string index = files.write("index.json", three_classes);
  CHECK_THROWS_WITH_AS(applications::decode_predictions(K::ones({2, 4}), index),
                       Contains("predictions must have the shape (samples, 3) for the classes of"),
                       ValueError);
  CHECK_THROWS_WITH_AS(applications::decode_predictions(K::ones({3}), index), Contains("received shape=(3,)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(applications::decode_predictions(K::ones({1, 3}), index, {.top = 0}),
                       "[decode_predictions] top must be at least 1: received top=0", ValueError);
  CHECK_THROWS_AS(applications::decode_predictions(K::ones({1, 3}), files.folder() + "/none.json"), IOError);
  for (const char* damaged :
       {"{\"0\": [\"n01\"", "[1]", "{\"1\": [\"n01\", \"tench\"]}", "{\"0\": [\"n01\"]}", "{\"0\": [1, 2]}"})
    CHECK_THROWS_WITH_AS(
        applications::decode_predictions(K::ones({1, 1}), files.write("damaged.json", damaged)),
        Contains("the class index must be {\"0\": [name, description], ...}"), IOError);
}
