#pragma once
#include <doctest/doctest.h>
#include <ktape/autograd/base/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "archives.hpp"

/// A folder for the files of one test.
class Files {
 public:
  Files() {
    std::string name = (std::filesystem::temp_directory_path() / "ktape-data-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  Files(const Files&) = delete;

  /// Writes a file with this content, and returns its path.
  std::string write(const std::string& name, const std::string& content) const {
    const std::string path = folder_ / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::filesystem::remove(path);  // some file systems wait for the disk when a file is written over
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// Loads a file cut off at every length, which must be an error that names the file, and with every byte
/// changed, which may be an error or a value.
template <class Load>
void check_damage(const std::string& name, const std::string& bytes, Load load) {
  const Files files;
  CAPTURE(name);
  CHECK_NOTHROW(load(files.write(name, bytes)));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_WITH_AS(load(files.write(name, bytes.substr(0, size))), doctest::Contains(name.c_str()),
                         ktape::IOError);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const char flip : {'\x01', '\xff'}) {
      std::string other = bytes;
      other[i] = static_cast<char>(other[i] ^ flip);
      const std::string path = files.write(name, other);
      CAPTURE(i);
      try {
        load(path);
      } catch (const ktape::IOError& error) {
        CHECK(std::string(error.what()).find(name) != std::string::npos);
      }
    }
}
