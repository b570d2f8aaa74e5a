#include <ktape/nn/plot/canvas/svg.hpp>
#include <ktape/nn/plot/internal/frame.hpp>

#include "../../../ops/check.hpp"
#include "../drawings.hpp"

namespace plot = ktape::plot;

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

TEST_CASE("a frame has title, legend, axes and ticks, and maps numbers to positions") {
  plot::Svg svg(640, 400, "");
  const plot::FrameSpec given = spec();
  {
    const plot::Frame frame(svg, given);
    CHECK(frame.x(10) - frame.x(0) == doctest::Approx(frame.width()));
    CHECK(frame.x(5) - frame.x(0) == doctest::Approx(frame.width() / 2));
    CHECK(frame.y(-1) == doctest::Approx(frame.bottom()));
    CHECK(frame.y(1) < frame.y(0));
  }
  for (const char* text : {">Loss<", ">epoch<", ">loss<", ">train<", ">10<", ">-1.0<", ">0.5<",
                           ">1 of 9 numbers is not finite<"})
    CHECK_MESSAGE(contains(svg.str(), text), text);
  CHECK(count(svg.str(), "<svg") == count(svg.str(), "</svg>"));
  plot::FrameSpec names = spec();
  names.x_ticks = {{0, "cats"}, {10, "dogs"}};
  names.legend = {{.name = ""}};
  plot::Svg other(640, 400, "");
  plot::Frame(other, names).width();
  CHECK(contains(other.str(), ">dogs<"));
  CHECK_FALSE(contains(other.str(), ">10<"));
  CHECK(count(other.str(), "<path") < count(svg.str(), "<path"));  // no legend
}

TEST_CASE("a legend has rows, and shows the number of names without room") {
  plot::FrameSpec many = spec();
  many.legend.clear();
  for (int i = 0; i < 100; ++i)
    many.legend.push_back(
        {.name = "series " + std::to_string(i), .look = plot::line_look(static_cast<std::size_t>(i))});
  plot::Svg svg(640, 400, "");
  plot::Frame(svg, many).width();
  CHECK(contains(svg.str(), ">series 20<"));
  CHECK_FALSE(contains(svg.str(), ">series 99<"));
  CHECK(contains(svg.str(), " more<"));
}

TEST_CASE("slanted labels of x end in an ellipsis where they would leave the picture") {
  plot::FrameSpec names = spec();
  names.x_ticks = {{0, "a very long name of a class"}, {5, "another very long name"}, {10, "c"}};
  names.width = 160;
  plot::Svg svg(160, 400, "");
  plot::Frame(svg, names).width();
  CHECK(contains(svg.str(), "rotate(-40"));
  CHECK(contains(svg.str(), "…<"));
}
