#include "../../../hdf5.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/applications/internal/application_builder.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"
#include "../../saving/keras_models.hpp"
#include "../networks.hpp"

namespace K = ktape::backend;
using namespace networks;
using doctest::Contains;
using keras_models::same, keras_models::with_random_weights;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("an application is layers between the builder's input and its classifier") {
  const ApplicationOptions options{.input_shape = {40, 48, 3}, .classes = 7, .name = "mine"};
  const ApplicationBuilder builder("Small", options, {.published = 64, .least = 40});
  CHECK(builder.input().shape() == Shape{None, 40, 48, 3});
  const nn::Model model =
      builder.model(builder.top(nn::Conv2D(4, {3, 3})(builder.input()), {.with_top = "mean"}), "small");
  CHECK(model.name() == "mine");
  CHECK(layer_names(model).back() == "predictions");
  CHECK(model.get_layer("mean").output().shape() == Shape{None, 4});
  CHECK(model.output().shape() == Shape{None, 7});
  const ApplicationOptions defaults, features{.include_top = false, .pooling = "max"};
  CHECK(ApplicationBuilder("Small", defaults, {.published = 64}).input().shape() == Shape{None, 64, 64, 3});
  CHECK(ApplicationBuilder("Small", features).input().shape() == Shape{None, None, None, 3});
  CHECK_THROWS_WITH_AS(ApplicationBuilder("Small", options, {.least = 41}),
                       "[Small] input_shape must be at least 41 pixels high and wide: received "
                       "input_shape=(40, 48, 3)",
                       ValueError);
}

TEST_CASE("numbers of filters are multiples of 8, and strides begin as in the published networks") {
  CHECK(divisible_by_8(3) == 8);
  CHECK(divisible_by_8(11) == 16);  // 8 would be less than nine tenths
  CHECK(divisible_by_8(17) == 16);
  CHECK(divisible_by_8(96 * 0.35) == 32);
  const auto padding = [](std::int64_t rows, std::int64_t columns) {
    const auto pairs = downsampling_padding(nn::Input({rows, columns, 3}), 3).list();
    return std::vector{pairs[0].before, pairs[0].after, pairs[1].before, pairs[1].after};
  };
  CHECK(padding(32, 33) == std::vector<std::int64_t>{0, 1, 1, 1});
}

TEST_CASE("a network may take its input from other layers") {
  const Tensor gray = nn::Input({32, 32, 1}, {.name = "gray"});
  const Tensor image = nn::Concatenate()({gray, gray, gray});
  const nn::Model model =
      MobileNetV2({.alpha = 0.35, .include_top = false, .input_tensor = image, .pooling = "avg"});
  CHECK(model.inputs().size() == 1);
  CHECK(model.input().shape() == Shape{None, 32, 32, 1});
  const Tensor x = normal({1, 32, 32, 1}, 2, "float32");
  CHECK(model(x).shape() == Shape{1, 1280});
}

TEST_CASE("networks take channels first, but for those that Keras refuses") {
  struct ChannelsFirst {
    ChannelsFirst() { K::set_image_data_format("channels_first"); }
    ~ChannelsFirst() { K::set_image_data_format("channels_last"); }
  };
  const nn::Model last = MobileNetV2({.alpha = 0.35, .include_top = false, .pooling = "avg"});
  const Tensor x = normal({1, 33, 40, 3}, 3, "float32");
  const ChannelsFirst format;
  const nn::Model first = MobileNetV2({.alpha = 0.35, .include_top = false, .pooling = "avg"});
  CHECK(first.input().shape() == Shape{None, 3, None, None});
  first.set_weights(last.get_weights());
  CHECK(close(first(K::permute_dimensions(x, {0, 3, 1, 2})), last(x), {.rtol = 1e-3, .atol = 1e-5}));
  CHECK(application("EfficientNetB0").make({}).output().shape() == Shape{None, 1000});
  CHECK_THROWS_WITH_AS(
      DenseNet121(), "[DenseNet121] image_data_format must be \"channels_last\": received \"channels_first\"",
      ValueError);
  CHECK_THROWS_WITH_AS(ConvNeXtTiny(), Contains("[ConvNeXtTiny] image_data_format must be"), ValueError);
}

TEST_CASE("arguments that do not fit are refused") {
  const auto refused = [](const ApplicationOptions& options, const char* text) {
    CHECK_THROWS_WITH_AS(ResNet50(options), Contains(text), ValueError);
  };
  refused(
      {.input_shape = {31, 64, 3}},
      "[ResNet50] input_shape must be at least 32 pixels high and wide: received input_shape=(31, 64, 3)");
  refused({.input_shape = {64, 64}}, "input_shape must have three extents: received input_shape=(64, 64)");
  refused({.input_shape = {None, 64, 3}}, "must have a height and a width with the classifier: received");
  refused({.include_top = false, .pooling = "mean"},
          "pooling must be \"avg\" or \"max\": received pooling=\"mean\"");
  refused({.input_tensor = K::ones({1, 64, 64, 3})}, "input_tensor must be symbolic, as nn::Input makes it");
  refused({.input_tensor = nn::Input({64, 64, 3}), .input_shape = {32, 32, 3}},
          "input_tensor must have the shape of the input: received input_tensor.shape=(None, 64, 64, 3), "
          "input_shape=(32, 32, 3)");
  refused({.weights = "a.h5", .classifier_activation = "relu"},
          "classifier_activation must be softmax or linear where there are weights: received "
          "classifier_activation=relu");
}

TEST_CASE("weights come back from a file, whole and by name" * needs_hdf5) {
  const Files files;
  const std::string path = files.folder() + "/weights.h5";
  const nn::Model model = with_random_weights(small_mobilenet());
  model.save_weights(path);
  CHECK(same(small_mobilenet(path), model));
  // Another classifier: by name, all but its weights.
  const nn::Model other = small_mobilenet("", 3);
  CHECK_THROWS_WITH_AS(other.load_weights(path), Contains("'predictions' must have the shape (1280, 3)"),
                       ValueError);
  other.load_weights(path, {.by_name = true, .skip_mismatch = true});
  CHECK(values(other.get_layer("Conv1").get_weights()[0]) ==
        values(model.get_layer("Conv1").get_weights()[0]));
  const nn::Model features = MobileNetV2({.alpha = 0.35, .include_top = false});
  features.load_weights(path, {.by_name = true});
  const Tensor x = normal({1, 32, 32, 3}, 4, "float32");
  const nn::Model same_features(model.input(), model.get_layer("out_relu").output());
  CHECK(values(features(x)) == values(same_features(x)));
}
