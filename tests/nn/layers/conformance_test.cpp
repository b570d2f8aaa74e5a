#include "../../ops/check.hpp"
#include "../saving/changes.hpp"

#include <ktape/ktape.hpp>
#include <ktape/nn/applications/layer_scale.hpp>
#include <ktape/nn/layers/arguments.hpp>

/// What every layer must be able to do. A layer is a row of the table; the tests below go through all rows,
/// and one of them says which registered layers have none.
namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::Variable;

namespace {

/// What becomes of a mask on the (first) input.
enum class Mask { Passes, Ends };

struct Row {
  std::string name;  ///< of the class
  std::function<nn::Layer()> make;
  std::vector<Shape> inputs;         ///< with a batch of 4
  Shape output;                      ///< likewise
  std::vector<std::string> weights;  ///< the ends of their names
  Mask mask = Mask::Ends;
  std::vector<Shape> bad_inputs = {};  ///< that the layer refuses, in a list of their own; none: it takes all
  int classes = 0;                     ///< above 0: the inputs are integers below it
};

const std::vector<Row>& table() {
  static const std::vector<Row> rows{
      // core
      {"Dense", [] { return nn::Dense(3); }, {{4, 5}}, {4, 3}, {"kernel", "bias"}, Mask::Passes, {{4}}},
      {"Activation", [] { return nn::Activation("tanh"); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"Identity", [] { return nn::Identity(); }, {{4, 5, 2}}, {4, 5, 2}, {}, Mask::Passes},
      {"Embedding",
       [] { return nn::Embedding(7, 3); },
       {{4, 5}},
       {4, 5, 3},
       {"embeddings"},
       Mask::Ends,
       {},
       7},
      {"Masking", [] { return nn::Masking(); }, {{4, 5, 2}}, {4, 5, 2}, {}, Mask::Passes, {{4}}},
      {"EinsumDense",
       [] {
         return nn::EinsumDense("abc,cd->abd", {None, 3}, {.bias_axes = "d"});
       },
       {{4, 5, 2}},
       {4, 5, 3},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 5}}},
      // reshaping
      {"Flatten", [] { return nn::Flatten(); }, {{4, 5, 2}}, {4, 10}, {}},
      {"Reshape",
       [] {
         return nn::Reshape({2, -1});
       },
       {{4, 6}},
       {4, 2, 3},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"Permute",
       [] {
         return nn::Permute({2, 1});
       },
       {{4, 5, 2}},
       {4, 2, 5},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"RepeatVector", [] { return nn::RepeatVector(3); }, {{4, 5}}, {4, 3, 5}, {}, Mask::Ends, {{4, 5, 2}}},
      // regularization
      {"Dropout", [] { return nn::Dropout(0.3); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"SpatialDropout1D",
       [] { return nn::SpatialDropout1D(0.3); },
       {{4, 5, 2}},
       {4, 5, 2},
       {},
       Mask::Passes,
       {{4, 5}}},
      {"SpatialDropout2D",
       [] { return nn::SpatialDropout2D(0.3, {.data_format = "channels_last", .seed = {}}); },
       {{4, 5, 3, 2}},
       {4, 5, 3, 2},
       {},
       Mask::Passes,
       {{4, 5}}},
      {"SpatialDropout3D",
       [] { return nn::SpatialDropout3D(0.3); },
       {{4, 2, 3, 2, 2}},
       {4, 2, 3, 2, 2},
       {},
       Mask::Passes,
       {{4, 5}}},
      {"GaussianDropout", [] { return nn::GaussianDropout(0.3); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"GaussianNoise", [] { return nn::GaussianNoise(0.3); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"AlphaDropout", [] { return nn::AlphaDropout(0.3); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"ActivityRegularization",
       [] { return nn::ActivityRegularization({.l2 = 0.1}); },
       {{4, 5}},
       {4, 5},
       {},
       Mask::Passes},
      // normalization
      {"BatchNormalization",
       [] { return nn::BatchNormalization(); },
       {{4, 5}},
       {4, 5},
       {"gamma", "beta", "moving_mean", "moving_variance"},
       Mask::Passes},
      {"LayerNormalization",
       [] { return nn::LayerNormalization(); },
       {{4, 5}},
       {4, 5},
       {"gamma", "beta"},
       Mask::Passes},
      {"GroupNormalization",
       [] { return nn::GroupNormalization({.groups = 2}); },
       {{4, 5, 6}},
       {4, 5, 6},
       {"gamma", "beta"},
       Mask::Passes,
       {{4, 5, 3}}},
      {"RMSNormalization", [] { return nn::RMSNormalization(); }, {{4, 5}}, {4, 5}, {"scale"}, Mask::Passes},
      {"UnitNormalization", [] { return nn::UnitNormalization(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"LayerScale",
       [] { return nn::LayerScale(5, {.init_values = 0.5}); },
       {{4, 5}},
       {4, 5},
       {"gamma"},
       Mask::Ends},
      // recurrent
      {"SimpleRNNCell",
       [] { return nn::SimpleRNNCell(3); },
       {{4, 2}, {4, 3}},
       {4, 3},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Ends,
       {{4, 2}}},
      {"LSTMCell",
       [] { return nn::LSTMCell(3); },
       {{4, 2}, {4, 3}, {4, 3}},
       {4, 3},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Ends,
       {{4, 2}}},
      {"GRUCell",
       [] { return nn::GRUCell(3); },
       {{4, 2}, {4, 3}},
       {4, 3},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Ends,
       {{4, 2}}},
      {"StackedRNNCells",
       [] { return nn::StackedRNNCells({nn::GRUCell(3)}); },
       {{4, 2}, {4, 3}},
       {4, 3},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Ends,
       {{4, 2}}},
      {"SimpleRNN",
       [] { return nn::SimpleRNN(3); },
       {{4, 5, 2}},
       {4, 3},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Ends,
       {{4, 5}}},
      {"LSTM",
       [] { return nn::LSTM(3, {.return_sequences = true}); },
       {{4, 5, 2}},
       {4, 5, 3},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Passes,
       {{4, 5}}},
      {"GRU",
       [] { return nn::GRU(3, {.return_sequences = true}); },
       {{4, 5, 2}},
       {4, 5, 3},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Passes,
       {{4, 5}}},
      {"RNN",
       [] { return nn::RNN(nn::LSTMCell(3)); },
       {{4, 5, 2}},
       {4, 3},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Ends,
       {{4, 5}}},
      {"Bidirectional",
       [] { return nn::Bidirectional(nn::SimpleRNN(3)); },
       {{4, 5, 2}},
       {4, 6},
       {"kernel", "recurrent_kernel", "bias", "kernel", "recurrent_kernel", "bias"},
       Mask::Ends,
       {{4, 5}}},
      {"TimeDistributed",
       [] { return nn::TimeDistributed(nn::Dense(3)); },
       {{4, 5, 2}},
       {4, 5, 3},
       {"kernel", "bias"},
       Mask::Passes,
       {{4, 5}}},
      {"ConvLSTM1D",
       [] { return nn::ConvLSTM1D(2, 3, {.return_sequences = true}); },
       {{4, 3, 6, 2}},
       {4, 3, 4, 2},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Passes,
       {{4, 3, 2}}},
      {"ConvLSTM2D",
       [] { return nn::ConvLSTM2D(2, 2); },
       {{4, 3, 3, 4, 1}},
       {4, 2, 3, 2},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Ends,
       {{4, 3, 1, 1, 1}}},
      {"ConvLSTM3D",
       [] { return nn::ConvLSTM3D(1, 2); },
       {{4, 2, 2, 3, 2, 1}},
       {4, 1, 2, 1, 1},
       {"kernel", "recurrent_kernel", "bias"},
       Mask::Ends,
       {{4, 2, 3, 3, 1}}},
      // attention
      {"Attention",
       [] { return nn::Attention({.use_scale = true}); },
       {{4, 5, 3}, {4, 6, 3}},
       {4, 5, 3},
       {"scale"},
       Mask::Passes,
       {{4, 5, 3}}},
      {"AdditiveAttention",
       [] { return nn::AdditiveAttention(); },
       {{4, 5, 3}, {4, 6, 3}},
       {4, 5, 3},
       {"scale"},
       Mask::Passes,
       {{4, 5, 3}, {4, 6, 2}}},
      {"MultiHeadAttention",
       [] { return nn::MultiHeadAttention(2, 3); },
       {{4, 5, 3}, {4, 6, 2}},
       {4, 5, 3},
       {"kernel", "bias", "kernel", "bias", "kernel", "bias", "kernel", "bias"},
       Mask::Passes,
       {{4, 5, 3}}},
      {"GroupQueryAttention",
       [] { return nn::GroupQueryAttention(3, 4, 2); },
       {{4, 5, 3}, {4, 6, 3}},
       {4, 5, 3},
       {"kernel", "bias", "kernel", "bias", "kernel", "bias", "kernel", "bias"},
       Mask::Passes,
       {{4, 5, 3}}},
      // merging
      {"Add", [] { return nn::Add(); }, {{4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}, {4, 3}}},
      {"Subtract", [] { return nn::Subtract(); }, {{4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Multiply", [] { return nn::Multiply(); }, {{4, 5}, {4, 1}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Average", [] { return nn::Average(); }, {{4, 5}, {4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Maximum", [] { return nn::Maximum(); }, {{4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Minimum", [] { return nn::Minimum(); }, {{4, 5}, {4, 5}}, {4, 5}, {}, Mask::Ends, {{4, 5}}},
      {"Concatenate",
       [] { return nn::Concatenate(); },
       {{4, 5}, {4, 2}},
       {4, 7},
       {},
       Mask::Ends,
       {{4, 5}, {3, 5}}},
      {"Dot", [] { return nn::Dot(1); }, {{4, 5}, {4, 5}}, {4, 1}, {}, Mask::Ends, {{4, 5}}},
      // convolution
      {"Conv1D",
       [] { return nn::Conv1D(2, 3); },
       {{4, 6, 3}},
       {4, 4, 2},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 6}}},
      {"Conv2D",
       [] { return nn::Conv2D(2, 3); },
       {{4, 6, 5, 3}},
       {4, 4, 3, 2},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 2, 2, 3}}},
      {"Conv3D",
       [] { return nn::Conv3D(2, 2); },
       {{4, 3, 4, 3, 2}},
       {4, 2, 3, 2, 2},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 6, 5, 3}}},
      {"Conv1DTranspose",
       [] { return nn::Conv1DTranspose(2, 3, {.strides = 2}); },
       {{4, 5, 3}},
       {4, 11, 2},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 6}}},
      {"Conv2DTranspose",
       [] { return nn::Conv2DTranspose(2, 2, {.strides = 2}); },
       {{4, 3, 4, 3}},
       {4, 6, 8, 2},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 6, 3}}},
      {"Conv3DTranspose",
       [] { return nn::Conv3DTranspose(2, 2); },
       {{4, 2, 3, 2, 2}},
       {4, 3, 4, 3, 2},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 6, 5, 3}}},
      {"DepthwiseConv1D",
       [] { return nn::DepthwiseConv1D(3); },
       {{4, 6, 3}},
       {4, 4, 3},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 6}}},
      {"DepthwiseConv2D",
       [] { return nn::DepthwiseConv2D(3, {.depth_multiplier = 2}); },
       {{4, 6, 5, 2}},
       {4, 4, 3, 4},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 2, 2, 2}}},
      {"SeparableConv1D",
       [] { return nn::SeparableConv1D(2, 3); },
       {{4, 6, 3}},
       {4, 4, 2},
       {"depthwise_kernel", "pointwise_kernel", "bias"},
       Mask::Ends,
       {{4, 6}}},
      {"SeparableConv2D",
       [] { return nn::SeparableConv2D(2, 3); },
       {{4, 6, 5, 3}},
       {4, 4, 3, 2},
       {"depthwise_kernel", "pointwise_kernel", "bias"},
       Mask::Ends,
       {{4, 6, 3}}},
      {"LocallyConnected1D",
       [] { return nn::LocallyConnected1D(2, 3); },
       {{4, 6, 3}},
       {4, 4, 2},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 2, 3}}},
      {"LocallyConnected2D",
       [] { return nn::LocallyConnected2D(2, 3); },
       {{4, 6, 5, 3}},
       {4, 4, 3, 2},
       {"kernel", "bias"},
       Mask::Ends,
       {{4, 2, 2, 3}}},
      // pooling
      {"MaxPooling1D",
       [] { return nn::MaxPooling1D(); },
       {{4, 6, 3}},
       {4, 3, 3},
       {},
       Mask::Ends,
       {{4, 1, 3}}},
      {"MaxPooling2D",
       [] { return nn::MaxPooling2D(); },
       {{4, 6, 5, 3}},
       {4, 3, 2, 3},
       {},
       Mask::Ends,
       {{4, 6, 3}}},
      {"MaxPooling3D",
       [] { return nn::MaxPooling3D(); },
       {{4, 4, 2, 3, 2}},
       {4, 2, 1, 1, 2},
       {},
       Mask::Ends,
       {{4, 6, 5, 3}}},
      {"GlobalMaxPooling1D",
       [] { return nn::GlobalMaxPooling1D(); },
       {{4, 6, 3}},
       {4, 3},
       {},
       Mask::Ends,
       {{4, 6}}},
      {"GlobalMaxPooling2D",
       [] { return nn::GlobalMaxPooling2D(); },
       {{4, 6, 5, 3}},
       {4, 3},
       {},
       Mask::Ends,
       {{4, 6}}},
      {"GlobalMaxPooling3D",
       [] { return nn::GlobalMaxPooling3D(); },
       {{4, 2, 3, 2, 3}},
       {4, 3},
       {},
       Mask::Ends,
       {{4, 6}}},
      {"AveragePooling1D",
       [] { return nn::AveragePooling1D(); },
       {{4, 6, 3}},
       {4, 3, 3},
       {},
       Mask::Ends,
       {{4, 1, 3}}},
      {"AveragePooling2D",
       [] { return nn::AveragePooling2D(); },
       {{4, 6, 5, 3}},
       {4, 3, 2, 3},
       {},
       Mask::Ends,
       {{4, 6, 3}}},
      {"AveragePooling3D",
       [] { return nn::AveragePooling3D(); },
       {{4, 4, 2, 3, 2}},
       {4, 2, 1, 1, 2},
       {},
       Mask::Ends,
       {{4, 6, 5, 3}}},
      {"GlobalAveragePooling1D",
       [] { return nn::GlobalAveragePooling1D(); },
       {{4, 6, 3}},
       {4, 3},
       {},
       Mask::Ends,
       {{4, 6}}},
      {"GlobalAveragePooling2D",
       [] { return nn::GlobalAveragePooling2D(); },
       {{4, 6, 5, 3}},
       {4, 3},
       {},
       Mask::Ends,
       {{4, 6}}},
      {"GlobalAveragePooling3D",
       [] { return nn::GlobalAveragePooling3D(); },
       {{4, 2, 3, 2, 3}},
       {4, 3},
       {},
       Mask::Ends,
       {{4, 6}}},
      // padding
      {"ZeroPadding1D",
       [] { return nn::ZeroPadding1D(1); },
       {{4, 5, 2}},
       {4, 7, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"ZeroPadding2D",
       [] { return nn::ZeroPadding2D(1); },
       {{4, 5, 3, 2}},
       {4, 7, 5, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"ZeroPadding3D",
       [] { return nn::ZeroPadding3D(1); },
       {{4, 2, 3, 2, 2}},
       {4, 4, 5, 4, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"Cropping1D", [] { return nn::Cropping1D(1); }, {{4, 5, 2}}, {4, 3, 2}, {}, Mask::Ends, {{4, 2, 2}}},
      {"Cropping2D",
       [] { return nn::Cropping2D(1); },
       {{4, 5, 3, 2}},
       {4, 3, 1, 2},
       {},
       Mask::Ends,
       {{4, 2, 2, 2}}},
      {"Cropping3D",
       [] { return nn::Cropping3D(1); },
       {{4, 3, 4, 3, 2}},
       {4, 1, 2, 1, 2},
       {},
       Mask::Ends,
       {{4, 2, 2, 2, 2}}},
      {"UpSampling1D", [] { return nn::UpSampling1D(2); }, {{4, 5, 2}}, {4, 10, 2}, {}, Mask::Ends, {{4, 5}}},
      {"UpSampling2D",
       [] { return nn::UpSampling2D(2); },
       {{4, 5, 3, 2}},
       {4, 10, 6, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"UpSampling3D",
       [] { return nn::UpSampling3D(2); },
       {{4, 2, 3, 2, 2}},
       {4, 4, 6, 4, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      // preprocessing
      {"Normalization",
       [] { return nn::Normalization(); },
       {{4, 5}},
       {4, 5},
       {"mean", "variance", "count"},
       Mask::Passes},
      {"Rescaling", [] { return nn::Rescaling(0.5, {.offset = 1}); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"Discretization",
       [] {
         return nn::Discretization({.bin_boundaries = {{-0.5, 0, 0.5}}, .output_mode = "count"});
       },
       {{4, 5}},
       {4, 4},
       {}},
      {"CategoryEncoding", [] { return nn::CategoryEncoding(7); }, {{4, 5}}, {4, 7}, {}, Mask::Ends, {}, 7},
      {"IntegerLookup",
       [] {
         return nn::IntegerLookup({.vocabulary = {3, 5}, .output_mode = "count"});
       },
       {{4, 5}},
       {4, 3},
       {},
       Mask::Ends,
       {},
       7},
      {"Resizing", [] { return nn::Resizing(3, 2); }, {{4, 5, 3, 2}}, {4, 3, 2, 2}, {}, Mask::Ends, {{4, 5}}},
      {"CenterCrop",
       [] { return nn::CenterCrop(3, 2); },
       {{4, 5, 3, 2}},
       {4, 3, 2, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"RandomFlip", [] { return nn::RandomFlip(); }, {{4, 5, 3, 2}}, {4, 5, 3, 2}, {}, Mask::Ends, {{4, 5}}},
      {"RandomRotation",
       [] { return nn::RandomRotation(0.2); },
       {{4, 5, 3, 2}},
       {4, 5, 3, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"RandomTranslation",
       [] {
         return nn::RandomTranslation(0.2, {-0.1, 0.3});
       },
       {{4, 5, 3, 2}},
       {4, 5, 3, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"RandomZoom",
       [] { return nn::RandomZoom(0.2); },
       {{4, 5, 3, 2}},
       {4, 5, 3, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"RandomContrast",
       [] { return nn::RandomContrast(0.2); },
       {{4, 5, 3, 2}},
       {4, 5, 3, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"RandomBrightness",
       [] { return nn::RandomBrightness(0.2); },
       {{4, 5, 3, 2}},
       {4, 5, 3, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      {"RandomCrop",
       [] { return nn::RandomCrop(3, 2); },
       {{4, 5, 3, 2}},
       {4, 3, 2, 2},
       {},
       Mask::Ends,
       {{4, 5}}},
      // activation
      {"ReLU", [] { return nn::ReLU(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"LeakyReLU", [] { return nn::LeakyReLU(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"PReLU", [] { return nn::PReLU(); }, {{4, 5}}, {4, 5}, {"alpha"}, Mask::Passes},
      {"ELU", [] { return nn::ELU(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
      {"Softmax", [] { return nn::Softmax(); }, {{4, 5}}, {4, 5}, {}, Mask::Passes},
  };
  return rows;
}

/// The layers that are called on strings.
struct StringRow {
  std::string name;
  std::function<nn::Layer()> make;
  std::function<Tensor(const nn::Layer&)> call;
  Shape output;
};

const std::vector<StringRow>& string_table() {
  static const std::vector<StringRow> rows{
      {"StringLookup",
       [] {
         return nn::StringLookup({.vocabulary = {"cat", "dog"}});
       },
       [](const nn::Layer& layer) {
         return nn::StringLookup(layer)({"dog", "owl", "cat"});
       },
       {3}},
      {"TextVectorization",
       [] {
         return nn::TextVectorization({.vocabulary = {"cat", "dog"}});
       },
       [](const nn::Layer& layer) {
         return nn::TextVectorization(layer)({"A cat, a dog.", "Dog"});
       },
       {2, 4}},
  };
  return rows;
}

std::vector<Tensor> inputs_of(const Row& row, ktape::DType dtype, int seed = 1) {
  std::vector<Tensor> inputs;
  for (const Shape& shape : row.inputs)
    inputs.push_back(row.classes > 0
                         ? K::random_uniform(shape, {.maxval = row.classes, .dtype = "int32", .seed = seed})
                         : normal(shape, seed++, dtype));
  return inputs;
}

std::vector<Shape> with_unknown_batch(std::vector<Shape> shapes) {
  for (Shape& shape : shapes) shape[0] = None;
  return shapes;
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

}  // namespace

TEST_CASE("each layer has its weights and gives its shape, in its dtype") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    for (const char* dtype : {"float32", "float64"}) {
      nn::Config config = row.make().get_config();
      config.set("dtype", dtype);
      const nn::Layer layer = nn::Layer::from_value(nn::Config{{"class_name", row.name}, {"config", config}});
      const std::vector<Tensor> outputs = layer.apply(inputs_of(row, dtype));
      CHECK(outputs[0].shape() == row.output);
      CHECK(outputs[0].dtype() == dtype);
      std::vector<std::string> names;
      for (const Variable& weight : layer.weights()) {
        names.push_back(last_part(weight.name()));
        CHECK(weight.name().starts_with(layer.name() + '/'));
        CHECK((weight.dtype() == dtype || weight.dtype().is_integer()));
      }
      CHECK(names == row.weights);
    }
  }
}

TEST_CASE("each layer gives the same symbolically as at once") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    const std::vector<Tensor> inputs = inputs_of(row, "float32");
    const std::vector<Tensor> outputs = layer.apply(inputs);
    CHECK(layer.compute_output_shapes(with_unknown_batch(row.inputs))[0] ==
          with_unknown_batch({row.output})[0]);

    std::vector<Tensor> in;
    for (const Tensor& x : inputs)
      in.push_back(nn::Input(Shape(x.shape().begin() + 1, x.ndim() - 1), {.dtype = x.dtype()}));
    const nn::Model model(in, layer.apply(in));
    CHECK(values(model.apply(inputs)[0]) == values(outputs[0]));
  }
}

TEST_CASE("each layer can be remade from its config") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    const std::vector<Tensor> inputs = inputs_of(row, "float32");
    const Tensor expected = layer.apply(inputs)[0];
    const nn::Value json = nn::from_json(nn::to_json(layer.to_value()));
    const nn::Layer again = nn::Layer::from_value(json);
    CHECK((again.name() == layer.name() && again.get_config() == layer.get_config()));
    again.apply(inputs);
    again.set_weights(layer.get_weights());
    CHECK(values(again.apply(inputs)[0]) == values(expected));
  }
}

TEST_CASE("no change of a layer's config does more than throw") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    std::vector<Tensor> in;
    for (const Shape& shape : row.inputs) in.push_back(nn::Input(Shape(shape.begin() + 1, shape.rank() - 1)));
    each_change(row.make().get_config(), [&](const nn::Value& config) {
      const nn::weight_limit_scope limit(100'000);
      try {
        nn::Layer::from_value(nn::Config{{"class_name", row.name}, {"config", config}}).apply(in);
      } catch (const ktape::Error&) {
        return;
      }
    });
  }
}

TEST_CASE("a few steps down the slope lower the loss of each layer with weights") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    K::set_random_seed(3);
    const nn::Layer layer = row.make();
    const std::vector<Tensor> inputs = inputs_of(row, "float32");
    const Tensor target = normal(row.output, 9, "float32");
    const auto loss = [&] { return K::mean(K::square(layer.apply(inputs)[0] - target)); };
    const double before = loss().item();
    const std::vector<Variable> weights = layer.trainable_weights();
    for (int step = 0; step < 20; ++step) {
      const std::vector<Tensor> slopes = ktape::gradients(loss(), weights);
      for (std::size_t i = 0; i < weights.size(); ++i) K::update_sub(weights[i], 0.05f * slopes[i]);
    }
    if (!weights.empty()) CHECK(loss().item() < before);
  }
}

TEST_CASE("each layer hands a mask on, or ends it") {
  for (const Row& row : table()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    std::vector<Tensor> inputs = inputs_of(row, "float32");
    const Tensor mask = K::cast(K::ones({4, row.inputs[0][1]}), "bool");
    inputs[0] = nn::with_mask(inputs[0], mask);
    const Tensor y = layer.apply(inputs)[0];
    CHECK(nn::mask_of(y).defined() == (row.mask == Mask::Passes || row.name == "Concatenate"));
    CHECK(nn::mask_of(inputs[0]).get() == mask.get());
  }
}

TEST_CASE("each layer refuses what it cannot take, by its name, and is not built by it") {
  for (const Row& row : table()) {
    if (row.bad_inputs.empty()) continue;
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    std::vector<Tensor> bad;
    for (const Shape& shape : row.bad_inputs) bad.push_back(K::ones(shape));
    CHECK_THROWS_WITH_AS(layer.apply(bad), doctest::Contains(layer.name().c_str()), ktape::ValueError);
    CHECK((!layer.built() && layer.weights().empty()));
    CHECK(layer.apply(inputs_of(row, "float32"))[0].shape() == row.output);
  }
}

TEST_CASE("each layer of strings has a name and a config that remakes it, and refuses tensors") {
  for (const StringRow& row : string_table()) {
    CAPTURE(row.name);
    const nn::Layer layer = row.make();
    CHECK((layer.class_name() == row.name && layer.name().starts_with(nn::to_snake_case(row.name))));
    const Tensor expected = row.call(layer);
    CHECK(expected.shape() == row.output);
    const nn::Layer again = nn::Layer::from_value(nn::from_json(nn::to_json(layer.to_value())));
    CHECK((again.name() == layer.name() && again.get_config() == layer.get_config()));
    CHECK(values(row.call(again)) == values(expected));
    const std::string rule = '[' + layer.name() + "] the layer takes strings";
    CHECK_THROWS_WITH_AS(layer(K::ones({2, 3})), doctest::Contains(rule.c_str()), ktape::TypeError);
    CHECK_THROWS_WITH_AS(layer.adapt(K::ones({2, 3})), doctest::Contains(rule.c_str()), ktape::TypeError);
  }
}

TEST_CASE("every registered layer has a row") {
  for (const std::string& name : nn::registered_names("layer")) {
    const bool model = name == "Functional" || name == "Sequential" || name == "InputLayer";
    const bool own =
        name == "Affine" || model;  // of other tests: of models, in nn/saving/model_config_test.cpp
    const auto has = [&](const auto& rows) {
      return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
    };
    const bool found = has(table()) || has(string_table());
    CHECK_MESSAGE((own || found), name);
  }
}
