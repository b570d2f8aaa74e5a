#include "../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError, ktape::Variable;

// Arguments that Keras requires, or has before the others, by position and by name.
namespace {

struct Row {
  nn::Layer by_position, by_name;
};

nn::Config config_of(const nn::Layer& layer) {
  nn::Config config = layer.get_config();
  config.erase("name");
  for (const char* inner : {"layer", "cell", "cells"}) config.erase(inner);  // these have names of their own
  return config;
}

const std::vector<Row>& rows() {
  using namespace nn;
  static const Layer cell = LSTMCell(2), lstm = LSTM(2);
  static const std::vector<Row> all = {
      {Dense(4), Dense({.units = 4})},
      {Dense(4, {.activation = "relu"}), Dense({.units = 4, .activation = "relu"})},
      {Activation("relu"), Activation({.activation = "relu"})},
      {Activation("relu", {.dtype = "float64"}), Activation({.activation = "relu", .dtype = "float64"})},
      {Embedding(5, 2), Embedding({.input_dim = 5, .output_dim = 2})},
      {Embedding(5, 2, {.mask_zero = true}), Embedding(5, {.output_dim = 2, .mask_zero = true})},
      {Masking(2), Masking({.mask_value = 2})},
      {EinsumDense("ab,bc->ac", {3}), EinsumDense({.equation = "ab,bc->ac", .output_shape = {3}})},
      {EinsumDense("ab,bc->ac", 3), EinsumDense("ab,bc->ac", {.output_shape = {3}})},
      {EinsumDense("abc,cd->abd", {None, 3}),
       EinsumDense({.equation = "abc,cd->abd", .output_shape = {None, 3}})},
      {Conv1D(4, 3), Conv1D({.filters = 4, .kernel_size = 3})},
      {Conv2D(4, {3, 2}), Conv2D({.filters = 4, .kernel_size = {3, 2}})},
      {Conv2D(4, {3, 2}, {.strides = 2}), Conv2D(4, {.kernel_size = {3, 2}, .strides = 2})},
      {Conv2D(4, 3, {.strides = {2, 1}}), Conv2D({.filters = 4, .kernel_size = 3, .strides = {2, 1}})},
      {Conv3D(4, 3), Conv3D(4, {.kernel_size = 3})},
      {Conv1DTranspose(4, 3), Conv1DTranspose({.filters = 4, .kernel_size = 3})},
      {Conv2DTranspose(4, {3, 3}), Conv2DTranspose(4, {.kernel_size = {3, 3}})},
      {Conv3DTranspose(4, 3), Conv3DTranspose({.filters = 4, .kernel_size = 3})},
      {DepthwiseConv1D(3), DepthwiseConv1D({.kernel_size = 3})},
      {DepthwiseConv2D({3, 2}), DepthwiseConv2D({.kernel_size = {3, 2}})},
      {SeparableConv1D(4, 3), SeparableConv1D({.filters = 4, .kernel_size = 3})},
      {SeparableConv2D(4, {3, 2}), SeparableConv2D(4, {.kernel_size = {3, 2}})},
      {LocallyConnected1D(4, 3), LocallyConnected1D({.filters = 4, .kernel_size = 3})},
      {LocallyConnected2D(4, {3, 2}), LocallyConnected2D({.filters = 4, .kernel_size = {3, 2}})},
      {ConvLSTM1D(4, 3), ConvLSTM1D({.filters = 4, .kernel_size = 3})},
      {ConvLSTM2D(4, {3, 2}), ConvLSTM2D(4, {.kernel_size = {3, 2}})},
      {ConvLSTM3D(4, 3), ConvLSTM3D({.filters = 4, .kernel_size = 3})},
      {MaxPooling1D(3), MaxPooling1D({.pool_size = 3})},
      {MaxPooling2D({3, 2}), MaxPooling2D({.pool_size = {3, 2}})},
      {MaxPooling2D(2, {.strides = 1}), MaxPooling2D({.strides = 1})},
      {MaxPooling3D(), MaxPooling3D({.pool_size = 2})},
      {AveragePooling1D(3), AveragePooling1D({.pool_size = 3})},
      {AveragePooling2D({3, 2}, {.padding = "same"}),
       AveragePooling2D({.pool_size = {3, 2}, .padding = "same"})},
      {AveragePooling3D({1, 2, 3}), AveragePooling3D({.pool_size = {1, 2, 3}})},
      {Dropout(0.25), Dropout({.rate = 0.25})},
      {SpatialDropout1D(0.25), SpatialDropout1D({.rate = 0.25})},
      {SpatialDropout2D(0.25), SpatialDropout2D({.rate = 0.25})},
      {SpatialDropout3D(0.25), SpatialDropout3D({.rate = 0.25})},
      {GaussianDropout(0.25, {.seed = 1}), GaussianDropout({.rate = 0.25, .seed = 1})},
      {GaussianNoise(0.5), GaussianNoise({.stddev = 0.5})},
      {AlphaDropout(0.5), AlphaDropout({.rate = 0.5})},
      {Reshape({6, 2}), Reshape({.target_shape = {6, 2}})},
      {Reshape({-1}), Reshape({.target_shape = {-1}})},
      {Permute({2, 1}), Permute({.dims = {2, 1}})},
      {RepeatVector(3), RepeatVector({.n = 3})},
      {ZeroPadding1D({1, 2}), ZeroPadding1D({.padding = {1, 2}})},
      {ZeroPadding2D({1, 2}), ZeroPadding2D({.padding = {1, 2}})},
      {ZeroPadding2D({{1, 2}, {3, 4}}), ZeroPadding2D({.padding = {{1, 2}, {3, 4}}})},
      {ZeroPadding3D(2), ZeroPadding3D({.padding = 2})},
      {Cropping1D({1, 2}), Cropping1D({.cropping = {1, 2}})},
      {Cropping2D({{1, 0}, {0, 2}}), Cropping2D({.cropping = {{1, 0}, {0, 2}}})},
      {Cropping2D(), Cropping2D({.cropping = 0})},
      {Cropping3D(), Cropping3D({.cropping = 1})},
      {UpSampling1D(3), UpSampling1D({.size = 3})},
      {UpSampling2D({3, 2}, {.interpolation = "bilinear"}),
       UpSampling2D({.size = {3, 2}, .interpolation = "bilinear"})},
      {UpSampling3D(3), UpSampling3D({.size = 3})},
      {SimpleRNN(3), SimpleRNN({.units = 3})},
      {LSTM(3, {.return_sequences = true}), LSTM({.units = 3, .return_sequences = true})},
      {GRU(3), GRU({.units = 3})},
      {SimpleRNNCell(3), SimpleRNNCell({.units = 3})},
      {LSTMCell(3), LSTMCell({.units = 3})},
      {GRUCell(3), GRUCell({.units = 3})},
      {RNN(cell, {.stateful = true}), RNN({.cell = cell, .stateful = true})},
      {StackedRNNCells({cell, cell}), StackedRNNCells({.cells = {cell, cell}})},
      {Bidirectional(lstm, {.merge_mode = "sum"}), Bidirectional({.layer = lstm, .merge_mode = "sum"})},
      {TimeDistributed(lstm), TimeDistributed({.layer = lstm})},
      {MultiHeadAttention(2, 3), MultiHeadAttention({.num_heads = 2, .key_dim = 3})},
      {MultiHeadAttention(2, 3, {.value_dim = 4}), MultiHeadAttention(2, {.key_dim = 3, .value_dim = 4})},
      {GroupQueryAttention(3, 4, 2),
       GroupQueryAttention({.head_dim = 3, .num_query_heads = 4, .num_key_value_heads = 2})},
      {Dot(1), Dot({.axes = 1})},
      {Dot({1, 2}, {.normalize = true}), Dot({.axes = {1, 2}, .normalize = true})},
      {CategoryEncoding(3), CategoryEncoding({.num_tokens = 3})},
      {Resizing(3, 4), Resizing({.height = 3, .width = 4})},
      {CenterCrop(3, 4), CenterCrop(3, {.width = 4})},
      {RandomCrop(3, 4), RandomCrop({.height = 3, .width = 4})},
      {RandomFlip("vertical"), RandomFlip({.mode = "vertical"})},
      {RandomFlip(), RandomFlip({.mode = "horizontal_and_vertical"})},
      {RandomRotation({-0.1, 0.2}), RandomRotation({.factor = {-0.1, 0.2}})},
      {RandomTranslation(0.1, {0., 0.2}),
       RandomTranslation({.height_factor = 0.1, .width_factor = {0., 0.2}})},
      {RandomZoom({-0.1, 0.2}, {.width_factor = 0.1}),
       RandomZoom({.height_factor = {-0.1, 0.2}, .width_factor = 0.1})},
      {RandomContrast(0.2), RandomContrast({.factor = 0.2})},
      {RandomBrightness(0.2, {.value_range = {0, 1}}),
       RandomBrightness({.factor = 0.2, .value_range = {0, 1}})},
      {Rescaling(2, {.offset = -1}), Rescaling({.scale = 2, .offset = -1})},
      {Rescaling({1., 2.}), Rescaling({.scale = {1., 2.}})},
  };
  return all;
}

}  // namespace

TEST_CASE("an argument means the same by position and by name") {
  for (const Row& row : rows()) {
    CAPTURE(row.by_position.class_name());
    CHECK(config_of(row.by_position) == config_of(row.by_name));
  }
  CHECK(nn::Bidirectional({.layer = nn::LSTM(2)})(nn::Input({3, 4})).shape() == Shape{None, 4});
}

TEST_CASE("an argument that is missing is named") {
  const auto message = [](const auto& make) {
    try {
      make();
    } catch (const ValueError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message([] { nn::Dense({.activation = "relu"}); }) == "[Dense] units must be given");
  CHECK(message([] { nn::Conv2D({.kernel_size = 3}); }) == "[Conv2D] filters must be given");
  CHECK(message([] { nn::Conv2D({.filters = 3}); }) == "[Conv2D] kernel_size must be given");
  CHECK(message([] { nn::Conv2D(3, {.strides = 2}); }) == "[Conv2D] kernel_size must be given");
  CHECK(message([] { nn::ConvLSTM2D({.filters = 3}); }) == "[ConvLSTM2D] kernel_size must be given");
  CHECK(message([] { nn::DepthwiseConv2D({.strides = 2}); }) ==
        "[DepthwiseConv2D] kernel_size must be given");
  CHECK(message([] { nn::Embedding({.input_dim = 3}); }) == "[Embedding] output_dim must be given");
  CHECK(message([] { nn::Dropout({.seed = 3}); }) == "[Dropout] rate must be given");
  CHECK(message([] { nn::Activation({.name = "a"}); }) == "[Activation] activation must be given");
  CHECK(message([] { nn::Lambda({.name = "a"}); }) == "[Lambda] function must be given");
  CHECK(message([] { nn::Reshape({.name = "a"}); }) == "[Reshape] target_shape must be given");
  CHECK(message([] { nn::LSTM({.return_state = true}); }) == "[LSTM] units must be given");
  CHECK(message([] { nn::RNN({.stateful = true}); }) == "[RNN] cell must be given");
  CHECK(message([] { nn::TimeDistributed({.name = "a"}); }) == "[TimeDistributed] layer must be given");
  CHECK(message([] { nn::Dot({.normalize = true}); }) == "[Dot] axes must be given");
  CHECK(message([] { nn::RandomRotation({.seed = 1}); }) == "[RandomRotation] factor must be given");
  CHECK(message([] { nn::Rescaling({.offset = 1}); }) == "[Rescaling] scale must be given");
  CHECK(message([] { nn::GroupQueryAttention({.head_dim = 1}); }) ==
        "[GroupQueryAttention] num_query_heads must be given");
  CHECK(message([] { nn::Input({.dtype = "int32"}); }) == "[Input] shape must be given");
  CHECK(message([] { nn::Model({.outputs = nn::Input({2})}); }) == "[Model] inputs must be given");
  CHECK(message([] { nn::Model({.inputs = nn::Input({2})}); }) == "[Model] outputs must be given");
  CHECK(message([] { nn::ModelCheckpoint({.monitor = "loss"}); }) ==
        "[ModelCheckpoint] filepath must be given");
  CHECK(message([] { nn::CSVLogger({.append = true}); }) == "[CSVLogger] filename must be given");
  CHECK(message([] { nn::LearningRateScheduler({.verbose = 1}); }) ==
        "[LearningRateScheduler] schedule must be given");
  CHECK(message([] { nn::LossScaleOptimizer({.initial_scale = 1}); }) ==
        "[LossScaleOptimizer] inner_optimizer must be an optimizer: received None");
}

TEST_CASE("an argument is given once, by position or by name") {
  CHECK_THROWS_WITH_AS(nn::Dense(4, {.units = 4}),
                       "[Dense] units must be given once: received it by position and by name", ValueError);
  CHECK_THROWS_WITH_AS(nn::Conv2D(4, 3, {.kernel_size = 3}),
                       "[Conv2D] kernel_size must be given once: received it by position and by name",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::Input({3}, {.shape = {3}}),
                       "[Input] shape must be given once: received it by position and by name", ValueError);
  CHECK_THROWS_WITH_AS(nn::Bidirectional(nn::LSTM(2), {.layer = nn::LSTM(2)}),
                       Contains("layer must be given once"), ValueError);
}

TEST_CASE("inputs by name") {
  CHECK(nn::Input({.shape = {3}}).shape() == Shape{None, 3});
  CHECK(nn::Input({.shape = {4, 4, 8}, .batch_size = 2}).shape() == Shape{2, 4, 4, 8});
  CHECK(nn::Input({.batch_shape = {None, 3}}).shape() == Shape{None, 3});
  CHECK(nn::Input({3}).shape() == Shape{None, 3});
  CHECK(nn::Input({3, 2}).shape() == Shape{None, 3, 2});
  CHECK(nn::Input({4, 4, 8}).shape() == Shape{None, 4, 4, 8});
  CHECK(nn::Input({}).shape() == Shape{None});
  CHECK(nn::Input(Shape{3}).shape() == Shape{None, 3});
  CHECK(nn::Input({3}, {.batch_size = 2, .dtype = "int32"}).shape() == Shape{2, 3});
  CHECK(nn::Input({.shape = Shape()}).shape() == Shape{None});
  CHECK_THROWS_WITH_AS(
      nn::Input({.shape = {3}, .batch_shape = {2, 3}}),
      "[Input] batch_shape must not be given with shape or batch_size: received batch_shape=(2, 3)",
      ValueError);
  CHECK_THROWS_WITH_AS(nn::Input({.batch_shape = Shape()}),
                       "[Input] batch_shape must have a batch axis: received batch_shape=()", ValueError);
  CHECK_THROWS_WITH_AS(nn::Input({.shape = {3}, .batch_size = -2}),
                       "[Input] batch_size must be at least 0: received batch_size=-2", ValueError);
}

TEST_CASE("models, functions, callbacks and optimizers by name") {
  const Tensor in = nn::Input({.shape = {3}});
  const nn::Model model(
      {.inputs = in, .outputs = nn::Dense({.units = 2})(in), .trainable = false, .name = "named"});
  CHECK(model.name() == "named");
  CHECK(!model.trainable());
  const nn::Model two({.inputs = {in}, .outputs = {nn::Dense(2)(in), nn::Dense(1)(in)}});
  CHECK(two.outputs().size() == 2);

  const nn::Lambda half({.function = [](const Tensor&x) { return x / 2.f; }, .name = "half"}),
      sum({.function = [](const std::vector<Tensor>&x) { return x[0] + x[1]; }}), root({.function = K::sqrt});
  CHECK(half(K::constant(3.f)).item() == 1.5f);
  CHECK(sum({K::constant(3.f), K::constant(4.f)}).item() == 7);
  CHECK(root(K::constant(9.f)).item() == 3);
  CHECK(half.name() == "half");

  std::vector<double> rates;
  const nn::Sequential trained({nn::Dense(1)});
  trained.compile({.optimizer = nn::LossScaleOptimizer({.inner_optimizer = nn::SGD(0.1), .initial_scale = 2}),
                   .loss = "mse"});
  trained.fit(
      K::ones({4, 2}), K::ones({4, 1}),
      {.epochs = 2, .verbose = 0, .callbacks = {nn::LearningRateScheduler({.schedule = [&](int epoch) {
                                    rates.push_back(epoch);
                                    return 0.5;
                                  }})}});
  CHECK(rates == std::vector<double>{0, 1});
}

TEST_CASE("a fit with the options in Keras's order and in the order of earlier versions") {
  const Tensor x = K::ones({8, 2}), y = K::ones({8, 1});
  const nn::Sequential model({nn::Dense(1)});
  model.compile({.loss = "mse"});
  CHECK(model.fit(x, y, {.batch_size = 4, .epochs = 2, .validation_split = 0.5, .verbose = 0})["val_loss"]
            .size() == 2);
  CHECK(model.fit(x, y, {.epochs = 2, .verbose = 0, .validation_split = 0.5})["val_loss"].size() == 2);
  CHECK(model
            .fit(x, y,
                 {.batch_size = 4,
                  .epochs = 2,
                  .verbose = 0,
                  .callbacks = {nn::EarlyStopping({.monitor = "val_loss", .patience = 5})},
                  .validation_split = 0.5})["val_loss"]
            .size() == 2);
}
