#include <ktape/nn/saving/keras/keras_layers.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "../saving/keras_models.hpp"

#include <ktape/ktape.hpp>

#include <algorithm>
#include <cmath>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace nn::applications;
using doctest::Contains;
using keras_models::same, keras_models::shaken;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

using Names = std::vector<std::string>;

/// The names of the layers in the order of Keras's `model.layers`.
Names layer_names(const nn::Model& model) {
  Names names;
  for (const nn::Layer& layer : nn::saving::keras_layers(model)) names.push_back(layer.name());
  return names;
}

/// Those from a name on.
Names names_from(const Names& names, const std::string& first, std::size_t count) {
  const auto begin = std::find(names.begin(), names.end(), first);
  return {begin, begin + std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(count), names.end() - begin)};
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Names weight_names(const nn::Layer& layer) {
  Names names;
  for (const ktape::Variable& weight : layer.weights()) names.push_back(weight.name());
  return names;
}

/// A small network of any size.
nn::Model small_mobilenet(const std::string& weights = "", std::int64_t classes = 5) {
  return MobileNetV2({.alpha = 0.35, .weights = weights, .input_shape = {32, 32, 3}, .classes = classes});
}

}  // namespace

// --- What Keras documents ---------------------------------------------------------------------------------

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

TEST_CASE("InceptionV3's unnamed layers are counted and ordered as Keras's, so that files load by position") {
  K::reset_uids();
  const Names names = layer_names(InceptionV3());
  CHECK(names.size() == 313);
  CHECK(names_from(names, "conv2d", 3) == Names{"conv2d", "batch_normalization", "activation"});
  CHECK(names_from(names, "max_pooling2d_1", 10) ==
        Names{"max_pooling2d_1", "conv2d_8", "batch_normalization_8", "activation_8", "conv2d_6", "conv2d_9",
              "batch_normalization_6", "batch_normalization_9", "activation_6", "activation_9"});
  for (int i = 0; i <= 10; ++i) CHECK(has(names, "mixed" + std::to_string(i)));
  CHECK(has(names, "conv2d_93"));
  CHECK(has(names, "mixed9_0"));
  CHECK(has(names, "mixed9_1"));
  CHECK(has(names, "concatenate"));
  CHECK(names_from(names, "mixed10", 3) == Names{"mixed10", "avg_pool", "predictions"});
}

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

TEST_CASE("the layers of VGG16 and DenseNet121") {
  CHECK(layer_names(VGG16({.include_top = false, .input_shape = {32, 32, 3}})).back() == "block5_pool");
  const Names vgg = layer_names(VGG16({.input_shape = {32, 32, 3}, .classes = 2}));
  CHECK(vgg.size() == 23);
  CHECK(names_from(vgg, "block1_conv1", 4) ==
        Names{"block1_conv1", "block1_conv2", "block1_pool", "block2_conv1"});
  CHECK(names_from(vgg, "block5_pool", 5) == Names{"block5_pool", "flatten", "fc1", "fc2", "predictions"});
  const Names dense = layer_names(DenseNet121());
  CHECK(names_from(dense, "conv2_block1_0_bn", 7) ==
        Names{"conv2_block1_0_bn", "conv2_block1_0_relu", "conv2_block1_1_conv", "conv2_block1_1_bn",
              "conv2_block1_1_relu", "conv2_block1_2_conv", "conv2_block1_concat"});
  CHECK(names_from(dense, "pool4_bn", 4) == Names{"pool4_bn", "pool4_relu", "pool4_conv", "pool4_pool"});
  CHECK(names_from(dense, "conv5_block16_concat", 5) ==
        Names{"conv5_block16_concat", "bn", "relu", "avg_pool", "predictions"});
}

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

TEST_CASE("the layers of EfficientNetB0 and ConvNeXtTiny") {
  const nn::Model efficient = EfficientNetB0();
  const Names names = layer_names(efficient);
  CHECK(names_from(names, "stem_conv_pad", 5) ==
        Names{"stem_conv_pad", "stem_conv", "stem_bn", "stem_activation", "block1a_dwconv"});
  CHECK(has(names, "block2a_dwconv_pad"));
  CHECK(has(names, "block2b_drop"));
  CHECK(has(names, "block4a_se_reshape"));
  CHECK(has(names, "block7a_project_bn"));
  CHECK(!has(names, "block1a_expand_conv"));
  CHECK(names_from(names, "top_conv", 6) ==
        Names{"top_conv", "top_bn", "top_activation", "avg_pool", "top_dropout", "predictions"});
  CHECK(efficient.get_layer("block1a_se_reduce").weights()[0].shape() == Shape{1, 1, 32, 8});
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

TEST_CASE("the weights of layers stand in Keras's order") {
  const nn::Model model = MobileNetV3Small();
  CHECK(weight_names(model.get_layer("conv_bn")) ==
        Names{"conv_bn/gamma", "conv_bn/beta", "conv_bn/moving_mean", "conv_bn/moving_variance"});
  CHECK(weight_names(model.get_layer("conv_2")) == Names{"conv_2/kernel", "conv_2/bias"});
  const nn::Model inception = InceptionV3({.include_top = false});
  CHECK(inception.get_layer("mixed0").weights().empty());
  CHECK(nn::saving::keras_layers(inception)[2].weights().size() == 3);  // without gamma
  const nn::Model xception = Xception({.include_top = false});
  CHECK(weight_names(xception.get_layer("block2_sepconv1")) ==
        Names{"block2_sepconv1/depthwise_kernel", "block2_sepconv1/pointwise_kernel"});
}

// --- Arguments --------------------------------------------------------------------------------------------

TEST_CASE("a network of other classes, another size and another activation") {
  const nn::Model model = small_mobilenet();
  CHECK(model.name() == "mobilenetv2_0.35_32");
  const Tensor x = normal({2, 32, 32, 3}, 1, "float32"), y = model(x);
  CHECK(y.shape() == Shape{2, 5});
  CHECK(close(K::sum(y, -1), K::ones({2})));
  const nn::Model logits = MobileNetV3Small({.alpha = 0.75,
                                             .minimalistic = true,
                                             .include_preprocessing = false,
                                             .classes = 3,
                                             .classifier_activation = None,
                                             .name = "mine"});
  CHECK(logits.name() == "mine");
  CHECK(logits(x).shape() == Shape{2, 3});
  CHECK(!close(K::sum(logits(x), -1), K::ones({2}), {.rtol = 1e-3}));
}

TEST_CASE("a network may stand on tensors that others made") {
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
  CHECK_THROWS_WITH_AS(MobileNetV2({.alpha = 0}), "[MobileNetV2] alpha must be above 0: received alpha=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(application("ResNet5"), Contains("received name='ResNet5'; did you mean 'ResNet50'"),
                       ValueError);
}

// --- Weights ----------------------------------------------------------------------------------------------

TEST_CASE("weights come back from a file, whole and by name") {
  const Files files;
  const std::string path = files.folder() + "/weights.h5";
  const nn::Model model = shaken(small_mobilenet());
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

TEST_CASE("weights of unnamed layers come back by their position") {
  const Files files;
  const std::string path = files.folder() + "/weights.h5";
  const nn::Model model = shaken(InceptionV3({.include_top = false}));
  model.save_weights(path);
  CHECK(same(InceptionV3({.include_top = false, .weights = path}), model));
}

TEST_CASE("whole networks are saved and loaded, also those with special layers") {
  const Files files;
  const Tensor x = normal({1, 32, 32, 3}, 5, "float32");
  const nn::Model mobile = MobileNetV3Small({.input_shape = {32, 32, 3}, .classes = 4});
  mobile.save(files.folder() + "/mobile.keras");
  CHECK(values(nn::load_model(files.folder() + "/mobile.keras")(x)) == values(mobile(x)));
  const nn::Model next = ConvNeXtTiny({.include_top = false, .input_shape = {32, 32, 3}});
  const nn::Model again = nn::model_from_json(next.to_json());
  again.set_weights(next.get_weights());
  CHECK(values(again(x)) == values(next(x)));
  CHECK(next.to_json().find("keras.src.applications.convnext") != std::string::npos);
}

TEST_CASE("the deviations in EfficientNetB0's published files become variances") {
  const Files files;
  const std::string published = files.folder() + "/published.h5", own = files.folder() + "/own.h5";
  const auto normalization = [](const nn::Model& model) { return model.layers()[2]; };
  const nn::Model model = EfficientNetB0({.include_top = false});
  REQUIRE(normalization(model).class_name() == "Normalization");
  std::vector<Tensor> weights = normalization(model).get_weights();
  weights[1] = K::constant({0.229f, 0.224f, 0.225f});
  normalization(model).set_weights(weights);
  model.save_weights(published);
  const nn::Model corrected = EfficientNetB0({.include_top = false, .weights = published});
  CHECK(close(values(normalization(corrected).get_weights()[1])[0], 0.229 * 0.229, {.rtol = 1e-6}));
  corrected.save_weights(own);
  CHECK(same(EfficientNetB0({.include_top = false, .weights = own}), corrected));
}
