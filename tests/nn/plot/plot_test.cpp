#include <ktape/ktape.hpp>
#include <ktape/nn/core/text.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

bool contains(const std::string& text, const std::string& part) { return count(text, part) > 0; }

/// Whether every line of a drawing fits.
bool narrow(const std::string& text, std::size_t columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (nn::text_width(line) > columns) return false;
  return true;
}

}  // namespace

TEST_CASE("lines: a path for each series, a legend, ticks at round numbers") {
  const std::string svg =
      plot::lines({{"train", {2, 1, 0.5}, {1, 2, 3}}, {"validation", {2.2, 1.4, 1.1}, {1, 2, 3}}},
                  {.title = "Loss", .x = {.label = "epoch"}, .y = {.label = "loss"}})
          .svg();
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"400\""));
  CHECK(count(svg, "<path") == 2);
  for (const char* text :
       {">Loss<", ">train<", ">validation<", ">epoch<", ">loss<", ">1.0<", ">2.0<", ">train: 3, 0.5<"})
    CHECK_MESSAGE(contains(svg, text), text);
  CHECK_FALSE(contains(svg, ">1.2<"));  // epochs are whole
  CHECK_FALSE(contains(svg, "<script"));
  CHECK(contains(svg, "prefers-color-scheme:dark"));
}

TEST_CASE("numbers come as tensors, variables, vectors and lists") {
  const std::vector<float> floats{1, 2, 4};
  const std::string svg = plot::lines({1, 2, 4}).svg();
  CHECK(plot::lines(floats).svg() == svg);
  CHECK(plot::lines(K::constant({1, 2, 4})).svg() == svg);
  CHECK(plot::lines(K::variable(K::constant({1.f, 2.f, 4.f}))).svg() == svg);
  CHECK(plot::lines({{.y = std::vector<int>{1, 2, 4}}}).svg() == svg);
}

TEST_CASE("ticks stand at round numbers of any size") {
  const auto ticks = [](double low, double high, bool log = false) {
    return plot::scatter({{"", {low, high}, {0, 1}}}, {.y = {.log = log, .min = low, .max = high}}).svg();
  };
  for (const char* label : {">0<", ">20<", ">100<"}) CHECK(contains(ticks(0, 100), label));
  for (const char* label : {">0.02<", ">0.10<"}) CHECK(contains(ticks(0, 0.1), label));
  for (const char* label : {">2e7<", ">1.0e8<"}) CHECK_MESSAGE(contains(ticks(0, 1e8), label), label);
  for (const char* label : {">1000000001<", ">1000000004<"}) CHECK(contains(ticks(1e9, 1e9 + 10), label));
  for (const char* label : {">-1.0e308<", ">1.0e308<"}) CHECK(contains(ticks(-1.5e308, 1.5e308), label));
  for (const char* label : {">1<", ">100<", ">1e6<"})
    CHECK_MESSAGE(contains(ticks(1, 1e6, true), label), label);
  for (const char* label : {">0.1<", ">0.2<", ">0.5<", ">1<"}) CHECK(contains(ticks(0.1, 1, true), label));
  CHECK(contains(ticks(3.2, 4.1, true), ">3.6<"));
}

TEST_CASE("numbers that are not finite leave gaps, and the picture says so") {
  const std::string svg = plot::lines({1, NAN, 3, 4, INFINITY, 2}).svg();
  CHECK(contains(svg, "2 of 6 numbers are not finite"));
  CHECK(count(svg, "M") == count(svg, "NaN") + 3);  // a piece begins after each gap
  CHECK(count(svg, "<circle") == 4);
  CHECK_FALSE(contains(svg, "nan"));
  CHECK_FALSE(contains(svg, "inf"));
  CHECK(contains(plot::lines({NAN}).svg(), "1 of 1 numbers is not finite"));
  CHECK(contains(plot::bars({"a", "b"}, {1, NAN}).text(), "1 of 2 numbers is not finite"));
  CHECK(contains(plot::histogram({1, 2, NAN}).svg(), "1 of 3 numbers is not finite"));
  CHECK(contains(plot::heat_map(K::constant({{1.f, NAN}})).svg(), "1 of 2 numbers is not finite"));
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

TEST_CASE("bars stand on zero") {
  const plot::Figure figure = plot::bars({"cats", "dogs"}, {{"2024", {3, -1}}, {"2025", {4, 2}}});
  const std::string svg = figure.svg();
  for (const char* hint : {">cats, 2024: 3<", ">dogs, 2024: -1<", ">dogs, 2025: 2<"})
    CHECK(contains(svg, hint));
  CHECK(plot::bars({"a", "b"}, {8, 4}).text({.columns = 20}) == "a │██████████████ 8\nb │███████ 4\n");
  CHECK_THROWS_WITH_AS(plot::bars({"a", "b"}, {1}),
                       "[bars] there must be a number for each label: received 1 for "
                       "2 labels in ''",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::bars({"a"}, {{"s", {1}, {1}}}), Contains("must have no x"), ValueError);
}

TEST_CASE("a histogram counts, its last interval closed") {
  const std::string text = plot::histogram({0, 0.5, 1, 1.5, 3, 4}, {.bins = 4}).text();
  CHECK(contains(text, "0 to 1 │"));
  const std::string svg = plot::histogram({0, 0.5, 1, 1.5, 3, 4}, {.bins = 4}).svg();
  for (const char* hint : {">0 to 1: 2<", ">1 to 2: 2<", ">3 to 4: 2<"}) CHECK(contains(svg, hint));
  CHECK_FALSE(contains(svg, ">2 to 3: 0<"));
  CHECK(contains(plot::histogram({1, 2, 30}, {.bins = 1, .x = {.max = 3}}).svg(), ">1 to 3: 2<"));
  CHECK(contains(plot::histogram({5, 5, 5}).svg(), ": 3<"));
  CHECK_THROWS_WITH_AS(plot::histogram({}), "[histogram] there must be numbers: received none", ValueError);
  CHECK_THROWS_WITH_AS(plot::histogram({1}, {.bins = 1001}), Contains("bins must be from 1 to 1000"),
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::histogram({1}, {.x = {.log = true}}), Contains("must not be logarithmic"),
                       ValueError);
}

TEST_CASE("a heat map is stronger where numbers are larger, in two colors where there are signs") {
  const plot::Figure figure = plot::heat_map(K::constant({{1, 2, 3}, {4, 5, 6}}),
                                             {.x_ticks = {"a", "b", "c"}, .y_ticks = {"one", "two"}});
  const std::string svg = figure.svg();
  for (const char* text : {">two<", ">b<", ">5<", ">(1, 2): 6<", "fill-opacity=\"0.8\""})
    CHECK(contains(svg, text));
  CHECK(figure.text() == "     a b c\none  1 2 3\ntwo  4 5 6\n");
  const std::string signs = plot::heat_map(K::constant({{-2.f, 1.f}})).svg();
  CHECK(contains(signs, "class=\"ktf-1\" fill-opacity=\"1\""));
  CHECK(contains(signs, "class=\"ktf-0\" fill-opacity=\"0.5\""));
  CHECK(contains(plot::heat_map(K::ones({100, 100})).svg(), "data:image/png;base64,"));
  CHECK_THROWS_WITH_AS(plot::heat_map(K::ones({3})), Contains("received shape (3,)"), ValueError);
  CHECK_THROWS_WITH_AS(
      plot::heat_map(K::ones({2, 2}), {.x_ticks = {"a"}}),
      "[heat_map] x_ticks must be as many as there are cells in its direction: received 1 for 2", ValueError);
}

TEST_CASE("a confusion matrix: classes, one-hot rows, scores or counts") {
  const std::string svg = plot::confusion_matrix(K::constant({0, 1, 1, 2}), K::constant({0, 1, 2, 2}),
                                                 {.class_names = {"cat", "dog", "emu"}})
                              .svg();
  for (const char* hint :
       {">cat predicted as cat: 1<", ">dog predicted as emu: 1<", ">emu predicted as dog: 0<"})
    CHECK(contains(svg, hint));
  const Tensor scores = K::constant({{0.9f, 0.1f}, {0.2f, 0.8f}, {0.7f, 0.3f}});
  const plot::Figure counted = plot::confusion_matrix(K::one_hot(ints({0, 1, 1}), 2), scores);
  CHECK(counted.text() == plot::confusion_matrix(K::constant({{1, 0}, {1, 1}})).text());
  CHECK(contains(plot::confusion_matrix(K::constant({{3, 1}, {0, 0}}), {.normalize = true}).text(), "0.75"));
  CHECK_THROWS_WITH_AS(plot::confusion_matrix(K::constant({0, 1}), K::constant({0})),
                       "[confusion_matrix] y_true and y_pred must be as many: received 2 and 1", ValueError);
  CHECK_THROWS_WITH_AS(plot::confusion_matrix(K::constant({0, -1}), K::constant({0, 1})),
                       Contains("received y_true[1]=-1"), ValueError);
  CHECK_THROWS_WITH_AS(
      plot::confusion_matrix(K::constant({0, 1}), K::constant({0, 1}), {.class_names = {"a"}}),
      Contains("received 1 names for class 1"), ValueError);
  CHECK_THROWS_WITH_AS(plot::confusion_matrix(K::constant({{1, -1}, {0, 0}})), Contains("counts[1]=-1"),
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::confusion_matrix(K::ones({2, 3})), Contains("must be a square matrix"),
                       ValueError);
}

TEST_CASE("images, of bytes or of brightnesses, are PNG files in the picture") {
  const std::string svg =
      plot::image_grid(K::random_uniform({3, 5, 5}), {.title = "Digits", .titles = {"1", "2", "3"}}).svg();
  CHECK(count(svg, "href=\"data:image/png;base64,iVBORw0KGgo") == 3);
  const Tensor bright = K::constant({{0.f, 1.f}}), bytes = K::constant({{0, 255}}, {.dtype = "uint8"});
  CHECK(plot::image_grid(bright).svg() == plot::image_grid(bytes).svg());
  CHECK(plot::image_grid(bright).svg() == plot::image_grid(K::constant({{-1.f, 1.f}})).svg());
  CHECK(contains(plot::image_grid(bright).text(), " █"));
  CHECK(contains(plot::image_grid(K::ones({2, 4, 4, 3})).text({.color = true}), "\x1b[38;2;255;255;255m"));
  CHECK_THROWS_WITH_AS(plot::image_grid(K::ones({2, 4, 4, 2})), Contains("received shape (2, 4, 4, 2)"),
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::image_grid(K::ones({2, 5, 5}), {.titles = {"one"}}),
                       "[image_grid] there must be a title for each image: received 1 for 2", ValueError);
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
}

TEST_CASE("drawings of characters fit the terminal") {
  const Tensor x = K::random_normal({300});
  for (const int columns : {20, 41, 132}) {
    CAPTURE(columns);
    const auto room = static_cast<std::size_t>(columns);
    CHECK(narrow(plot::lines(x).text({.columns = columns}), room));
    CHECK(narrow(plot::histogram(x).text({.columns = columns}), room));
    CHECK(narrow(plot::heat_map(K::random_normal({5, 70})).text({.columns = columns}), room));
    CHECK(narrow(plot::image_grid(K::random_uniform({9, 28, 28})).text({.columns = columns}), room));
  }
  CHECK(contains(plot::lines({1, 2}).text({.color = true}), "\x1b[94m"));
  std::ostringstream out;
  out << plot::lines({1, 2, 3});
  CHECK(out.str() == plot::lines({1, 2, 3}).text());
  CHECK_THROWS_WITH_AS(plot::lines({1}).text({.columns = 19}),
                       "[Figure] columns must be from 20 to 1000: received "
                       "columns=19",
                       ValueError);
}

TEST_CASE("a figure is saved as SVG") {
  const Files files;
  const std::string path = files.folder() + "/loss.svg";
  const plot::Figure figure = plot::lines({1, 2});
  figure.save(path);
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  CHECK(content.str() == figure.svg());
  CHECK_THROWS_WITH_AS(figure.save("loss.png"),
                       "[Figure] the name of the file must end in .svg: received loss.png", ValueError);
  CHECK_THROWS_WITH_AS(figure.save(files.folder() + "/none/loss.svg"), Contains("none/loss.svg"),
                       ktape::IOError);
}

TEST_CASE("data that cannot be drawn are an error with the reason") {
  CHECK_THROWS_WITH_AS(plot::lines(std::vector<plot::Series>()),
                       "[lines] there must be a series to draw: received none", ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({{"loss", {}}}),
                       "[lines] every series must have numbers: received none for series 0 'loss'",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::scatter({{"a", {1, 2}, {1}}}),
                       "[scatter] x and y must be as many: received 1 and 2 for series 0 'a'", ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({{"a", {1, 0}}}, {.y = {.log = true}}),
                       "[lines] numbers on a logarithmic axis must be positive: received y[1]=0 in 'a'",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({1}, {.y = {.min = 2, .max = 2}}),
                       "[lines] y.min must be below y.max: received 2 and 2", ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({1}, {.y = {.log = true, .min = 0}}),
                       Contains("y.min must be finite and positive on a logarithmic axis"), ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({1}, {.width = 100}),
                       "[lines] width must be from 160 to 10000: received width=100", ValueError);
  CHECK_THROWS_WITH_AS(plot::lines(Tensor()), Contains("must be a tensor"), ValueError);
  CHECK_THROWS_WITH_AS(plot::heat_map(K::placeholder({2, 2})), Contains("[heat_map] a symbolic tensor"),
                       ValueError);
}

TEST_CASE("names are escaped") {
  const std::string svg = plot::lines({{"<b>&\"\x01\xff", {1}}}, {.title = "</svg><script>"}).svg();
  CHECK(contains(svg, "&lt;b&gt;&amp;&quot;\uFFFD\uFFFD"));
  CHECK_FALSE(contains(svg, "<script"));
}
