#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/images/images.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/bias.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/nn/pooling.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

Tensor matmul(const OperationCall& call) {
  return K::matmul(call.tensor("a"), call.tensor("b"),
                   {.transpose_a = call.flag("transpose_a"), .transpose_b = call.flag("transpose_b")});
}

const char* written_matmul(const std::vector<OperationArgument>&, Config& attributes) {
  if (attributes.get("transpose_a") == Value(true) || attributes.get("transpose_b") == Value(true))
    return nullptr;
  attributes = {};
  return "Matmul";
}

Tensor batch_dot(const OperationCall& call) {
  K::BatchAxes axes;
  if (call.has("axes")) {
    const auto both = call.value("axes").as<std::vector<int>>("[batch_dot] axes");
    if (both.empty()) fail("[batch_dot] axes must be one or two numbers: received axes=[]");
    axes = K::BatchAxes(both.at(0), both.back());
  }
  return K::batch_dot(call.tensor("x"), call.tensor("y"), axes);
}

std::optional<std::string> format_of(const OperationCall& call) {
  if (!call.has("data_format")) return {};
  return call.text("data_format");
}

K::ConvOptions conv_options(const OperationCall& call) {
  return {.strides = call.value("strides").as<K::PerAxis<std::int64_t>>("[Conv] strides"),
          .padding = call.text("padding"),
          .data_format = format_of(call),
          .dilation_rate = call.value("dilation_rate").as<K::PerAxis<std::int64_t>>("[Conv] dilation_rate")};
}

Tensor conv(const OperationCall& call) {
  const Tensor x = call.tensor("inputs"), kernel = call.tensor("kernel");
  const auto function = x.ndim() == 3 ? K::conv1d : x.ndim() == 5 ? K::conv3d : K::conv2d;
  return function(x, kernel, conv_options(call));
}

Tensor depthwise_conv(const OperationCall& call) {
  return K::depthwise_conv2d(call.tensor("inputs"), call.tensor("kernel"), conv_options(call));
}

Tensor conv2d_transpose(const OperationCall& call) {
  const Tensor x = call.tensor("x"), kernel = call.tensor("kernel");
  if (x.ndim() == 4) return K::conv2d_transpose(x, kernel, call.shape("output_shape"), conv_options(call));
  const K::ConvOptions options = conv_options(call);
  return K::conv3d_transpose(
      x, kernel, call.shape("output_shape"),
      {.strides = options.strides, .padding = options.padding, .data_format = options.data_format});
}

Tensor pool(const OperationCall& call, const char* mode) {
  const Tensor x = call.tensor("inputs");
  const Value size = call.value("pool_size");
  const Value strides = call.has("strides") ? call.value("strides") : size;
  const K::PoolOptions options{.strides = strides.as<K::PerAxis<std::int64_t>>("[Pool] strides"),
                               .padding = call.text("padding"),
                               .data_format = format_of(call),
                               .pool_mode = mode};
  const auto window = size.as<K::PerAxis<std::int64_t>>("[Pool] pool_size");
  if (x.ndim() == 5) return K::pool3d(x, window, options);
  if (x.ndim() == 4) return K::pool2d(x, window, options);
  // Vectors over time are images of width 1.
  const bool last = options.data_format.value_or("channels_last") == "channels_last";
  const int width = last ? 2 : 3;
  const auto only = [&](const char* name, const K::PerAxis<std::int64_t>& extents) {
    if (extents.over(1).size() != 1)
      fail("[Pool] ", name, " must be one number for one axis: received ", extents.over(1).size(),
           " numbers");
    return extents.over(1)[0];
  };
  K::PoolOptions flat = options;
  flat.strides = {only("strides", options.strides), 1};
  return K::squeeze(K::pool2d(K::expand_dims(x, width), {only("pool_size", window), 1}, flat), width);
}

const char* written_pool(const std::vector<OperationArgument>&, Config& attributes) {
  const bool most = attributes.get("pool_mode") == Value("max");
  attributes.erase("pool_mode");
  return most ? "MaxPool" : "AveragePool";
}

/// Makes an image longer along an axis by linear interpolation.
Tensor resized(const OperationCall& call) {
  const int axis = call.axis();
  const std::int64_t factor = call.integer("factor");
  const bool first_axis = axis == 1;
  return K::resize_images(call.tensor("x"), first_axis ? factor : 1, first_axis ? 1 : factor,
                          axis == 3 ? "channels_first" : "channels_last", {.interpolation = "bilinear"});
}

Tensor bias_add(const OperationCall& call) {
  return K::bias_add(call.tensor("x"), call.tensor("bias"), {.data_format = format_of(call)});
}

Tensor pooled(const OperationCall& call) { return pool(call, call.text("pool_mode").c_str()); }

}  // namespace

void add_product_operations(std::vector<Operation>& all) {
  const char* const convolution =
      "inputs, kernel; strides=1, padding=\"valid\", data_format=null, dilation_rate=1";
  const char* const pooling = "inputs; pool_size, strides=null, padding=\"valid\", data_format=null";
  const std::vector<Operation> operations{
      {"Matmul", "numpy", "x1, x2;",
       [](const OperationCall& call) { return K::matmul(call.tensor("x1"), call.tensor("x2")); }, "-"},
      {"matmul", "", "a, b; transpose_a, transpose_b", matmul, "", "", written_matmul},
      {"Dot", "numpy", "x1, x2;",
       [](const OperationCall& call) { return K::dot(call.tensor("x1"), call.tensor("x2")); }},
      {"batch_dot", "", "x, y; axes=null", batch_dot},
      {"Einsum", "numpy", "operands*; subscripts",
       [](const OperationCall& call) { return K::einsum(call.text("subscripts"), call.tensors("operands")); },
       "", "subscripts, operands"},
      {"bias_add", "", "x, bias; data_format=null", bias_add},
      {"Conv", "nn", convolution, conv, "conv conv1d conv2d conv3d"},
      {"DepthwiseConv", "nn", convolution, depthwise_conv, "depthwise_conv2d"},
      {"conv_transpose", "", "x, kernel; output_shape, strides, padding, data_format, dilation_rate",
       conv2d_transpose, "conv2d_transpose conv3d_transpose"},
      {"MaxPool", "nn", pooling, [](const OperationCall& call) { return pool(call, "max"); }, "-"},
      {"AveragePool", "nn", pooling, [](const OperationCall& call) { return pool(call, "avg"); }, "-"},
      {"pool", "", "inputs; pool_size, strides, padding, data_format, pool_mode", pooled, "pool2d pool3d",
       "-, inputs, pool_size", written_pool},
      {"resize_images", "", "x; axis, factor", resized},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
