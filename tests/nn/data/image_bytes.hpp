#pragma once
#include <png.h>
#include <cstdio>

#include <jpeglib.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

/// Return pixels, row by row, as the bytes of an image file.
inline std::string png(const std::string& pixels, std::uint32_t width, std::uint32_t height,
                       std::uint32_t format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = format;
  std::string bytes(100000, '\0');
  png_alloc_size_t size = bytes.size();
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr))
    throw std::runtime_error(image.message);
  bytes.resize(size);
  return bytes;
}

/// What a PNG file has beside its pixels.
struct PngForm {
  int depth = 8, color_type = PNG_COLOR_TYPE_RGB;
  bool interlaced = false;
  std::vector<png_color> palette = {};
  std::vector<png_byte> palette_alpha = {};
  bool has_transparent = false;
  png_color_16 transparent = {};
};

/// Returns rows, as PNG stores them, as the bytes of a PNG file of any form.
inline std::string png(const std::vector<std::string>& rows, std::uint32_t width, const PngForm& form) {
  std::string bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png))) throw std::runtime_error("the PNG file cannot be written");
  png_set_write_fn(
      png, &bytes,
      [](png_structp to, png_bytep data, std::size_t size) {
        static_cast<std::string*>(png_get_io_ptr(to))->append(reinterpret_cast<char*>(data), size);
      },
      nullptr);
  png_set_IHDR(png, info, width, static_cast<png_uint_32>(rows.size()), form.depth, form.color_type,
               form.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!form.palette.empty())
    png_set_PLTE(png, info, form.palette.data(), static_cast<int>(form.palette.size()));
  if (!form.palette_alpha.empty())
    png_set_tRNS(png, info, form.palette_alpha.data(), static_cast<int>(form.palette_alpha.size()), nullptr);
  if (form.has_transparent) png_set_tRNS(png, info, nullptr, 0, &form.transparent);
  std::vector<png_bytep> pointers;
  for (const std::string& row : rows)
    pointers.push_back(reinterpret_cast<png_bytep>(const_cast<char*>(row.data())));
  png_write_info(png, info);
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

/// `inks` is the form of 4 channels: "" as libjpeg writes CMYK, marked as Adobe's; "plain" without the mark; "YCCK".
inline std::string jpeg(const std::string& pixels, int width, int height, int channels,
                        bool progressive = false, const std::string& inks = "") {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  if (inks == "YCCK") jpeg_set_colorspace(&info, JCS_YCCK);
  if (inks == "plain") info.write_Adobe_marker = FALSE;
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = reinterpret_cast<JSAMPROW>(const_cast<char*>(pixels.data())) +
                info.next_scanline * static_cast<unsigned>(width * channels);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string out(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return out;
}
