#pragma once
#include <ktape/nn/files/bytes.hpp>

/// Image files, from and to memory. Internal: sources only.
namespace ktape::data {

/// Pixels as they are in the file: 1 (gray), 3 or 4 channels, (height, width, channels), uint8.
Tensor decode_image(const ByteSource& file, const std::string& bytes);

/// Throws IOError when the file cannot hold an image of that size with that many bits for each pixel, when
/// the image is empty, or when its pixels would be more than `images_inflation` allows.
void expect_pixels(const ByteSource& file, std::uint64_t bytes, std::uint64_t height, std::uint64_t width,
                   std::uint64_t bits, std::uint64_t channels);

// Readers, each for files of a single kind.
Tensor decode_png(const ByteSource& file, const std::string& bytes);
Tensor decode_jpeg(const ByteSource& file, const std::string& bytes);
Tensor decode_ppm(const ByteSource& file, const std::string& bytes);

/// Returns the bytes of a PNG file of pixels (height, width, channels), uint8, with 1 (gray), 2 (gray and
/// alpha), 3 or 4 channels. Throws ValueError for other tensors, and for empty ones.
std::string encode_png(const Tensor& pixels);

}  // namespace ktape::data
