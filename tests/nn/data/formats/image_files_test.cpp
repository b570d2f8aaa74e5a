#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/nn/data/formats/images.hpp>

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
  CHECK_THROWS_WITH_AS(load(files.write("cmyk.jpg", jpeg(std::string(256, 'd'), 8, 8, 4))),
                       Contains("cmyk.jpg"), IOError);
}

TEST_CASE("load_image: files that are no images, or claim too many pixels, are errors") {
  const Files files;
  const auto error = [&](const std::string& bytes, const char* text) {
    CHECK_THROWS_WITH_AS(load(files.write("bad", bytes)), Contains(text), IOError);
    CHECK_THROWS_WITH_AS(load(files.write("bad", bytes)), Contains("bad"), IOError);
  };
  error("GIF89a", "it begins with other bytes");
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
  check_damage("x.ppm", "P6 2 2 255\n" + colors, load);
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
