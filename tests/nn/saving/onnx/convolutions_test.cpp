#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: convolutions") {
  const ktape::Tensor x = counted({1, 2, 3, 3}, "float32"), ones = K::ones({2, 1, 2, 2});
  CHECK(values(run_operator("Conv", {x, ones}, onnx_integer("group", 2))) ==
        Values{8, 12, 20, 24, 44, 48, 56, 60});
  CHECK(run_operator("Conv", {x, K::ones({5, 2, 2, 2})},
                     onnx_text("auto_pad", "SAME_UPPER") + onnx_integers("strides", {2, 2}))
            .shape() == ktape::Shape{1, 5, 2, 2});
  CHECK(values(run_operator("ConvTranspose", {K::ones({1, 1, 2}), reals({{{1, 2}}})},
                            onnx_integers("strides", {2}) + onnx_integers("output_padding", {1}))) ==
        Values{1, 2, 1, 2, 0});
  CHECK(values(run_operator("ConvTranspose", {K::ones({1, 1, 2}), reals({{{1, 2}}})},
                            onnx_integers("dilations", {2}))) == Values{1, 1, 2, 2});
  // Each group has another kernel: the first channel times 1, the second times 10.
  CHECK(values(run_operator("ConvTranspose", {counted({1, 2, 2}, "float32"), reals({{{1.f}}, {{10.f}}})},
                            onnx_integer("group", 2))) == Values{0, 1, 20, 30});
  CHECK_THROWS_WITH_AS(run_operator("Conv", {x, ones}), Contains("the channels must fit the groups"),
                       ValueError);
  CHECK_THROWS_WITH_AS(run_operator("Conv", {x, K::ones({1, 2, 4, 4})}), Contains("a window must fit into x"),
                       ValueError);
}
