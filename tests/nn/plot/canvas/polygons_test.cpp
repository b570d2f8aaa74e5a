#include <ktape/nn/plot/canvas/polygons.hpp>

#include <map>
#include <numbers>

#include "../../../ops/check.hpp"

namespace plot = ktape::plot;
using plot::Polygon;

namespace {

std::map<std::pair<int, int>, double> covered(const std::vector<Polygon>& polygons,
                                              const plot::Box& clip = {0, 0, 100, 100}) {
  std::map<std::pair<int, int>, double> parts;
  plot::cover(polygons, 20, 20, clip, [&](int x, int y, double part) { parts[{x, y}] += part; });
  return parts;
}

double area(const std::vector<Polygon>& polygons, const plot::Box& clip = {0, 0, 100, 100}) {
  double sum = 0;
  for (const auto& [pixel, part] : covered(polygons, clip)) sum += part;
  return sum;
}

Polygon square(double left, double top, double side) {
  return {{left, top}, {left + side, top}, {left + side, top + side}, {left, top + side}};
}

}  // namespace

TEST_CASE("a polygon covers its area") {
  CHECK(area({square(2, 3, 4)}) == doctest::Approx(16));
  CHECK(covered({square(2, 3, 4)}).size() == 16);
  CHECK(covered({square(2.25, 3, 1)}).at({2, 3}) == doctest::Approx(0.75));
  CHECK(area({{{0, 0}, {10, 0}, {0, 10}}}) == doctest::Approx(50));
  CHECK(area({plot::circle_polygon({10, 10}, 8)}) == doctest::Approx(std::numbers::pi * 64).epsilon(0.02));
  CHECK(area({}) == 0);
  CHECK(area({{{1, 1}}, {{1, 1}, {5, 5}}}) == 0);
}

TEST_CASE("polygons of equal orientation are one shape, others leave holes") {
  CHECK(area({square(2, 2, 6), square(4, 4, 6)}) == doctest::Approx(36 + 36 - 16));
  Polygon inner = square(4, 4, 2);
  std::reverse(inner.begin(), inner.end());
  CHECK(area({square(2, 2, 6), inner}) == doctest::Approx(36 - 4));
}

TEST_CASE("pixels outside of the picture or the clip are not covered") {
  CHECK(area({square(-5, -5, 10)}) == doctest::Approx(25));
  CHECK(area({square(-1e6, -1e6, 2e6)}) == doctest::Approx(400));
  CHECK(area({square(0, 0, 20)}, {3, 4, 5, 6}) == doctest::Approx(30));
  CHECK(area({square(30, 30, 5)}) == 0);
  CHECK(area({square(0, 0, 20)}, {5, 5, 0, 10}) == 0);
}

TEST_CASE("strokes have a width, round ends, and gaps") {
  const plot::Path line{{{{4, 10}, {14, 10}}}};
  const double ends = std::numbers::pi;
  CHECK(area(plot::stroke_polygons(line, 2)) == doctest::Approx(20 + ends).epsilon(0.03));
  // Strokes of 4 and gaps of 2, then a rest of 4.
  CHECK(area(plot::stroke_polygons(line, 1, {4, 2})) == doctest::Approx(8 + 2 * ends / 4).epsilon(0.05));
  const plot::Path triangle{{.points = {{4, 4}, {12, 4}, {4, 10}}, .closed = true}};
  CHECK(area(plot::stroke_polygons(triangle, 0.5)) == doctest::Approx(24 * 0.5).epsilon(0.1));
  CHECK(plot::stroke_polygons({{}}, 2).empty());
}
