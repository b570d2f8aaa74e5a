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
  CHECK(count(svg, "<path") == 2);
  for (const char* text :
       {">Loss<", ">train<", ">validation<", ">epoch<", ">loss<", ">1.0<", ">2.0<", ">train: 3, 0.5<"})
    CHECK_MESSAGE(contains(svg, text), text);
  CHECK_FALSE(contains(svg, ">1.2<"));  // epochs are whole
  CHECK_FALSE(contains(svg, "<script"));
  CHECK(contains(svg, "prefers-color-scheme:dark"));
}

TEST_CASE("scatter draws a dot for each point, with its numbers under the mouse") {
  const std::string svg = plot::scatter({{"measured", {1, 4, 9}, {1, 2, 3}}}).svg();
  CHECK(count(svg, "<circle") == 3);
  CHECK(count(svg, "<path") == 0);
  for (const char* hint : {">measured: 1, 1<", ">measured: 3, 9<"}) CHECK_MESSAGE(contains(svg, hint), hint);
  CHECK_THROWS_WITH_AS(plot::scatter({{"a", {1, 2}, {1}}}),
                       "[scatter] x and y must have the same size: received 1 and 2 for series 0 'a'",
                       ValueError);
}

TEST_CASE("lines break where numbers are not finite") {
  const std::string svg = plot::lines({1, NAN, 3, 4, INFINITY, 2}).svg();
  CHECK(contains(svg, "2 of 6 numbers are not finite"));
  CHECK(count(svg, "M") == count(svg, "NaN") + 3);  // a piece begins after each gap
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
}
