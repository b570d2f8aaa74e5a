#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: a grid samples an image") {
  const ktape::Tensor x = counted({1, 1, 2, 2}, "float32"),
                      grid = reals({{{{-1, -1}, {1, 1}}, {{0, 0}, {5, 0}}}});
  CHECK(values(run_operator("GridSample", {x, grid}, onnx_integer("align_corners", 1))) ==
        Values{0, 3, 1.5, 0});
  CHECK(values(run_operator("GridSample", {x, grid},
                            onnx_integer("align_corners", 1) + onnx_text("padding_mode", "border"))) ==
        Values{0, 3, 1.5, 2});
  CHECK(values(run_operator("GridSample", {x, reals({{{{0.9, -0.9}}}})}, onnx_text("mode", "nearest"))) ==
        Values{1});
  CHECK_THROWS_WITH_AS(run_operator("GridSample", {x, K::ones({2, 1, 1, 2})}),
                       Contains("the grid must fit x"), ValueError);
  CHECK_THROWS_WITH_AS(run_operator("GridSample", {x, grid}, onnx_text("mode", "best")),
                       Contains("mode must be nearest, linear or cubic: received mode=best"), ValueError);
}

TEST_CASE("onnx: regions of images are pooled") {
  const ktape::Tensor x = K::ones({1, 2, 4, 4}), roi = reals({{0, 0, 3, 3}});
  CHECK(values(run_operator("RoiAlign", {x, roi, longs({0})})) == Values{1, 1});
  CHECK_THROWS_WITH_AS(run_operator("RoiAlign", {x, roi, longs({1})}),
                       Contains("batch indices must be in [0, 1)"), ValueError);
  CHECK_THROWS_WITH_AS(run_operator("RoiAlign", {x, reals({{0, 0, 1e30, 1e30}}), longs({0})}),
                       Contains("of the size of images"), ValueError);
}
