#include <ktape/ops/images.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;
using Pair = std::array<std::int64_t, 2>;

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

Results temporal_padding(const Call& c) {
  K::TemporalPaddingOptions options;
  if (c.has("padding")) std::ranges::copy(c.get<Pair>("padding"), options.padding);
  return {K::temporal_padding(c["x"], options)};
}

template <std::size_t axes, class Options>
Options spatial_padding(const Call& c) {
  Options options;
  if (c.has("padding")) {
    const auto padding = c.get<std::array<Pair, axes>>("padding");
    for (std::size_t d = 0; d < axes; ++d) std::ranges::copy(padding[d], options.padding[d]);
  }
  c.set("data_format", options.data_format);
  return options;
}

}  // namespace

void add_images(Table& table) {
  table.ops["resize_images"] = resize_images;
  table.ops["resize_volumes"] = resize_volumes;
  table.ops["temporal_padding"] = temporal_padding;
  table.ops["spatial_2d_padding"] = [](const Call& c) -> Results {
    return {K::spatial_2d_padding(c["x"], spatial_padding<2, K::Spatial2dPaddingOptions>(c))};
  };
  table.ops["spatial_3d_padding"] = [](const Call& c) -> Results {
    return {K::spatial_3d_padding(c["x"], spatial_padding<3, K::Spatial3dPaddingOptions>(c))};
  };
}

}  // namespace golden
