#include <ktape/ktape.hpp>

#include "../../ops/check.hpp"
#include "drawings.hpp"

namespace plot = ktape::plot;
using doctest::Contains;
using ktape::ValueError;

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
  CHECK(contains(plot::histogram({5, 5, 6}, {.y = {.log = true}}).svg(), ">count<"));
  CHECK(contains(plot::histogram({5, 5, 6}, {.y = {.label = "images"}}).svg(), ">images<"));
  CHECK_THROWS_WITH_AS(plot::histogram({}), "[histogram] there must be numbers: received none", ValueError);
  CHECK_THROWS_WITH_AS(plot::histogram({1}, {.bins = 1001}), Contains("bins must be from 1 to 1000"),
                       ValueError);
}

TEST_CASE("integers have separate bins") {
  const std::string svg = plot::histogram(std::vector<int>{1, 2, 2, 5}).svg();
  for (const char* hint : {">1: 1<", ">2: 2<", ">5: 1<"}) CHECK_MESSAGE(contains(svg, hint), hint);
  CHECK(count(svg, "<title>") == 1 + 3);
  const std::string text = plot::histogram({1, 2, 2, 5}).text();
  CHECK(contains(text, "1 │"));
  CHECK(contains(text, "4 │ 0\n"));
  std::vector<int> many;
  for (int i = 0; i < 1000; ++i) many.push_back(i);
  // Equally many integers in each bin.
  const std::string shared = plot::histogram(many).svg();
  CHECK(contains(shared, ">0 to 99: 100<"));
  CHECK(contains(shared, ">900 to 999: 100<"));
  CHECK(contains(plot::histogram({1, 2, 3, 30}, {.x = {.max = 3.5}}).svg(), ">3: 1<"));
  CHECK(contains(plot::histogram({1, 2, 30}, {.bins = 2}).svg(), ">1 to 15.5: 2<"));
  CHECK(contains(plot::histogram({123456, 123457}).svg(), ">123457: 1<"));
}

TEST_CASE("a histogram on a logarithmic axis has bins of equal ratio") {
  const std::string svg = plot::histogram({1, 5, 50, 500, 1000}, {.bins = 3, .x = {.log = true}}).svg();
  for (const char* hint : {">1 to 10: 2<", ">10 to 100: 1<", ">100 to 1000: 2<"})
    CHECK_MESSAGE(contains(svg, hint), hint);
  for (const char* tick : {">1<", ">10<", ">100<", ">1000<"}) CHECK_MESSAGE(contains(svg, tick), tick);
  CHECK(contains(plot::histogram({1, 5, 50}, {.bins = 1, .y = {.log = true}}).svg(), ">1 to 50: 3<"));
  CHECK_THROWS_WITH_AS(plot::histogram({1, 0}, {.x = {.log = true}}),
                       "[histogram] numbers on a logarithmic axis must be positive: received x[1]=0",
                       ValueError);
}

TEST_CASE("bars from the ninth series on are hatched") {
  std::vector<plot::Series> series;
  for (int i = 0; i < 8; ++i) series.push_back({"s" + std::to_string(i), {1}});
  CHECK(count(plot::bars({"a"}, series).svg(), "stroke=\"#ffffff\"") == 0);
  for (int i = 8; i < 20; ++i) series.push_back({"s" + std::to_string(i), {1}});
  CHECK(count(plot::bars({"a"}, series, {.height = 800}).svg(), "stroke=\"#ffffff\"") ==
        2 * 12);  // with legend
}

TEST_CASE("bars of numbers that are not finite are left out, and counted in a note") {
  CHECK(contains(plot::bars({"a", "b"}, {1, NAN}).text(), "1 of 2 numbers is not finite"));
  CHECK(count(plot::bars({"a", "b"}, {1, NAN}).svg(), ">a: 1<") == 1);
  CHECK_FALSE(contains(plot::bars({"a", "b"}, {1, NAN}).svg(), ">b: "));
  CHECK(contains(plot::histogram({1, 2, NAN}).svg(), "1 of 3 numbers is not finite"));
}
