#include <ktape/nn/plot/internal/cells.hpp>

#include "../../../ops/check.hpp"
#include "../drawings.hpp"

namespace plot = ktape::plot;

namespace {

plot::Cells cells(int columns) {
  const auto number = [](std::size_t i) { return std::to_string(i); };
  return {.title = "Cells",
          .x_label = "across",
          .y_label = "down",
          .x_ticks = {},
          .y_ticks = {"a", "b"},
          .rows = 2,
          .columns = static_cast<std::size_t>(columns),
          .strengths = std::vector<double>(static_cast<std::size_t>(2 * columns), 1),
          .number = number,
          .hint = [](std::size_t i) { return "cell " + std::to_string(i); },
          .annotate = {},
          .scale = plot::Scale("heat_map", "the color", {.min = 0, .max = 8}, {}, 0),
          .note = "noted",
          .width = 400};
}

}  // namespace

TEST_CASE("cells show numbers if there is room, and shades otherwise") {
  CHECK(plot::cell_chart(cells(2)).text() == "Cells\ndown ↓  across →\na  0 1\nb  2 3\nnoted\n");
  plot::Cells many = cells(12);
  many.strengths[1] = -0.5, many.strengths[2] = NAN, many.strengths[3] = 0;
  CHECK(plot::cell_chart(many).text({.columns = 26}) ==
        "Cells\ndown ↓  across →\n"
        "a ██▒-??  ████████████████\n"
        "b ████████████████████████\n"
        "  0 ░▒▓█ 8\nnoted\n");
}

TEST_CASE("cells are rectangles with hints, more than 4096 the pixels of an image") {
  const std::string svg = plot::cell_chart(cells(3)).svg();
  CHECK(count(svg, "<title>cell ") == 6);
  for (const char* text : {">Cells<", ">across<", ">down<", ">0<", ">8<", ">noted<", ">b<"})
    CHECK_MESSAGE(contains(svg, text), text);
  CHECK_FALSE(contains(svg, "<image"));
  const std::string large = plot::cell_chart(cells(2049)).svg();
  CHECK(count(large, "<image") == 2);  // for light and for dark screens
  CHECK_FALSE(contains(large, "<title>cell "));
}
