#include <doctest/doctest.h>
#include <ktape/ops/control/function.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/image/image.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/settings/config.hpp>

#include <map>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor, ktape::TypeError, ktape::ValueError;

TEST_CASE("ops: images refuse what they cannot take") {
  const Tensor x = K::zeros({1, 4, 6, 1});
  CHECK_THROWS_WITH_AS(ops::rgb_to_hsv(x), "[rgb_to_hsv] images must have 3 channels: received 1",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::resize(K::zeros({4, 6}), 2),
                       "[resize] images must have rank 3 or 4: received images=(4, 6)", ValueError);
  CHECK_THROWS_WITH_AS(
      ops::resize(x, 2, {.crop_to_aspect_ratio = true, .pad_to_aspect_ratio = true}),
      "[resize] one of crop_to_aspect_ratio and pad_to_aspect_ratio may be true: received both", ValueError);
  CHECK_THROWS_WITH_AS(ops::map_coordinates(x, x, 2),
                       "[map_coordinates] order must be 0 or 1: received order=2", ValueError);
  CHECK_THROWS_WITH_AS(ops::pad_images(x, {.top = 1}),
                       "[pad_images] two of the border before, the border after and the target must be given "
                       "for each axis: received 1",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      ops::affine_transform(x, K::zeros({6})),
      "[affine_transform] transform must be (8,) or (batch, 8): received images=(1, 4, 6, 1), transform=(6,)",
      ValueError);
  CHECK(ops::resize(K::zeros({4, 6, 3}), {2, 3}).shape() == Shape{2, 3, 3});
}

TEST_CASE("ops: gradients of image functions agree with differences") {
  const Tensor x = normal({1, 4, 5, 2}), colors = random_probabilities({1, 2, 2, 3});
  const auto check = [](const char* op, const ktape::CheckedFunction& f, const ktape::TensorList& in) {
    check_gradients(op, f, in);
  };
  check("rgb_to_grayscale", [](In in) { return ops::rgb_to_grayscale(in[0]); }, {colors});
  check("rgb_to_hsv", [](In in) { return ops::rgb_to_hsv(in[0]); }, {colors});
  check("hsv_to_rgb", [](In in) { return ops::hsv_to_rgb(in[0]); }, {colors});
  check("resize",
        [](In in) {
          return ops::resize(in[0], {3, 7}, {.interpolation = "bicubic", .antialias = true});
        },
        {x});
  check("gaussian_blur", [](In in) { return ops::gaussian_blur(in[0], {3, 5}, {1., 2.}); }, {x});
  check("sobel_edges", [](In in) { return ops::sobel_edges(in[0]); }, {x});
  check("extract_patches",
        [](In in) {
          return ops::extract_patches(in[0], {2, 3}, {.strides = 1, .padding = "same"});
        },
        {x});
  check("extract_patches_3d",
        [](In in) {
          return ops::extract_patches_3d(in[0], {2, 1, 2});
        },
        {normal({1, 2, 2, 4, 1})});
  check("reconstruct_patches",
        [](In in) {
          return ops::reconstruct_patches(in[0], 2, {3, 4}, {.padding = "same"});
        },
        {normal({1, 2, 2, 4})});
  check("reconstruct_patches",
        [](In in) {
          return ops::reconstruct_patches(in[0], {1, 2, 1}, {1, 3, 2},
                                          {.padding = "same", .data_format = "channels_first"});
        },
        {normal({4, 1, 2, 2})});
  check("crop_images",
        [](In in) {
          return ops::crop_images(in[0], {.top = 1, .left = 0, .target_height = 2, .target_width = 3});
        },
        {x});
  check("pad_images",
        [](In in) { return ops::pad_images(in[0], {.top = 1, .left = 0, .bottom = 1, .right = 2}); }, {x});
  check("ssim", [](In in) { return ops::ssim(in[0], in[1], 1, {.filter_size = 3}); },
        {x, normal({1, 4, 5, 2}, 2)});
  check("ssim",
        [](In in) { return ops::ssim(in[0], in[1], 1, {.filter_size = 3, .data_format = "channels_first"}); },
        {normal({2, 4, 5}), normal({2, 4, 5}, 2)});
  check("resize", [](In in) { return ops::resize(in[0], {7, 3}, {.interpolation = "nearest"}); }, {x});
  check("sobel_edges", [](In in) { return ops::sobel_edges(in[0], "channels_first"); },
        {normal({1, 2, 4, 5})});
  const Tensor places = doubles({{0.3, 1.6, 2.2}, {-0.4, 0.7, 3.1}});
  for (const char* mode : {"constant", "nearest", "wrap", "mirror", "reflect"})
    check("map_coordinates", [mode](In in) { return ops::map_coordinates(in[0], in[1], 1, mode, 0.5); },
          {normal({3, 4}), places});
  const Tensor turn = doubles({0.87, 0.11, 0.34, -0.21, 0.83, 0.46, 0., 0.});
  check("affine_transform", [](In in) { return ops::affine_transform(in[0], in[1]); },
        {normal({1, 3, 4, 1}), turn});
  const Tensor start = doubles({{0.1, 0.2}, {3.3, 0.1}, {0.2, 2.4}, {2.9, 2.7}}),
               end = doubles({{0., 0.}, {3., 0.}, {0., 2.}, {3., 2.}});
  check("perspective_transform", [end](In in) { return ops::perspective_transform(in[0], in[1], end); },
        {normal({1, 3, 4, 1}), start});
  const ktape::Shape shape{2, 5, 3};
  for (const char* method : {"linear", "cubic", "lanczos3", "lanczos5"})
    check("scale_and_translate",
          [=](In in) {
            return ops::scale_and_translate(in[0], shape, in[1], in[2], {1, 2}, method);
          },
          {normal({2, 4, 5}), doubles({1.3, 0.7}), doubles({0.21, -0.37})});
  check("elastic_transform",
        [](In in) { return ops::elastic_transform(in[0], {.alpha = 2, .sigma = 0.7, .seed = 3}); }, {x});
  check("elastic_transform",
        [](In in) { return ops::elastic_transform(in[0], {.alpha = in[1], .sigma = 0.7, .seed = 3}); },
        {x, doubles({{0.7}, {1.3}, {0.2}, {0.9}})});
}

TEST_CASE("ops: scale_and_translate keeps images at scale 1 and moves them by whole pixels") {
  const Tensor x = K::reshape(K::arange(6, {.dtype = "float32"}), {2, 3});
  CHECK(values(ops::scale_and_translate(x, {2, 3}, {1., 1.}, {0., 0.}, {0, 1}, "cubic")) == values(x));
  CHECK(values(ops::scale_and_translate(x, {2, 3}, {1.}, {1.}, {-1}, "linear")) == Values{0, 0, 1, 0, 3, 4});
  const Tensor whole = ops::scale_and_translate(K::cast(x, "int32"), {2, 6}, {2.}, {0.}, {1}, "linear");
  CHECK(whole.dtype() == "int32");
  CHECK(values(whole) == Values{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  CHECK(ops::scale_and_translate(x, {0, 3}, {1.}, {1.}, {0}, "linear").shape() == Shape{0, 3});
}

TEST_CASE("ops: scale_and_translate and elastic_transform refuse what they cannot take") {
  const Tensor x = K::zeros({2, 3});
  CHECK_THROWS_WITH_AS(
      ops::scale_and_translate(x, {2, 3}, {1.}, {1.}, {0}, "nearest"),
      "[scale_and_translate] method must be \"linear\", \"cubic\" (with \"bi\" or \"tri\" before, "
      "too), \"triangle\", \"lanczos3\" or \"lanczos5\": received method=\"nearest\"",
      ValueError);
  CHECK_THROWS_WITH_AS(
      ops::scale_and_translate(x, {2, 3}, {1.}, {1., 2.}, {0}, "linear"),
      "[scale_and_translate] translation must have a number for each of spatial_dims, of which "
      "there are 1: received translation=(2,)",
      ValueError);
  CHECK_THROWS_WITH_AS(ops::scale_and_translate(x, {4, 4}, {1.}, {1.}, {0}, "linear"),
                       "[scale_and_translate] output_shape must have the extents of images outside of "
                       "spatial_dims: received images=(2, 3), output_shape=(4, 4)",
                       ValueError);
  CHECK_THROWS_AS(ops::scale_and_translate(x, {2, 3}, {1.}, {1.}, {2}, "linear"), ValueError);
  CHECK_THROWS_AS(ops::scale_and_translate(x, {2}, {1.}, {1.}, {0}, "linear"), ValueError);
  CHECK_THROWS_WITH_AS(ops::elastic_transform(K::zeros({2, 2, 1}), {.sigma = 0}),
                       "[elastic_transform] sigma must be above 0 and at most 1e6: received sigma=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::elastic_transform(x),
                       "[elastic_transform] images must have rank 3 or 4: received images=(2, 3)",
                       ValueError);
}

TEST_CASE("ops: elastic_transform moves all channels alike, by the seed, in both layouts") {
  const Tensor x = K::random_normal({2, 6, 5, 1}), both = K::concatenate({x, x * 2}, -1);
  const auto moved = [](const Tensor& images, const std::string& layout = "channels_last") {
    return ops::elastic_transform(images, {.alpha = 3, .sigma = 1, .seed = 5, .data_format = layout});
  };
  const Tensor once = moved(both);
  CHECK(values(once) == values(moved(both)));
  CHECK(values(once) != values(both));
  CHECK(close(once, K::concatenate({moved(x), moved(x) * 2}, -1)));
  const Tensor first = moved(K::permute_dimensions(both, {0, 3, 1, 2}), "channels_first");
  CHECK(close(K::permute_dimensions(first, {0, 2, 3, 1}), once));
  CHECK(moved(K::ones({4, 4, 3})).shape() == Shape{4, 4, 3});
}

TEST_CASE("ops: map_coordinates takes coordinates that are no numbers, and far ones") {
  const double inf = HUGE_VAL;
  const Tensor x = doubles({1., 2., 3.}), places = doubles({{NAN, inf, -inf, 1e300, -1e300}});
  for (const char* mode : {"nearest", "wrap", "mirror", "reflect"})
    CHECK(ops::map_coordinates(x, places, 0, mode).shape() == Shape{5});
  CHECK(values(ops::map_coordinates(x, places, 0, "constant", 7)) == Values{7, 7, 7, 7, 7});
  CHECK(values(ops::map_coordinates(x, places, 0, "nearest")) == Values{1, 3, 1, 3, 1});
}

namespace {

using ImageFunction = std::function<Tensor(const Tensor&)>;

/// The functions whose results have the dtype of their images, called with images of (1, 4, 6, 3).
const std::map<std::string, ImageFunction>& image_functions() {
  static const Tensor turn = doubles({1., 0.1, 0.5, 0., 1., -0.5, 0., 0.}),
                      corners = doubles({{0., 0.}, {5., 0.}, {0., 3.}, {5., 3.}});
  static const std::map<std::string, ImageFunction> functions{
      {"rgb_to_grayscale", [](const Tensor& x) { return ops::rgb_to_grayscale(x); }},
      {"resize",
       [](const Tensor& x) {
         return ops::resize(x, {3, 7});
       }},
      {"resize bicubic",
       [](const Tensor& x) {
         return ops::resize(x, {8, 3}, {.interpolation = "bicubic"});
       }},
      {"resize nearest",
       [](const Tensor& x) {
         return ops::resize(x, {8, 3}, {.interpolation = "nearest"});
       }},
      {"resize cropped",
       [](const Tensor& x) {
         return ops::resize(x, {5, 5}, {.crop_to_aspect_ratio = true});
       }},
      {"resize padded",
       [](const Tensor& x) {
         return ops::resize(x, {5, 5}, {.pad_to_aspect_ratio = true, .fill_value = 1});
       }},
      {"gaussian_blur", [](const Tensor& x) { return ops::gaussian_blur(x, 3, 1.); }},
      {"sobel_edges", [](const Tensor& x) { return ops::sobel_edges(x); }},
      {"extract_patches", [](const Tensor& x) { return ops::extract_patches(x, 2); }},
      {"extract_patches_3d",
       [](const Tensor& x) {
         return ops::extract_patches_3d(x, {1, 2, 3});
       }},
      {"reconstruct_patches",
       [](const Tensor& x) {
         return ops::reconstruct_patches(x, {1, 3}, {4, 18});
       }},
      {"crop_images",
       [](const Tensor& x) { return ops::crop_images(x, {.top = 1, .left = 1, .bottom = 1, .right = 1}); }},
      {"pad_images",
       [](const Tensor& x) { return ops::pad_images(x, {.top = 1, .left = 1, .bottom = 1, .right = 1}); }},
      {"map_coordinates",
       [](const Tensor& x) {
         return ops::map_coordinates(x, K::ones({4, 5}) * 0.5, 1);
       }},
      {"map_coordinates nearest",
       [](const Tensor& x) {
         return ops::map_coordinates(x, doubles({{0.}, {0.4}, {1.}, {2.}}), 0);
       }},
      {"affine_transform", [](const Tensor& x) { return ops::affine_transform(x, turn); }},
      {"perspective_transform",
       [](const Tensor& x) { return ops::perspective_transform(x, corners, corners); }},
      {"elastic_transform",
       [](const Tensor& x) { return ops::elastic_transform(x, {.alpha = 2, .sigma = 1, .seed = 1}); }},
      {"scale_and_translate",
       [](const Tensor& x) {
         return ops::scale_and_translate(x, {1, 8, 6, 3}, {2.}, {0.5}, {1}, "linear");
       }},
  };
  return functions;
}

}  // namespace

TEST_CASE("ops: images keep their dtype, now and in graphs") {
  for (const auto& [name, f] : image_functions())
    for (const char* dtype :
         {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"}) {
      const Tensor x = K::cast(counted({1, 4, 6, 3}) * (std::string(dtype) == "bool" ? 1. : 1.5), dtype);
      const Tensor now = f(x);
      CHECK_MESSAGE(now.dtype() == dtype, name << " of " << dtype << " is " << now.dtype());
      const Tensor open = K::placeholder({.shape = x.shape(), .dtype = dtype});
      const Tensor promised = f(open);
      CHECK_MESSAGE(promised.dtype() == dtype, name << " of " << dtype << " promises " << promised.dtype());
      CHECK_MESSAGE(promised.shape() == now.shape(), name << " promises " << promised.shape());
      CHECK_MESSAGE(values(K::function({open}, {promised})({x})[0]) == values(now), name << " of " << dtype);
    }
}

TEST_CASE("ops: resize of integers rounds, and stays between the least and the largest pixel") {
  const Tensor x = K::reshape(ints({0, 1, 254, 255}, "uint8"), {1, 2, 2, 1});
  CHECK(values(ops::resize(x, {4, 4})) ==
        Values{0, 0, 1, 1, 64, 64, 64, 64, 190, 191, 191, 192, 254, 254, 255, 255});
  CHECK(values(ops::resize(x, {4, 4}, {.interpolation = "bicubic"})) ==
        Values{0, 0, 0, 0, 53, 53, 53, 54, 201, 202, 202, 202, 255, 255, 255, 255});
  const Tensor far = K::reshape(ints({(1 << 30) + 1, 7}), {1, 2, 1});
  CHECK(values(ops::resize(far, {1, 4}, {.interpolation = "nearest"})) ==
        Values{(1 << 30) + 1, (1 << 30) + 1, 7, 7});
  const Tensor one = K::reshape(doubles({1., HUGE_VAL, 3.}), {1, 3, 1});
  CHECK(values(ops::resize(one, {1, 3}, {.interpolation = "nearest"})) == Values{1, HUGE_VAL, 3});
  CHECK_THROWS_WITH_AS(ops::resize(x, 4, {.fill_mode = "reflect"}),
                       "[resize] fill_mode must be \"constant\": received fill_mode=\"reflect\"", ValueError);
}

TEST_CASE("ops: integers are rounded where Keras rounds, and cut off where Keras cuts off") {
  const Tensor x = ints({0, 1, 4, -3}), places = doubles({{0.5, 0.75, 1.5, 2.5, 2.9}});
  CHECK(values(ops::map_coordinates(x, places, 1)) == Values{1, 1, 3, 1, -2});
  CHECK(values(ops::map_coordinates(ints({-1, -2}), doubles({{0.5}}), 1)) == Values{-2});
  CHECK(values(ops::map_coordinates(x, doubles({{-1., 9.}}), 0, "constant", 2.9)) == Values{2, 2});
  CHECK(values(ops::map_coordinates(ints({1 << 30, (1 << 30) + 3}), doubles({{0.4, 1.}}), 1)) ==
        Values{(1 << 30) + 1, (1 << 30) + 3});
  const Tensor row = K::reshape(ints({0, 1, 4, 9}), {1, 4, 1}),
               half = doubles({1., 0., 0.5, 0., 1., 0., 0., 0.});
  CHECK(values(ops::affine_transform(row, half, {.fill_mode = "nearest"})) == Values{0, 2, 6, 9});
  CHECK(values(ops::rgb_to_grayscale(K::reshape(ints({255, 255, 254, 1, 1, 1}, "uint8"), {1, 2, 3}))) ==
        Values{254, 0});
  CHECK(values(ops::gaussian_blur(K::full({5, 5, 1}, 7, "uint8"), 3, 1.))[12] == 7);
  CHECK(values(ops::sobel_edges(K::reshape(ints({0, 9, 0, 0, 9, 0, 0, 9, 0}, "int8"), {1, 3, 3, 1}))) ==
        values(
            K::cast(ops::sobel_edges(K::reshape(doubles({0., 9., 0., 0., 9., 0., 0., 9., 0.}), {1, 3, 3, 1})),
                    "int8")));
  const Tensor gray = K::reshape(ints({3, 5}, "uint8"), {1, 2, 1});
  CHECK(values(ops::rgb_to_grayscale(gray)) == Values{3, 5});
  CHECK_THROWS_WITH_AS(ops::rgb_to_grayscale(K::zeros({2, 2, 4})),
                       "[rgb_to_grayscale] images must have 1 or 3 channels: received 4", ValueError);
  for (const auto f : {ops::rgb_to_hsv, ops::hsv_to_rgb})
    CHECK_THROWS_AS(f(K::zeros({2, 2, 3}, {.dtype = "uint8"}), {}), TypeError);
  CHECK_THROWS_WITH_AS(ops::rgb_to_hsv(K::zeros({2, 2, 3}, {.dtype = "uint8"})),
                       "[rgb_to_hsv] images must be floating: received images=uint8", TypeError);
}

TEST_CASE("ops: half precision numbers the pixels of large images") {
  const Tensor x = K::cast(counted({1, 5000, 1}) * (1 / 8192.), "float16"),
               still = doubles({1., 0., 0., 0., 1., 0., 0., 0.});
  CHECK(values(ops::affine_transform(x, still)) == values(x));
}

TEST_CASE("ops: reconstruct_patches gives the images back, in two and three dimensions and both layouts") {
  const Tensor image = counted({2, 5, 7, 3}, "int32"), volume = counted({1, 4, 6, 3, 2}, "int16");
  for (const char* layout : {"channels_last", "channels_first"}) {
    const bool first = std::string(layout) == "channels_first";
    const Tensor x = first ? K::permute_dimensions(image, {0, 3, 1, 2}) : image,
                 v = first ? K::permute_dimensions(volume, {0, 4, 1, 2, 3}) : volume;
    const Tensor patches = ops::extract_patches(x, {2, 3}, {.padding = "same", .data_format = layout});
    CHECK(values(ops::reconstruct_patches(
              patches, {2, 3}, {5, 7},
              {.strides = ops::ImageSize{2, 3}, .padding = "same", .data_format = layout})) == values(x));
    const Tensor cubes = ops::extract_patches(v, {2, 2, 3}, {.data_format = layout});
    const Tensor back = ops::reconstruct_patches(cubes, {2, 2, 3}, {4, 6, 3}, {.data_format = layout});
    CHECK(back.dtype() == "int16");
    CHECK(values(back) == values(v));
    CHECK(values(ops::reconstruct_patches(cubes[0], {2, 2, 3}, {4, 6, 3}, {.data_format = layout})) ==
          values(v));
  }
  const Tensor open =
      K::placeholder({.shape = Shape{ktape::None, ktape::None, ktape::None, 18}, .dtype = "int32"});
  const Tensor promised = ops::reconstruct_patches(open, {2, 3}, {5, 7}, {.padding = "same"});
  CHECK(promised.shape() == Shape{ktape::None, 5, 7, 3});
  const Tensor patches = ops::extract_patches(image, {2, 3}, {.padding = "same"});
  CHECK(values(K::function({open}, {promised})({patches})[0]) == values(image));
}

TEST_CASE("ops: reconstruct_patches refuses sizes that do not match") {
  const Tensor patches = K::zeros({1, 4, 4, 75}), cubes = K::zeros({1, 4, 4, 4, 375});
  CHECK_THROWS_WITH_AS(
      ops::reconstruct_patches(patches, 5, {19, 20}),
      "[reconstruct_patches] the output_size of axis 0 must be in [20, 20] for 4 patches of 5, with "
      "the padding \"valid\": received 19",
      ValueError);
  CHECK_THROWS_WITH_AS(
      ops::reconstruct_patches(cubes, {5, 5, 5}, {20, 20, 15}, {.padding = "same"}),
      "[reconstruct_patches] the output_size of axis 2 must be in [16, 20] for 4 patches of 5, with "
      "the padding \"same\": received 15",
      ValueError);
  CHECK_THROWS_WITH_AS(
      ops::reconstruct_patches(K::zeros({1, 4, 4, 80}), 5, 20),
      "[reconstruct_patches] channels must be a multiple of the 25 positions of a patch: received 80",
      ValueError);
  CHECK_THROWS_WITH_AS(
      ops::reconstruct_patches(patches, 5, 20, {.strides = 2}),
      "[reconstruct_patches] strides must be the size of a patch: received size=(5, 5), strides=(2, 2)",
      ValueError);
  CHECK_THROWS_WITH_AS(
      ops::reconstruct_patches(patches, 5, 20, {.padding = "reflect"}),
      "[reconstruct_patches] padding must be \"valid\" or \"same\": received padding=\"reflect\"",
      ValueError);
  CHECK_THROWS_WITH_AS(ops::reconstruct_patches(K::zeros({75, 4}), 5, 20),
                       "[reconstruct_patches] patches must have rank 3 or 4: received patches=(75, 4)",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::reconstruct_patches(patches, 5, {20, 20, 20}),
                       "[reconstruct_patches] output_size must have 2 numbers: received 3", ValueError);
  const Tensor open = K::placeholder({.shape = Shape{ktape::None, 4, 4, 75}});
  CHECK_THROWS_AS(ops::reconstruct_patches(open, 5, {19, 20}), ValueError);
}

TEST_CASE("ops: layouts of images follow image_data_format() when not given") {
  const Tensor x = normal({2, 5, 6, 3}), first = K::permute_dimensions(x, {0, 3, 1, 2});
  K::set_image_data_format("channels_first");
  const Tensor edges = ops::sobel_edges(first), gray = ops::rgb_to_grayscale(first),
               small = ops::resize(first, {2, 3});
  const Tensor likeness = ops::ssim(first, first * 0.5, 1, {.filter_size = 3});
  K::set_image_data_format("channels_last");
  CHECK(edges.shape() == Shape{2, 3, 5, 6, 2});
  CHECK(close(K::permute_dimensions(edges, {0, 2, 3, 1, 4}), ops::sobel_edges(x)));
  CHECK(gray.shape() == Shape{2, 1, 5, 6});
  CHECK(small.shape() == Shape{2, 3, 2, 3});
  CHECK(close(likeness, ops::ssim(x, x * 0.5, 1, {.filter_size = 3})));
  CHECK_THROWS_WITH_AS(ops::sobel_edges(x[0]),
                       "[sobel_edges] images must be a batch, of rank 4: received images=(5, 6, 3)",
                       ValueError);
}

TEST_CASE("ops: ssim of single images is a number") {
  const Tensor x = normal({8, 8, 2}), y = normal({8, 8, 2}, 2);
  const Tensor one = ops::ssim(x, y, 1, {.filter_size = 5});
  CHECK(one.shape() == Shape{});
  CHECK(close(one, ops::ssim(K::expand_dims(x, 0), K::expand_dims(y, 0), 1, {.filter_size = 5})[0]));
  CHECK(ops::ssim(ints({{{1}}}), ints({{{1}}}), 255, {.filter_size = 1}).dtype() == K::floatx());
  const Tensor open = K::placeholder({.shape = Shape{ktape::None, 8, 8, 2}});
  CHECK(ops::ssim(open, open, 1, {.filter_size = 3}).shape() == Shape{ktape::None});
  CHECK_THROWS_WITH_AS(
      ops::ssim(x, K::expand_dims(y, 0), 1, {.filter_size = 5}),
      "[ssim] both images must have one shape, of at least the filter size: received image1=(8, 8, "
      "2), image2=(1, 8, 8, 2)",
      ValueError);
}

TEST_CASE("ops: elastic_transform scales displacements by an array") {
  const Tensor x = normal({2, 6, 5, 2});
  const auto moved = [&](const ktape::ArrayLike& alpha, const ktape::ArrayLike& sigma = 1.) {
    return ops::elastic_transform(x, {.alpha = alpha, .sigma = sigma, .seed = 5});
  };
  CHECK(close(moved(doubles(3.)), moved(3)));
  CHECK(close(moved(3, K::constant({1.})), moved(3)));
  const Tensor mixed = moved(doubles({{{3.}}, {{0.}}}));
  CHECK(close(mixed[0], moved(3)[0]));
  CHECK(close(mixed[1], x[1]));
  CHECK(close(moved({{{3.}}, {{0.}}}), mixed));
  CHECK_THROWS_WITH_AS(
      moved(doubles({1., 2.})),
      "[elastic_transform] alpha must broadcast to (batch, height, width) of images=(2, 6, 5, 2): "
      "received alpha=(2,)",
      ValueError);
  CHECK_THROWS_WITH_AS(moved(1, doubles({1., 2.})),
                       "[elastic_transform] sigma must be one number: received sigma=(2,)", ValueError);
  const Tensor open = K::placeholder({.shape = Shape{2, 1, 1}, .dtype = "float64"});
  const Tensor promised = moved(open);
  CHECK(close(K::function({open}, {promised})({doubles({{{3.}}, {{0.}}})})[0], mixed));
}
