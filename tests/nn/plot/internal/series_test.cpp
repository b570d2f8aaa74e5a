#include <ktape/nn/plot/internal/series.hpp>

#include "../../../ops/check.hpp"
#include "../drawings.hpp"

namespace plot = ktape::plot;
using doctest::Contains;
using ktape::ValueError;
using plot::Dash, plot::Marker;

TEST_CASE("a series has x, and the look of its position or the given look") {
  const auto list = plot::checked("lines", {{"a", {5, 6, 7}}, {.name = "b", .low = {1, 2}, .high = {3, 4}}});
  CHECK(std::vector<double>(list[0].x.begin(), list[0].x.end()) == std::vector<double>{0, 1, 2});
  CHECK(list[1].x.size() == 2);
  CHECK(plot::look_of(list[0], 9, true).dash == Dash::Dashed);
  CHECK(plot::look_of(list[0], 9, false).dash == Dash::None);
  CHECK(plot::look_of(list[1], 0, true).dash == Dash::None);
  const plot::Look look = plot::look_of({.y = {1}, .line = "dotted", .marker = "star", .color = 11}, 0, true);
  CHECK(look.dash == Dash::Dotted);
  CHECK(look.marker == Marker::Star);
  CHECK(look.color == 3);
}

TEST_CASE("looks that do not exist are errors") {
  CHECK_THROWS_WITH_AS(plot::checked("lines", {{.y = {1}, .line = "wavy"}}),
                       "[lines] line must be none, solid, dashed, dotted or dashdot: received line=\"wavy\"",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::checked("lines", {{.y = {1}, .marker = "moon"}}),
                       Contains("marker must be none, circle, square, triangle, diamond, cross, plus, "
                                "triangle_down or star: received marker=\"moon\""),
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::checked("lines", {{.y = {1}, .alpha = 2}}),
                       "[lines] alpha must be from 0 to 1: received alpha=2 for series 0 ''", ValueError);
  CHECK_THROWS_WITH_AS(plot::checked("lines", {{.name = "s", .y = {1}, .size = -1}}),
                       "[lines] size must be from 0 to 100: received size=-1 for series 0 's'", ValueError);
  CHECK_THROWS_WITH_AS(plot::checked("lines", {{.y = {1}, .color = -1}}),
                       "[lines] color must be at least 0: received color=-1 for series 0 ''", ValueError);
  CHECK_THROWS_WITH_AS(plot::checked("lines", {{.y = {1}, .error = {-1}}}),
                       "[lines] error must be at least 0: received error=-1 for series 0 ''", ValueError);
  CHECK_THROWS_WITH_AS(plot::checked("lines", {{.error = {1}}}), Contains("must have numbers"), ValueError);
}
