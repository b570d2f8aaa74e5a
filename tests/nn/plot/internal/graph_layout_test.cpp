#include <ktape/ktape.hpp>
#include <ktape/nn/plot/internal/graph_layout.hpp>

#include <cmath>
#include <random>

#include "../../../ops/check.hpp"

using ktape::nn::GraphLayout, ktape::nn::LayoutBox;

namespace {

bool inside(const GraphLayout& layout, const LayoutBox& size, std::size_t box, double along, double across) {
  return std::abs(along - layout.at(box).along) < size.length / 2 - 1 &&
         std::abs(across - layout.at(box).across) < size.breadth / 2 - 1;
}

bool apart(const GraphLayout& layout, const std::vector<LayoutBox>& boxes, std::size_t a, std::size_t b) {
  const auto p = layout.at(a), q = layout.at(b);
  return std::abs(p.along - q.along) >= (boxes[a].length + boxes[b].length) / 2 ||
         std::abs(p.across - q.across) >= (boxes[a].breadth + boxes[b].breadth) / 2;
}

/// Checks that no two boxes touch, every box stands after the boxes that lead to it and within the drawing,
/// and no arrow crosses a box.
void check(const std::vector<LayoutBox>& boxes) {
  const GraphLayout layout(boxes);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    CAPTURE(i);
    const auto place = layout.at(i);
    CHECK(place.along - boxes[i].length / 2 >= 0);
    CHECK(place.across - boxes[i].breadth / 2 >= -1e-9);
    CHECK(place.along + boxes[i].length / 2 <= layout.length());
    CHECK(place.across + boxes[i].breadth / 2 <= layout.breadth() + 1e-9);
    for (std::size_t j = 0; j < i; ++j) CHECK(apart(layout, boxes, i, j));
    for (const std::size_t from : boxes[i].from) {
      CHECK(layout.at(from).along + boxes[from].length / 2 < place.along - boxes[i].length / 2);
      const auto route = layout.route(from, i);
      for (std::size_t k = 1; k < route.size(); ++k)
        for (int step = 0; step <= 10; ++step) {
          const double t = step / 10.0,
                       along = route[k - 1].along + t * (route[k].along - route[k - 1].along),
                       across = route[k - 1].across + t * (route[k].across - route[k - 1].across);
          for (std::size_t box = 0; box < boxes.size(); ++box)
            CHECK_FALSE(inside(layout, boxes[box], box, along, across));
        }
    }
  }
}

}  // namespace

TEST_CASE("an arrow past a box runs beside it") {
  check({{30, 100, {}}, {30, 80, {0}}, {30, 80, {1}}, {30, 100, {2, 0}}});
}

TEST_CASE("a chain is one straight line") {
  const GraphLayout layout({{30, 100, {}}, {40, 250, {0}}, {30, 60, {1}}, {30, 90, {2}}});
  for (std::size_t i = 1; i < 4; ++i) CHECK(layout.at(i).across == layout.at(0).across);
}

TEST_CASE("an input stands directly before its users") {
  const std::vector<LayoutBox> boxes{
      {30, 100, {}}, {30, 100, {}}, {30, 100, {0}}, {30, 100, {2}}, {30, 100, {3, 1}}};
  const GraphLayout layout(boxes);
  CHECK(layout.at(1).along == layout.at(3).along);
  check(boxes);
}

TEST_CASE("avoidable crossings are avoided") {
  const GraphLayout layout({{30, 50, {}}, {30, 50, {}}, {30, 50, {1}}, {30, 50, {0}}});
  CHECK((layout.at(0).across < layout.at(1).across) == (layout.at(3).across < layout.at(2).across));
}

TEST_CASE("drawings of any graph have no touching boxes and no hidden arrows") {
  std::mt19937 random(1);
  for (int graph = 0; graph < 60; ++graph) {
    CAPTURE(graph);
    std::vector<LayoutBox> boxes(2 + random() % 18);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      boxes[i] = {20.0 + random() % 40, 30.0 + random() % 200, {}};
      for (std::size_t k = random() % 3; i > 0 && k > 0; --k) boxes[i].from.push_back(random() % i);
    }
    check(boxes);
  }
}

TEST_CASE("an empty graph has no size") {
  CHECK(GraphLayout({}).length() == 0);
  CHECK(GraphLayout({}).breadth() == 0);
}
