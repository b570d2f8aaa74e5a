#include <ktape/nn/plot/internal/frame.hpp>

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
          .legend = {"train"},
          .note = "1 of 9 numbers is not finite"};
}

}  // namespace

TEST_CASE("a frame has title, legend, axes and ticks, and maps numbers to positions") {
  plot::Frame frame(spec());
  CHECK(frame.x(10) - frame.x(0) == doctest::Approx(frame.width()));
  CHECK(frame.x(5) - frame.x(0) == doctest::Approx(frame.width() / 2));
  CHECK(frame.y(-1) == doctest::Approx(frame.bottom()));
  CHECK(frame.y(1) < frame.y(0));
  const std::string svg = frame.str();
  for (const char* text : {">Loss<", ">epoch<", ">loss<", ">train<", ">10<", ">-1.0<", ">0.5<",
                           ">1 of 9 numbers is not finite<"})
    CHECK_MESSAGE(contains(svg, text), text);
  plot::FrameSpec names = spec();
  names.x_ticks = {{0, "cats"}, {10, "dogs"}};
  names.legend = {""};
  const std::string other = plot::Frame(names).str();
  CHECK(contains(other, ">dogs<"));
  CHECK_FALSE(contains(other, ">10<"));
  CHECK(count(other, "<rect") == count(svg, "<rect") - 1);  // no legend
}

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
  CHECK(contains(text, "\n   0 ┤"));
  CHECK(contains(text, "     └───────────────────\n"));
  CHECK(text.ends_with("      epoch\n      1 of 9 numbers is not finite\n"));
  CHECK(plot::colored("■", 1, true) == "\x1b[33m■\x1b[0m");
  CHECK_THROWS_WITH_AS(plot::check_text({.columns = 1001}),
                       "[Figure] columns must be from 20 to 1000: received columns=1001", ValueError);
}
