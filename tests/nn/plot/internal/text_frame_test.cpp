#include <ktape/nn/plot/internal/text_frame.hpp>

#include "../../../ops/check.hpp"
#include "../drawings.hpp"

namespace plot = ktape::plot;
using ktape::ValueError;

namespace {

plot::FrameSpec spec() {
  return {.title = "Loss",
          .x_label = "epoch",
          .y_label = "loss",
          .x = plot::Scale("lines", "x", {.min = 0, .max = 10}, {}, 0),
          .y = plot::Scale("lines", "y", {.min = -1, .max = 1}, {}, 0),
          .legend = {{.name = "train"}},
          .note = "1 of 9 numbers is not finite"};
}

}  // namespace

TEST_CASE("dots are set in characters of two by four") {
  plot::Dots dots(2, 1);
  dots.dot(0, 0, 0);
  CHECK(dots.row(0, false) == "⡀ ");
  CHECK(dots.row(0, true) == "\x1b[94m⡀\x1b[0m ");
  dots.dot(1, 1, 1);
  dots.dot(1.1, 0, 0);  // outside
  CHECK(dots.row(0, false) == "⡀⠈");
  plot::Dots diagonal(1, 1);
  diagonal.line(0, 0, 1, 1, 0);
  CHECK(diagonal.row(0, false) == "⡸");
}

TEST_CASE("a frame of characters has the ticks beside and below the dots") {
  plot::FrameSpec given = spec();
  given.title = "";
  const plot::TextFrame frame(given, {.columns = 25});
  const std::string text = frame.str(frame.dots());
  CHECK(text.starts_with("■ train\nloss\n 1.0 ┤"));
  CHECK(contains(text, "\n 0.0 ┤"));
  CHECK(contains(text, "     └───────────────────\n"));
  CHECK(text.ends_with("      epoch\n      1 of 9 numbers is\n      not finite\n"));
  CHECK(plot::colored("■", 1, true) == "\x1b[33m■\x1b[0m");
  CHECK_THROWS_WITH_AS(plot::check_text({.columns = 1001}),
                       "[Figure] columns must be from 20 to 1000: received columns=1001", ValueError);
}

TEST_CASE("series without different colors are drawn as letters") {
  plot::FrameSpec two = spec();
  two.legend.push_back({.name = "validation"});
  const plot::TextFrame frame(two, {.columns = 30});
  plot::Dots dots = frame.dots();
  dots.dot(0.5, 0.5, 1);
  dots.rule_across(0.1);
  dots.rule_up(0.5);
  const std::string text = frame.str(dots);
  CHECK(contains(text, "o train  x validation\n"));
  CHECK(contains(text, "           x"));
  CHECK(contains(text, "┄┄┄┊┄┄┄"));
  const plot::TextFrame colors(two, {.columns = 30, .color = true});
  CHECK(contains(colors.str(colors.dots()), "■"));
  for (int i = 0; i < 9; ++i) two.legend.push_back({.name = "more"});
  const plot::TextFrame many(two, {.columns = 30, .color = true});
  CHECK_FALSE(contains(many.str(many.dots()), "■"));
  CHECK(narrow(plot::TextFrame(two, {.columns = 30}).str(frame.dots()), 30));
}

TEST_CASE("units of equal length have half as many rows as columns") {
  plot::FrameSpec equal = spec();
  equal.equal = true;
  const plot::Dots dots = plot::TextFrame(equal, {.columns = 80}).dots();
  CHECK(dots.rows() == 7);
  CHECK(dots.columns() == 70);
}
