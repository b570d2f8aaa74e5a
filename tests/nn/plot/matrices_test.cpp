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
  CHECK(contains(signs, "class=\"ktf-1\" fill-opacity=\"1\""));
  CHECK(contains(signs, "class=\"ktf-0\" fill-opacity=\"0.5\""));
  CHECK(contains(plot::heat_map(K::ones({100, 100})).svg(), "data:image/png;base64,"));
  CHECK_THROWS_WITH_AS(plot::heat_map(K::ones({3})), Contains("received shape (3,)"), ValueError);
  CHECK_THROWS_WITH_AS(plot::heat_map(K::ones({2, 2}), {.x_ticks = {"a"}}),
                       "[heat_map] x_ticks must have an entry for each cell along the axis: received 1 for 2",
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
