#include <ktape/nn/files/bytes.hpp>

#include <filesystem>
#include <fstream>

#include "../../ops/check.hpp"

using namespace ktape;

namespace {

/// A file in the temporary folder, removed at the end of the scope.
struct File {
  std::string path;
  File(const char* name, const std::string& content)
      : path((std::filesystem::temp_directory_path() / name).string()) {
    std::ofstream(path, std::ios::binary) << content;
  }
  ~File() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("a source gives its bytes in order, and an error beyond the end") {
  const File file("ktape_bytes_test", "abcdefgh");
  data::InputFile source("load", file.path);
  char out[3];
  source.read_exactly(out, 3, "the head");
  CHECK(std::string(out, 3) == "abc");
  CHECK(source.rest() == "defgh");
  CHECK_THROWS_WITH_AS(source.read_exactly(out, 1, "the tail"), doctest::Contains("ktape_bytes_test"),
                       IOError);
}

TEST_CASE("tensors are read in either byte order") {
  const File file("ktape_bytes_order", std::string("\0\1\1\0", 4));
  data::InputFile source("load", file.path);
  CHECK(values(source.read_tensor({1}, "int16", true)) == Values{1});
  CHECK(values(source.read_tensor({1}, "int16", false)) == Values{1});
  CHECK(data::little_endian<std::uint32_t>("\1\2\0\0") == 513);
  CHECK(data::big_endian<std::uint16_t>("\1\2") == 258);
}

TEST_CASE("a section of a file ends where it says") {
  const File file("ktape_bytes_section", "head, body, tail");
  const data::RandomFile whole("load", file.path);
  data::FileSection body("load", whole, "body", 6, 4);
  CHECK(body.rest() == "body");
  char out[4];
  CHECK_THROWS_AS(whole.read(14, out, 4), IOError);
}

TEST_CASE("sizes saturate, and small data may inflate freely") {
  CHECK(data::saturated_product(1ull << 40, 1ull << 40) == ~std::uint64_t{0});
  CHECK(data::tensor_bytes({3, 4}, "float64") == 96);
  CHECK(data::most_inflated(10, {1000, 32}) == 1000);
  CHECK(data::most_inflated(100, {1000, 32}) == 3200);
  CHECK(data::most_inflated(10, {1000, 32}, 5000) == 5000);
}
