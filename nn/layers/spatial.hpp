#pragma once
#include <ktape/nn/layers/arguments.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/per_axis.hpp>

/// What the layers over one, two or three spatial axes have in common. Internal.
namespace ktape::nn {

using backend::PerAxis;

/// One number for each of the axes, all at least `least`.
inline PerAxis<std::int64_t> expanded(const char* layer, const char* argument,
                                      const PerAxis<std::int64_t>& given, int axes, std::int64_t least = 1) {
  const std::vector<std::int64_t> list = given.over(axes);
  if (list.size() != static_cast<std::size_t>(axes))
    fail("[", layer, "] ", argument, " must be one number, or one for each of the ", axes,
         " spatial axes: received ", argument, '=', Value(list));
  for (const std::int64_t n : list) expect_at_least(layer, argument, n, least);
  return list;
}

/// The data format that is meant. Throws ValueError for an unknown one.
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
/// The first of the spatial axes.
inline int first_spatial_axis(const std::string& data_format) {
  return data_format == "channels_first" ? 2 : 1;
}

/// The channels of an input, which must be known.
inline std::int64_t known_channels(const std::string& layer, const Shape& input,
                                   const std::string& data_format) {
  const std::int64_t channels = input[channel_axis(data_format)];
  if (channels == None) fail("[", layer, "] the channels of the input must be known: received shape=", input);
  return channels;
}

}  // namespace ktape::nn
