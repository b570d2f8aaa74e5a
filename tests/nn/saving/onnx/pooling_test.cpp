#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: pooling") {
  const ktape::Tensor x = counted({1, 1, 3, 3}, "float32");
  const std::string kernel = onnx_integers("kernel_shape", {2, 2});
  CHECK(values(run_operator("MaxPool", {x}, kernel)) == Values{4, 5, 7, 8});
  CHECK(values(run_operator("MaxPool", {x}, kernel + onnx_integers("dilations", {2, 2}))) == Values{8});
  CHECK(values(run_operator("MaxPool", {x},
                            kernel + onnx_integers("strides", {2, 2}) + onnx_integer("ceil_mode", 1))) ==
        Values{4, 5, 7, 8});
  CHECK(values(run_operator(
            "AveragePool", {x},
            kernel + onnx_integers("pads", {1, 1, 0, 0}) + onnx_integers("strides", {3, 3}))) == Values{0});
  CHECK(values(run_operator("AveragePool", {x + 1},
                            kernel + onnx_integers("pads", {1, 1, 0, 0}) + onnx_integers("strides", {3, 3}) +
                                onnx_integer("count_include_pad", 1))) == Values{0.25});
  CHECK(values(run_operator("GlobalAveragePool", {x})) == Values{4});
  CHECK_THROWS_WITH_AS(run_operator("MaxPool", {x}), Contains("kernel_shape must have a number from 1 on"),
                       ValueError);
}
