#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <functional>

/// Layers in models whose inputs have unknown extents compute what they compute on tensors.

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;

namespace {

struct Case {
  const char* name;
  nn::Layer layer;
  Shape known;    ///< the shape of a sample
  Shape unknown;  ///< the shape of a sample as far as the model knows it
};

std::vector<Case> cases() {
  const Shape row{6, 3}, rows{None, 3}, image{4, 6, 3}, images{None, None, 3}, cube{2, 4, 4, 3},
      cubes{None, None, None, 3};
  return {
      {"Reshape", nn::Reshape({-1, 9}), row, rows},
      {"Reshape of an image", nn::Reshape({-1, 3}), image, images},
      {"Reshape to rows of two", nn::Reshape({2, -1, 3}), image, images},
      {"Flatten", nn::Flatten(), image, images},
      {"Permute", nn::Permute({2, 1}), row, rows},
      {"Conv1DTranspose", nn::Conv1DTranspose(2, 3, {.strides = 2}), row, rows},
      {"Conv1DTranspose, same", nn::Conv1DTranspose(2, 3, {.strides = 2, .padding = "same"}), row, rows},
      {"Conv2DTranspose", nn::Conv2DTranspose(2, 3, {.strides = 2}), image, images},
      {"Conv2DTranspose, same", nn::Conv2DTranspose(2, 3, {.strides = 2, .padding = "same"}), image, images},
      {"Conv2DTranspose, one unknown", nn::Conv2DTranspose(2, 2), image, {4, None, 3}},
      {"Conv3DTranspose", nn::Conv3DTranspose(2, 2, {.strides = 2}), cube, cubes},
      {"Conv1D", nn::Conv1D(2, 3, {.padding = "causal"}), row, rows},
      {"Conv2D", nn::Conv2D(2, 3, {.strides = 2}), image, images},
      {"Conv3D", nn::Conv3D(2, 2), cube, cubes},
      {"SeparableConv2D", nn::SeparableConv2D(2, 3), image, images},
      {"DepthwiseConv2D", nn::DepthwiseConv2D(3), image, images},
      {"UpSampling1D", nn::UpSampling1D(2), row, rows},
      {"UpSampling2D", nn::UpSampling2D(2), image, images},
      {"UpSampling3D", nn::UpSampling3D(2), cube, cubes},
      {"ZeroPadding1D", nn::ZeroPadding1D(2), row, rows},
      {"ZeroPadding2D", nn::ZeroPadding2D(2), image, images},
      {"Cropping1D", nn::Cropping1D(1), row, rows},
      {"Cropping2D", nn::Cropping2D(1), image, images},
      {"MaxPooling1D", nn::MaxPooling1D(), row, rows},
      {"AveragePooling2D", nn::AveragePooling2D(), image, images},
      {"GlobalMaxPooling2D", nn::GlobalMaxPooling2D(), image, images},
      {"GlobalAveragePooling1D", nn::GlobalAveragePooling1D(), row, rows},
      {"LayerNormalization", nn::LayerNormalization(), image, images},
      {"TimeDistributed", nn::TimeDistributed(nn::Dense(2)), row, rows},
      {"LSTM", nn::LSTM(2, {.return_sequences = true}), row, rows},
      {"Bidirectional", nn::Bidirectional(nn::GRU(2)), row, rows}};
}

Shape batch_of(Shape sample, std::int64_t batch) {
  sample.insert(0, batch);
  return sample;
}

}  // namespace

TEST_CASE("models of unknown extents compute what the layers compute") {
  for (const Case& each : cases()) {
    CAPTURE(each.name);
    const Tensor input = nn::Input(each.unknown), output = each.layer(input);
    const nn::Model model(input, output);
    const Tensor x = K::random_normal(batch_of(each.known, 2)), expected = each.layer(x);
    CHECK(ktape::compatible(output.shape(), expected.shape()));
    const Tensor y = model.predict(x, {.verbose = 0});
    REQUIRE(y.shape() == expected.shape());
    CHECK(K::max(K::abs(y - expected)).item<double>() < 1e-5);
    // A layer on top of the unknown extents, and the way through a config.
    const nn::Model again = nn::model_from_json(model.to_json());
    CHECK(again.output().shape() == output.shape());
  }
}
