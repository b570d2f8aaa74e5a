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

TEST_CASE("path_beside follows symbolic links, and leaves out what they lead out of the folder") {
  namespace fs = std::filesystem;
  const Files files, elsewhere;
  const std::string model = files.write("model.json", "{}");
  files.write("a.bin", "a");
  const std::string secret = elsewhere.write("secret.bin", "s");
  fs::create_symlink(secret, files.folder() + "/linked.bin");
  fs::create_symlink(elsewhere.folder(), files.folder() + "/folder");
  fs::create_symlink("a.bin", files.folder() + "/inner.bin");
  CHECK(path_beside(model, "./a.bin") == "a.bin");
  CHECK(path_beside(model, "inner.bin") == "inner.bin");
  CHECK(path_beside(model, "none.bin") == "none.bin");  // opening the file reports that it is missing
  for (const char* name : {"linked.bin", "folder/secret.bin", "../a.bin", ""}) {
    CAPTURE(name);
    CHECK(path_beside(model, name) == "");
  }
  // A cache of models: all files are links into one folder.
  const Files cache;
  fs::create_symlink(elsewhere.write("model.json", "{}"), cache.folder() + "/model.json");
  fs::create_symlink(secret, cache.folder() + "/weights.bin");
  CHECK(path_beside(cache.folder() + "/model.json", "weights.bin") == "weights.bin");
}

TEST_CASE("naming_file adds the name of the file to errors without it") {
  const auto failing = [](const auto& error) {
    return naming_file("folder/m.h5", [&]() -> int { throw error; });
  };
  CHECK_THROWS_WITH_AS(failing(ktape::ValueError("[Dense] units")), "[Dense] units (in the file folder/m.h5)",
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(failing(ktape::TypeError("[Dense] units")), "[Dense] units (in the file folder/m.h5)",
                       ktape::TypeError);
  CHECK_THROWS_WITH_AS(failing(IOError("[load] received folder/m.h5")), "[load] received folder/m.h5",
                       IOError);
  CHECK(naming_file("m.h5", [] { return 7; }) == 7);
}

TEST_CASE("json_of reads a file of JSON") {
  const Files files;
  CHECK(json_of("load_model", files.write("a.json", R"({"a": 1})")).config().at("a").integer("a") == 1);
  CHECK_THROWS_WITH_AS(json_of("load_model", files.write("b.json", "{")),
                       Contains("b.json (line 1, column 2: "), IOError);
  CHECK_THROWS_WITH_AS(json_of("load_model", files.folder() + "/none.json"), Contains("none.json"), IOError);
}
