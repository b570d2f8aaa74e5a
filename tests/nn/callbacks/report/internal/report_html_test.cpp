#include <ktape/nn/callbacks/report/internal/report_html.hpp>

#include "../../../../ops/check.hpp"

namespace html = ktape::nn::html;
namespace plot = ktape::plot;

TEST_CASE("times, parts and counts are short texts") {
  CHECK(html::seconds_text(0.0042) == "4.20 ms");
  CHECK(html::seconds_text(0.48) == "480 ms");
  CHECK(html::seconds_text(4.23) == "4.2 s");
  CHECK(html::seconds_text(125) == "2:05 min");
  CHECK(html::seconds_text(3723) == "1:02:03 h");
  CHECK(html::percent_text(0.875) == "87.5\u00a0%");
  CHECK(html::percent_text(0.0125) == "1.25\u00a0%");
  CHECK(html::percent_text(0) == "0.0\u00a0%");
  CHECK(html::count_text(1, "epoch") == "1 epoch");
  CHECK(html::count_text(2, "epoch") == "2 epochs");
}

TEST_CASE("rows of tables have escaped cells, numbers to the right") {
  CHECK(html::row_of({"<b>", "1", "2"}, "td", 1, 2) ==
        "<tr><td>&lt;b&gt;</td><td class=right>1</td><td>2</td></tr>\n");
  CHECK(html::row_of({"Epoch", "loss"}, "th", 1) == "<tr><th>Epoch</th><th class=right>loss</th></tr>\n");
  CHECK(html::pair_row("loss", "a & b") == "<tr><th>loss</th><td class=value>a &amp; b</td></tr>\n");
  const plot::Figure figure = plot::lines({1, 2});
  CHECK(html::picture(figure) == "<div class=\"card picture\">" + figure.svg() + "</div>\n");
}
