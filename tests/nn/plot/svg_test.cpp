#include <ktape/nn/plot/plot.hpp>
#include <ktape/nn/plot/svg.hpp>

#include "../../ops/check.hpp"
#include "drawings.hpp"

namespace plot = ktape::plot;
using plot::Role;

TEST_CASE("a picture is made of shapes, texts and hints") {
  plot::Svg svg(20, 10.5, "a < b");
  svg.rect({1, 2, 3, 4.125}, plot::painted(Role::Ink), "three");
  svg.line(0, 0, 1, 1, plot::painted({}, Role::Grid));
  svg.circle(1, 2, 0.5, plot::painted(plot::Paint::of_series(9)));
  svg.text(1, 2, "x & y", {.anchor = "end", .bold = true, .turned = -40});
  const std::string text = svg.str();
  for (const char* part :
       {"width=\"20\" height=\"10.5\" viewBox=\"0 0 20 10.5\"", "<title>a &lt; b</title>",
        "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4.12\" fill=\"#0f172a\" class=\"ktf-ink\"><title>three</"
        "title></rect>",
        "<line x1=\"0\" y1=\"0\" x2=\"1\" y2=\"1\" fill=\"none\" stroke=\"#e2e8f0\" class=\"kts-grid\"/>",
        "<circle cx=\"1\" cy=\"2\" r=\"0.5\" fill=\"#ea580c\" class=\"ktf-1\"/>",
        "font-weight=\"bold\" transform=\"rotate(-40 1 2)\">x &amp; y</text>"})
    CHECK_MESSAGE(contains(text, part), part);
  CHECK(text.ends_with("</svg>\n"));
}

TEST_CASE("coordinates have up to two decimals") {
  CHECK(plot::coordinate(1) == "1");
  CHECK(plot::coordinate(100) == "100");
  CHECK(plot::coordinate(0.126) == "0.13");
  CHECK(plot::coordinate(-0.001) == "0");
  CHECK(plot::coordinate(-2.5) == "-2.5");
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
