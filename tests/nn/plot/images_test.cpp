#include <ktape/ktape.hpp>
#include <ktape/nn/plot/pixels.hpp>

#include "../../ops/check.hpp"
#include "drawings.hpp"

namespace K = ktape::backend;
namespace plot = ktape::plot;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

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

TEST_CASE("rows and columns of images have labels") {
  const plot::ImageGridOptions options{
      .columns = 3, .row_labels = {"digits", "rebuilt"}, .column_labels = {"one", "two", "three"}};
  const plot::Figure figure = plot::image_grid(K::random_uniform({5, 6, 6}), options);
  for (const char* label : {">digits<", ">rebuilt<", ">one<", ">two<", ">three<"}) {
    CHECK_MESSAGE(contains(figure.svg(), label), label);
    const std::string text(label + 1, std::string(label).size() - 2);
    CHECK_MESSAGE((contains(figure.text(), text) || contains(figure.text(), text.substr(0, 3) + "…")), label);
  }
  CHECK_FALSE(contains(figure.svg(), "…"));
  CHECK(narrow(figure.text({.columns = 30}), 30));
  CHECK_THROWS_WITH_AS(plot::image_grid(K::ones({5, 6, 6}), {.columns = 3, .row_labels = {"a"}}),
                       "[image_grid] row_labels must have a label for each: received 1 for 2", ValueError);
  CHECK_THROWS_WITH_AS(plot::image_grid(K::ones({2, 6, 6}), {.columns = 3, .column_labels = {"a"}}),
                       "[image_grid] column_labels must have a label for each: received 1 for 2", ValueError);
}

TEST_CASE("pixels_of turns numbers into bytes, by the range of all") {
  const auto bytes = [](const Tensor& images) { return values(plot::pixels_of("image_grid", images)); };
  CHECK(bytes(K::constant({{0.f, 0.2f, 1.f}})) == Values{0, 51, 255});
  CHECK(bytes(K::constant({{0.f, 51.f, 255.f}})) == Values{0, 51, 255});
  CHECK(bytes(K::constant({{-2.f, 0.f, 2.f}})) == Values{0, 128, 255});
  CHECK(bytes(K::constant({{0, 1, 255}})) == Values{0, 1, 255});
  CHECK(bytes(K::constant({{NAN, 1.f}})) == Values{0, 255});
  const Tensor two = plot::pixels_of("image_grid", counted({2, 2, 2}, "uint8"));
  CHECK(two.shape() == ktape::Shape{2, 2, 2, 1});
  CHECK(values(plot::pixels_at(two, 1)) == Values{4, 5, 6, 7});
}

TEST_CASE("images are drawn with characters, two rows of pixels in a line") {
  const Tensor images = K::constant({{{0, 255}, {0, 255}}, {{255, 0}, {0, 255}}}, {.dtype = "uint8"});
  CHECK(plot::image_grid(images, {.titles = {"a", "b"}}).text() == " █ ▒▒ \na  b  \n");
  CHECK(plot::image_grid(images, {.columns = 1}).text() == " █ \n▒▒ \n");
  CHECK_THROWS_WITH_AS(plot::image_grid(images, {.columns = -1}),
                       "[image_grid] columns must be at least 1, or 0: received columns=-1", ValueError);
}
