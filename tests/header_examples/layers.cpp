#include "header_examples.hpp"

namespace {

[[maybe_unused]] void applications_of_images(const Tensor& images) {
  namespace applications = nn::applications;
  nn::Model classifier =
      applications::ResNet50({.weights = "resnet50_weights_tf_dim_ordering_tf_kernels.h5"});
  Tensor scores = classifier(applications::resnet::preprocess_input(images));
  auto best = applications::decode_predictions(scores, "imagenet_class_index.json", {.top = 3});
}

[[maybe_unused]] void dtype_policies() {
  nn::set_dtype_policy("mixed_float16");
  nn::Sequential model(
      {nn::Dense(64, {.activation = "relu"}), nn::Dense(10, {.activation = "softmax", .dtype = "float32"})});
  nn::set_dtype_policy(nn::DTypePolicyMap("mixed_float16", {{"scores", "float32"}}));
}

struct ScaleImpl : nn::LayerImpl {
  double by;
  explicit ScaleImpl(double by, nn::LayerOptions options = {}) : nn::LayerImpl("Scale", options), by(by) {}
  Tensor call(const Tensor& x) override { return x * by; }
  nn::Config get_config() const override { return {{"by", by}}; }
};
using Scale = nn::LayerOf<ScaleImpl>;

struct SeveralImpl : nn::LayerImpl {
  SeveralImpl() : nn::LayerImpl("Several") {}
  Tensor call(const Tensor& x) override;
  std::vector<Tensor> call(const std::vector<Tensor>& inputs);
};
struct MergeImpl : nn::LayerImpl {
  MergeImpl() : nn::LayerImpl("Merge") {}
  Tensor call(const std::vector<Tensor>& inputs);
};

Tensor SeveralImpl::call(const Tensor& x) { return x; }
std::vector<Tensor> SeveralImpl::call(const std::vector<Tensor>& inputs) { return inputs; }
Tensor MergeImpl::call(const std::vector<Tensor>& inputs) { return inputs[0]; }

[[maybe_unused]] void forms_of_call(const Tensor& x) {
  nn::LayerOf<SeveralImpl>()({x, x});
  nn::LayerOf<MergeImpl>()({x, x});
}

[[maybe_unused]] void objects() {
  namespace K = backend;
  nn::Dense(8, {.activation = "relu"});
  nn::Dense(8, {.activation = nn::activations::relu});
  nn::Dense(8, {.activation = [](const Tensor& x) { return K::sin(x); }});
  Config config{{"units", 3}, {"name", "scores"}};
  config.at("units").integer();
  nn::register_object("Scale", [](const nn::Config& config) { return Scale(config.at("by").number()); });
}

[[maybe_unused]] void layers(const Tensor& x, const Tensor& memory, const Tensor& h, const Tensor& c,
                             const std::vector<std::vector<std::string>>& words) {
  nn::MultiHeadAttention attention(8, 64);
  Tensor y = attention({x, x}, {.use_causal_mask = true});
  auto both = attention.apply({x, memory}, {.return_attention_scores = true});
  nn::Sequential model({nn::Dense(4, {.activation = "relu", .input_shape = {3}}), nn::Dense(1)});
  nn::Conv2D(16, 3, {.strides = 2, .padding = "same", .activation = "relu"});
  nn::Lambda([](const Tensor& x) { return x / 255.f; });
  nn::Dense(10, {.activation = "softmax"});
  nn::LayerNormalization({.axis = -1}), nn::Dropout(0.5), nn::Add()({x, memory});
  nn::EinsumDense("abc,cd->abd", {None, 64}, {.bias_axes = "d"});
  nn::EinsumDense("...x,xy->...y", 64, {.bias_axes = "y"});
  nn::MaxPooling2D(), nn::AveragePooling2D({3, 3}, {.strides = 2, .padding = "same"});
  nn::StringLookup lookup;
  lookup({"cat", "dog"}), lookup({{"cat", "dog"}, {"dog", "owl"}}), lookup(words);
  nn::ZeroPadding2D(1), nn::ZeroPadding2D({1, 2}), nn::Cropping2D({{1, 0}, {0, 2}});
  nn::ConvLSTM2D(16, 3, {.padding = "same", .return_sequences = true});
  nn::LSTM lstm(16, {.return_sequences = true, .return_state = true});
  auto outputs = lstm.apply(x, {.initial_state = {h, c}});
  nn::LSTMCell cell(8);
  auto step = cell.apply({x, h, c});
  nn::Bidirectional(nn::LSTM(16, {.return_sequences = true}), {.merge_mode = "sum"});
  nn::TimeDistributed(nn::Conv2D(8, 3));
}

}  // namespace
