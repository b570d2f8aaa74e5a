#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "drawings.hpp"

namespace K = ktape::backend;
namespace plot = ktape::plot;
using ktape::ValueError;

TEST_CASE("a grid puts figures beside and below each other") {
  const plot::Figure small = plot::lines({1, 2}, {.title = "Small", .width = 200, .height = 160}),
                     wide = plot::histogram({1, 2, 3}, {.title = "Wide", .width = 300, .height = 180});
  const std::string svg = plot::grid({small, wide, small}, {.title = "Both", .columns = 2}).svg();
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"500\" height=\"373\""));
  for (const char* part :
       {">Both<", ">Small<", ">Wide<", "<svg x=\"200\" y=\"33\" width=\"300\" height=\"180\"",
        "<svg x=\"0\" y=\"213\" width=\"200\" height=\"160\" viewBox=\"0 0 200 160\""})
    CHECK_MESSAGE(contains(svg, part), part);
  CHECK(count(svg, "<svg") == count(svg, "</svg>"));
  CHECK(count(svg, "<style>") == 1);
  // A grid of grids.
  CHECK(count(plot::grid({plot::grid({small, small}), wide}).svg(), ">Small<") == 2);
}

TEST_CASE("a grid in a terminal is as wide as the terminal") {
  const plot::Figure one = plot::lines({1, 2, 3}, {.title = "One"}), two = plot::bars({"a", "b"}, {1, 2});
  const plot::Figure grid = plot::grid({one, two}, {.columns = 2});
  for (const int columns : {20, 60, 100})
    CHECK(narrow(grid.text({.columns = columns}), static_cast<std::size_t>(columns)));
  CHECK(count(grid.text({.columns = 100}), "\n") < count(grid.text({.columns = 60}), "\n"));
  CHECK(contains(grid.text({.columns = 100, .color = true}), "\x1b["));
  const std::string first = grid.text({.columns = 100});
  CHECK(contains(first.substr(0, first.find('\n')), "a │"));
}

TEST_CASE("a grid chooses its columns") {
  const plot::Figure figure = plot::lines({1, 2}, {.width = 200, .height = 160});
  const auto width = [&](std::size_t count) {
    const std::string svg = plot::grid(std::vector<plot::Figure>(count, figure)).svg();
    return std::stoi(svg.substr(svg.find("width=\"") + 7));
  };
  CHECK(width(1) == 200);
  CHECK(width(3) == 200);
  CHECK(width(4) == 400);
  CHECK(width(5) == 600);
  CHECK_THROWS_WITH_AS(plot::grid({}), "[grid] there must be figures: received none", ValueError);
  CHECK_THROWS_WITH_AS(plot::grid({figure}, {.columns = -1}),
                       "[grid] columns must be at least 1, or 0: received columns=-1", ValueError);
}
