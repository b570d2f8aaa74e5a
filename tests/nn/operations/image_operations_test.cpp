#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("functions of images of keras.ops are made of operations") {
  const Tensor x = K::random_normal({1, 4, 4, 3});
  const auto same = [&](const char* name, Arguments arguments, const Tensor& wanted) {
    arguments.insert(arguments.begin(), {"images", of(x)});
    check_same(run(name, arguments), wanted);
  };
  namespace ops = ktape::ops;
  same("RGBToGrayscale", {}, ops::rgb_to_grayscale(x));
  same("Resize", {{"size", value("[2, 3]")}, {"antialias", value("true")}},
       ops::resize(x, {2, 3}, {.antialias = true}));
  same("GaussianBlur", {{"kernel_size", value("[3, 3]")}, {"sigma", value("[1.0, 2.0]")}},
       ops::gaussian_blur(x, {3, 3}, {1., 2.}));
  same("ExtractPatches", {{"size", value("[2, 2]")}}, ops::extract_patches(x, 2));
  same("CropImages",
       {{"top_cropping", value("1")},
        {"left_cropping", value("0")},
        {"target_height", value("2")},
        {"target_width", value("3")}},
       ops::crop_images(x, {.top = 1, .left = 0, .target_height = 2, .target_width = 3}));
  same("ElasticTransform", {{"alpha", value("2.0")}, {"sigma", value("1.0")}, {"seed", value("3")}},
       ops::elastic_transform(x, {.alpha = 2, .sigma = 1, .seed = 3}));
  same("ScaleAndTranslate",
       {{"output_shape", value("[1, 8, 4, 3]")},
        {"scale", of(K::constant({2.}))},
        {"translation", of(K::constant({0.}))},
        {"spatial_dims", value("[1]")},
        {"method", value("\"linear\"")}},
       ops::scale_and_translate(x, {1, 8, 4, 3}, {2.}, {0.}, {1}, "linear"));
}

TEST_CASE("operations of images refuse arguments that the functions do not have") {
  const Tensor x = K::zeros({1, 4, 4, 3});
  CHECK_THROWS_WITH_AS(
      run("Resize", {{"images", of(x)}, {"size", value("2")}, {"fill_mode", value("\"nearest\"")}}),
      "[resize] fill_mode must be \"constant\": received fill_mode=\"nearest\"", ValueError);
}
