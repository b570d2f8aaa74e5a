#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

#include <ktape/nn/saving/onnx/messages.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: convolutions are exported") {
  exported::Checks check;
  const Tensor line = normal({2, 9, 4}, 1, "float32"), image = normal({2, 7, 8, 4}, 2, "float32"),
               first = normal({2, 4, 7, 8}, 3, "float32");
  const auto layer = [&](const std::string& name, const Tensor& x, const nn::Layer& one) {
    check(name, {x}, [&](In in) { return one(in[0]); });
  };
  layer("causal", line, nn::Conv1D(3, 2, {.padding = "causal", .dilation_rate = 2}));
  layer("strides", image, nn::Conv2D(3, 3, {.strides = 2, .padding = "same"}));
  layer("groups", image, nn::Conv2D(4, 3, {.groups = 2}));
  layer("groups_line", line, nn::Conv1D(8, 2, {.padding = "causal", .groups = 4, .activation = "relu"}));
  layer("groups_first", first, nn::Conv2D(6, 3, {.data_format = "channels_first", .groups = 2}));
  layer("groups_without_bias", image, nn::Conv2D(8, 3, {.groups = 4, .use_bias = false}));
  layer("channels_first", first, nn::Conv2D(3, {2, 3}, {.data_format = "channels_first"}));
  layer("depthwise", image, nn::DepthwiseConv2D(3, {.depth_multiplier = 2}));
  layer("separable", image, nn::SeparableConv2D(5, 3, {.padding = "same"}));
  layer("transposed", image, nn::Conv2DTranspose(3, 3, {.strides = 2}));
  layer("transposed_same", image, nn::Conv2DTranspose(3, 4, {.strides = 3, .padding = "same"}));
  layer("transposed_line", line, nn::Conv1DTranspose(3, 2, {.strides = 4, .activation = "relu"}));
  layer("local", line, nn::LocallyConnected1D(3, 2, {.strides = 2}));
  layer("pool", image, nn::AveragePooling2D(3, {.strides = 2, .padding = "same"}));
  check.run();
}

TEST_CASE("onnx: a grouped convolution is one node, and no kernel is transposed at a call") {
  const Files files;
  const std::string path = files.folder() + "/m.onnx";
  const auto operators = [&](const nn::Layer& layer) {
    const Tensor in = nn::Input({6, 8, 8});
    nn::Model(in, layer(in)).export_to(path);
    std::string text;
    for (const nn::onnx::NodeProto& node : nn::onnx::read_model("test", path).graph.nodes)
      text += node.op + ' ';
    return text;
  };
  CHECK(operators(nn::Conv2D(4, 3, {.data_format = "channels_first", .groups = 2})) == "Conv Add ");
  CHECK(operators(nn::Conv2D(6, 3, {.data_format = "channels_first", .groups = 6, .use_bias = false})) ==
        "Conv ");
  CHECK(operators(nn::Conv2DTranspose(4, 3, {.data_format = "channels_first", .use_bias = false})) ==
        "ConvTranspose ");
}
