#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/data/formats/csv.hpp>
#include <limits>
#include <span>

#include "../../../close.hpp"
#include "../archives.hpp"

using doctest::Contains;
using ktape::IOError, ktape::Shape, ktape::Tensor, ktape::ValueError;
using ktape::data::CsvOptions, ktape::data::load_csv;

namespace {

std::vector<float> numbers_of(const Tensor& x) { return {x.pointer<float>(), x.pointer<float>() + x.size()}; }

/// A folder for the files of one test.
class Files {
 public:
  Files() {
    std::string name = (std::filesystem::temp_directory_path() / "ktape-csv-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~Files() { std::filesystem::remove_all(folder_); }
  Files(const Files&) = delete;

  std::string text(const std::string& content) const {
    const std::string path = folder_ / "table.csv";
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  /// Returns a copy of the digits.
  std::string digits() const {
    const std::string path = folder_ / "digits.csv.gz";
    std::filesystem::copy_file("examples/data/digits.csv.gz", path,
                               std::filesystem::copy_options::overwrite_existing);
    return path;
  }
  std::string folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("rows and fields become a matrix") {
  const Files files;
  const Tensor x = load_csv(files.text("1,2.5,-3\n4e2,.5,+6\n"));
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.dtype() == "float32");
  CHECK(x.item(0, 1) == 2.5f);
  CHECK(x.item(0, 2) == -3.f);
  CHECK(x.item(1, 0) == 400.f);
  CHECK(x.item(1, 1) == 0.5f);
  CHECK(x.item(1, 2) == 6.f);
}

TEST_CASE("line ends, blanks, quotes and a byte order mark are no part of the numbers") {
  const Files files;
  for (const char* text : {"1,2\n3,4", "1,2\n3,4\n", "1,2\r\n3,4\r\n", "1,2\n3,4\n\n \r\n\n",
                           " 1 ,\t2\n3, 4 \n", "\"1\",\" 2 \"\n3,\"4\"", "\xef\xbb\xbf\x31,2\n3,4\n"}) {
    CAPTURE(text);
    const Tensor x = load_csv(files.text(text));
    REQUIRE(x.shape() == Shape{2, 2});
    CHECK(x.item(0, 0) + 10 * x.item(0, 1) + 100 * x.item(1, 0) + 1000 * x.item(1, 1) == 4321.f);
  }
  CHECK(load_csv(files.text("7")).shape() == Shape{1, 1});
  CHECK(load_csv(files.text("1\n2\n3\n")).shape() == Shape{3, 1});
}

TEST_CASE("a header is found, or skipped when asked") {
  const Files files;
  const std::string named = "width,height\n1,2\n3,4\n", numbered = "150,4\n1,2\n3,4\n";
  CHECK(load_csv(files.text(named)).shape() == Shape{2, 2});
  CHECK(load_csv(files.text(named), {.header = true}).item(0, 0) == 1.f);
  CHECK(load_csv(files.text(numbered)).shape() == Shape{3, 2});
  CHECK(load_csv(files.text(numbered), {.header = true}).shape() == Shape{2, 2});
  CHECK(load_csv(files.text("\"a, b\",c\n1,2\n"), {.header = true}).shape() == Shape{1, 2});
  CHECK_THROWS_WITH_AS(load_csv(files.text(named), {.header = false}), Contains("received 'width' in"),
                       IOError);
}

TEST_CASE("load_csv takes other delimiters, and numbers of every dtype") {
  const Files files;
  CHECK(load_csv(files.text("1;2\n3;4"), {.delimiter = ';'}).item(1, 0) == 3.f);
  CHECK(load_csv(files.text("1\t 2\n3\t4"), {.delimiter = '\t'}).item(0, 1) == 2.f);
  CHECK(load_csv(files.text("1 2\n3 4"), {.delimiter = ' '}).item(1, 1) == 4.f);
  CHECK(load_csv(files.text("0.1,1e300"), {.dtype = "float64"}).item<double>(0, 0) == 0.1);
  CHECK(load_csv(files.text("1.5,65504"), {.dtype = "float16"}).item(0, 1) == 65504.f);
  const Tensor ints = load_csv(files.text("3,-4,5.0,1e3"), {.dtype = "int32"});
  CHECK(ints.dtype() == "int32");
  CHECK(ints.item<int>(0, 3) == 1000);
  CHECK(load_csv(files.text("9223372036854775807"), {.dtype = "int64"}).item<std::int64_t>() ==
        std::numeric_limits<std::int64_t>::max());
  CHECK(load_csv(files.text("0,1,1.0"), {.dtype = "bool"}).item<bool>(0, 2));
  const Tensor special = load_csv(files.text("nan,inf,-INF,1e-60"));
  CHECK(std::isnan(special.item(0, 0)));
  CHECK(special.item(0, 1) == std::numeric_limits<float>::infinity());
  CHECK(special.item(0, 2) == -std::numeric_limits<float>::infinity());
  CHECK(special.item(0, 3) == 0.f);
}

TEST_CASE("plain decimals are rounded as the standard's parser does it") {
  const Files files;
  std::uint64_t state = 1;
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::string field = std::to_string(state >> (11 + i % 50));
    field.insert(i % (field.size() + 1), ".");
    fields.push_back(i % 3 == 0 ? '-' + field : field);
  }
  // In the middle between two floats, and next to it.
  for (const char* field : {"16777217", "16777217.0000001", "16777216.9999999", "0.000000059604644775390625",
                            "8388608.5", "8388609.5", "-0", "0.0", "5.", ".5", "123456789012345678"})
    fields.push_back(field);
  std::string text;
  for (const std::string& field : fields) text += field + '\n';
  const std::string path = files.text(text);
  const Tensor floats = load_csv(path), doubles = load_csv(path, {.dtype = "float64"});
  std::vector<float> as_float;
  std::vector<double> as_double;
  for (const std::string& field : fields) {
    as_float.push_back(std::strtof(field.c_str(), nullptr));
    as_double.push_back(std::strtod(field.c_str(), nullptr));
  }
  CHECK(close(std::span(floats.data<float>(), as_float.size()), as_float, exactly));
  CHECK(close(std::span(doubles.data<double>(), as_double.size()), as_double, exactly));
}

TEST_CASE("a field that is no number of the dtype is an error with line and field") {
  const Files files;
  const std::string path = files.text("1,2\n3,x4\n");
  CHECK_THROWS_WITH_AS(
      load_csv(path),
      ("[load_csv] every field must be a number: received 'x4' in " + path + ", line 2, field 2").c_str(),
      IOError);
  for (const char* bad : {"1.2.3", "--1", "+-1", "0x10", "1e", "1 2", "\"1", "true", "1\x01"})
    CHECK_THROWS_WITH_AS(load_csv(files.text("0\n" + std::string(bad))), Contains("line 2, field 1"),
                         IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1\n" + std::string(1000, 'z'))), Contains("zzz...' in"), IOError);

  CHECK_THROWS_WITH_AS(load_csv(files.text("1\n1e39")),
                       Contains("every number must be one of float32: received '1e39'"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1\n1e400"), {.dtype = "float64"}), Contains("float64"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1\n70000"), {.dtype = "float16"}), Contains("float16"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1\n256"), {.dtype = "uint8"}), Contains("uint8"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1\n2.5"), {.dtype = "int32"}), Contains("received '2.5'"),
                       IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1\n9223372036854775808"), {.dtype = "int64"}), Contains("int64"),
                       IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1\n2"), {.dtype = "bool"}), Contains("bool"), IOError);
}

TEST_CASE("a missing value is nan, and an error where there is none") {
  const Files files;
  const Tensor x = load_csv(files.text("a,b,c\n1,,3\n\"\", 5 ,\n"));
  CHECK(x.shape() == Shape{2, 3});
  for (const auto& [row, field] : {std::pair{0, 1}, {1, 0}, {1, 2}}) CHECK(std::isnan(x.item(row, field)));
  CHECK(x.item(1, 1) == 5.f);
  CHECK(load_csv(files.text("1,,3\n4,5,6\n")).shape() == Shape{2, 3});  // and no header
  CHECK(std::isnan(load_csv(files.text("1,\n"), {.dtype = "float16"}).item(0, 1)));
  for (const char* dtype : {"int32", "uint8", "bool"}) {
    const std::string path = files.text("a,b\n1,0\n1,\n");
    CHECK_THROWS_WITH_AS(load_csv(path, {.dtype = dtype}),
                         ("[load_csv] a missing value must become one of a floating dtype: received dtype=" +
                          std::string(dtype) + " for " + path + ", line 3, field 2")
                             .c_str(),
                         IOError);
  }
}

TEST_CASE("comments at the begin are no data, with or without a header after them") {
  const Files files;
  for (const char* text :
       {"# a,b\n1,2\n3,4\n", "#a\n# b\n1,2\n3,4\n", "\xef\xbb\xbf# x\r\na,b\r\n1,2\r\n3,4\r\n"}) {
    CAPTURE(text);
    CHECK(load_csv(files.text(text)).shape() == Shape{2, 2});
    CHECK(load_csv(files.text(text), {.header = true}).shape() == Shape{2, 2});
  }
  CHECK_THROWS_WITH_AS(load_csv(files.text("# a\n1,2\n3,x\n")), Contains("line 3, field 2"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("# a\n")), Contains("(header only)"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("# a\nb\n1\n"), {.header = false}), Contains("received 'b' in"),
                       IOError);
}

TEST_CASE("a delimiter in quotes is a part of its field") {
  const Files files;
  CHECK(load_csv(files.text("\"width, in cm\",\"height\"\n1,\"2\"\n")).shape() == Shape{1, 2});
  CHECK_THROWS_WITH_AS(load_csv(files.text("0,0\n\"1,5\",2\n")), Contains("received '\"1,5\"' in"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("0,0\n\"1,5\",2\n")), Contains("line 2, field 1"), IOError);
}

TEST_CASE("rows of other lengths and blank rows are errors with the line") {
  const Files files;
  const std::string path = files.text("a,b,c\n1,2,3\n4,5\n");
  CHECK_THROWS_WITH_AS(
      load_csv(path),
      ("[load_csv] every row must have 3 fields as the first has: received 2 in " + path + ", line 3")
          .c_str(),
      IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1,2\n3,4,5\n")), Contains("received 3 in"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1,2\n\n3,4\n")), Contains("rows must not be blank"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1,2\n\n3,4\n")), Contains("line 2"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1,2\n3,4,\n")), Contains("line 2"), IOError);
}

TEST_CASE("files without numbers and files that cannot be read are errors with the name") {
  const Files files;
  for (const char* text : {"", "\n\n", " \r\n"})
    CHECK_THROWS_WITH_AS(load_csv(files.text(text)), Contains("(empty)"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("a,b\n")), Contains("(header only)"), IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.text("1,2\n"), {.header = true}), Contains("table.csv (header only)"),
                       IOError);
  CHECK_THROWS_WITH_AS(
      load_csv("no-such-file.csv"),
      "[load_csv] the file must be readable: received no-such-file.csv (No such file or directory)", IOError);
  CHECK_THROWS_WITH_AS(load_csv(files.folder()), Contains("(a directory)"), IOError);
  for (char bad : {'\n', '"', '.', '-', 'e', '0', '\0'})
    CHECK_THROWS_WITH_AS(load_csv(files.text("1"), {.delimiter = bad}), Contains("the delimiter must not be"),
                         ValueError);
}

TEST_CASE("a header's field in quotes may hold line ends, delimiters and quotes") {
  const Files files;
  const auto numbers = [&](const std::string& text, const CsvOptions& options = {}) {
    const Tensor x = load_csv(files.text(text), options);
    CHECK(x.shape() == Shape{2, 2});
    return numbers_of(x) == std::vector<float>{1, 2, 3, 4};
  };
  CHECK(numbers("\"width\n(cm)\",height\n1,2\n3,4\n"));
  CHECK(numbers("width,\"height\r\n(cm), \"\"net\"\"\n\"\r\n1,2\r\n3,4"));
  CHECK(numbers("# measured\n \"1\n\" ; \"2\nb\"\n1;2\n3;4\n", {.delimiter = ';'}));
  CHECK(numbers("width 5\",height\n1,2\n3,4\n"));  // a quote within a field is a character
  CHECK(numbers("\"width,height\n1,2\n3,4\n"));    // and one that is never closed
  CHECK_THROWS_WITH_AS(load_csv(files.text("\"a\nb\",c\n1,2\n3,x\n")), Contains(", line 4, field 2"),
                       IOError);
}

TEST_CASE("damage in the second member of a gzip file is an error, or does no harm") {
  const Files files;
  const std::string first = deflated("1,2\n3,4\n", true), second = deflated("5,6\n7,8\n", true);
  const auto load = [&](const std::string& bytes) { return numbers_of(load_csv(files.text(bytes))); };
  const std::vector<float> all{1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(load(first + second) == all);
  CHECK(load(first + second + std::string(512, '\0')) == all);  // padding, as of tapes
  for (std::size_t i = 0; i < second.size(); ++i)
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string damaged = second;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      std::vector<float> read = all;
      try {
        read = load(first + damaged);  // the time in the header may change
      } catch (const IOError&) {
      }
      CHECK(read == all);
    }
  for (std::size_t size = 1; size < second.size(); ++size)
    CHECK_THROWS_WITH_AS(load(first + second.substr(0, size)), Contains("must be complete and readable"),
                         IOError);
  for (const char* rest : {"x", "5,6\n7,8\n"})
    CHECK_THROWS_WITH_AS(load(first + rest), Contains("must be complete and readable"), IOError);
}

TEST_CASE("truncated and damaged gzip files are errors") {
  const Files files;
  const std::string path = files.digits();
  const auto size = std::filesystem::file_size(path);
  for (const auto left : {size - 4, size / 2, std::uintmax_t{12}, std::uintmax_t{5}}) {
    std::filesystem::resize_file(path, left);
    CHECK_THROWS_WITH_AS(load_csv(path), Contains("digits.csv.gz"), IOError);
  }
  std::filesystem::resize_file(files.digits(), size / 2);
  CHECK_THROWS_WITH_AS(load_csv(path), Contains("unexpected end of file"), IOError);

  files.digits();
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(size / 2));
  file << "\xff\xff\xff\xff\xff\xff";
  file.close();
  CHECK_THROWS_WITH_AS(load_csv(path), Contains("must be complete and readable"), IOError);
}

TEST_CASE("the data sets of the examples load") {
  const Tensor digits = load_csv("examples/data/digits.csv.gz");
  CHECK(digits.shape() == Shape{1797, 65});
  CHECK(digits.item(0, 2) == 5.f);
  CHECK(digits.item(1000, 64) == 1.f);
  CHECK(digits.item(1796, 64) == 8.f);
  const Tensor iris = load_csv("examples/data/iris.csv", {.header = true});
  CHECK(iris.shape() == Shape{150, 5});
  CHECK(load_csv("examples/data/iris.csv").shape() == Shape{150, 5});
}
