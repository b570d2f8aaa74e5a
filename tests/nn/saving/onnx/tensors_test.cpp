#include <ktape/ktape.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"
#include "onnx_bytes.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError;

TEST_CASE("onnx::load: hostile files") {
  const Files files;
  const auto check_error = [&](const std::string& graph, const char* reason) {
    CAPTURE(reason);
    const std::string path = files.write("m.onnx", onnx_file(graph + onnx_input("x") + onnx_output("y")));
    CHECK_THROWS_WITH_AS(nn::onnx::load(path), Contains(reason), IOError);
    CHECK_THROWS_WITH_AS(nn::onnx::load(path), Contains("m.onnx"), IOError);
  };
  const std::string relu = onnx_node("Relu", {"x"}, "y");
  check_error(onnx_node("Relu", {"y"}, "h") + onnx_node("Relu", {"h"}, "y"),
              "nothing makes the tensor 'y' before Relu uses it");
  check_error(onnx_node("Relu", {"y"}, "y"), "nothing makes the tensor 'y'");
  check_error(relu + relu, "'y' is made twice");
  check_error("", "nothing makes the tensor 'y' before the graph uses it");
  check_error(relu + bytes_field(5, onnx_tensor("w", {std::int64_t{1} << 62, 1 << 20}, "")),
              "has too many elements");
  check_error(relu + bytes_field(5, onnx_tensor("w", {std::int64_t{1} << 40}, "")),
              "has 0 elements, and the shape");
  check_error(relu + bytes_field(5, onnx_tensor("w", {-1}, "")), "has the extent -1");
  check_error(relu + bytes_field(5, onnx_tensor("w", {1, 1, 1, 1, 1, 1, 1, 1, 1}, "")), "has 9 axes");
  check_error(relu + bytes_field(5, onnx_tensor("w", {2}, bytes_field(9, "abc"))), "has 3 bytes");
  check_error(relu + bytes_field(5, number_field(2, 8) + bytes_field(8, "w")), "has the type string");
  const auto place = [](const std::string& location, const std::string& more = "") {
    return bytes_field(5, onnx_tensor("w", {2},
                                      bytes_field(13, bytes_field(1, "location") + bytes_field(2, location)) +
                                          more + number_field(14, 1)));
  };
  for (const char* outside : {"../w.bin", "/etc/passwd", "a/../../w.bin", ""})
    check_error(relu + place(outside), "must be in the folder of the file");
  files.write("w.bin", "1234");
  check_error(relu + place("w.bin"), "must have 8 bytes");
  check_error(relu + place("w.bin", bytes_field(13, bytes_field(1, "offset") + bytes_field(2, "-4"))),
              "the offset of external data is '-4'");
  std::string nested = "x";
  for (int i = 0; i < 200; ++i) nested = bytes_field(1, bytes_field(5, bytes_field(6, nested)));
  check_error(nested, "nested more deeply than 100");
  CHECK_THROWS_WITH_AS(nn::onnx::load(files.write("m.onnx", "\x3a\xff\xff\xff\xff\x0f")),
                       Contains("field 7 is cut off"), IOError);
  CHECK_THROWS_WITH_AS(nn::onnx::load(files.write("m.onnx", std::string(20, '\xff'))), Contains("more than"),
                       IOError);
  CHECK_THROWS_WITH_AS(nn::onnx::load(files.folder() + "/none.onnx"), Contains("none.onnx"), IOError);
}

TEST_CASE("onnx::load: weights in another file of the folder") {
  const Files files;
  files.write("data/w.bin", "1234" + onnx_floats({3, 4}));
  const auto entry = [](const char* key, const char* value) {
    return bytes_field(13, bytes_field(1, key) + bytes_field(2, value));
  };
  const nn::Model model = nn::onnx::load(files.write(
      "m.onnx", onnx_file(onnx_node("Add", {"x", "w"}, "y") +
                          bytes_field(5, onnx_tensor("w", {2},
                                                     entry("location", "data/w.bin") + entry("offset", "4") +
                                                         entry("length", "8") + number_field(14, 1))) +
                          onnx_input("x") + onnx_output("y"))));
  CHECK(values(model(K::constant({1, 1}))) == Values{4, 5});
}

TEST_CASE("onnx::load: external data behind a link out of the folder are refused") {
  const Files files, elsewhere;
  std::filesystem::create_symlink(elsewhere.write("secret.bin", onnx_floats({3, 4})),
                                  files.folder() + "/w.bin");
  const std::string weight = onnx_tensor(
      "w", {2}, bytes_field(13, bytes_field(1, "location") + bytes_field(2, "w.bin")) + number_field(14, 1));
  const std::string path =
      files.write("m.onnx", onnx_file(onnx_node("Add", {"x", "w"}, "y") + bytes_field(5, weight) +
                                      onnx_input("x") + onnx_output("y")));
  CHECK_THROWS_WITH_AS(nn::onnx::load(path),
                       Contains("the external data of 'w' must be in the folder of the file"), IOError);
}
