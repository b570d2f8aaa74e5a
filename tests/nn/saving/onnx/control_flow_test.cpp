#include "run_operator.hpp"

namespace K = ktape::backend;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("onnx: a loop adds and collects") {
  const std::string state = "s", body = bytes_field(1, bytes_field(1, "i") + bytes_field(1, "i") +
                                                           bytes_field(2, "unused") + bytes_field(4, "Add")) +
                                        onnx_node("Add", {"s", "x2"}, "t") +
                                        onnx_node("Identity", {"c"}, "d") + onnx_input("i", 7) +
                                        onnx_input("c", 7) + onnx_input("s") + onnx_output("d") +
                                        onnx_output("t");
  const std::string graph =
      bytes_field(5, bytes_field(1, "body") + bytes_field(6, body) + number_field(20, 5));
  CHECK(values(run_operator("Loop", {longs(3), longs(1), reals({1, 2})}, graph)) ==
        Values{4, 8});  // x2 is outside of the body
  CHECK(values(run_operator("Loop", {longs(3), longs(0), reals({1, 2})}, graph)) == Values{1, 2});
  CHECK_THROWS_WITH_AS(run_operator("Loop", {longs(3), longs(1)}, graph), Contains("x2"), ktape::Error);
}
