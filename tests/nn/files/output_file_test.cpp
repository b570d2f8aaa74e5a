#include <ktape/nn/files/output_file.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

namespace nn = ktape::nn;
using ktape::IOError;

namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("records are appended to what is in the file, and seen at once") {
  const Files files;
  const std::string path = files.folder() + "/logs/run.csv";
  nn::OutputFile file("CSVLogger", path);
  CHECK(file.size() == 0);
  file.append("one\n");
  CHECK(content(path) == "one\n");
  nn::OutputFile again("CSVLogger", path);
  CHECK(again.size() == 4);
  again.append("two\n");
  CHECK(again.size() == 8);
  CHECK(content(path) == "one\ntwo\n");
}

TEST_CASE("cut keeps the begin of a file, and does not change a shorter file") {
  const Files files;
  const std::string path = files.write("run.csv", "one\ntwo\n");
  nn::OutputFile file("CSVLogger", path);
  file.cut(100);
  CHECK(content(path) == "one\ntwo\n");
  file.cut(4);
  file.append("three\n");
  CHECK(file.size() == 10);
  CHECK(content(path) == "one\nthree\n");
}

TEST_CASE("a file that cannot be opened is an error that names callback and file") {
  const Files files;
  CHECK_THROWS_WITH_AS(
      nn::OutputFile("CSVLogger", files.folder()),
      ("[CSVLogger] the file must be writable: received '" + files.folder() + "' (Is a directory)").c_str(),
      IOError);
}
