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

TEST_CASE(
    "onnx: padding \"same\" with gaps, and with strides beyond the window, for known and unknown extents") {
  exported::Cases cases;
  const auto check = [&](const std::string& name, const Tensor& x, const nn::Layer& layer) {
    for (const bool open : {false, true}) {
      Shape shape(x.shape().begin() + 1, x.ndim() - 1);
      const bool first = name.ends_with("first");
      for (int axis = 0; open && axis + 1 < shape.rank(); ++axis) shape[axis + first] = None;
      const Tensor in = nn::Input(shape);
      const std::string text = name + (open ? "_open" : "");
      const std::string reason = cases.add(text, nn::Model(in, layer(in)), {x});
      CHECK_MESSAGE(reason.empty(), text, ": ", reason);
    }
  };
  for (const int extent : {5, 6, 7, 8}) {
    const std::string n = std::to_string(extent);
    const Tensor line = normal({2, extent, 4}, 1, "float32"), image = normal({2, extent, 7, 4}, 2, "float32"),
                 first = normal({2, 4, extent, 7}, 3, "float32");
    check("dilated_line" + n, line, nn::Conv1D(3, 3, {.padding = "same", .dilation_rate = 2}));
    check("dilated" + n, image, nn::Conv2D(3, {2, 3}, {.padding = "same", .dilation_rate = {3, 2}}));
    check("dilated_groups" + n, image,
          nn::Conv2D(4, 3, {.padding = "same", .dilation_rate = 2, .groups = 2}));
    check("dilated_depthwise" + n, image, nn::DepthwiseConv2D(3, {.padding = "same", .dilation_rate = 2}));
    check("dilated_separable" + n, image, nn::SeparableConv2D(3, 3, {.padding = "same", .dilation_rate = 2}));
    check("dilated" + n + "_first", first,
          nn::Conv2D(3, 3, {.padding = "same", .data_format = "channels_first", .dilation_rate = 2}));
    for (const int stride : {3, 4}) {
      const std::string s = n + "_" + std::to_string(stride);
      check("far" + s, image, nn::Conv2D(3, 2, {.strides = stride, .padding = "same"}));
      check("far_max" + s, image, nn::MaxPooling2D(2, {.strides = stride, .padding = "same"}));
      check("far_max_line" + s, line, nn::MaxPooling1D(1, {.strides = stride, .padding = "same"}));
      check("far_average" + s, image, nn::AveragePooling2D(2, {.strides = stride, .padding = "same"}));
      check("far_max" + s + "_first", first,
            nn::MaxPooling2D(2, {.strides = stride, .padding = "same", .data_format = "channels_first"}));
    }
  }
  cases.run([](const std::string& name, const std::string& reason) {
    CHECK_MESSAGE(reason.empty(), name, ": ", reason);
  });
}

TEST_CASE("onnx: images are resized by linear interpolation") {
  exported::Checks check;
  const Tensor image = normal({2, 3, 4, 5}, 2, "float32");
  check("upsampling", {image},
        [&](In in) { return nn::UpSampling2D(2, {.interpolation = "bilinear"})(in[0]); });
  check("upsampling_first", {image}, [&](In in) {
    return nn::UpSampling2D({3, 2}, {.data_format = "channels_first", .interpolation = "bilinear"})(in[0]);
  });
  check("resize_images", {image},
        [&](In in) { return K::resize_images(in[0], 1, 3, "channels_last", {.interpolation = "bilinear"}); });
  check("resize_integers", {K::cast(image * 9, "int32")},
        [&](In in) { return K::resize_images(in[0], 2, 1, "channels_last", {.interpolation = "bilinear"}); });
  check("resize_volumes", {normal({2, 2, 3, 2, 2}, 2, "float32")},
        [&](In in) { return K::resize_volumes(in[0], 2, 1, 3, "channels_last"); });
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
