#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: the best boxes that do not overlap") {
  const ktape::Tensor boxes = reals({{{0, 0, 1, 1}, {0, 0.1, 1, 1.1}, {0, 5, 1, 6}}}),
                      scores = reals({{{0.8, 0.9, 0.7}}});
  CHECK(values(run_operator("NonMaxSuppression", {boxes, scores, longs(5), reals(0.5)})) ==
        Values{0, 0, 1, 0, 0, 2});
  CHECK(values(run_operator("NonMaxSuppression", {boxes, scores, longs(1), reals(0.5)})) == Values{0, 0, 1});
  CHECK(values(run_operator("NonMaxSuppression", {boxes, scores, longs(5), reals(0.5), reals(0.75)})) ==
        Values{0, 0, 1});
  CHECK(run_operator("NonMaxSuppression", {boxes, scores}).shape() == ktape::Shape{0, 3});
  CHECK_THROWS_WITH_AS(run_operator("NonMaxSuppression", {boxes, K::ones({1, 1, 2})}),
                       Contains("boxes must be"), ValueError);
}

TEST_CASE("onnx: maxima return to their places") {
  const std::string pool = onnx_integers("kernel_shape", {2, 2}) + onnx_integers("strides", {2, 2});
  const ktape::Tensor x = reals({{{{5}}}});
  CHECK(values(run_operator("MaxUnpool", {x, longs({{{{3}}}})}, pool)) == Values{0, 0, 0, 5});
  CHECK(values(run_operator("MaxUnpool", {x, longs({{{{2}}}}), longs({1, 1, 3, 3})}, pool)) ==
        Values{0, 0, 0, 5, 0, 0, 0, 0, 0});
  CHECK_THROWS_WITH_AS(run_operator("MaxUnpool", {x, longs({{{{4}}}})}, pool),
                       Contains("an index must be in [0, 4)"), ValueError);
}

TEST_CASE("onnx: windows") {
  CHECK(values(run_operator("HannWindow", {longs(4)})) == Values{0, 0.5, 1, 0.5});
  CHECK(run_operator("BlackmanWindow", {longs(0)}).shape() == ktape::Shape{0});
  CHECK_THROWS_WITH_AS(run_operator("HannWindow", {longs(-1)}), Contains("the size must be in"), ValueError);
}
