#include <ktape/ops/keras/image/image.hpp>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace ops = ktape::ops;

std::string data_format(const Call& c) { return get_or(c, "data_format", std::string("channels_last")); }

ops::BorderOptions borders(const Call& c, const std::string& kind) {
  ops::BorderOptions o;
  c.set("top_" + kind, o.top), c.set("left_" + kind, o.left), c.set("bottom_" + kind, o.bottom);
  c.set("right_" + kind, o.right), c.set("target_height", o.target_height),
      c.set("target_width", o.target_width);
  o.data_format = data_format(c);
  return o;
}

ops::PatchOptions patches(const Call& c) {
  ops::PatchOptions o;
  c.set("strides", o.strides), c.set("dilation_rate", o.dilation_rate), c.set("padding", o.padding);
  o.data_format = data_format(c);
  return o;
}

using Colors = Tensor (*)(const Tensor&, const std::optional<std::string>&);
auto colors(Colors f) {
  return [f](const Call& c) -> Results { return {f(c["images"], data_format(c))}; };
}

ops::TransformOptions transform(const Call& c) {
  ops::TransformOptions o;
  c.set("interpolation", o.interpolation), c.set("fill_mode", o.fill_mode), c.set("fill_value", o.fill_value);
  o.data_format = data_format(c);
  return o;
}

}  // namespace

void add_image(Table& table) {
  table["rgb_to_grayscale"] = colors(ops::rgb_to_grayscale), table["rgb_to_hsv"] = colors(ops::rgb_to_hsv);
  table["hsv_to_rgb"] = colors(ops::hsv_to_rgb), table["sobel_edges"] = colors(ops::sobel_edges);
  table["resize"] = [](const Call& c) -> Results {
    ops::ResizeOptions o;
    c.set("interpolation", o.interpolation), c.set("antialias", o.antialias),
        c.set("data_format", o.data_format);
    c.set("crop_to_aspect_ratio", o.crop_to_aspect_ratio),
        c.set("pad_to_aspect_ratio", o.pad_to_aspect_ratio);
    c.set("fill_mode", o.fill_mode), c.set("fill_value", o.fill_value);
    return {ops::resize(c["images"], c.get<ops::ImageSize>("size"), o)};
  };
  table["gaussian_blur"] = [](const Call& c) -> Results {
    return {ops::gaussian_blur(c["images"], get_or(c, "kernel_size", ops::ImageSize(3)),
                               get_or(c, "sigma", ops::Deviations(1.)), data_format(c))};
  };
  table["extract_patches"] = [](const Call& c) -> Results {
    return {ops::extract_patches(c["images"], c.get<ops::ImageSize>("size"), patches(c))};
  };
  table["extract_patches_3d"] = [](const Call& c) -> Results {
    return {ops::extract_patches_3d(c["volumes"], c.get<ops::ImageSize>("size"), patches(c))};
  };
  table["reconstruct_patches"] = [](const Call& c) -> Results {
    ops::ReconstructOptions o;
    c.set("strides", o.strides), c.set("padding", o.padding), c.set("data_format", o.data_format);
    return {ops::reconstruct_patches(c["patches"], c.get<ops::ImageSize>("size"),
                                     c.get<ops::ImageSize>("output_size"), o)};
  };
  table["crop_images"] = [](const Call& c) -> Results {
    return {ops::crop_images(c["images"], borders(c, "cropping"))};
  };
  table["pad_images"] = [](const Call& c) -> Results {
    return {ops::pad_images(c["images"], borders(c, "padding"))};
  };
  table["affine_transform"] = [](const Call& c) -> Results {
    return {ops::affine_transform(c["images"], c["transform"], transform(c))};
  };
  table["perspective_transform"] = [](const Call& c) -> Results {
    return {ops::perspective_transform(c["images"], c["start_points"], c["end_points"], transform(c))};
  };
  table["ssim"] = [](const Call& c) -> Results {
    ops::SsimOptions o;
    c.set("filter_size", o.filter_size), c.set("filter_sigma", o.filter_sigma), c.set("k1", o.k1),
        c.set("k2", o.k2), c.set("data_format", o.data_format);
    return {ops::ssim(c["image1"], c["image2"], get_or(c, "max_val", 1.0), o)};
  };
  table["scale_and_translate"] = [](const Call& c) -> Results {
    return {ops::scale_and_translate(c["images"], c.get<Shape>("output_shape"), c["scale"], c["translation"],
                                     c.get<std::vector<int>>("spatial_dims"), c.get<std::string>("method"),
                                     get_or(c, "antialias", true))};
  };
  table["elastic_transform"] = [](const Call& c) -> Results {
    ops::ElasticOptions o;
    if (c.given("alpha") || c.has("alpha")) o.alpha = number_or_tensor(c, "alpha");
    if (c.given("sigma") || c.has("sigma")) o.sigma = number_or_tensor(c, "sigma");
    c.set("interpolation", o.interpolation);
    c.set("fill_mode", o.fill_mode), c.set("fill_value", o.fill_value);
    o.seed = get_or(c, "seed", std::int64_t{0}), o.data_format = data_format(c);
    return {ops::elastic_transform(c["images"], o)};
  };
  table["map_coordinates"] = [](const Call& c) -> Results {
    return {ops::map_coordinates(c["inputs"], c["coordinates"], c.get<int>("order"),
                                 get_or(c, "fill_mode", std::string("constant")),
                                 get_or(c, "fill_value", 0.0))};
  };
}

}  // namespace golden_ops
