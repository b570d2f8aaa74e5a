#include <ktape/ops/images/images.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

Results resize_images(const Call& c) {
  K::ResizeOptions options;
  c.set("interpolation", options.interpolation);
  return {K::resize_images(c["x"], c.get<int>("height_factor"), c.get<int>("width_factor"),
                           c.get<std::string>("data_format"), options)};
}

Results resize_volumes(const Call& c) {
  return {K::resize_volumes(c["x"], c.get<int>("depth_factor"), c.get<int>("height_factor"),
                            c.get<int>("width_factor"), c.get<std::string>("data_format"))};
}

/// Returns the caller of a padding, a function of (x, options).
template <class Options, class F>
auto padding(F f) {
  return [f](const Call& c) -> Results {
    Options options;
    c.set("padding", options.padding);
    if constexpr (requires { options.data_format; }) c.set("data_format", options.data_format);
    return {f(c["x"], options)};
  };
}

}  // namespace

void add_images(Table& table) {
  table.ops["resize_images"] = resize_images;
  table.ops["resize_volumes"] = resize_volumes;
  table.ops["temporal_padding"] = padding<K::TemporalPaddingOptions>(
      [](const Tensor& x, auto& options) { return K::temporal_padding(x, options); });
  table.ops["spatial_2d_padding"] = padding<K::Spatial2dPaddingOptions>(
      [](const Tensor& x, auto& options) { return K::spatial_2d_padding(x, options); });
  table.ops["spatial_3d_padding"] = padding<K::Spatial3dPaddingOptions>(
      [](const Tensor& x, auto& options) { return K::spatial_3d_padding(x, options); });
}

}  // namespace golden
