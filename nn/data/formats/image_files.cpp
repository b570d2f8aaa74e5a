#include <ktape/nn/data/formats/image_files.hpp>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>

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
  if (bytes.starts_with("P5") || bytes.starts_with("P6")) return decode_ppm(file, bytes);
  file.fail("the file must be a PNG, JPEG, PPM or PGM image", "it begins with other bytes");
}

// --- PNG --------------------------------------------------------------------------------------------------

namespace {

/// An image of libpng's simplified reader, whose functions return errors.
struct PngImage : png_image {
  PngImage() : png_image{} { version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(this); }
};

}  // namespace

Tensor decode_png(const ByteSource& file, const std::string& bytes) {
  constexpr const char* rule = "the PNG image must be intact";
  PngImage image;
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size())) file.fail(rule, image.message);
  constexpr std::size_t depth_at = 24;  // offset of the bit depth in the header
  const bool color = image.format & PNG_FORMAT_FLAG_COLOR, alpha = image.format & PNG_FORMAT_FLAG_ALPHA;
  const int channels = alpha ? 4 : color ? 3 : 1;
  expect_pixels(file, bytes.size(), image.height, image.width, static_cast<unsigned char>(bytes[depth_at]),
                static_cast<std::uint64_t>(channels));
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  image.format = alpha ? PNG_FORMAT_RGBA : color ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const Tensor out = Tensor::empty({image.height, image.width, channels}, DType::UInt8);
  if (!png_image_finish_read(&image, nullptr, out.raw(), 0, nullptr) || image.warning_or_error & 2)
    file.fail(rule, image.message);
  // The reader stops after the pixels and does not notice a missing end of the file.
  const std::size_t mark = bytes.rfind("IEND");
  if (mark == std::string::npos || bytes.size() - mark < 8) file.fail(rule, "its end is missing");
  return out;
}

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
  // CMYK images are not supported; RGB is requested, and libjpeg reports the error.
  if (jpeg.info.num_components == 1) jpeg.info.out_color_space = JCS_GRAYSCALE;
  else jpeg.info.out_color_space = JCS_RGB;
  return true;
}

bool read_jpeg(Jpeg& jpeg, unsigned char* out, std::size_t row) {
  if (setjmp(jpeg.failed)) return false;
  jpeg_start_decompress(&jpeg.info);
  while (jpeg.info.output_scanline < jpeg.info.output_height) {
    JSAMPROW line = out + jpeg.info.output_scanline * row;
    jpeg_read_scanlines(&jpeg.info, &line, 1);
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
  if (!read_jpeg(jpeg, out.pointer<std::uint8_t>(), static_cast<std::size_t>(width * channels)))
    file.fail(rule, jpeg.message);
  return out;
}

// --- PPM, PGM ---------------------------------------------------------------------------------------------

namespace {

/// A reader of the numbers of a header, which blanks and comments separate.
class PpmHeader {
 public:
  PpmHeader(const ByteSource& file, const std::string& bytes) : file_(file), bytes_(bytes) {}
  std::uint64_t number() {
    while (is_blank() || peek() == '#')
      if (peek() == '#') at_ = std::min(bytes_.find('\n', at_), bytes_.size());
      else ++at_;
    std::uint64_t value = 0;
    int digits = 0;
    for (; peek() >= '0' && peek() <= '9' && digits < 9; ++at_, ++digits)
      value = value * 10 + static_cast<std::uint64_t>(peek() - '0');
    if (digits == 0) file_.fail("the header of a PPM image must have three numbers", "at byte ", at_);
    return value;
  }
  /// Returns the position of the first pixel, after one blank.
  std::size_t end() {
    if (!is_blank()) file_.fail("the header of a PPM image must end with a blank", "at byte ", at_);
    return at_ + 1;
  }

 private:
  int peek() const { return at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_]) : -1; }
  bool is_blank() const { return peek() == ' ' || (peek() >= '\t' && peek() <= '\r'); }

  const ByteSource& file_;
  const std::string& bytes_;
  std::size_t at_ = 2;
};

}  // namespace

Tensor decode_ppm(const ByteSource& file, const std::string& bytes) {
  const std::uint64_t channels = bytes[1] == '6' ? 3 : 1;
  PpmHeader header(file, bytes);
  const std::uint64_t width = header.number(), height = header.number(), most = header.number();
  const std::size_t begin = header.end();
  if (most < 1 || most > 65535) file.fail("the largest value of a PPM image must be from 1 to 65535", most);
  const std::size_t size = most > 255 ? 2 : 1;
  const std::uint64_t needed = saturated_product(saturated_product(width, height), channels * size);
  if (needed == 0 || needed > bytes.size() - begin)
    file.fail("the file must hold its image", height, " x ", width, " pixels in ", bytes.size(), " bytes");
  const Tensor out = Tensor::empty({static_cast<std::int64_t>(height), static_cast<std::int64_t>(width),
                                    static_cast<std::int64_t>(channels)},
                                   DType::UInt8);
  const char* at = bytes.data() + begin;
  for (std::int64_t i = 0; i < out.size(); ++i, at += size) {
    const std::uint64_t value = size == 1 ? big_endian<std::uint8_t>(at) : big_endian<std::uint16_t>(at);
    out.pointer<std::uint8_t>()[i] =
        static_cast<std::uint8_t>((std::min(value, most) * 255 + most / 2) / most);
  }
  return out;
}

}  // namespace ktape::data
