#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/data/formats/images.hpp>

#include <cmath>
#include <random>

#include "../../../ops/check.hpp"
#include "../files.hpp"
#include "../image_bytes.hpp"

namespace K = ktape::backend;
namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

const std::string colors = "\xff\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\xfe";  // 2 x 2 pixels

Tensor load(const std::string& path) { return data::load_image(path); }

}  // namespace

TEST_CASE("load_image: PNG, PPM and PGM keep every pixel") {
  const Files files;
  for (const std::string& bytes :
       {png(colors, 2, 2, PNG_FORMAT_RGB), "P6\n# a comment\n2 2\n255\n" + colors}) {
    const Tensor x = data::load_image(files.write("x", bytes));
    CHECK(x.shape() == Shape{2, 2, 3});
    CHECK(x.dtype() == "uint8");
    CHECK(values(x) == Values{255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 254});
  }
  for (const std::string& bytes :
       {png("\x01\x02\x03\xff", 4, 1, PNG_FORMAT_GRAY), std::string("P5 4 1 255\n\x01\x02\x03\xff")}) {
    CHECK(data::load_image(files.write("x", bytes), {.color_mode = "grayscale"}).shape() == Shape{1, 4, 1});
    CHECK(values(load(files.write("x", bytes))) == Values{1, 1, 1, 2, 2, 2, 3, 3, 3, 255, 255, 255});
  }
  CHECK(values(load(files.write("x", std::string("P5 2 1 1000\n\x01\xf4\x03\xe8")))) ==
        Values{128, 128, 128, 255, 255, 255});
}

TEST_CASE("load_image: transparency and gray") {
  const Files files;
  const std::string path = files.write("x.png", png("\x64\x96\xc8\x80", 1, 1, PNG_FORMAT_RGBA));
  CHECK(values(data::load_image(path)) == Values{100, 150, 200});
  CHECK(values(data::load_image(path, {.color_mode = "rgba"})) == Values{100, 150, 200, 128});
  CHECK(values(data::load_image(path, {.color_mode = "grayscale"})) == Values{141});  // 140.75
  const std::string plain = files.write("x.png", png(colors, 2, 2, PNG_FORMAT_RGB));
  CHECK(data::load_image(plain, {.color_mode = "rgba"}).item<int>(1, 1, 3) == 255);
}

TEST_CASE("load_image: JPEG, also progressive and gray") {
  const Files files;
  const std::string flat = [] {
    std::string pixels;
    for (int i = 0; i < 20 * 10; ++i) pixels += "\xc8\x64\x32";
    return pixels;
  }();
  for (bool progressive : {false, true}) {
    const Tensor x = load(files.write("x.jpg", jpeg(flat, 20, 10, 3, progressive)));
    CHECK(x.shape() == Shape{10, 20, 3});
    CHECK(std::abs(x.item<int>(5, 5, 0) - 200) < 4);
    CHECK(std::abs(x.item<int>(9, 19, 2) - 50) < 4);
  }
  const std::string gray = files.write("x.jpg", jpeg(std::string(64, 'd'), 8, 8, 1));
  CHECK(values(data::load_image(gray, {.color_mode = "grayscale"}))[0] == 'd');
  CHECK(load(gray).shape() == Shape{8, 8, 3});
}

TEST_CASE("load_image: CMYK images become RGB, Adobe's inverted ones and YCCK, too") {
  const Files files;
  const auto first = [&](const std::string& inks, const std::string& form, bool progressive = false) {
    std::string pixels;
    for (int i = 0; i < 24 * 16; ++i) pixels += inks;
    const Tensor x = load(files.write("x.jpg", jpeg(pixels, 24, 16, 4, progressive, form)));
    CHECK(x.shape() == Shape{16, 24, 3});
    return Values{static_cast<double>(x.item<int>(9, 17, 0)), static_cast<double>(x.item<int>(9, 17, 1)),
                  static_cast<double>(x.item<int>(9, 17, 2))};
  };
  const auto near = [](const Values& got, const Values& wanted) {
    for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(got[i] - wanted[i]) < 4);
  };
  for (const bool progressive : {false, true}) {
    near(first("\xc8\x64\x32\xff", "", progressive), {200, 100, 50});
    near(first("\xc8\x64\x32\x80", "", progressive), {100, 50, 25});
    near(first("\xc8\x64\x32\x80", "YCCK", progressive), {100, 50, 25});
    near(first("\x37\x9b\xcd\x7f", "plain", progressive), {100, 50, 25});
    near(first(std::string("\x37\x9b\xcd\0", 4), "plain", progressive), {200, 100, 50});
  }
  const std::string path = files.write("x.jpg", jpeg(std::string(256, '\xff'), 8, 8, 4));
  CHECK(values(data::load_image(path, {.color_mode = "grayscale"})) == Values(64, 255));
}

namespace {

/// A row of samples as PNG stores it: of `depth` bits, the highest first.
std::string packed(const std::vector<unsigned>& samples, int depth) {
  std::string row;
  unsigned bits = 0;
  int count = 0;
  const auto put = [&](unsigned sample, int width) {
    bits = bits << width | sample, count += width;
    if (count == 8) row += static_cast<char>(bits), bits = 0, count = 0;
  };
  for (const unsigned sample : samples)
    if (depth == 16) put(sample >> 8, 8), put(sample & 255, 8);
    else put(sample, depth);
  while (count) put(0, 1);
  return row;
}

/// Returns the byte that shows a sample.
double shown(unsigned sample, int depth) { return std::round(sample * 255. / ((1 << depth) - 1)); }

int samples_of(int color_type) {
  switch (color_type) {
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return 2;
    case PNG_COLOR_TYPE_RGB:
      return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      return 4;
    default:
      return 1;
  }
}

/// Returns red, green, blue and alpha of a pixel.
Values pixel_of(const unsigned* s, const PngForm& form) {
  const int type = form.color_type;
  const auto at = [&](int i) { return shown(s[i], form.depth); };
  if (type == PNG_COLOR_TYPE_PALETTE) {
    const png_color& c = form.palette[*s];
    const double alpha = *s < form.palette_alpha.size() ? form.palette_alpha[*s] : 255;
    return {double(c.red), double(c.green), double(c.blue), alpha};
  }
  const png_color_16& t = form.transparent;
  if (type & PNG_COLOR_MASK_COLOR) {
    const bool gone = form.has_transparent && s[0] == t.red && s[1] == t.green && s[2] == t.blue;
    return {at(0), at(1), at(2), type & PNG_COLOR_MASK_ALPHA ? at(3) : gone ? 0. : 255.};
  }
  const bool gone = form.has_transparent && s[0] == t.gray;
  return {at(0), at(0), at(0), type & PNG_COLOR_MASK_ALPHA ? at(1) : gone ? 0. : 255.};
}

/// Checks an image with random samples, read as RGBA and as RGB.
void check_png(const Files& files, std::uint32_t width, std::uint32_t height, const PngForm& form,
               std::mt19937& draw) {
  std::vector<std::string> rows;
  Values wanted, opaque;
  for (std::uint32_t y = 0; y < height; ++y) {
    std::vector<unsigned> samples;
    const int per_pixel = samples_of(form.color_type);
    for (std::uint32_t i = 0; i < width * static_cast<unsigned>(per_pixel); ++i)
      samples.push_back(draw() >> (32 - form.depth));
    for (std::uint32_t x = 0; x < width; ++x) {
      const Values pixel = pixel_of(&samples[x * static_cast<unsigned>(per_pixel)], form);
      wanted.insert(wanted.end(), pixel.begin(), pixel.end());
      opaque.insert(opaque.end(), pixel.begin(), pixel.end() - 1);
    }
    rows.push_back(packed(samples, form.depth));
  }
  CAPTURE(width);
  CAPTURE(height);
  CAPTURE(form.depth);
  CAPTURE(form.color_type);
  CAPTURE(form.interlaced);
  const std::string path = files.write("x.png", png(rows, width, form));
  CHECK(values(data::load_image(path, {.color_mode = "rgba"})) == wanted);
  CHECK(values(load(path)) == opaque);
}

}  // namespace

TEST_CASE("load_image: PNG of all color types, depths and sizes, interlaced or not") {
  const Files files;
  std::mt19937 draw(1);
  std::vector<PngForm> forms;
  for (const int depth : {1, 2, 4, 8, 16}) {
    forms.push_back({.depth = depth, .color_type = PNG_COLOR_TYPE_GRAY});
    forms.push_back({.depth = depth, .color_type = PNG_COLOR_TYPE_GRAY, .has_transparent = true});
    forms.back().transparent.gray = 1;
    if (depth == 16) continue;
    PngForm palette{.depth = depth, .color_type = PNG_COLOR_TYPE_PALETTE};
    for (int i = 0; i < 1 << depth; ++i)
      palette.palette.push_back(
          {static_cast<png_byte>(draw()), static_cast<png_byte>(draw()), static_cast<png_byte>(draw())});
    forms.push_back(palette);
    palette.palette_alpha = {0, 128};
    forms.push_back(palette);
  }
  for (const int depth : {8, 16}) {
    for (const int type : {PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA})
      forms.push_back({.depth = depth, .color_type = type});
    forms.push_back({.depth = depth, .color_type = PNG_COLOR_TYPE_RGB, .has_transparent = true});
  }
  for (PngForm form : forms)
    for (const bool interlaced : {false, true}) {
      form.interlaced = interlaced;
      for (std::uint32_t height = 1; height <= 9; height += height < 5 ? 1 : 2)
        for (std::uint32_t width = 1; width <= 9; ++width) check_png(files, width, height, form, draw);
      check_png(files, 33, 17, form, draw);
    }
}

TEST_CASE("load_image: PPM, PGM and PBM as text and as bits") {
  const Files files;
  const auto gray = [&](const std::string& bytes) {
    return values(data::load_image(files.write("x", bytes), {.color_mode = "grayscale"}));
  };
  CHECK(values(load(files.write("x.ppm", "P3 # text\n2 1 # size\n15\n15 0 3\n0 # comment\n 15 99\n"))) ==
        Values{255, 0, 51, 0, 255, 255});
  CHECK(gray("P2\n3 1\n1000\n0 500 1000") == Values{0, 128, 255});
  CHECK(gray("P1\n4 2\n0 1 1 0\n1001") == Values{255, 0, 0, 255, 0, 255, 255, 0});
  CHECK(gray(std::string("P4\n10 2\n\x80\x40\x7f\xbf", 14)) ==
        Values{0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 255});
  CHECK(data::load_image(files.write("x.pbm", "P1 1 1 1"), {.color_mode = "rgba"}).item<int>(0, 0, 3) == 255);
  const auto error = [&](const std::string& bytes) {
    CHECK_THROWS_WITH_AS(load(files.write("bad", bytes)),
                         Contains("[load_image] the file must hold its image"), IOError);
  };
  error("P3 1 1 255\n1 2");
  error("P3 1 1 255\n1 2 x");
  error("P1 2 1\n12");
  error("P1 2 1\n1");
  error("P4 9 1\n1");
  error("P2 99999 99999 255\n1 2 3");
}

TEST_CASE("load_image: files that are no images, or claim too many pixels, are errors") {
  const Files files;
  const auto error = [&](const std::string& bytes, const char* text) {
    CHECK_THROWS_WITH_AS(load(files.write("bad", bytes)), Contains(text), IOError);
    CHECK_THROWS_WITH_AS(load(files.write("bad", bytes)), Contains("bad"), IOError);
  };
  error("GIF89a", "it is a GIF image");
  error("BM6", "it is a BMP image");
  error("RIFF....WEBP", "it is a WebP image");
  error("RIFF", "it begins with other bytes");
  error("", "it begins with other bytes");
  error("P6 2 2", "three numbers");
  error("P6 0 2 255\n", "must hold its image");
  error("P6 999999999 999999999 255\nabc", "must hold its image");
  error("P6 2 2 70000\nabc", "from 1 to 65535");
  std::string huge = png(colors, 2, 2, PNG_FORMAT_RGB);
  huge[18] = '\x0f', huge[22] = '\x0f';  // a million pixels in each direction
  const auto checksum = crc32(0, reinterpret_cast<const Bytef*>(huge.data()) + 12, 17);
  huge.replace(29, 4, big(static_cast<std::uint32_t>(checksum)));
  error(huge, "must hold its image");
  std::string wide = jpeg(std::string(64, 'd'), 8, 8, 1);
  const std::size_t frame = wide.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  wide.replace(frame + 5, 4, "\xff\xdc\xff\xdc");
  error(wide, "must hold its image");
  CHECK_THROWS_WITH_AS(load("none.png"), Contains("No such file"), IOError);
}

TEST_CASE("load_image: every damaged file is an error or an image") {
  check_damage("x.png", png(colors, 2, 2, PNG_FORMAT_RGB), load);
  check_damage(
      "x.png",
      png({std::string(6, 'a'), std::string(6, 'b')}, 3, {.depth = 16, .color_type = 0, .interlaced = true}),
      load);
  check_damage("x.ppm", "P6 2 2 255\n" + colors, load);
  check_damage("x.pbm", "P1 2 2\n1 0 01", load);
  const std::string inks = jpeg(std::string(256, 'x'), 8, 8, 4);
  for (std::size_t size = 0; size + 2 < inks.size(); ++size) {
    const Files cut;
    CHECK_THROWS_AS(load(cut.write("x.jpg", inks.substr(0, size))), IOError);
  }
  const Files files;
  for (bool progressive : {false, true}) {
    const std::string bytes = jpeg(std::string(3 * 20 * 20, 'x') + colors, 20, 20, 3, progressive);
    // The last two bytes say that the image ends.
    for (std::size_t size = 0; size + 2 < bytes.size(); ++size)
      CHECK_THROWS_AS(load(files.write("x.jpg", bytes.substr(0, size))), IOError);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      for (const char flip : {'\x01', '\xff'}) {
        std::string other = bytes;
        other[i] = static_cast<char>(other[i] ^ flip);
        try {
          load(files.write("x.jpg", other));
        } catch (const IOError&) {
        }
      }
  }
}

TEST_CASE("encode_png writes pixels that are read again") {
  const Files files;
  for (const auto& [given_channels, mode] :
       std::vector<std::pair<std::int64_t, std::string>>{{1, "grayscale"}, {3, "rgb"}, {4, "rgba"}}) {
    const auto& channels = given_channels;
    CAPTURE(channels);
    const Tensor pixels = ints(K::arange(0, 30 * channels), "uint8");
    const Tensor image = K::reshape(pixels, {5, 6, channels});
    const std::string path = files.write("image.png", data::encode_png(image));
    const Tensor read = data::load_image(path, {.color_mode = mode});
    CHECK(read.shape() == image.shape());
    CHECK(values(read) == values(image));
  }
  CHECK_THROWS_WITH_AS(
      data::encode_png(K::ones({5, 6, 3})),
      Contains("[encode_png] pixels must be uint8 of shape (height, width, 1 to 4 channels): "
               "received float32 of shape (5, 6, 3)"),
      ValueError);
  for (const Shape& shape : {Shape{5, 6}, Shape{5, 6, 5}, Shape{0, 6, 1}})
    CHECK_THROWS_AS(data::encode_png(K::zeros(shape, {.dtype = "uint8"})), ValueError);
}
