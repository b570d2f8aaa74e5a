#include <ktape/ktape.hpp>

#include <set>

#include "../ops/check.hpp"

namespace nn = ktape::nn;
using nn::Config;

TEST_CASE("each family of layers is registered: a layer is made from its class and arguments") {
  const struct {
    const char *class_name, *config;
  } layers[] = {{"ReLU", "{}"},
                {"LayerScale", R"({"projection_dim": 2})"},
                {"Attention", "{}"},
                {"RandomFlip", "{}"},
                {"Conv2D", R"({"filters": 1, "kernel_size": 2})"},
                {"ConvLSTM2D", R"({"filters": 1, "kernel_size": 2})"},
                {"Dense", R"({"units": 1})"},
                {"EinsumDense", R"({"equation": "ab,bc->ac", "output_shape": 3})"},
                {"CategoryEncoding", R"({"num_tokens": 3})"},
                {"Resizing", R"({"height": 2, "width": 2})"},
                {"InputLayer", R"({"batch_shape": [null, 2]})"},
                {"LocallyConnected1D", R"({"filters": 1, "kernel_size": 2})"},
                {"StringLookup", "{}"},
                {"Add", "{}"},
                {"MultiHeadAttention", R"({"num_heads": 1, "key_dim": 2})"},
                {"BatchNormalization", "{}"},
                {"Normalization", "{}"},
                {"ZeroPadding2D", "{}"},
                {"MaxPooling2D", "{}"},
                {"LSTMCell", R"({"units": 1})"},
                {"LSTM", R"({"units": 1})"},
                {"Dropout", R"({"rate": 0.5})"},
                {"Flatten", "{}"},
                {"TextVectorization", "{}"},
                {"TimeDistributed", R"({"layer": {"class_name": "Dense", "config": {"units": 1}}})"}};
  for (const auto& one : layers) {
    const auto& name = one.class_name;
    const auto& config = one.config;
    CAPTURE(name);
    const nn::Layer layer =
        nn::Layer::from_value(Config{{"class_name", name}, {"config", nn::from_json(config)}});
    CHECK(layer.class_name() == name);
  }
}

TEST_CASE("each layer is registered once, under a known name") {
  const std::vector<std::string> names = nn::registered_names("layer");
  CHECK(names.size() > 100);
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  for (const std::string& name : names) CHECK_MESSAGE(nn::is_registered("layer", name), name);
}
