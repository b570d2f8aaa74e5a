#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "drawings.hpp"

namespace K = ktape::backend;
namespace plot = ktape::plot;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

TEST_CASE("numbers come as tensors, variables, vectors and lists") {
  const std::vector<float> floats{1, 2, 4};
  const std::string svg = plot::lines({1, 2, 4}).svg();
  CHECK(plot::lines(floats).svg() == svg);
  CHECK(plot::lines(K::constant({1, 2, 4})).svg() == svg);
  CHECK(plot::lines(K::variable(K::constant({1.f, 2.f, 4.f}))).svg() == svg);
  CHECK(plot::lines({{.y = std::vector<int>{1, 2, 4}}}).svg() == svg);
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
  CHECK_THROWS_WITH_AS(figure.save("loss.gif"),
                       "[Figure] the name of the file must end in .svg or .png: received loss.gif",
                       ValueError);
  CHECK_THROWS_WITH_AS(figure.save(files.folder() + "/none/loss.svg"), Contains("none/loss.svg"),
                       ktape::IOError);
}

TEST_CASE("a figure is saved as PNG, in the requested size") {
  const Files files;
  const std::string path = files.folder() + "/loss.png";
  const plot::Figure figure = plot::lines({1, 2}, {.title = "Loss", .width = 200, .height = 160});
  figure.save(path, {.scale = 1.5});
  const Tensor pixels = ktape::data::load_image(path);
  CHECK(pixels.shape() == ktape::Shape{240, 300, 3});
  CHECK(pixels.item<int>(0, 0, 0) == 255);
  figure.save(path, {.scale = 1, .dark = true});
  CHECK(ktape::data::load_image(path).item<int>(0, 0, 0) == 0x11);
  CHECK(figure.png() == figure.png({.scale = 2, .dark = false}));
  CHECK(figure.png() != figure.png({.dark = true}));
  CHECK_THROWS_WITH_AS(figure.png({.scale = 0}), "[Figure] scale must be from 0.1 to 10: received scale=0",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({1}, {.width = 9000, .height = 9000}).png(),
                       "[Figure] a PNG picture must have at most 100 million pixels: received 18000 x 18000",
                       ValueError);
}

TEST_CASE("every kind of figure is drawn as PNG") {
  const Tensor x = K::random_uniform({6, 6});
  for (const plot::Figure& figure :
       {plot::lines({1, NAN, 3}), plot::scatter(x), plot::bars({"a"}, {1}), plot::histogram(x),
        plot::heat_map(x), plot::confusion_matrix(K::constant({0, 1}), K::constant({0, 1})),
        plot::image_grid(K::random_uniform({3, 5, 5})), plot::grid({plot::lines({1, 2})})})
    CHECK(figure.png({.scale = 1}).starts_with("\x89PNG"));
}

TEST_CASE("a long title is wrapped, and no text is cut") {
  std::string title;
  for (int i = 0; i < 60; ++i) title += "word" + std::to_string(i) + ' ';
  const std::string label(300, 'l');
  const std::string svg = plot::lines({{label, {1, 2}}, {"b", {2, 1}}},
                                      {.title = title, .x = {.label = label}, .y = {.label = label}})
                              .svg();
  CHECK(count(svg, "font-weight=\"bold\"") == 3);
  CHECK(contains(svg, ">word0 "));
  CHECK(count(svg, "…</text>") == 4);
  CHECK_FALSE(contains(svg, label + "</text>"));
  for (const plot::Figure& figure :
       {plot::lines({1, 2}, {.title = title, .x = {.label = label}}),
        plot::bars({label, "b"}, {1, 2}, {.title = title}),
        plot::heat_map(K::random_normal({3, 3}),
                       {.title = title, .x_label = label, .y_ticks = {label, "", ""}}),
        plot::image_grid(K::random_uniform({2, 5, 5}), {.title = title, .titles = {label, ""}}),
        plot::grid({plot::lines({1})}, {.title = title})}) {
    CHECK(narrow(figure.text({.columns = 40}), 40));
    CHECK_FALSE(contains(figure.svg(), label + "</text>"));
  }
}

TEST_CASE("data that cannot be drawn are an error with the reason") {
  CHECK_THROWS_WITH_AS(plot::lines(std::vector<plot::Series>()),
                       "[lines] there must be a series to draw: received none", ValueError);
  CHECK_THROWS_WITH_AS(plot::lines({{"loss", {}}}),
                       "[lines] every series must have numbers: received none for series 0 'loss'",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::scatter({{"a", {1, 2}, {1}}}),
                       "[scatter] x and y must have the same size: received 1 and 2 for series 0 'a'",
                       ValueError);
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
