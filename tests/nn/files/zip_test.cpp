#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/files/zip.hpp>

#include <filesystem>
#include <fstream>

#include "../../ops/check.hpp"

using ktape::IOError;
using ktape::data::ZipArchive;

namespace {

std::string path_of(const char* name) { return (std::filesystem::temp_directory_path() / name).string(); }

}  // namespace

TEST_CASE("an archive returns the files that were written, in order") {
  const std::string path = path_of("ktape_zip_test.zip");
  {
    ktape::nn::saving::AtomicFile file("save", path);
    ktape::data::ZipWriter writer("save", file);
    writer.add("config.json", {"{\"name\"", ": 1}"});
    writer.add("folder/weights", {std::string(100000, 'w')});
    writer.finish();
    file.commit();
  }
  const ZipArchive archive("load", path);
  CHECK(archive.entries().size() == 2);
  CHECK(archive.entries()[0].name == "config.json");
  CHECK(archive.text(archive.entries()[0]) == "{\"name\": 1}");
  CHECK(archive.open(archive.entries()[1])->rest() == std::string(100000, 'w'));
  std::filesystem::remove(path);
}

TEST_CASE("names that leave the folder, or come twice, are not written") {
  const std::string path = path_of("ktape_zip_names.zip");
  ktape::nn::saving::AtomicFile file("save", path);
  ktape::data::ZipWriter writer("save", file);
  writer.add("a", {"1"});
  CHECK_THROWS_AS(writer.add("a", {"2"}), ktape::ValueError);
  CHECK_THROWS_AS(writer.add("../a", {"2"}), ktape::ValueError);
  CHECK_THROWS_AS(writer.add("/a", {"2"}), ktape::ValueError);
}

TEST_CASE("a file that is no archive, or is cut, is an error with its name") {
  const std::string path = path_of("ktape_no_zip.zip");
  std::ofstream(path) << "PK, or so it says";
  CHECK_THROWS_WITH_AS(ZipArchive("load", path), doctest::Contains("ktape_no_zip.zip"), IOError);
  std::filesystem::remove(path);
}
