#include <ktape/nn/data/formats/image_files.hpp>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

// libjpeg's header needs FILE, and comes last.
#include <jpeglib.h>
#include <png.h>

#include <jerror.h>

namespace ktape::data {

void expect_pixels(const ByteSource& file, std::uint64_t bytes, std::uint64_t height, std::uint64_t width,
                   std::uint64_t bits, std::uint64_t channels) {
  const std::uint64_t pixels = saturated_product(height, width);
  if (pixels == 0 || saturated_product(pixels, bits) / 8 > most_deflated(bytes))
    file.fail("the file must hold its image", height, " x ", width, " pixels in ", bytes, " bytes");
  // The limit counts bytes in memory: pixels of less than 8 bits become bytes.
  const std::uint64_t made = saturated_product(pixels, channels),
                      most = std::max(images_inflation.free, most_inflated(bytes, images_inflation));
  if (made > most)
    file.fail("compressed data must not inflate beyond the limit", height, " x ", width,
              " pixels, more than ", most, " bytes of ", bytes);
}

Tensor decode_image(const ByteSource& file, const std::string& bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return decode_png(file, bytes);
  if (bytes.starts_with("\xff\xd8\xff")) return decode_jpeg(file, bytes);
  if (bytes.size() > 1 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6')
    return decode_ppm(file, bytes);
  const char* const other = bytes.starts_with("GIF8") ? "it is a GIF image"
                            : bytes.starts_with("BM") ? "it is a BMP image"
                            : bytes.starts_with("RIFF") && bytes.find("WEBP") == 8
                                ? "it is a WebP image"
                                : "it begins with other bytes";
  file.fail("the file must be a PNG, JPEG, PPM, PGM or PBM image", other);
}

// --- PNG --------------------------------------------------------------------------------------------------

namespace {

/// The state of libpng, which leaves its functions by longjmp after an error: the calling functions must not own
/// C++ objects. (The simplified reader of libpng 1.6.39, for which PngImage stands below, misplaces the rows of
/// interlaced images with 16 bits.)
struct PngReader {
  explicit PngReader(std::string_view bytes) : left(bytes) {}
  ~PngReader() { png_destroy_read_struct(&reader, &info, nullptr); }
  PngReader(const PngReader&) = delete;

  png_structp reader = nullptr;
  png_infop info = nullptr;
  std::string_view left;
  char message[256] = "libpng has no memory";
};

extern "C" {

[[noreturn]] static void png_failed(png_structp reader, png_const_charp text) {
  auto* const png = static_cast<PngReader*>(png_get_error_ptr(reader));
  std::snprintf(png->message, sizeof png->message, "%s", text);
  png_longjmp(reader, 1);
}

static void png_warned(png_structp, png_const_charp) {}

static void png_take(png_structp reader, png_bytep out, std::size_t n) {
  auto* const png = static_cast<PngReader*>(png_get_io_ptr(reader));
  if (n > png->left.size()) png_error(reader, "its end is missing");
  std::memcpy(out, png->left.data(), n);
  png->left.remove_prefix(n);
}

}  // extern "C"

/// Reads all up to the pixels.
bool begin_png(PngReader& png) {
  png.reader = png_create_read_struct(PNG_LIBPNG_VER_STRING, &png, png_failed, png_warned);
  if (png.reader) png.info = png_create_info_struct(png.reader);
  if (!png.info || setjmp(png_jmpbuf(png.reader))) return false;
  png_set_read_fn(png.reader, &png, png_take);
  // Texts and profiles, which may inflate, are skipped.
  png_set_keep_unknown_chunks(png.reader, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_keep_unknown_chunks(png.reader, PNG_HANDLE_CHUNK_AS_DEFAULT,
                              reinterpret_cast<png_const_bytep>("gAMA\0sRGB"), 2);
  png_read_info(png.reader, png.info);
  return true;
}

bool read_png(PngReader& png, bool alpha, std::size_t row, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png.reader))) return false;
  png_set_alpha_mode(png.reader, PNG_ALPHA_PNG, PNG_DEFAULT_sRGB);
  png_set_expand(png.reader);
  png_set_scale_16(png.reader);
  if (alpha) png_set_gray_to_rgb(png.reader);
  png_set_interlace_handling(png.reader);
  png_read_update_info(png.reader, png.info);
  if (png_get_rowbytes(png.reader, png.info) != row) png_error(png.reader, "its rows have another size");
  png_read_image(png.reader, rows);
  png_read_end(png.reader, nullptr);
  return true;
}

}  // namespace

Tensor decode_png(const ByteSource& file, const std::string& bytes) {
  constexpr const char* rule = "the PNG image must be intact";
  PngReader png(bytes);
  if (!begin_png(png)) file.fail(rule, png.message);
  const int type = png_get_color_type(png.reader, png.info);
  const bool alpha = type & PNG_COLOR_MASK_ALPHA || png_get_valid(png.reader, png.info, PNG_INFO_tRNS);
  const std::int64_t channels = alpha                         ? 4
                                : type & PNG_COLOR_MASK_COLOR ? 3
                                                              : 1,
                     height = png_get_image_height(png.reader, png.info),
                     width = png_get_image_width(png.reader, png.info);
  expect_pixels(file, bytes.size(), static_cast<std::uint64_t>(height), static_cast<std::uint64_t>(width),
                png_get_bit_depth(png.reader, png.info), static_cast<std::uint64_t>(channels));
  const Tensor out = Tensor::empty({height, width, channels}, DType::UInt8);
  std::vector<png_bytep> rows;
  for (std::int64_t y = 0; y < height; ++y)
    rows.push_back(out.pointer<std::uint8_t>() + y * width * channels);
  if (!read_png(png, alpha, static_cast<std::size_t>(width * channels), rows.data()))
    file.fail(rule, png.message);
  return out;
}

namespace {

/// An image of libpng's simplified writer, whose functions return errors.
struct PngImage : png_image {
  PngImage() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(this); }
};

}  // namespace

std::string encode_png(const Tensor& pixels) {
  constexpr png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  const Shape& shape = pixels.shape();
  if (pixels.dtype() != DType::UInt8 || shape.rank() != 3 || shape[2] < 1 || shape[2] > 4 ||
      shape.count() == 0 || shape.count() > 1 << 30)
    fail("[encode_png] pixels must be uint8 of shape (height, width, 1 to 4 channels): received ",
         pixels.dtype(), " of shape ", shape);
  PngImage image;
  image.height = static_cast<png_uint_32>(shape[0]);
  image.width = static_cast<png_uint_32>(shape[1]);
  image.format = formats[shape[2] - 1];
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.raw(), 0, nullptr))
    fail("[encode_png] the pixels must fit into a PNG file: received shape ", shape, " (", image.message,
         ')');
  bytes.resize(size);
  return bytes;
}

// --- JPEG -------------------------------------------------------------------------------------------------

namespace {

/// The state of libjpeg and of its errors. An error leaves a function of libjpeg by longjmp, so that the
/// calling functions must not own C++ objects.
struct Jpeg {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf failed;
  char message[JMSG_LENGTH_MAX] = "";
};

extern "C" {

[[noreturn]] static void jpeg_failed(j_common_ptr info) {
  auto* jpeg = static_cast<Jpeg*>(info->client_data);
  info->err->format_message(info, jpeg->message);
  std::longjmp(jpeg->failed, 1);
}

/// Turns a warning about damaged or missing data into an error; extra bytes between segments are ignored.
static void jpeg_warned(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA) jpeg_failed(info);
}

}  // extern "C"

bool begin_jpeg(Jpeg& jpeg, const unsigned char* bytes, std::size_t size) {
  jpeg.info.err = jpeg_std_error(&jpeg.errors);
  jpeg.info.client_data = &jpeg;
  jpeg.errors.error_exit = jpeg_failed;
  jpeg.errors.emit_message = jpeg_warned;
  if (setjmp(jpeg.failed)) return false;
  jpeg_create_decompress(&jpeg.info);
  jpeg_mem_src(&jpeg.info, bytes, static_cast<unsigned long>(size));
  jpeg_read_header(&jpeg.info, TRUE);
  const int components = jpeg.info.num_components;
  jpeg.info.out_color_space = components == 1 ? JCS_GRAYSCALE : components == 4 ? JCS_CMYK : JCS_RGB;
  return true;
}

/// Converts a row of cyan, magenta, yellow and black. Adobe's programs, which mark their files, store how much of
/// each ink is missing.
void rgb_of_cmyk(const unsigned char* from, std::size_t width, bool inverted, unsigned char* to) {
  const int full = inverted ? 0 : 255;
  for (std::size_t x = 0; x < width; ++x, from += 4)
    for (int c = 0; c < 3; ++c)
      *to++ = static_cast<unsigned char>(((full ^ from[c]) * (full ^ from[3]) + 127) / 255);
}

/// Reads the pixels; `inks` is a buffer for a row of a CMYK image.
bool read_jpeg(Jpeg& jpeg, unsigned char* out, std::size_t row, unsigned char* inks) {
  if (setjmp(jpeg.failed)) return false;
  jpeg_start_decompress(&jpeg.info);
  while (jpeg.info.output_scanline < jpeg.info.output_height) {
    unsigned char* const to = out + jpeg.info.output_scanline * row;
    JSAMPROW line = inks ? inks : to;
    jpeg_read_scanlines(&jpeg.info, &line, 1);
    if (inks) rgb_of_cmyk(inks, jpeg.info.output_width, jpeg.info.saw_Adobe_marker, to);
  }
  jpeg_finish_decompress(&jpeg.info);
  return true;
}

struct JpegScope {
  Jpeg jpeg;
  ~JpegScope() { jpeg_destroy_decompress(&jpeg.info); }
};

}  // namespace

Tensor decode_jpeg(const ByteSource& file, const std::string& bytes) {
  constexpr const char* rule = "the JPEG image must be intact";
  JpegScope scope;
  Jpeg& jpeg = scope.jpeg;
  if (!begin_jpeg(jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()))
    file.fail(rule, jpeg.message);
  const std::int64_t height = jpeg.info.image_height, width = jpeg.info.image_width;
  const int channels = jpeg.info.num_components == 1 ? 1 : 3;
  const auto bytes_of_pixel = static_cast<std::uint64_t>(channels);
  expect_pixels(file, bytes.size(), jpeg.info.image_height, jpeg.info.image_width, bytes_of_pixel * 8,
                bytes_of_pixel);
  const Tensor out = Tensor::empty({height, width, channels}, DType::UInt8);
  std::vector<unsigned char> inks(jpeg.info.out_color_space == JCS_CMYK ? static_cast<std::size_t>(width) * 4
                                                                        : 0);
  if (!read_jpeg(jpeg, out.pointer<std::uint8_t>(), static_cast<std::size_t>(width * channels),
                 inks.empty() ? nullptr : inks.data()))
    file.fail(rule, jpeg.message);
  return out;
}

// --- PBM, PGM, PPM ----------------------------------------------------------------------------------------

namespace {

/// A reader of numbers as text, which blanks and comments separate.
class PpmText {
 public:
  PpmText(const ByteSource& file, const std::string& bytes) : file_(file), bytes_(bytes) {}

  std::uint64_t number(const char* rule = "the header of a PPM image must have three numbers") {
    skip_blanks();
    std::uint64_t value = 0;
    int digits = 0;
    for (; is_digit() && digits < 9; ++at_, ++digits)
      value = value * 10 + static_cast<std::uint64_t>(peek() - '0');
    if (digits == 0) file_.fail(rule, "at byte ", at_);
    return value;
  }
  /// Reads a pixel of a text bitmap: a digit, also without blanks around.
  std::uint64_t bit(const char* rule) {
    skip_blanks();
    if (peek() != '0' && peek() != '1') file_.fail(rule, "at byte ", at_);
    return static_cast<std::uint64_t>(bytes_[at_++] - '0');
  }
  /// Returns the position of the first pixel, after one blank.
  std::size_t end() {
    if (!is_blank()) file_.fail("the header of a PPM image must end with a blank", "at byte ", at_);
    return ++at_;
  }

 private:
  void skip_blanks() {
    while (is_blank() || peek() == '#')
      if (peek() == '#') at_ = std::min(bytes_.find('\n', at_), bytes_.size());
      else ++at_;
  }
  int peek() const { return at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_]) : -1; }
  bool is_digit() const { return peek() >= '0' && peek() <= '9'; }
  bool is_blank() const { return peek() == ' ' || (peek() >= '\t' && peek() <= '\r'); }

  const ByteSource& file_;
  const std::string& bytes_;
  std::size_t at_ = 2;
};

}  // namespace

Tensor decode_ppm(const ByteSource& file, const std::string& bytes) {
  constexpr const char* rule = "the file must hold its image";
  const int kind = bytes[1] - '0';  // 1 to 3 are text, 4 to 6 bytes: of bits, gray and colors
  const bool text = kind < 4, bits = kind % 3 == 1;
  const std::uint64_t channels = kind % 3 == 0 ? 3 : 1;
  PpmText in(file, bytes);
  const std::uint64_t width = in.number(), height = in.number(), most = bits ? 1 : in.number();
  const std::size_t begin = in.end();
  if (most < 1 || most > 65535) file.fail("the largest value of a PPM image must be from 1 to 65535", most);
  const std::size_t size = !text && most > 255 ? 2 : 1;
  const std::uint64_t row = kind == 4 ? (width + 7) / 8 : saturated_product(width, channels * size);
  const std::uint64_t needed = saturated_product(row, height);
  if (needed == 0 || needed > bytes.size() - begin)
    file.fail(rule, height, " x ", width, " pixels in ", bytes.size(), " bytes");
  const Tensor out = Tensor::empty({static_cast<std::int64_t>(height), static_cast<std::int64_t>(width),
                                    static_cast<std::int64_t>(channels)},
                                   DType::UInt8);
  std::uint8_t* to = out.pointer<std::uint8_t>();
  const char* const pixels = bytes.data() + begin;
  const auto value_at = [&](std::uint64_t y, std::uint64_t i) -> std::uint64_t {
    if (text) return bits ? in.bit(rule) : in.number(rule);
    if (bits) return pixels[y * row + i / 8] >> (7 - i % 8) & 1;
    const char* const at = pixels + y * row + i * size;
    return size == 1 ? big_endian<std::uint8_t>(at) : big_endian<std::uint16_t>(at);
  };
  for (std::uint64_t y = 0; y < height; ++y)
    for (std::uint64_t i = 0; i < width * channels; ++i) {
      const std::uint64_t value = (std::min(value_at(y, i), most) * 255 + most / 2) / most;
      *to++ = static_cast<std::uint8_t>(bits ? 255 - value : value);  // the ones of a bitmap are black
    }
  return out;
}

}  // namespace ktape::data
