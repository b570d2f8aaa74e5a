#include <ktape/nn/files/npy.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor;

namespace {

const std::string six = npy_array("|u1", "(2, 3)", "abcdef");

}  // namespace

TEST_CASE("load_npy: every dtype, either order") {
  const Files files;
  const auto load = [&](const std::string& bytes) { return data::load_npy(files.write("x.npy", bytes)); };
  const Tensor x = load(six);
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.dtype() == "uint8");
  CHECK(x.item<int>(1, 0) == 'd');
  CHECK(values(load(npy_array("|u1", "(2, 3)", "abcdef", "True")))[1] == 'c');
  CHECK(values(load(npy_array("<i2", "(2,)", little(std::int16_t{-2}) + little(std::int16_t{7})))) ==
        Values{-2, 7});
  CHECK(values(load(npy_array(">i4", "(1,)", big(std::int32_t{-9})))) == Values{-9});
  CHECK(values(load(npy_array("<i8", "()", little(std::int64_t{5})))) == Values{5});
  CHECK(values(load(npy_array("<f2", "(1,)", little(std::uint16_t{0x3e00})))) == Values{1.5});
  CHECK(values(load(npy_array("<f4", "(1,)", little(0x3fc00000u)))) == Values{1.5});
  CHECK(values(load(npy_array(">f8", "(1,)", big(std::uint64_t{0x3ff8000000000000})))) == Values{1.5});
  CHECK(values(load(npy_array("|b1", "(3,)", std::string("\0\x01\x02", 3)))) == Values{0, 1, 1});
  CHECK(load(npy_array("|i1", "(0, 4)", "")).shape() == Shape{0, 4});
  const Tensor wide = load(npy_array("<u2", "(2,)", little(std::uint16_t{65535}) + little(std::uint16_t{7})));
  CHECK(wide.dtype() == "int32");
  const std::string brains = little(std::uint16_t{0x3fc0}) + little(std::uint16_t{0xc000});
  for (const char* descr : {"<V2", "|V2"}) {  // ml_dtypes; NumPy, which has no bfloat16
    const Tensor brain = load(npy_array(descr, "(2,)", brains));
    CHECK(brain.dtype() == "bfloat16");
    CHECK(values(brain) == Values{1.5, -2});
  }
  CHECK(values(wide) == Values{65535, 7});
  CHECK(values(load(npy_array(">u4", "(1,)", big(std::uint32_t{4000000000})))) == Values{4000000000});
  CHECK(values(load(npy_array("<u8", "(1,)", little(std::uint64_t{5})))) == Values{5});
  CHECK(load(deflated(six, true)).shape() == Shape{2, 3});
  // Other ways to write the header.
  CHECK(load(npy("{\"shape\":(2,3),\"descr\":\"|u1\",\"fortran_order\":False}", "abcdef")).shape() ==
        Shape{2, 3});
}

TEST_CASE("load_npy: headers that do not fit the file are errors") {
  const Files files;
  const auto error = [&](const std::string& bytes, const char* text) {
    CHECK_THROWS_WITH_AS(data::load_npy(files.write("x.npy", bytes)), Contains(text), IOError);
  };
  error("hello, world", "it begins with other bytes");
  error(npy_array("|O", "(1,)", "a"), "dtype '|O'");
  error(npy_array("<c8", "(1,)", "abcdefgh"), "dtype '<c8'");
  error(npy_array("<V4", "(1,)", "abcd"),
        "the numbers must be bool, integers, float16 to float64 or bfloat16 (V2): received");
  error(npy_array("<u8", "(1,)", little(~std::uint64_t{0})), "the numbers must fit int64");
  error(npy_array("|u1", "(1,)", "ab"), "bytes follow the array");
  error(npy_array("|u1", "(99999999999,)", "ab"), "cannot follow");
  error(deflated(npy_array("|u1", "(99999999999,)", "ab"), true), "cannot follow");
  error(npy_array("<f8", "(4611686018427387904, 4)", "ab"), "must fit into memory");
  error(npy_array("|u1", "(0, 4611686018427387904, 4611686018427387904)", ""), "must fit into memory");
  error(npy_array("|u1", "(99999999999999999999,)", "ab"), "there must be an extent");
  error(npy_array("|u1", "(-1,)", "ab"), "there must be an extent");
  error(npy_array("|u1", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", "a"), "more than 8 extents");
  error(npy_array("|u1", "(1,)", "a", "Maybe"), "True or False");
  error(npy("{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", "a"),
        "unknown or repeated");
  error(npy("{'descr': '|u1', 'shape': (1,)}", "a"), "a key is missing");
  error(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} x", "a"), "text after the dictionary");
  check_damage("six.npy", six, data::load_npy);
}

TEST_CASE("load_npz: arrays by name, stored and compressed") {
  const Files files;
  const std::string bytes = zip(
      {{"b/c.npy", six}, {"a.npy", npy_array("<i4", "(1,)", little(3)), true}, {"folder/", ""}}, "a comment");
  const auto arrays = data::load_npz(files.write("two.npz", bytes));
  REQUIRE(arrays.size() == 2);
  CHECK(arrays[0].first == "b/c");
  CHECK(arrays[0].second.shape() == Shape{2, 3});
  CHECK(arrays[1].first == "a");
  CHECK(values(arrays[1].second) == Values{3});
  CHECK(data::load_npz(files.write("none.npz", zip({}))).empty());
}

TEST_CASE("load_npz: archives that are damaged or hostile are errors") {
  const Files files;
  const auto error = [&](const std::vector<Packed>& packed, const char* text) {
    CHECK_THROWS_WITH_AS(data::load_npz(files.write("x.npz", zip(packed))), Contains(text), IOError);
    CHECK_THROWS_WITH_AS(data::load_npz(files.write("x.npz", zip(packed))), Contains("x.npz"), IOError);
  };
  error({{.name = "a.npy", .content = six, .checksum = 1}}, "the checksum does not fit");
  error({{.name = "a.npy", .content = six, .deflate = true, .checksum = 1}}, "the checksum does not fit");
  error({{.name = "a.npy", .content = six}, {.name = "a.npy", .content = six}}, "is repeated");
  error({{.name = "a.npy", .content = six}, {.name = "a", .content = six}}, "must be different");
  error({{.name = "a.npy", .content = six},
         {.name = "a.npx", .content = six, .offset = 0, .local_name = "a.npx"}},
        "another name");
  for (const char* name : {"../a.npy", "/a.npy", "b/../../a.npy", "b\\a.npy", "..", "b/.."})
    error({{.name = name, .content = six}}, "below its folder");
  error({{.name = "a.npy", .content = six, .flags = 1}}, "encrypted");
  error({{.name = "a.npy", .content = six, .method = 12}}, "method 12");
  error({{.name = "a.npy", .content = six, .local_name = "b.npy"}}, "another name");
  // More than deflate can make, and more than there is.
  error({{.name = "a.npy", .content = six, .deflate = true, .size = 0xfffffff0}},
        "as large as their data can be");
  error({{.name = "a.npy", .content = six, .deflate = true, .size = 2000}}, "end too early");
  error({{.name = "a.npy", .content = six, .size = 2000}}, "as large as their data can be");
  // A shape beyond what the entry holds.
  error({{.name = "a.npy", .content = npy_array("|u1", "(1000000,)", "abc"), .deflate = true}},
        "cannot follow");
  CHECK_THROWS_WITH_AS(data::load_npz(files.write("x.npz", "")), Contains("too short"), IOError);
  CHECK_THROWS_WITH_AS(data::load_npz(files.write("x.npz", std::string(100, 'x'))), Contains("no directory"),
                       IOError);
}

TEST_CASE("load_npz: entries that overlap are errors") {
  // Two entries of one name's length over the same header: the second points into the first's data.
  const Files files;
  const std::string inner =
      "PK\x03\x04" + std::string(22, '\0') + little(std::uint16_t{5}) + std::string(2, '\0') + "b.npy";
  const std::string bytes =
      zip({{.name = "a.npy", .content = inner}, {.name = "b.npy", .content = "", .offset = 35}});
  CHECK_THROWS_WITH_AS(data::load_npz(files.write("x.npz", bytes)), Contains("overlap"), IOError);
}

TEST_CASE("load_npz: every damaged file is an error or an archive") {
  check_damage("stored.npz", zip({{"a.npy", six}, {"b.npy", six}}), data::load_npz);
  check_damage("packed.npz", zip({{"a.npy", six, true}}), data::load_npz);
}

TEST_CASE("save_npy: written arrays are read back, with a header as NumPy's") {
  const Files files;
  const std::string path = files.folder() + "/x.npy";
  for (const char* dtype :
       {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"})
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{0, 4}}) {
      const Tensor x = counted(shape, dtype);
      data::save_npy(path, x);
      const Tensor again = data::load_npy(path);
      CHECK(again.shape() == shape);
      CHECK(again.dtype() == dtype);
      CHECK(values(again) == values(x));
    }
  data::save_npy(path, counted({2}, "uint8"));
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
  CHECK(bytes ==
        npy(header + std::string(128 - 10 - 1 - header.size(), ' ') + '\n', std::string("\0\x01", 2)));
}

TEST_CASE("save_npz: arrays in their order, and names that cannot be written") {
  const Files files;
  const std::string path = files.folder() + "/x.npz";
  data::save_npz(
      path, {{"b/c", counted({2, 3}, "float32")}, {"a", counted({}, "int64")}, {"\xc3\xa9", counted({0})}});
  const auto arrays = data::load_npz(path);
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].first == "b/c");
  CHECK(values(arrays[0].second) == Values{0, 1, 2, 3, 4, 5});
  CHECK(arrays[1].first == "a");
  CHECK(arrays[1].second.shape() == Shape{});
  CHECK(arrays[2].first == "\xc3\xa9");
  data::save_npz(path, {});
  CHECK(data::load_npz(path).empty());
  const Tensor x = counted({1});
  for (const char* name : {"../a", "/a", "b/../../a", "b\\a"})
    CHECK_THROWS_WITH_AS(data::save_npz(path, {{name, x}}), Contains("stay below its folder"),
                         ktape::ValueError);
  CHECK_THROWS_WITH_AS(data::save_npz(path, {{"a", x}, {"a", x}}), Contains("must be different"),
                       ktape::ValueError);
  CHECK_THROWS_WITH_AS(data::save_npz(path, {{"a", Tensor()}}), Contains("a must be a tensor"),
                       ktape::ValueError);
  CHECK(data::load_npz(path).empty());
}
