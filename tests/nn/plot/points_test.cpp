#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "drawings.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

TEST_CASE("lines: a path for each series, a legend, ticks at round numbers") {
  const std::string svg =
      plot::lines({{"train", {2, 1, 0.5}, {1, 2, 3}}, {"validation", {2.2, 1.4, 1.1}, {1, 2, 3}}},
                  {.title = "Loss", .x = {.label = "epoch"}, .y = {.label = "loss"}})
          .svg();
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"400\""));
  CHECK(count(svg, "stroke-width=\"2\"") == 2 + 2);  // in the legend and the chart
  for (const char* text :
       {">Loss<", ">train<", ">validation<", ">epoch<", ">loss<", ">1.0<", ">2.0<", ">train: 3, 0.5<"})
    CHECK_MESSAGE(contains(svg, text), text);
  CHECK_FALSE(contains(svg, ">1.2<"));  // epochs are whole
  CHECK_FALSE(contains(svg, "<script"));
  CHECK(contains(svg, "prefers-color-scheme:dark"));
}

TEST_CASE("a series has the given look") {
  const auto svg = [](const plot::Series& series) { return plot::lines({series}).svg(); };
  CHECK(contains(svg({.y = {1, 2}, .line = "dashed"}), "stroke-dasharray=\"7 5\""));
  CHECK(contains(svg({.y = {1, 2}, .line = "dotted"}), "stroke-dasharray=\"0.2 4\""));
  CHECK(contains(svg({.y = {1, 2}, .line = "dashdot", .size = 4}), "stroke-width=\"4\""));
  CHECK(count(svg({.y = {1, 2}, .line = "none"}), "stroke-width=\"2\"") == 0);
  CHECK(contains(svg({.y = {1, 2}, .color = 3}), "class=\"kts-3\""));
  CHECK(contains(svg({.y = {1, 2}, .alpha = 0.25}), "stroke-opacity=\"0.25\""));
  CHECK(count(svg({.y = {1, 2}, .marker = "none"}), "<circle") == 0);
  CHECK(count(svg({.y = {1, 2}, .marker = "square"}), "Z\"") == 2);
  CHECK(count(plot::scatter({{.y = {1, 2}, .marker = "circle", .size = 7}}).svg(), "r=\"7\"") == 2);
  CHECK(count(plot::scatter({{.y = {1, 2}, .line = "solid"}}).svg(), "stroke-width=\"2\"") == 1);
}

TEST_CASE("twenty series have twenty looks") {
  std::vector<plot::Series> series;
  for (int i = 0; i < 20; ++i) series.push_back({"series " + std::to_string(i), {1.0 * i, i + 1.0}});
  const std::string svg = plot::lines(series, {.height = 800}).svg();
  CHECK(count(svg, "stroke-dasharray=\"7 5\"") == 2 * 8);  // in the legend and the chart
  CHECK(count(svg, "stroke-dasharray=\"0.2 4\"") == 2 * 4);
  const std::string cut = plot::lines(series, {.height = 160}).svg();
  CHECK(contains(cut, " more</text>"));
  CHECK(narrow(plot::lines(series).text({.columns = 40}), 40));
}

TEST_CASE("twelve series keep their names, which are shortened if there is little room") {
  std::vector<plot::Series> series;
  for (int i = 0; i < 12; ++i)
    series.push_back({std::to_string(i) + " is the long name of a series", {1.0 * i, i + 1.0}});
  for (const int width : {640, 440}) {
    CAPTURE(width);
    const std::string svg = plot::lines(series, {.width = width, .height = 280}).svg();
    CHECK_FALSE(contains(svg, " more</text>"));
    for (int i = 0; i < 12; ++i) CHECK(contains(svg, '>' + std::to_string(i) + " is the"));
  }
}

TEST_CASE("bands: errors around a line, the space between two curves, error bars") {
  const std::string band = plot::lines({{.y = {1, 2, 3}, .error = {0.1, 0.2, 0.3}}}).svg();
  CHECK(count(band, "fill-opacity=\"0.25\"") == 1);
  const std::string between =
      plot::lines({{.name = "between", .low = {1, NAN, 1, 2}, .high = {2, 2, 3, 4}}}).svg();
  CHECK(count(between, "fill-opacity=\"0.25\"") == 2);  // one in the legend
  CHECK(count(between, "stroke-width=\"2\"") == 0);
  CHECK(count(between, "ZM") == 1);  // a piece begins after the gap
  const std::string bars = plot::scatter({{.y = {1, 2}, .error = {0.5, 0.5}}}).svg();
  CHECK(count(bars, "stroke-width=\"1.2\"") == 1);
  // The axis includes the bands; numbers below a logarithmic axis do not count.
  CHECK(contains(plot::lines({{.y = {1, 1}, .error = {9, 9}}}).svg(), ">10<"));
  CHECK(contains(plot::lines({{.y = {1, 2}, .error = {3, 0.5}}}, {.y = {.log = true}}).svg(), ">2<"));
  CHECK_THROWS_WITH_AS(plot::lines({{.y = {1, 2}, .low = {1, 2}}}),
                       "[lines] low and high must be given together: received one of them for series 0 ''",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({{.y = {1, 2}, .error = {1}}}),
                       "[lines] error and x must have the same size: received 1 and 2 for series 0 ''",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({{.low = {1, 0}, .high = {1, 1}}}, {.y = {.log = true}}),
                       "[lines] numbers on a logarithmic axis must be positive: received low[1]=0",
                       ValueError);
}

TEST_CASE("rules and annotations are in the picture, inside the axes") {
  const plot::ChartOptions options{.annotations = {{"peak", 1, 40}},
                                   .horizontal = {{-20, "floor"}},
                                   .vertical = {{1, "here", "solid"}, {2}}};
  const std::string svg = plot::lines({1, 2, 3}, options).svg();
  for (const char* text : {">peak<", ">floor<", ">here<", ">40<", ">-20<"})
    CHECK_MESSAGE(contains(svg, text), text);
  CHECK(count(svg, "stroke-width=\"1.5\"") == 4);
  const std::string text = plot::lines({1, 2, 3}, options).text();
  for (const char* part : {"y = -20: floor\n", "x = 1: here\n", "1, 40: peak\n", "┄", "┊"})
    CHECK_MESSAGE(contains(text, part), part);
  CHECK_THROWS_WITH_AS(plot::lines({1}, {.horizontal = {{NAN}}}),
                       "[lines] horizontal must be finite: received nan", ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({1}, {.y = {.log = true}, .annotations = {{"", 0, -1}}}),
                       "[lines] annotations must be finite and positive on a logarithmic axis: received -1",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({1}, {.vertical = {{1, "", "wavy"}}}), Contains("received line=\"wavy\""),
                       ValueError);
}

TEST_CASE("equal: a unit has one length on both axes") {
  std::vector<double> x, y;
  for (int i = 0; i < 2; ++i) x.push_back(4 * i), y.push_back(i);
  const std::string svg = plot::scatter({{.y = y, .x = x, .marker = "circle"}}, {.equal = true}).svg();
  const auto places = [&](const char* attribute) {
    std::vector<double> numbers;
    for (std::size_t at = 0; (at = svg.find(attribute, at)) != std::string::npos; ++at)
      numbers.push_back(std::stod(svg.substr(at + std::string(attribute).size())));
    return numbers;
  };
  const auto across = places("cx=\""), up = places("cy=\"");
  REQUIRE(across.size() == 2);
  CHECK(across[1] - across[0] == doctest::Approx(4 * (up[0] - up[1])).epsilon(0.01));
  CHECK(narrow(plot::scatter({{.y = y, .x = x}}, {.equal = true}).text(), 80));
  CHECK_THROWS_WITH_AS(plot::lines({1, 2}, {.y = {.log = true}, .equal = true}),
                       "[lines] equal units must have linear axes: received equal=1 and a logarithmic axis",
                       ValueError);
}

TEST_CASE("a million points are an image in a small picture") {
  const Tensor x = K::random_normal({500000}), y = K::random_normal({500000});
  const plot::Figure figure = plot::scatter({{"a", y, x}, {"b", x * y, x}}, {.title = "Many"});
  const std::string svg = figure.svg();
  CHECK(svg.size() < 1000000);
  CHECK(count(svg, "<image") == 2);  // for light and for dark screens
  CHECK(count(svg, "<circle") <= 1);
  CHECK(figure.png({.scale = 1}).size() < 1000000);
}

TEST_CASE("scatter draws a dot for each point, with its numbers under the mouse") {
  const std::string svg = plot::scatter({{"measured", {1, 4, 9}, {1, 2, 3}}}).svg();
  CHECK(count(svg, "<circle") == 1 + 3);  // one in the legend
  for (const char* hint : {">measured: 1, 1<", ">measured: 3, 9<"}) CHECK_MESSAGE(contains(svg, hint), hint);
  CHECK_THROWS_WITH_AS(plot::scatter({{"a", {1, 2}, {1}}}),
                       "[scatter] x and y must have the same size: received 1 and 2 for series 0 'a'",
                       ValueError);
}

TEST_CASE("lines break where numbers are not finite") {
  const std::string svg = plot::lines({1, NAN, 3, 4, INFINITY, 2}).svg();
  CHECK(contains(svg, "2 of 6 numbers are not finite"));
  const std::string begin = "<path d=\"M", line = svg.substr(svg.find("stroke-width=\"2\"") - 400, 400);
  CHECK(count(line.substr(line.rfind(begin)), "M") == 3);  // a piece begins after each gap
  CHECK(count(svg, "<circle") == 4);
  CHECK_FALSE(contains(svg, "nan"));
  CHECK_FALSE(contains(svg, "inf"));
  CHECK(contains(plot::lines({NAN}).svg(), "1 of 1 numbers is not finite"));
}

TEST_CASE("long series are written as they are seen") {
  std::vector<double> noise;
  for (int i = 0; i < 200000; ++i) noise.push_back((i * 7919) % 1000);
  const std::string svg = plot::lines(noise).svg();
  CHECK(svg.size() < 60000);
  const Tensor many = K::random_uniform({200000});
  CHECK(plot::scatter({{"", many, many}}).svg().size() < 300000);
}

TEST_CASE("limits cut off points outside of them") {
  const plot::ChartOptions options{.y = {.min = 0, .max = 10}};
  CHECK(count(plot::scatter({1, 5, 20}, options).svg(), "<circle") == 2);
  CHECK_FALSE(contains(plot::lines({1, 1e200, 2}, options).svg(), "e+"));
  CHECK(narrow(plot::lines({1, 1e200, 2}, options).text(), 80));
}

TEST_CASE("curves: a number of each epoch, and of the epochs that were validated") {
  nn::Sequential model({nn::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor x = K::ones({4, 2}), y = K::ones({4, 1});
  const nn::History history =
      model.fit(x, y, {.epochs = 4, .verbose = 0, .validation_data = {x, y}, .validation_freq = 3});
  const std::string svg = plot::curves(history).svg();
  CHECK(contains(svg, ">training: 4, "));
  CHECK(contains(svg, ">validation: 3, "));  // the epochs are counted from 1 here
  CHECK_THROWS_WITH_AS(plot::curves(history, "los"), Contains("did you mean 'loss'"), ValueError);
  CHECK_THROWS_WITH_AS(plot::curves(nn::History()), "[curves] the history must hold an epoch: received none",
                       ValueError);
}
