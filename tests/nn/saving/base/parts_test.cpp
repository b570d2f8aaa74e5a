#include <ktape/ktape.hpp>
#include <ktape/nn/saving/base/parts.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError;
using namespace nn::saving;

TEST_CASE("the folder of a file is its path up to the name") {
  CHECK(folder_of("a/b/model.json") == "a/b/");
  CHECK(folder_of("/model.json") == "/");
  CHECK(folder_of("model.json") == "");
}

TEST_CASE("path_inside leaves out empty parts, and what leads out of the folder") {
  CHECK(path_inside("a//./b.bin") == "a/b.bin");
  CHECK(path_inside("b..bin") == "b..bin");
  for (const std::string& path :
       {std::string("../b.bin"), std::string("a/../../b"), std::string("/etc/b"), std::string("a\0b", 3)}) {
    CAPTURE(path);
    CHECK(path_inside(path) == "");
  }
}

TEST_CASE("json_of reads a file of JSON") {
  const Files files;
  CHECK(json_of("load_model", files.write("a.json", R"({"a": 1})")).config().at("a").integer("a") == 1);
  CHECK_THROWS_WITH_AS(json_of("load_model", files.write("b.json", "{")),
                       Contains("b.json (line 1, column 2: "), IOError);
  CHECK_THROWS_WITH_AS(json_of("load_model", files.folder() + "/none.json"), Contains("none.json"), IOError);
}
