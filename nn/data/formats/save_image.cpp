#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/literal.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/data/formats/save_image.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ktape::data {
namespace K = backend;
namespace {

/// Returns the image with its channels last.
Tensor oriented(const Tensor& image, const std::string& data_format) {
  const std::string format = data_format.empty() ? K::image_data_format() : data_format;
  if (format != "channels_last" && format != "channels_first")
    fail("[save_image] data_format must be \"channels_last\" or \"channels_first\": received data_format=\"",
         format, '"');
  const Shape& shape = image.shape();
  const std::int64_t channels = shape.rank() == 3 ? shape[format == "channels_last" ? 2 : 0] : 0;
  if ((channels != 1 && channels != 3 && channels != 4) || image.size() == 0)
    fail("[save_image] image must have the axes height, width and 1, 3 or 4 channels: received shape=", shape,
         ", data_format=\"", format, '"');
  return format == "channels_last" ? image : K::permute_dimensions(image, {1, 2, 0});
}

/// Converts numbers to bytes: (x - lowest) * factor, truncated.
Tensor bytes_of(const Tensor& numbers, bool scale) {
  const Tensor x = converted(numbers, DType::Float64);
  const double* const from = x.pointer<double>();
  double lowest = 0, range = 255;
  if (scale) {
    lowest = std::numeric_limits<double>::infinity();
    double highest = -lowest;
    for (std::int64_t i = 0; i < x.size(); ++i)
      if (std::isfinite(from[i])) lowest = std::min(lowest, from[i]), highest = std::max(highest, from[i]);
    range = highest > lowest ? highest - lowest : std::numeric_limits<double>::infinity();
    if (!std::isfinite(lowest)) lowest = 0;
  }
  const Tensor out = Tensor::empty(x.shape(), DType::UInt8);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double value = scale ? (from[i] - lowest) / range * 255 : from[i];
    out.pointer<std::uint8_t>()[i] =
        std::isnan(value) ? std::uint8_t{0} : static_cast<std::uint8_t>(std::clamp(value, 0., 255.));
  }
  return out;
}

}  // namespace

void save_image(const std::string& path, const Tensor& image, const SaveImageOptions& options) {
  expect_defined("save_image", "image", image);
  if (!path.ends_with(".png")) fail("[save_image] the name of the file must end in .png: received ", path);
  const NoGrad off;
  const Tensor pixels = oriented(image, options.data_format);
  const std::string png =
      encode_png(pixels.dtype() == DType::UInt8 ? pixels : bytes_of(pixels, options.scale));
  nn::saving::AtomicFile file("save_image", path);
  file.write(png);
  file.commit();
}

}  // namespace ktape::data
