#include "../../../close.hpp"
#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor;

namespace {

double sinc(double t) { return t == 0 ? 1 : std::sin(std::numbers::pi * t) / (std::numbers::pi * t); }

/// Returns the weight of a pixel at a distance, as the papers have it.
double weight(const std::string& interpolation, double t) {
  t = std::fabs(t);
  if (interpolation == "bilinear") return t < 1 ? 1 - t : 0;
  if (interpolation == "bicubic")
    return t < 1 ? 1.5 * t * t * t - 2.5 * t * t + 1 : t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0;
  if (interpolation == "mitchellcubic")
    return (t < 1   ? 7 * t * t * t - 12 * t * t + 16. / 3
            : t < 2 ? -7. / 3 * t * t * t + 12 * t * t - 20 * t + 32. / 3
                    : 0) /
           6;
  if (interpolation == "gaussian") return t < 1.5 ? std::exp(-2 * t * t) : 0;
  const double radius = interpolation == "lanczos3" ? 3 : 5;
  return t < radius ? sinc(t) * sinc(t / radius) : 0;
}

/// Returns a row at another length, as a sum over all pixels.
Values row_at(const Values& row, int extent, const std::string& interpolation, bool antialias) {
  const double ratio = static_cast<double>(row.size()) / extent, width = antialias ? std::max(ratio, 1.) : 1;
  Values out;
  for (int i = 0; i < extent; ++i) {
    double sum = 0, weights = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double w = weight(interpolation, (static_cast<double>(j) + 0.5 - (i + 0.5) * ratio) / width);
      sum += w * row[j], weights += w;
    }
    out.push_back(sum / weights);
  }
  return out;
}

void check_close(const Values& got, const Values& want) {
  REQUIRE(got.size() == want.size());
  CHECK(close(got, want, {.rtol = 1e-9}));
}

const char* const kernels[] = {"bilinear", "bicubic", "mitchellcubic", "gaussian", "lanczos3", "lanczos5"};

}  // namespace

TEST_CASE("resizing weighs the pixels around a place, up and down, with and without antialiasing") {
  const Tensor row = normal({1, 7, 1});
  for (const std::string interpolation : kernels)
    for (const bool antialias : {false, true})
      for (const int extent : {1, 3, 6, 15}) {
        CAPTURE(interpolation);
        CAPTURE(antialias);
        CAPTURE(extent);
        const nn::ResizingOptions options{
            .interpolation = interpolation, .antialias = antialias, .dtype = "float64"};
        const Values want = row_at(values(row), extent, interpolation, antialias);
        check_close(values(nn::Resizing(1, extent, options)(row)), want);
        check_close(values(nn::Resizing(extent, 1, options)(K::reshape(row, {7, 1, 1}))), want);
      }
}

TEST_CASE("resizing takes the nearest pixel, or the mean of the covered area") {
  const Tensor row = counted({1, 5, 1});
  const auto resized = [&](const char* interpolation, int extent) {
    return values(nn::Resizing(1, extent, {.interpolation = interpolation, .dtype = "float64"})(row));
  };
  CHECK(resized("nearest", 3) == Values{0, 2, 4});
  CHECK(resized("nearest", 8) == Values{0, 0, 1, 2, 2, 3, 4, 4});
  check_close(resized("area", 2), {(0 + 1 + 0.5 * 2) / 2.5, (0.5 * 2 + 3 + 4) / 2.5});
  check_close(resized("area", 10), {0, 0, 1, 1, 2, 2, 3, 3, 4, 4});
}

TEST_CASE("resizing by two keeps the corner, and weighs 3 to 1 between pixels") {
  const Tensor x = doubles({{{0}, {4}}, {{8}, {12}}});
  check_close(values(nn::Resizing(4, 4, {.dtype = "float64"})(x)),
              {0, 1, 3, 4, 2, 3, 5, 6, 6, 7, 9, 10, 8, 9, 11, 12});
}

TEST_CASE("resizing is differentiable to any order, wherever the channels are") {
  for (const char* interpolation : {"bilinear", "nearest", "lanczos3"})
    for (const char* format : {"channels_last", "channels_first"}) {
      const nn::Resizing layer(2, 5,
                               {.interpolation = interpolation, .data_format = format, .dtype = "float64"});
      check_gradients([&](In x) { return K::square(layer(x[0])); }, {normal({2, 3, 4, 3})});
    }
  const Tensor x = normal({2, 4, 5, 3});
  const Tensor first = K::permute_dimensions(x, {0, 3, 1, 2});
  const Tensor y = nn::Resizing(3, 7, {.data_format = "channels_first", .dtype = "float64"})(first);
  CHECK(values(K::permute_dimensions(y, {0, 2, 3, 1})) ==
        values(nn::Resizing(3, 7, {.dtype = "float64"})(x)));
}

TEST_CASE("resizing keeps the dtype of integers: rounded, and in their range") {
  const Tensor x = ints({{{0}, {255}, {0}, {0}}}, "uint8");
  CHECK(nn::Resizing(1, 3)(x).dtype() == "uint8");
  CHECK(values(nn::Resizing(1, 8)(x)) == Values{0, 64, 191, 191, 64, 0, 0, 0});
  const Values cubic = values(nn::Resizing(1, 12, {.interpolation = "bicubic"})(x));
  CHECK(cubic[4] == 255);
  CHECK(cubic[0] == 0);  // it would be 8 percent above and below
  CHECK(values(nn::Resizing(1, 2, {.interpolation = "nearest"})(ints({{{1}, {2}, {3}, {4}}}, "int64"))) ==
        Values{2, 4});
}

TEST_CASE("resizing keeps the ratio by a window in the middle, or by borders of one width") {
  const Tensor x = counted({3, 8, 1});
  const nn::Resizing crop(3, 2, {.crop_to_aspect_ratio = true, .dtype = "float64"});
  CHECK(values(crop(x)) == Values{3, 4, 11, 12, 19, 20});
  const nn::Resizing pad(
      8, 8, {.interpolation = "nearest", .pad_to_aspect_ratio = true, .fill_value = -1, .dtype = "float64"});
  const Tensor y = pad(x);  // 2 rows above, 3 of the image, 2 below, stretched to 8
  CHECK(values(K::squeeze(y, 2)[{ktape::All, 0}]) == Values{-1, -1, 0, 8, 8, 16, -1, -1});
  const Tensor square = counted({4, 4, 1});
  CHECK(values(nn::Resizing(4, 4, {.pad_to_aspect_ratio = true, .dtype = "float64"})(square)) ==
        values(square));
}

TEST_CASE("resizing in a model knows its size, whatever that of the images") {
  const Tensor in = nn::Input({None, None, 2}, {.dtype = "uint8"});
  const Tensor out = nn::Resizing(3, 4)(in);
  CHECK(out.shape() == Shape{None, 3, 4, 2});
  CHECK(out.dtype() == "uint8");
  const nn::Model model(in, nn::CenterCrop(2, 2)(out));
  const Tensor x = K::cast(K::random_uniform({5, 7, 6, 2}, {.maxval = 255.f, .seed = 1}), "uint8");
  CHECK(values(model(x)) == values(nn::CenterCrop(2, 2)(nn::Resizing(3, 4)(x))));
}

TEST_CASE("the center is cropped from half the difference on, and resized where there is too little") {
  const Tensor x = counted({5, 4, 1});
  CHECK(values(nn::CenterCrop(2, 2, {.dtype = "float64"})(x)) == Values{5, 6, 9, 10});
  CHECK(values(nn::CenterCrop(5, 1, {.dtype = "float64"})(x)) == Values{1, 5, 9, 13, 17});
  CHECK(values(nn::CenterCrop(6, 2, {.dtype = "float64"})(x)) ==
        values(nn::Resizing(6, 2, {.crop_to_aspect_ratio = true, .dtype = "float64"})(x)));
  CHECK(nn::CenterCrop(2, 2)(K::cast(x, "uint8")).dtype() == "float32");
  CHECK(nn::CenterCrop(2, 3, {.data_format = "channels_first"})(K::ones({2, 1, 5, 4})).shape() ==
        Shape{2, 1, 2, 3});
}

TEST_CASE("image layers refuse bad arguments") {
  using Error = ktape::ValueError;
  CHECK_THROWS_WITH_AS(nn::Resizing(0, 2),
                       doctest::Contains("[Resizing] height must be at least 1: received height=0"), Error);
  CHECK_THROWS_WITH_AS(nn::Resizing(2, 2, {.interpolation = "bilinar"}),
                       doctest::Contains("did you mean 'bilinear'"), Error);
  CHECK_THROWS_WITH_AS(nn::Resizing(2, 2, {.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}),
                       doctest::Contains("must not both be set"), Error);
  CHECK_THROWS_WITH_AS(nn::Resizing(2, 2, {.fill_mode = "reflect"}),
                       doctest::Contains("fill_mode must be \"constant\""), Error);
  CHECK_THROWS_WITH_AS(nn::Resizing(2, 2, {.name = "r"})(K::ones({2, 3})),
                       doctest::Contains("[r] the input must have min_ndim=3, max_ndim=4"), Error);
  CHECK_THROWS_WITH_AS(nn::CenterCrop(2, 2, {.name = "c"})(K::ones({1, 0, 3, 1})),
                       doctest::Contains("[c] the images must have pixels: received shape=(1, 0, 3, 1)"),
                       Error);
}
