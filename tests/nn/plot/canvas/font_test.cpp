#include <ktape/nn/plot/canvas/font.hpp>

#include <algorithm>
#include <set>

#include "../../../ops/check.hpp"

namespace plot = ktape::plot;

namespace {

/// Returns the points of a text's strokes in one list.
std::vector<double> drawn(const std::string& text) {
  std::vector<double> numbers;
  for (const plot::Piece& piece : plot::lettering(text, 10).strokes)
    for (const plot::Point& point : piece.points) numbers.insert(numbers.end(), {point.x, point.y});
  return numbers;
}

}  // namespace

TEST_CASE("every ASCII letter has a different form, on the base line") {
  std::set<std::vector<double>> forms;
  for (char c = '!'; c <= '~'; ++c) {
    CAPTURE(c);
    const std::string text(1, c);
    CHECK_FALSE(drawn(text).empty());
    forms.insert(drawn(text));
    const plot::Lettering letter = plot::lettering(text, 10);
    for (const plot::Piece& piece : letter.strokes)
      for (const plot::Point& point : piece.points) {
        CHECK(point.x >= 0);
        CHECK(point.x <= letter.width);
        CHECK(point.y >= -8);
        CHECK(point.y <= 3);
      }
  }
  CHECK(forms.size() == '~' - '!' + 1);
  CHECK(drawn(" ").empty());
}

TEST_CASE("letters have their marks; unknown characters are boxes") {
  for (const char* letter : {"ä", "é", "ñ", "Å", "ç", "ß", "µ", "→", "…", "∞", "±", "²"}) {
    CAPTURE(letter);
    CHECK(drawn(letter) != drawn("語"));
  }
  CHECK(drawn("ä") != drawn("a"));
  CHECK(drawn("ä") != drawn("á"));
  CHECK(drawn("語") == drawn("字"));
  CHECK(plot::lettering("äö", 10).width == plot::lettering("ao", 10).width);
}

TEST_CASE("the width of a text is the width of its letters times the size") {
  CHECK(plot::lettering("ab", 10).width ==
        doctest::Approx(plot::lettering("a", 10).width + plot::lettering("b", 10).width));
  CHECK(plot::lettering("ab", 20).width == doctest::Approx(2 * plot::lettering("ab", 10).width));
  CHECK(plot::lettering("ab", 10, true).width > plot::lettering("ab", 10).width);
  CHECK(plot::lettering("", 10).width == 0);
}
