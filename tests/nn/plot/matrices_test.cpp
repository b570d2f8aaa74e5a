#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "drawings.hpp"

namespace K = ktape::backend;
namespace plot = ktape::plot;
using doctest::Contains;
using ktape::Tensor, ktape::ValueError;

TEST_CASE("a heat map is stronger where numbers are larger, in two colors where there are signs") {
  const plot::Figure figure = plot::heat_map(K::constant({{1, 2, 3}, {4, 5, 6}}),
                                             {.x_ticks = {"a", "b", "c"}, .y_ticks = {"one", "two"}});
  const std::string svg = figure.svg();
  for (const char* text : {">two<", ">b<", ">5<", ">(1, 2): 6<", "fill-opacity=\"0.8\""})
    CHECK(contains(svg, text));
  CHECK(figure.text() == "     a b c\none  1 2 3\ntwo  4 5 6\n");
  const std::string signs = plot::heat_map(K::constant({{-2.f, 1.f}})).svg();
  CHECK(contains(signs, "class=\"ktf-1\"><title>(0, 0): -2<"));
  CHECK(contains(signs, "class=\"ktf-0\" fill-opacity=\"0.5\""));
  CHECK(count(plot::heat_map(K::ones({100, 100})).svg(), "data:image/png;base64,") == 2);
  CHECK_THROWS_WITH_AS(plot::heat_map(K::ones({3})), Contains("received shape (3,)"), ValueError);
  CHECK_THROWS_WITH_AS(plot::heat_map(K::ones({2, 2}), {.x_ticks = {"a"}}),
                       "[heat_map] x_ticks must have an entry for each cell along the axis: received 1 for 2",
                       ValueError);
}

TEST_CASE("a heat map has the colors of a map, and a color bar with ticks") {
  const Tensor matrix = K::constant({{0, 50}, {75, 100}});
  const std::string svg = plot::heat_map(matrix, {.colors = "viridis"}).svg();
  for (const char* part : {"fill=\"#440154\"><title>(0, 0): 0<", "fill=\"#fde725\"><title>(1, 1): 100<",
                           "fill=\"#21918c\"><title>(0, 1): 50<", ">100<"})
    CHECK_MESSAGE(contains(svg, part), part);
  CHECK(count(svg, "<rect") == 1 + 4 + 64);
  CHECK(count(plot::heat_map(K::ones({100, 100}), {.colors = "gray"}).svg(), "data:image/png") == 1);
  const std::string signs = plot::heat_map(K::constant({{-2.f, 0.f, 1.f}}), {.colors = "coolwarm"}).svg();
  CHECK(contains(signs, "fill=\"#dddddd\"><title>(0, 1): 0<"));
  CHECK(contains(signs, "fill=\"#3b4cc0\"><title>(0, 0): -2<"));
  CHECK_THROWS_WITH_AS(plot::heat_map(matrix, {.colors = "jet"}),
                       "[heat_map] colors must be viridis, magma, gray or coolwarm: received colors=\"jet\"",
                       ValueError);
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
                       "[confusion_matrix] y_true and y_pred must have the same size: received 2 and 1",
                       ValueError);
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

TEST_CASE("a cell without a number is shown as such, and the note counts them") {
  const plot::Figure figure = plot::heat_map(K::constant({{1.f, NAN}}), {.annotate = false});
  CHECK(contains(figure.svg(), "1 of 2 numbers is not finite"));
  CHECK(contains(figure.svg(), ">(0, 1): NaN<"));
}
