#include <ktape/ktape.hpp>
#include <ktape/nn/saving/safetensors/safetensors.hpp>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"

namespace nn = ktape::nn;
using doctest::Contains;
using ktape::DType, ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

std::string file_of(const std::string& header, const std::string& data) {
  return little(static_cast<std::uint64_t>(header.size())) + header + data;
}

std::string entry(const char* name, const char* dtype, const char* shape, const char* offsets) {
  return std::string("\"") + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + '}';
}

const std::string two =
    file_of('{' + entry("b", "U8", "[2,3]", "[0,6]") + ',' + entry("a", "I16", "[1]", "[6,8]") +
                ",\"__metadata__\":{\"made\":\"by hand\",\"\":\"\"}}  ",
            "abcdef\x07\x01");

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("load_safetensors: tensors and metadata, in the order of the header") {
  const Files files;
  const std::string path = files.write("two.safetensors", two);
  const auto tensors = nn::load_safetensors(path);
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].first == "b");
  CHECK(tensors[0].second.shape() == Shape{2, 3});
  CHECK(tensors[0].second.item<int>(1, 0) == 'd');
  CHECK(tensors[1].first == "a");
  CHECK(values(tensors[1].second) == Values{263});
  const auto metadata = nn::load_safetensors_metadata(path);
  REQUIRE(metadata.size() == 2);
  CHECK(metadata[0] == std::pair<std::string, std::string>("made", "by hand"));
  CHECK(nn::load_safetensors(files.write("none.safetensors", file_of("{}", ""))).empty());
}

TEST_CASE("load_safetensors: every dtype") {
  const Files files;
  const auto load = [&](const char* dtype, const std::string& bytes) {
    const std::string offsets = "[0," + std::to_string(bytes.size()) + ']';
    return nn::load_safetensors(files.write(
        "x.safetensors", file_of('{' + entry("x", dtype, "[2]", offsets.c_str()) + '}', bytes)))[0]
        .second;
  };
  const auto check = [&](const char* code, const std::string& bytes, DType dtype, const Values& expected) {
    CAPTURE(code);
    const Tensor x = load(code, bytes);
    CHECK(x.dtype() == dtype);
    CHECK(values(x) == expected);
  };
  check("F64", little(0x3ff8000000000000) + little(0xc000000000000000), "float64", {1.5, -2});
  check("F32", little(0x3fc00000u) + little(0xc0000000u), "float32", {1.5, -2});
  check("F16", little<std::uint16_t>(0x3e00) + little<std::uint16_t>(0xc000), "float16", {1.5, -2});
  check("BF16", little<std::uint16_t>(0x3fc0) + little<std::uint16_t>(0xc000), "bfloat16", {1.5, -2});
  check("I64", little<std::int64_t>(-1) + little<std::int64_t>(1), "int64", {-1, 1});
  check("I32", little<std::int32_t>(-1) + little<std::int32_t>(1), "int32", {-1, 1});
  check("I16", little<std::int16_t>(-1) + little<std::int16_t>(1), "int16", {-1, 1});
  check("I8", "\xff\x01", "int8", {-1, 1});
  check("U8", "\xff\x01", "uint8", {255, 1});
  check("BOOL", "\x02" + std::string(1, '\0'), "bool", {1, 0});
}

TEST_CASE("save_safetensors: written tensors are read back, and are aligned in the file") {
  const Files files;
  const std::string path = files.folder() + "/x.safetensors";
  const std::vector<std::pair<std::string, Tensor>> tensors = {
      {"flag", counted({3}, "bool")},        {"empty", counted({0, 4}, "int64")},
      {"half", counted({5}, "float16")},     {"one \"quoted\" \xc3\xa9", counted({}, "float64")},
      {"bytes", counted({3}, "uint8")},      {"numbers", counted({2, 3}, "float32")},
      {"brain", counted({2, 3}, "bfloat16")}};
  nn::save_safetensors(path, tensors, {{"text", "a\nb"}});
  const auto again = nn::load_safetensors(path);
  REQUIRE(again.size() == tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CHECK(again[i].first == tensors[i].first);
    CHECK(again[i].second.dtype() == tensors[i].second.dtype());
    CHECK(again[i].second.shape() == tensors[i].second.shape());
    CHECK(values(again[i].second) == values(tensors[i].second));
  }
  CHECK(nn::load_safetensors_metadata(path)[0].second == "a\nb");
  const std::string bytes = content(path);
  CHECK(static_cast<unsigned char>(bytes[0]) % 8 == 0);  // the data begin at a multiple of 8
  CHECK(bytes.substr(8).starts_with(R"({"__metadata__":{"text":"a\nb"},"flag":{"dtype":"BOOL","shape":[3],)"
                                    R"("data_offsets":[)"));
}

TEST_CASE("save_safetensors: names that cannot be written") {
  const Files files;
  const std::string path = files.folder() + "/x.safetensors";
  const Tensor x = counted({2});
  CHECK_THROWS_WITH_AS(nn::save_safetensors(path, {{"x", x}, {"x", x}}), Contains("must be different"),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::save_safetensors(path, {{"__metadata__", x}}), Contains("must be different"),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::save_safetensors(path, {{"\xff", x}}), Contains("must be UTF-8"), ValueError);
  CHECK_THROWS_WITH_AS(nn::save_safetensors(path, {{"x", Tensor()}}), Contains("x must be a tensor"),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::save_safetensors(path, {}, {{"a", ""}, {"a", ""}}), Contains("different names"),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::save_safetensors(files.folder() + "/none/x", {{"x", x}}), Contains("none/x"),
                       IOError);
  CHECK(std::filesystem::is_empty(files.folder()));
}

TEST_CASE("load_safetensors: invalid files are errors") {
  const Files files;
  const auto error = [&](const std::string& bytes, const char* text) {
    const std::string path = files.write("x.safetensors", bytes);
    CHECK_THROWS_WITH_AS(nn::load_safetensors(path), Contains(text), IOError);
    CHECK_THROWS_WITH_AS(nn::load_safetensors(path), Contains("[load_safetensors] the file must be"),
                         IOError);
    CHECK_THROWS_WITH_AS(nn::load_safetensors(path), Contains(path.c_str()), IOError);
  };
  const auto header = [&](const std::string& text, const char* reason, const std::string& data = "") {
    error(file_of(text, data), reason);
  };
  error("", "its length: 0 of 8 bytes");
  error(little(std::uint64_t{100'000'001}), "a header of 100000001 bytes");
  error(little(~std::uint64_t{0}) + "{}", "a header of 18446744073709551615 bytes");
  error(little(std::uint64_t{9}) + "{}", "9 bytes cannot follow");
  header("", "does not begin with {");
  header(" {}", "does not begin with {");
  header("[]", "does not begin with {");
  header("{", "not JSON");
  header("{} x", "not JSON");
  header("{\"\xff\":1}", "not JSON");
  header("{\"a\":1}", "a number where there must be none in 'a'");
  header("{\"a\":[]}", "a list where there must be none");
  header("{\"a\":{}}", "is missing in 'a'");
  header("{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", "is missing in 'a'");
  header("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[]}}", "'dtype' is repeated in 'a'");
  header("{\"a\":{\"dtype\":{}}}", "an object where there must be none");
  header("{\"a\":{\"other\":\"\"}}", "a string where there must be none");
  header("{\"a\":{\"dtype\":null}}", "null where there must be none");
  header("{\"a\":{\"shape\":true}}", "a bool where there must be none");
  header("{\"__metadata__\":{\"a\":1}}", "a number where there must be none in '__metadata__'");
  header("{\"__metadata__\":{\"a\":{}}}", "an object where there must be none in '__metadata__'");
  header("{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", "the name 'a' is repeated");
  header("{\"__metadata__\":{},\"__metadata__\":{}}", "__metadata__ is repeated");
  const auto one = [&](const char* dtype, const char* shape, const char* offsets, const char* reason,
                       const std::string& data = "") {
    header('{' + entry("a", dtype, shape, offsets) + '}', reason, data);
  };
  one("U16", "[1]", "[0,2]", "the dtype 'U16' is not known in 'a'", "ab");
  one("U8", "[-1]", "[0,1]", "a negative number", "a");
  one("U8", "[1.0]", "[0,1]", "a number that is no integer", "a");
  one("U8", "[1,[1]]", "[0,1]", "a list where", "a");
  one("U8", "[1,\"1\"]", "[0,1]", "a string where", "a");
  one("U8", "[1,1,1,1,1,1,1,1,1]", "[0,1]", "more than 8 extents", "a");
  one("U8", "[9223372036854775808]", "[0,1]", "an extent is too large", "a");
  one("U8", "[18446744073709551616]", "[0,1]", "no integer", "a");
  one("U8", "[1]", "[0]", "data_offsets are not two", "a");
  one("U8", "[1]", "[0,1,1]", "data_offsets are not two", "a");
  one("U8", "[2]", "[0,1]", "must be U8 of the shape (2,)", "a");
  one("U8", "[1]", "[1,0]", "must begin at 0", "a");
  one("U8", "[4294967296,4294967296]", "[0,0]", "must be U8 of the shape");
  one("F64", "[2305843009213693952]", "[0,0]", "must be F64 of the shape");
  one("F64", "[0,2305843009213693952]", "[0,0]", "must be F64 of the shape");
  one("U8", "[1]", "[0,1]", "they end at 1 of 2", "ab");
  one("U8", "[2]", "[0,2]", "they end at 2 of 1", "a");
  const auto pair = [&](const char* first, const char* second, const char* reason) {
    header('{' + entry("a", "U8", "[2]", first) + ',' + entry("b", "U8", "[2]", second) + '}', reason,
           "abcd");
  };
  pair("[0,2]", "[1,3]", "'b', 1 to 3, must begin at 2");
  pair("[2,4]", "[2,4]", "must begin at 0");
  pair("[0,2]", "[0,2]", "must begin at 2");
  pair("[2,4]", "[1,3]", "must begin at 0");
  header('{' + entry("a", "U8", "[1]", "[0,1]") + ',' + entry("a", "U8", "[1]", "[1,2]") + '}',
         "the name 'a' is repeated", "ab");
  CHECK_THROWS_WITH_AS(nn::load_safetensors(files.folder() + "/none"), Contains("No such file"), IOError);
}

TEST_CASE("load_safetensors: every damaged file is an error or a list of tensors") {
  check_damage("two.safetensors", two, [](const std::string& path) { nn::load_safetensors(path); });
}

TEST_CASE("load_safetensors: the tensors of some names, without reading the others") {
  const Files files;
  // A sparse file: its bytes beyond the first tensors take no room on the disk, and would fill the memory.
  constexpr std::uint64_t large = std::uint64_t{1} << 42;
  const std::string header = '{' + entry("a", "U8", "[2]", "[0,2]") + ",\"b\":{\"dtype\":\"U8\",\"shape\":[" +
                             std::to_string(large) + "],\"data_offsets\":[2," + std::to_string(large + 2) +
                             "]}}";
  const std::string path = files.write("large.safetensors", file_of(header, "\x03\x04"));
  std::error_code unsupported;
  std::filesystem::resize_file(path, 8 + header.size() + large + 2, unsupported);
  if (unsupported) {
    MESSAGE("skipped: the file system has no files of 4 TB");
    return;
  }
  const auto some = nn::load_safetensors(path, {"a"});
  REQUIRE(some.size() == 1);
  CHECK(values(some[0].second) == Values{3, 4});
  const std::string small = files.write("two.safetensors", two);
  const auto both = nn::load_safetensors(small, {"a", "b"});
  CHECK(both[0].first == "a");
  CHECK(both[1].second.shape() == Shape{2, 3});
  CHECK_THROWS_WITH_AS(nn::load_safetensors(small, {"c"}),
                       Contains("names must be those of tensors: received 'c', which is not in"), ValueError);
}
