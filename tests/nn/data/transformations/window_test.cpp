#include "../datasets.hpp"

using doctest::Contains;
using ktape::ValueError, ktape::data::Dataset, ktape::data::Element;

TEST_CASE("windows overlap by their shift") {
  const Dataset seven = Dataset::range(7);
  std::vector<Values> windows;
  for (const Element& e : seven.window(3, {.shift = 2})) windows.push_back(values(e[0]));
  CHECK(windows == std::vector<Values>{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}, {6}});
  CHECK(read(seven.window(3, {.drop_remainder = true})) == numbers(6));
  CHECK(read(seven.window(2, {.shift = 1, .stride = 3, .drop_remainder = true})) ==
        Values{0, 3, 1, 4, 2, 5, 3, 6});
  CHECK(read(seven.window(2, {.shift = 5})) == Values{0, 1, 5, 6});
}

TEST_CASE("the numbers of a window are at least 1") {
  for (const ktape::data::WindowOptions& options :
       std::vector<ktape::data::WindowOptions>{{.shift = 0}, {.stride = 0}})
    CHECK_THROWS_WITH_AS(rows(1).window(1, options),
                         Contains("[Dataset.window] size, shift and stride must be at least 1"), ValueError);
  CHECK_THROWS_WITH_AS(rows(1).window(0), Contains("received size=0, shift=0, stride=1"), ValueError);
  CHECK_THROWS_WITH_AS(rows(1).window(INT64_MAX, {.stride = 2}), Contains("64-bit"), ValueError);
}
