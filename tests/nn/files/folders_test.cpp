#include <ktape/nn/files/folders.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

namespace nn = ktape::nn;
using ktape::IOError;

TEST_CASE("folders are made with their parents, and may be there") {
  const Files files;
  nn::make_folder("CSVLogger", files.folder() + "/a/b");
  CHECK(std::filesystem::is_directory(files.folder() + "/a/b"));
  nn::make_folder("CSVLogger", files.folder() + "/a/b");
  nn::make_folder_of("CSVLogger", files.folder() + "/c/log.csv");
  CHECK(std::filesystem::is_directory(files.folder() + "/c"));
  CHECK_FALSE(std::filesystem::exists(files.folder() + "/c/log.csv"));
  nn::make_folder_of("CSVLogger", "log.csv");  // in the program's own folder
}

TEST_CASE("a folder that cannot be made is an error that names the callback") {
  const Files files;
  const std::string file = files.write("file", "");
  CHECK_THROWS_WITH_AS(
      nn::make_folder("CSVLogger", file + "/a"),
      ("[CSVLogger] the folder must be writable: received '" + file + "/a' (Not a directory)").c_str(),
      IOError);
}
