#include <ktape/ops/nn/convolution.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

template <class Options>
Options options(const Call& c) {
  Options o;
  c.set("strides", o.strides);
  c.set("padding", o.padding);
  c.set("data_format", o.data_format);
  if constexpr (requires { o.dilation_rate; }) c.set("dilation_rate", o.dilation_rate);
  return o;
}

/// Returns an output shape, whose batch may be None.
Shape output_shape(const Call& c) {
  Shape shape;
  for (const Value& n : c.value("output_shape").list)
    shape.push_back(n.kind == Value::None ? std::int64_t{ktape::None} : static_cast<std::int64_t>(n.number));
  return shape;
}

K::LocalConvOptions local_options(const Call& c) {
  K::LocalConvOptions o;
  c.set("data_format", o.data_format);
  return o;
}

}  // namespace

void add_convolution(Table& table) {
  auto& ops = table.ops;
  ops["conv1d"] = [](const Call& c) {
    return Results{K::conv1d(c["x"], c["kernel"], options<K::Conv1dOptions>(c))};
  };
  ops["conv2d"] = [](const Call& c) {
    return Results{K::conv2d(c["x"], c["kernel"], options<K::Conv2dOptions>(c))};
  };
  ops["conv3d"] = [](const Call& c) {
    return Results{K::conv3d(c["x"], c["kernel"], options<K::Conv3dOptions>(c))};
  };
  ops["conv2d_transpose"] = [](const Call& c) {
    return Results{K::conv2d_transpose(c["x"], c["kernel"], output_shape(c), options<K::Conv2dOptions>(c))};
  };
  ops["conv3d_transpose"] = [](const Call& c) {
    return Results{
        K::conv3d_transpose(c["x"], c["kernel"], output_shape(c), options<K::Conv3dTransposeOptions>(c))};
  };
  ops["depthwise_conv2d"] = [](const Call& c) {
    return Results{K::depthwise_conv2d(c["x"], c["depthwise_kernel"], options<K::Conv2dOptions>(c))};
  };
  ops["separable_conv1d"] = [](const Call& c) {
    return Results{K::separable_conv1d(c["x"], c["depthwise_kernel"], c["pointwise_kernel"],
                                       options<K::Conv1dOptions>(c))};
  };
  ops["separable_conv2d"] = [](const Call& c) {
    return Results{K::separable_conv2d(c["x"], c["depthwise_kernel"], c["pointwise_kernel"],
                                       options<K::Conv2dOptions>(c))};
  };
  ops["local_conv1d"] = [](const Call& c) {
    return Results{K::local_conv1d(c["inputs"], c["kernel"], c.get<Shape>("kernel_size"),
                                   c.get<Shape>("strides"), local_options(c))};
  };
  ops["local_conv2d"] = [](const Call& c) {
    return Results{K::local_conv2d(c["inputs"], c["kernel"], c.get<Shape>("kernel_size"),
                                   c.get<Shape>("strides"), c.get<Shape>("output_shape"), local_options(c))};
  };
}

}  // namespace golden
