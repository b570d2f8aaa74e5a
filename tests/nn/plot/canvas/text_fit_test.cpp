#include <ktape/nn/plot/canvas/font.hpp>
#include <ktape/nn/plot/canvas/text_fit.hpp>

#include "../../../ops/check.hpp"
#include "../drawings.hpp"

namespace plot = ktape::plot;
using Lines = std::vector<std::string>;

TEST_CASE("a text that does not fit is shortened") {
  CHECK(plot::fitted("loss", 100) == "loss");
  const std::string part = plot::fitted("a very long name of a series", 80);
  CHECK(part.ends_with("…"));
  CHECK(part.starts_with("a very"));
  CHECK(plot::text_length(part) <= 80);
  CHECK(plot::text_length(part + "wwww") > 80);
  CHECK(plot::fitted("loss", 0) == "…");
  CHECK(plot::fitted("", 10).empty());
  CHECK(plot::text_length(plot::fitted(std::string(5000, 'x'), 300)) <= 300);
}

TEST_CASE("a long text is wrapped at blanks, its last line shortened") {
  const auto short_enough = [](const std::string& line) { return line.size() <= 10; };
  CHECK(plot::wrapped("one two three four", 5, short_enough) == Lines{"one two", "three four"});
  CHECK(plot::wrapped("one", 5, short_enough) == Lines{"one"});
  CHECK(plot::wrapped("", 5, short_enough).empty());
  const Lines cut = plot::wrapped("one two three four five six", 2, short_enough);
  REQUIRE(cut.size() == 2);
  CHECK(cut[0] == "one two");
  CHECK(cut[1].starts_with("three"));
  CHECK(cut[1].ends_with("…"));
  const Lines word = plot::wrapped("incomprehensibilities are long", 5, short_enough);
  CHECK(word[0].ends_with("…"));
  CHECK(word.back() == "are long");
  for (const std::string& line :
       plot::wrapped("words of a title that is too long for a line", 3, 120, 15, true))
    CHECK(plot::text_length(line, 15, true) <= 120);
  CHECK(plot::wrapped_lines("a title of words", 9) == "a title\nof words\n");
}

TEST_CASE("the letters of PNG pictures take no more room than text is expected to take") {
  for (char c = ' '; c <= '~'; ++c) {
    CAPTURE(c);
    const std::string text(4, c);
    CHECK(plot::lettering(text, 12).width <= plot::text_length(text, 12));
    CHECK(plot::lettering(text, 12, true).width <= plot::text_length(text, 12, true));
  }
}
