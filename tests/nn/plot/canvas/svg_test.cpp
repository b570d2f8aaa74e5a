#include <ktape/nn/plot/canvas/svg.hpp>
#include <ktape/nn/plot/plot.hpp>

#include "../../../ops/check.hpp"
#include "../drawings.hpp"

namespace plot = ktape::plot;
using ktape::DType, ktape::Tensor;
using plot::Paint, plot::Role;

TEST_CASE("a picture is made of shapes, texts and hints") {
  plot::Svg svg(20, 10.5, "a < b");
  svg.rect({1, 2, 3, 4.125}, {.fill = Role::Ink}, "three");
  svg.line({0, 0}, {1, 1}, {.stroke = Role::Grid});
  svg.circle({1, 2}, 0.5, {.fill = Paint::of_series(9), .opacity = 0.5});
  svg.path({{.points = {{0, 0}, {1, 0}, {1, 2.5}}, .closed = true}, {{{3, 3}, {4, 4}}}},
           {.stroke = plot::Color{1, 2, 3}, .width = 2, .dash = plot::Dash::Dashed});
  svg.text({1, 2}, "x & y", {.anchor = "end", .bold = true, .turned = -40});
  const std::string text = svg.str();
  for (const char* part :
       {"width=\"20\" height=\"10.5\" viewBox=\"0 0 20 10.5\"", "<title>a &lt; b</title>",
        "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4.12\" fill=\"#0f172a\" class=\"ktf-ink\"><title>three</"
        "title></rect>",
        "<path d=\"M0 0L1 1\" fill=\"none\" stroke=\"#e2e8f0\" class=\"kts-grid\"/>",
        "<circle cx=\"1\" cy=\"2\" r=\"0.5\" fill=\"#e8590c\" class=\"ktf-1\" fill-opacity=\"0.5\"/>",
        "<path d=\"M0 0L1 0L1 2.5ZM3 3L4 4\" fill=\"none\" stroke=\"#010203\" stroke-width=\"2\"",
        "stroke-dasharray=\"7 5\"", "font-weight=\"bold\" transform=\"rotate(-40 1 2)\">x &amp; y</text>"})
    CHECK_MESSAGE(contains(text, part), part);
  CHECK(text.ends_with("</svg>\n"));
}

TEST_CASE("an image may have another form for dark screens") {
  const Tensor pixels = counted({1, 2, 3}, "uint8");
  plot::Svg svg(20, 10, "");
  svg.image({1, 1, 4, 2}, pixels, "hint");
  CHECK(count(svg.str(), "<image") == 1);
  CHECK(contains(svg.str(), "\"><title>hint</title></image>"));
  svg.image({1, 1, 4, 2}, pixels, "", pixels);
  CHECK(count(svg.str(), "<image") == 3);
  CHECK(count(svg.str(), "class=\"kt-light\"") == 1);
  CHECK(count(svg.str(), "class=\"kt-dark\" display=\"none\"") == 1);
  CHECK(contains(svg.str(), ".kt-light{display:none}.kt-dark{display:inline}"));
}

TEST_CASE("a part of a picture has separate coordinates") {
  plot::Svg svg(20, 10, "");
  svg.open({1, 2, 3, 4}, {0, 0});
  svg.close();
  CHECK(contains(svg.str(), "<svg x=\"1\" y=\"2\" width=\"3\" height=\"4\" viewBox=\"0 0 3 4\">\n</svg>"));
}

TEST_CASE("coordinates have up to two decimals and stay in the range that readers of SVG parse") {
  CHECK(plot::coordinate(1) == "1");
  CHECK(plot::coordinate(100) == "100");
  CHECK(plot::coordinate(0.126) == "0.13");
  CHECK(plot::coordinate(-0.001) == "0");
  CHECK(plot::coordinate(-2.5) == "-2.5");
  CHECK(plot::coordinate(1e300) == "1000000");
}

TEST_CASE("data_uri writes base64") {
  CHECK(plot::data_uri("") == "data:image/png;base64,");
  CHECK(plot::data_uri("M") == "data:image/png;base64,TQ==");
  CHECK(plot::data_uri("Ma") == "data:image/png;base64,TWE=");
  CHECK(plot::data_uri("Man") == "data:image/png;base64,TWFu");
  CHECK(plot::data_uri("\xff\xfe\xfd") == "data:image/png;base64,//79");
}

TEST_CASE("names are escaped") {
  const std::string svg = plot::lines({{"<b>&\"\x01\xff", {1}}}, {.title = "</svg><script>"}).svg();
  CHECK(contains(svg, "&lt;b&gt;&amp;&quot;\uFFFD\uFFFD"));
  CHECK_FALSE(contains(svg, "<script"));
}
