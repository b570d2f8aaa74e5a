#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/keras/image/image.hpp>
#include <ktape/ops/settings/config.hpp>

/// Functions of keras.ops.image.
namespace ktape::nn {
namespace {

using Size = ops::ImageSize;

Size image_extents(const OperationCall& call, const char* name) {
  return call.value(name).as<Size>(call.what(name));
}

std::string image_format(const OperationCall& call) {
  return call.has("data_format") ? call.text("data_format") : backend::image_data_format();
}

template <Tensor (*f)(const Tensor&, const std::optional<std::string>&)>
Tensor of_images(const OperationCall& call) {
  return f(call.tensor("images"), image_format(call));
}

Tensor resized(const OperationCall& call) {
  if (call.text("fill_mode") != "constant")
    fail("[Resize] fill_mode must be \"constant\": received fill_mode=\"", call.text("fill_mode"), '"');
  return ops::resize(call.tensor("images"), image_extents(call, "size"),
                     {.interpolation = call.text("interpolation"),
                      .antialias = call.flag("antialias"),
                      .crop_to_aspect_ratio = call.flag("crop_to_aspect_ratio"),
                      .pad_to_aspect_ratio = call.flag("pad_to_aspect_ratio"),
                      .fill_value = call.number("fill_value"),
                      .data_format = image_format(call)});
}

Tensor gaussian_blur(const OperationCall& call) {
  return ops::gaussian_blur(call.tensor("images"), image_extents(call, "kernel_size"),
                            call.value("sigma").as<ops::Deviations>("[GaussianBlur] sigma"),
                            image_format(call));
}

Tensor extract_patches(const OperationCall& call) {
  const Size size = image_extents(call, "size");
  ops::PatchOptions options{.strides = {},
                            .dilation_rate = image_extents(call, "dilation_rate"),
                            .padding = call.text("padding"),
                            .data_format = image_format(call)};
  if (call.has("strides")) options.strides = image_extents(call, "strides");
  return size.list().size() == 3 ? ops::extract_patches_3d(call.tensor("images"), size, options)
                                 : ops::extract_patches(call.tensor("images"), size, options);
}

Tensor reconstruct_patches(const OperationCall& call) {
  ops::ReconstructOptions options{
      .strides = {}, .padding = call.text("padding"), .data_format = image_format(call)};
  if (call.has("strides")) options.strides = image_extents(call, "strides");
  return ops::reconstruct_patches(call.tensor("patches"), image_extents(call, "size"),
                                  image_extents(call, "output_size"), options);
}

ops::BorderOptions borders(const OperationCall& call, const std::string& kind) {
  const auto border = [&](const char* side) { return optional_integer(call, (side + kind).c_str()); };
  return {.top = border("top_"),
          .left = border("left_"),
          .bottom = border("bottom_"),
          .right = border("right_"),
          .target_height = optional_integer(call, "target_height"),
          .target_width = optional_integer(call, "target_width"),
          .data_format = image_format(call)};
}

Tensor affine_transform(const OperationCall& call) {
  return ops::affine_transform(call.tensor("images"), call.tensor("transform"),
                               {.interpolation = call.text("interpolation"),
                                .fill_mode = call.text("fill_mode"),
                                .fill_value = call.number("fill_value"),
                                .data_format = image_format(call)});
}

Tensor perspective_transform(const OperationCall& call) {
  return ops::perspective_transform(call.tensor("images"), call.tensor("start_points"),
                                    call.tensor("end_points"),
                                    {.interpolation = call.text("interpolation"),
                                     .fill_mode = "constant",
                                     .fill_value = call.number("fill_value"),
                                     .data_format = image_format(call)});
}

Tensor elastic_transform(const OperationCall& call) {
  ops::ElasticOptions options{.alpha = call.number("alpha"),
                              .sigma = call.number("sigma"),
                              .interpolation = call.text("interpolation"),
                              .fill_mode = call.text("fill_mode"),
                              .fill_value = call.number("fill_value"),
                              .seed = {},
                              .data_format = image_format(call)};
  if (call.has("seed")) options.seed = call.integer("seed");
  return ops::elastic_transform(call.tensor("images"), options);
}

Tensor scale_and_translate(const OperationCall& call) {
  return ops::scale_and_translate(
      call.tensor("images"), call.shape("output_shape"), call.tensor("scale"), call.tensor("translation"),
      call.value("spatial_dims").as<std::vector<int>>("[ScaleAndTranslate] spatial_dims"),
      call.text("method"), call.flag("antialias"));
}

Tensor ssim(const OperationCall& call) {
  return ops::ssim(call.tensor("image1"), call.tensor("image2"), call.number("max_val"),
                   {.filter_size = call.axis("filter_size"),
                    .filter_sigma = call.number("filter_sigma"),
                    .k1 = call.number("k1"),
                    .k2 = call.number("k2"),
                    .data_format = image_format(call)});
}

}  // namespace

void add_image_operations(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"RGBToGrayscale", "image", "images; data_format=null", of_images<ops::rgb_to_grayscale>,
       "rgb_to_grayscale"},
      {"RGBToHSV", "image", "images; data_format=null", of_images<ops::rgb_to_hsv>, "rgb_to_hsv"},
      {"HSVToRGB", "image", "images; data_format=null", of_images<ops::hsv_to_rgb>, "hsv_to_rgb"},
      {"Resize", "image",
       "images; size, interpolation=\"bilinear\", antialias=false, crop_to_aspect_ratio=false, "
       "pad_to_aspect_ratio=false, fill_mode=\"constant\", fill_value=0.0, data_format=null",
       resized},
      {"GaussianBlur", "image", "images; kernel_size=3, sigma=1.0, data_format=null", gaussian_blur},
      {"SobelEdges", "image", "images; data_format=null", of_images<ops::sobel_edges>},
      {"ExtractPatches", "image",
       "images; size, strides=null, dilation_rate=1, padding=\"valid\", data_format=null", extract_patches},
      {"ReconstructPatches", "image",
       "patches; size, output_size, strides=null, padding=\"valid\", data_format=null", reconstruct_patches,
       "", "patches, size, output_size, padding, data_format"},
      {"PadImages", "image",
       "images; top_padding=null, left_padding=null, bottom_padding=null, right_padding=null, "
       "target_height=null, target_width=null, data_format=null",
       [](const OperationCall& call) {
         return ops::pad_images(call.tensor("images"), borders(call, "padding"));
       }},
      {"CropImages", "image",
       "images; top_cropping=null, left_cropping=null, bottom_cropping=null, right_cropping=null, "
       "target_height=null, target_width=null, data_format=null",
       [](const OperationCall& call) {
         return ops::crop_images(call.tensor("images"), borders(call, "cropping"));
       }},
      {"MapCoordinates", "image", "inputs, coordinates; order, fill_mode=\"constant\", fill_value=0.0",
       [](const OperationCall& call) {
         return ops::map_coordinates(call.tensor("inputs"), call.tensor("coordinates"), call.axis("order"),
                                     call.text("fill_mode"), call.number("fill_value"));
       }},
      {"AffineTransform", "image",
       "images, transform; interpolation=\"bilinear\", fill_mode=\"constant\", fill_value=0.0, "
       "data_format=null",
       affine_transform},
      {"PerspectiveTransform", "image",
       "images, start_points, end_points; interpolation=\"bilinear\", fill_value=0.0, data_format=null",
       perspective_transform, "", "images, start_points, end_points, -fill_mode"},
      {"ElasticTransform", "image",
       "images; alpha=20.0, sigma=5.0, interpolation=\"bilinear\", fill_mode=\"reflect\", fill_value=0.0, "
       "seed=null, data_format=null",
       elastic_transform},
      {"ScaleAndTranslate", "image",
       "images, output_shape!, scale, translation; spatial_dims, method, antialias=true",
       scale_and_translate},
      {"SSIM", "image",
       "image1, image2; max_val=1.0, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, data_format=null",
       ssim, "ssim"},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
