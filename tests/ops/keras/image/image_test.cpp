#include <doctest/doctest.h>
#include <ktape/ops/keras/image/image.hpp>
#include <ktape/ops/operators.hpp>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

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
          return ops::reconstruct_patches(in[0], 2, {3, 4});
        },
        {normal({1, 2, 2, 4})});
  check("crop_images",
        [](In in) {
          return ops::crop_images(in[0], {.top = 1, .left = 0, .target_height = 2, .target_width = 3});
        },
        {x});
  check("pad_images",
        [](In in) { return ops::pad_images(in[0], {.top = 1, .left = 0, .bottom = 1, .right = 2}); }, {x});
  check("ssim", [](In in) { return ops::ssim(in[0], in[1], 1, {.filter_size = 3}); },
        {x, normal({1, 4, 5, 2}, 2)});
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
