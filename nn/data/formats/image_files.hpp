#pragma once
#include <ktape/nn/files/bytes.hpp>

/// Decoding and encoding of image files in memory. Internal: sources only.
namespace ktape::data {

/// Returns the pixels of a file, (height, width, channels), uint8, with the channels of the file: 1 (gray), 3
/// or 4.
Tensor decode_image(const ByteSource& file, const std::string& bytes);

/// Throws IOError when the file cannot hold an image of that size with that many bits for each pixel, when
/// the image is empty, or when its pixels would be more than `images_inflation` allows.
void expect_pixels(const ByteSource& file, std::uint64_t bytes, std::uint64_t height, std::uint64_t width,
                   std::uint64_t bits, std::uint64_t channels);

// Decoders for one format each.
Tensor decode_png(const ByteSource& file, const std::string& bytes);
Tensor decode_jpeg(const ByteSource& file, const std::string& bytes);
Tensor decode_ppm(const ByteSource& file, const std::string& bytes);

/// Returns the bytes of a PNG file of pixels (height, width, channels), uint8, with 1 (gray), 2 (gray and
/// alpha), 3 or 4 channels. Throws ValueError for other tensors and for an empty tensor.
std::string encode_png(const Tensor& pixels);

}  // namespace ktape::data
