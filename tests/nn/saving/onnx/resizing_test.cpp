#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: resizing") {
  const ktape::Tensor x = reals({1, 2, 4});
  CHECK(values(run_operator("Upsample", {x, reals({2})}, "", 9)) == Values{1, 1, 2, 2, 4, 4});
  CHECK(values(run_operator("Resize", {x, reals(ktape::ArrayLike(std::vector<float>())), reals({2})},
                            onnx_text("mode", "linear"))) == Values{1, 1.25, 1.75, 2.5, 3.5, 4});
  CHECK(values(run_operator("Resize", {x, reals(std::vector<float>()), reals({2})},
                            onnx_text("mode", "linear") +
                                onnx_text("coordinate_transformation_mode", "align_corners")))[5] == 4);
  CHECK_THROWS_WITH_AS(run_operator("Resize", {x, reals(std::vector<float>()), reals({0})}),
                       Contains("a scale must be positive: received 0"), ValueError);
  CHECK_THROWS_WITH_AS(
      run_operator("Resize", {x, reals(std::vector<float>()), reals({2})}, onnx_text("mode", "fuzzy")),
      Contains("received mode=fuzzy"), ValueError);
}
