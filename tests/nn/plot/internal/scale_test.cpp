#include <ktape/nn/plot/chart.hpp>
#include <ktape/nn/plot/internal/scale.hpp>

#include "../../../ops/check.hpp"
#include "../drawings.hpp"

namespace plot = ktape::plot;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("a scale turns numbers into positions between its limits") {
  plot::Range range;
  for (const double number : std::vector<double>{4, NAN, 2, INFINITY}) range.include(number);
  CHECK(range.min == 2);
  CHECK(range.max == 4);
  const plot::Scale scale("lines", "y", {}, range, 0);
  CHECK(scale.at(2) == 0);
  CHECK(scale.at(3) == 0.5);
  CHECK(scale.at(5) == 1.5);
  CHECK(scale.shows(4));
  CHECK_FALSE(scale.shows(4.1));
  CHECK_FALSE(scale.shows(NAN));
  const plot::Scale wide("lines", "y", {.min = -1}, range, 0.1);
  CHECK(wide.min() == -1);
  CHECK(wide.max() == 4.5);
  const plot::Scale log("lines", "y", {.log = true, .min = 1, .max = 100}, {}, 0);
  CHECK(log.at(10) == 0.5);
}

TEST_CASE("a scale has about as many ticks as wanted, whole if asked") {
  const auto labels = [](const plot::Scale& scale, int wanted, bool whole = false) {
    std::string all;
    for (const plot::Scale::Tick& tick : scale.ticks(wanted, whole)) all += tick.label + ' ';
    return all;
  };
  const plot::Scale three("lines", "x", {.min = 0, .max = 3}, {}, 0);
  CHECK(labels(three, 6) == "0.0 0.5 1.0 1.5 2.0 2.5 3.0 ");
  CHECK(labels(three, 6, true) == "0 1 2 3 ");
  CHECK(labels(three, 2) == "0 2 ");
  CHECK(labels({"lines", "x", {.log = true, .min = 1, .max = 1e4}, {}, 0}, 5) == "1 10 100 1000 10000 ");
}

TEST_CASE("the ticks of an axis share one notation") {
  const auto labels = [](double low, double high, bool log = false) {
    std::string all;
    for (const auto& tick : plot::Scale("lines", "x", {.log = log, .min = low, .max = high}, {}, 0).ticks(4))
      all += tick.label + ' ';
    return all;
  };
  CHECK(labels(0, 1e8) == "0 0.5e8 1.0e8 ");
  CHECK(labels(-1, 1) == "-1.0 -0.5 0.0 0.5 1.0 ");
  CHECK(labels(0, 4e-7) == "0 1e-7 2e-7 3e-7 4e-7 ");
  CHECK(labels(1e9, 1e9 + 4) == "1000000000 1000000001 1000000002 1000000003 1000000004 ");
  CHECK(labels(1e-3, 1, true) == "0.001 0.01 0.1 1 ");
  CHECK(labels(1e-6, 1e-3, true) == "1e-6 1e-5 1e-4 1e-3 ");
  CHECK(labels(1, 1e6, true) == "1e0 1e2 1e4 1e6 ");
}

TEST_CASE("number_text has up to four digits") {
  CHECK(plot::number_text(0.123456) == "0.1235");
  CHECK(plot::number_text(12) == "12");
  CHECK(plot::number_text(1234567) == "1234567");
  CHECK(plot::number_text(-0.0) == "0");
  CHECK(plot::number_text(-1.5e-7) == "-1.5e-7");
  CHECK(plot::number_text(1e10) == "1e10");
  CHECK(plot::number_text(NAN) == "NaN");
  CHECK(plot::number_text(-INFINITY) == "-∞");
}

TEST_CASE("a minimum that is not below the maximum is an error") {
  CHECK_THROWS_WITH_AS(plot::Scale("lines", "y", {.min = 2, .max = 2}, {}, 0),
                       "[lines] y.min must be below y.max: received 2 and 2", ValueError);
  CHECK_THROWS_WITH_AS(plot::Scale("lines", "x", {.log = true, .max = -1}, {}, 0),
                       "[lines] x.max must be finite and positive on a logarithmic axis: received x.max=-1",
                       ValueError);
  CHECK_THROWS_WITH_AS(plot::Scale("lines", "x", {.max = NAN}, {}, 0), Contains("x.max must be finite"),
                       ValueError);
}

TEST_CASE("ticks stand at round numbers of any size") {
  const auto ticks = [](double low, double high, bool log = false) {
    return plot::scatter({{"", {low, high}, {0, 1}}}, {.y = {.log = log, .min = low, .max = high}}).svg();
  };
  for (const char* label : {">0<", ">20<", ">100<"}) CHECK(contains(ticks(0, 100), label));
  for (const char* label : {">0.00<", ">0.02<", ">0.10<"}) CHECK(contains(ticks(0, 0.1), label));
  for (const char* label : {">0.2e8<", ">1.0e8<"}) CHECK_MESSAGE(contains(ticks(0, 1e8), label), label);
  for (const char* label : {">1000000001<", ">1000000004<"}) CHECK(contains(ticks(1e9, 1e9 + 10), label));
  for (const char* label : {">-1.0e308<", ">1.0e308<"}) CHECK(contains(ticks(-1.5e308, 1.5e308), label));
  for (const char* label : {">1e0<", ">1e2<", ">1e6<"})
    CHECK_MESSAGE(contains(ticks(1, 1e6, true), label), label);
  for (const char* label : {">0.1<", ">0.2<", ">0.5<", ">1<"}) CHECK(contains(ticks(0.1, 1, true), label));
  CHECK(contains(ticks(3.2, 4.1, true), ">3.6<"));
}
