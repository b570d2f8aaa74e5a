#include "../../../ops/check.hpp"
#include "../files.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

/// Writes the image and returns the image that is read back.
Values saved(const Tensor& image, const data::SaveImageOptions& options = {},
             const char* mode = "grayscale") {
  const Files files;
  const std::string path = files.folder() + "/image.png";
  data::save_image(path, image, options);
  return values(data::load_image(path, {.color_mode = mode}));
}

}  // namespace

TEST_CASE("pixels are read back unchanged") {
  for (const auto& [channels, mode] : {std::pair(1, "grayscale"), {3, "rgb"}, {4, "rgba"}}) {
    const Tensor pixels =
        K::random_uniform({5, 7, channels}, {.minval = 0, .maxval = 256, .dtype = "uint8", .seed = 1});
    CHECK(saved(pixels, {}, mode) == values(pixels));
  }
}

TEST_CASE("numbers are scaled from black to white, or written unscaled") {
  const Tensor x = K::reshape(K::constant({-1.f, 0.f, 1.f, 3.f}), {2, 2, 1});
  CHECK(saved(x) == Values{0, 63, 127, 255});
  CHECK(saved(100.9f * x, {.scale = false}) == Values{0, 0, 100, 255});
  CHECK(saved(K::cast(x, "int32")) == Values{0, 63, 127, 255});
  CHECK(saved(K::cast(x, "float16")) == Values{0, 63, 127, 255});
  for (const float highest : {100.f, 0.3f, 7.f})  // the largest number is white, whatever the rounding
    CHECK(saved(K::reshape(K::constant({0.f, highest}), {2, 1, 1})) == Values{0, 255});
}

TEST_CASE("an image of one brightness is black, and so are pixels that are no numbers") {
  CHECK(saved(K::ones({1, 2, 1})) == Values{0, 0});
  const float nan = std::nanf(""), infinite = HUGE_VALF;
  CHECK(saved(K::reshape(K::constant({nan, 1.f, 2.f, infinite}), {4, 1, 1})) == Values{0, 0, 255, 255});
  CHECK(saved(K::reshape(K::constant({nan, nan}), {2, 1, 1})) == Values{0, 0});
}

TEST_CASE("channels may come first") {
  const Tensor x = K::reshape(K::arange(12, {.dtype = "uint8"}), {3, 2, 2});
  CHECK(saved(x, {.data_format = "channels_first"}, "rgb") == values(K::permute_dimensions(x, {1, 2, 0})));
}

TEST_CASE("a tensor that is no image, and a failed write, leave the file as it was") {
  const Files files;
  const std::string path = files.write("image.png", "what was there");
  const auto refused = [&](const Tensor& image, const char* text,
                           const data::SaveImageOptions& options = {}) {
    CHECK_THROWS_WITH_AS(data::save_image(path, image, options), Contains(text), ValueError);
  };
  refused(K::ones({4, 4}),
          "[save_image] image must have the axes height, width and 1, 3 or 4 channels: "
          "received shape=(4, 4), data_format=\"channels_last\"");
  refused(K::ones({4, 4, 2}), "received shape=(4, 4, 2)");
  refused(K::ones({0, 4, 3}), "received shape=(0, 4, 3)");
  refused(K::ones({4, 4, 3}), "received data_format=\"last\"", {.data_format = "last"});
  CHECK_THROWS_WITH_AS(data::save_image("image.jpg", K::ones({4, 4, 3})),
                       "[save_image] the name of the file must end in .png: received image.jpg", ValueError);
  CHECK_THROWS_WITH_AS(data::save_image(files.folder() + "/none/image.png", K::ones({4, 4, 3})),
                       Contains("[save_image] the file must be writable: received "), IOError);
  CHECK(std::filesystem::file_size(path) == 14);
}
