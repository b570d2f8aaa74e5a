#pragma once
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/ops/arguments/per_axis.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>

/// Functions for layers with one, two or three spatial axes. Internal: sources only.
namespace ktape::nn {

using backend::PerAxis;

/// Returns a number for each axis: a single number is repeated. Throws ValueError unless all numbers are at
/// least `least` and below 2^31, or if the count of numbers is neither 1 nor `axes`.
inline PerAxis<std::int64_t> expanded(const char* layer, const char* argument,
                                      const PerAxis<std::int64_t>& given, int axes, std::int64_t least = 1) {
  const std::vector<std::int64_t> list = given.over(axes);
  if (list.size() != static_cast<std::size_t>(axes))
    fail("[", layer, "] ", argument, " must be one number, or one for each of the ", axes,
         " spatial axes: received ", argument, '=', Value(list));
  for (const std::int64_t n : list) expect_count(layer, argument, n, least);
  return list;
}

/// Returns the data format, K::image_data_format() for "". Throws ValueError for an unknown data format.
inline std::string data_format(const char* layer, const std::string& given) {
  if (given.empty()) return backend::image_data_format();
  if (given != "channels_last" && given != "channels_first")
    fail("[", layer, "] data_format must be \"channels_last\" or \"channels_first\": received data_format=\"",
         given, '"');
  return given;
}

inline void expect_padding(const char* layer, const std::string& padding, bool causal) {
  if (padding == "valid" || padding == "same" || (causal && padding == "causal")) return;
  fail("[", layer, "] padding must be \"valid\"", causal ? ", \"same\" or \"causal\"" : " or \"same\"",
       ": received padding=\"", padding, '"');
}

inline int channel_axis(const std::string& data_format) { return data_format == "channels_first" ? 1 : -1; }
/// Returns the index of the first spatial axis.
inline int first_spatial_axis(const std::string& data_format) {
  return data_format == "channels_first" ? 2 : 1;
}

/// Returns the number of channels of an input. Throws ValueError if the number is unknown.
inline std::int64_t known_channels(const std::string& layer, const Shape& input,
                                   const std::string& data_format) {
  const std::int64_t channels = input[channel_axis(data_format)];
  if (channels == None) fail("[", layer, "] the channels of the input must be known: received shape=", input);
  return channels;
}

/// Names the arguments that define the window of a convolution, for configs.
template <class Arguments, class F>
void window_fields(Arguments& a, F&& field) {
  field("kernel_size", a.kernel_size);
  field("strides", a.strides);
  field("padding", a.padding);
  field("data_format", a.data_format);
  field("dilation_rate", a.dilation_rate);
}

/// Returns the arguments with a number for each axis and a known data format. Throws ValueError for invalid
/// arguments, and for strides and dilation_rate that are both above 1.
template <class Arguments>
Arguments with_window(const char* layer, Arguments a, int axes, bool causal) {
  a.kernel_size = expanded(layer, "kernel_size", a.kernel_size, axes);
  a.strides = expanded(layer, "strides", a.strides, axes);
  a.dilation_rate = expanded(layer, "dilation_rate", a.dilation_rate, axes);
  a.data_format = data_format(layer, a.data_format);
  expect_padding(layer, a.padding, causal);
  const auto above_one = [&](const PerAxis<std::int64_t>& numbers) {
    const std::vector<std::int64_t> list = numbers.over(axes);
    return std::any_of(list.begin(), list.end(), [](std::int64_t n) { return n > 1; });
  };
  if (above_one(a.strides) && above_one(a.dilation_rate))
    fail("[", layer,
         "] strides and dilation_rate must not both be above 1: received strides=", Value(a.strides),
         ", dilation_rate=", Value(a.dilation_rate));
  return a;
}

/// Calls K::conv1d, K::conv2d or K::conv3d for one, two or three spatial axes.
inline Tensor convolution(int axes, const Tensor& x, const Tensor& kernel,
                          const backend::ConvOptions& options) {
  return axes == 1   ? backend::conv1d(x, kernel, options)
         : axes == 2 ? backend::conv2d(x, kernel, options)
                     : backend::conv3d(x, kernel, options);
}

}  // namespace ktape::nn
