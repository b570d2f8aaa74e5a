#include <ktape/nn/data/formats/text.hpp>

#include "../../../ops/check.hpp"
#include "../files.hpp"

namespace K = ktape::backend;
namespace data = ktape::data;
using doctest::Contains;
using ktape::IOError;

TEST_CASE("text files, whole and line by line") {
  const Files files;
  const std::string text = "one\r\n\ntwo\nthree";
  for (const std::string& bytes : {text, "\xef\xbb\xbf" + text, deflated(text, true)}) {
    const std::string path = files.write("x.txt", bytes);
    CHECK(data::load_text(path) == text);
    CHECK(data::load_text_lines(path) == std::vector<std::string>{"one", "", "two", "three"});
  }
  CHECK(data::load_text_lines(files.write("x.txt", "a\n")) == std::vector<std::string>{"a"});
  CHECK(data::load_text_lines(files.write("x.txt", "\n\n")) == std::vector<std::string>{"", ""});
  CHECK(data::load_text_lines(files.write("x.txt", "")).empty());
  // Lines beyond what is read at once.
  std::string lines;
  std::vector<std::string> want;
  for (int i = 0; i < 40; ++i) {
    want.push_back(std::string(static_cast<std::size_t>(i * i * 200), static_cast<char>('a' + i % 26)));
    lines += want.back() + '\n';
  }
  CHECK(data::load_text_lines(files.write("x.txt", lines)) == want);
  CHECK_THROWS_WITH_AS(data::load_text("none"), Contains("[load_text] the file must be readable"), IOError);
  const std::string packed = deflated(text, true);
  CHECK_THROWS_WITH_AS(data::load_text(files.write("x.gz", packed.substr(0, 20))),
                       Contains("unexpected end of file"), IOError);
}

TEST_CASE("a dataset of lines gives an element for each line, none where the function returns none") {
  const Files files;
  const auto lengths = [](const std::string& line) -> std::optional<data::Element> {
    if (line.empty()) return std::nullopt;
    return data::Element{K::constant(static_cast<int>(line.size()))};
  };
  const data::Dataset lines =
      data::text_line_dataset(files.write("x.txt", "one\n\nthree\n"), lengths).prefetch(2);
  for (int i = 0; i < 2; ++i) {
    std::vector<int> all;
    for (const data::Element& e : lines) all.push_back(e[0].item<int>());
    CHECK(all == std::vector{3, 5});
  }
  CHECK_FALSE(lines.cardinality());
  CHECK_THROWS_WITH_AS(data::text_line_dataset("none", lengths).begin(), Contains("received none"), IOError);
}
