#include <ktape/ops/images/images.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/settings/config.hpp>

#include "../catalogue.hpp"
#include "../check.hpp"

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("nearest repeats pixels in either data format") {
  const Tensor x = counted({1, 1, 2, 1});
  CHECK(values(K::resize_images(x, 2, 2, "channels_last")) == Values{0, 0, 1, 1, 0, 0, 1, 1});
  CHECK(K::resize_images(counted({1, 2, 1, 3}), 2, 3, "channels_first").shape() == Shape{1, 2, 2, 9});
  CHECK(K::resize_images(K::zeros({1, 2, 2, 1}, {.dtype = "uint8"}), 1, 2, "channels_last").shape() ==
        Shape{1, 2, 4, 1});
  CHECK(K::resize_images(K::zeros({0, 2, 2, 1}), 2, 2, "channels_last").shape() == Shape{0, 4, 4, 1});
}

TEST_CASE("bilinear interpolates between pixel centers") {
  const Tensor x = K::constant({0, 4}, {.dtype = "float64", .shape = Shape{1, 1, 2, 1}});
  CHECK(values(K::resize_images(x, 1, 2, "channels_last", {.interpolation = "bilinear"})) ==
        Values{0, 1, 3, 4});
  CHECK(values(K::resize_images(x, 2, 4, "channels_last", {.interpolation = "bilinear"}))[3] == 1.5);
  const Tensor pixel = K::constant({7}, {.dtype = "float16", .shape = Shape{1, 1, 1, 1}});
  CHECK(values(K::resize_images(pixel, 2, 2, "channels_first", {.interpolation = "bilinear"})) ==
        Values{7, 7, 7, 7});
  const Tensor whole = ints({{{{0}, {5}}}}, "uint8");
  const auto wider = K::resize_images(whole, 1, 2, "channels_last", {.interpolation = "bilinear"});
  CHECK(wider.dtype() == "float32");
  CHECK(values(wider) == Values{0, 1.25, 3.75, 5});
  CHECK(K::resize_images(whole, 1, 1, "channels_last", {.interpolation = "bilinear"}).dtype() == "uint8");
  CHECK_THROWS_AS(
      K::resize_images(K::cast(whole, "bool"), 2, 2, "channels_last", {.interpolation = "bilinear"}),
      TypeError);
}

TEST_CASE("resize_volumes repeats voxels") {
  const Tensor x = counted({1, 2, 1, 1, 1});
  CHECK(values(K::resize_volumes(x, 2, 1, 2, "channels_last")) == Values{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(K::resize_volumes(counted({1, 3, 2, 1, 2}), 2, 3, 1, "channels_first").shape() ==
        Shape{1, 3, 4, 3, 2});
  CHECK_THROWS_AS(K::resize_volumes(x, 0, 1, 1, "channels_last"), ValueError);
  CHECK_THROWS_AS(K::resize_volumes(x, 1, 1, 1, "NDHWC"), ValueError);
}

TEST_CASE("resizing works for empty images and for any factor") {
  const Tensor none = K::zeros({0, 2, 2, 1});
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(K::resize_images(none, huge, 1, "channels_last", {.interpolation = "bilinear"}).shape() ==
        Shape{0, huge * 2, 2, 1});
}

TEST_CASE("resizing refuses unknown interpolations and bad sizes") {
  const Tensor x = K::ones({1, 2, 2, 1});
  CHECK_THROWS_WITH_AS(K::resize_images(x, 2, 2, "NHWC"),
                       "[resize_images] data_format must be \"channels_last\" or \"channels_first\": "
                       "received data_format=\"NHWC\"",
                       ValueError);
  CHECK_THROWS_WITH_AS(
      K::resize_images(x, 2, 2, "channels_last", {.interpolation = "cubic"}),
      "[resize_images] interpolation must be \"nearest\" or \"bilinear\": received interpolation=\"cubic\"",
      ValueError);
  CHECK_THROWS_WITH_AS(K::resize_images(K::ones({2, 2}), 2, 2, "channels_last"),
                       "[resize_images] x must have rank 4: received x=(2, 2)", ValueError);
  CHECK_THROWS_AS(K::resize_images(x, 0, 2, "channels_last"), ValueError);
  CHECK_THROWS_AS(K::resize_images(x, std::int64_t{1} << 62, 4, "channels_last"), ValueError);
}

TEST_CASE("resizing has gradients") {
  const Tensor x = counted({1, 2, 3, 2});
  check_gradients([](In in) { return K::resize_images(in[0] * in[0], 2, 3, "channels_last"); }, {x});
  check_gradients(
      [](In in) {
        return K::resize_images(in[0] * in[0], 3, 2, "channels_last", {.interpolation = "bilinear"});
      },
      {x});
  check_gradients(
      [](In in) {
        return K::resize_images(in[0] * in[0], 2, 1, "channels_first", {.interpolation = "bilinear"});
      },
      {x});
  check_gradients([](In in) { return K::resize_volumes(in[0] * in[0], 1, 2, 2, "channels_last"); },
                  {counted({1, 2, 2, 1, 1})});
}

TEST_CASE("padding surrounds the spatial axes with zeros") {
  const Tensor x = K::ones({1, 1, 1});
  CHECK(values(K::temporal_padding(x)) == Values{0, 1, 0});
  CHECK(values(K::temporal_padding(x, {.padding = {0, 2}})) == Values{1, 0, 0});
  CHECK(values(K::temporal_padding(x, {.padding = 2})) == Values{0, 0, 1, 0, 0});
  CHECK(K::spatial_2d_padding(K::ones({2, 3, 4, 2})).shape() == Shape{2, 5, 6, 2});
  CHECK(values(K::spatial_2d_padding(K::ones({1, 1, 1, 1}), {.padding = {{1, 0}, {0, 1}}})) ==
        Values{0, 0, 1, 0});
  CHECK(K::spatial_2d_padding(K::ones({2, 3, 4, 2}),
                              {.padding = {{1, 2}, {0, 3}}, .data_format = "channels_first"})
            .shape() == Shape{2, 3, 7, 5});
  CHECK(K::spatial_3d_padding(K::ones({1, 2, 3, 2, 2})).shape() == Shape{1, 4, 5, 4, 2});
  CHECK(K::spatial_3d_padding(K::ones({1, 2, 2, 3, 2}),
                              {.padding = {{1, 0}, {0, 2}, {2, 1}}, .data_format = "channels_first"})
            .shape() == Shape{1, 2, 3, 5, 5});
  K::set_image_data_format("channels_first");
  CHECK(K::spatial_2d_padding(K::ones({1, 1, 1, 1})).shape() == Shape{1, 1, 3, 3});
  K::set_image_data_format("channels_last");
}

TEST_CASE("padding refuses another rank, format or a negative width") {
  CHECK_THROWS_WITH_AS(K::temporal_padding(K::ones({2, 2})),
                       "[temporal_padding] x must have rank 3: received x=(2, 2)", ValueError);
  CHECK_THROWS_WITH_AS(K::temporal_padding(K::ones({1, 2, 2}), {.padding = {-1, 0}}),
                       "[temporal_padding] padding must be at least 0: received (-1, 0)", ValueError);
  CHECK_THROWS_AS(K::spatial_2d_padding(K::ones({1, 2, 2, 1}), {.data_format = "channels_middle"}),
                  ValueError);
  CHECK_THROWS_AS(K::spatial_2d_padding(K::ones({1, 2, 2})), ValueError);
  for (const std::int64_t width : {std::int64_t{1} << 31, std::numeric_limits<std::int64_t>::max()})
    CHECK_THROWS_WITH_AS(K::spatial_2d_padding(K::ones({1, 2, 2, 1}), {.padding = width}),
                         doctest::Contains("[spatial_2d_padding]"), ValueError);
  CHECK_THROWS_AS(K::spatial_3d_padding(K::ones({1, 2, 2, 1})), ValueError);
}

TEST_CASE("padding has gradients") {
  check_gradients([](In in) { return K::temporal_padding(in[0] * in[0]); }, {counted({2, 2, 2})});
  check_gradients(
      [](In in) {
        return K::spatial_2d_padding(in[0] * in[0], {.padding = {{0, 1}, {2, 0}}});
      },
      {counted({1, 2, 2, 2})});
  check_gradients([](In in) { return K::spatial_3d_padding(in[0] * in[0]); }, {counted({1, 1, 2, 1, 2})});
}

TEST_CASE("paddings are one number, one for each axis, or a pair for each") {
  const Tensor x = K::ones({1, 2, 2, 1});
  CHECK(K::spatial_2d_padding(x, {.padding = 2}).shape() == Shape{1, 6, 6, 1});
  CHECK(K::spatial_2d_padding(x, {.padding = {1, 2}}).shape() == Shape{1, 4, 6, 1});
  CHECK(K::spatial_2d_padding(x, {.padding = {{1, 2}, {0, 1}}}).shape() == Shape{1, 5, 3, 1});
  CHECK(K::spatial_3d_padding(K::ones({1, 1, 1, 1, 1}), {.padding = {1, 2, 3}}).shape() ==
        Shape{1, 3, 5, 7, 1});
  CHECK(K::pad(K::ones({2, 2}), {1, {0, 2}}).shape() == Shape{4, 4});
  CHECK_THROWS_WITH_AS(
      K::spatial_2d_padding(x, {.padding = {1, 1, 1}}),
      "[spatial_2d_padding] padding must be one for all 2 spatial axes or one for each: received 3",
      ValueError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"resize_images",
       [](In in) { return K::resize_images(in[0], 2, 3, "channels_last", {.interpolation = "bilinear"}); },
       {normal({1, 2, 2, 1})}},
      {"resize_volumes", [](In in) { return K::resize_volumes(in[0], 2, 1, 2, "channels_first"); }, {normal({1, 1, 2, 2, 1})}},
      {"temporal_padding", [](In in) { return K::temporal_padding(in[0]); }, {normal({1, 2, 2})}},
      {"spatial_2d_padding", [](In in) { return K::spatial_2d_padding(in[0]); }, {normal({1, 2, 2, 1})}},
      {"spatial_3d_padding", [](In in) { return K::spatial_3d_padding(in[0]); }, {normal({1, 1, 2, 1, 1})}},
  };
});
// clang-format on

}  // namespace
