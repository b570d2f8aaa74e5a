#include <doctest/doctest.h>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/reductions.hpp>
#include <ktape/ops/keras/numpy/statistics.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>

#include <limits>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN(),
                 inf = std::numeric_limits<double>::infinity();

Tensor with_nan() { return doubles({{1., missing, 3.}, {missing, missing, missing}, {-2., 5., 0.5}}); }
Tensor numbers() { return doubles({{0.5, -2., 1.5, 4.}, {3., 1., -0.25, 0.75}, {2., 2.5, -3., 0.125}}); }

}  // namespace

TEST_CASE("ops: narrow integers and bools are counted in int32") {
  CHECK(ops::sum(ints({100, 100}, "int8")).item<int>() == 200);
  CHECK(ops::sum(K::constant({true, true})).dtype() == "int32");
  CHECK(ops::prod(ints({20, 20}, "int8")).item<int>() == 400);
  CHECK(values(ops::cumsum(ints({100, 100}, "int8"))) == Values{100, -56});
  CHECK(ops::mean(ints({1, 2})).dtype() == K::floatx());
  CHECK(ops::argmax(doubles({{1., 2.}, {3., 0.}})).item<int>() == 2);
  CHECK(ops::argmax(doubles({{1., 2.}, {3., 0.}}), -1, true).shape() == Shape{2, 1});
}

TEST_CASE("ops: average counts the dtype of its weights, and takes several axes") {
  const Tensor x = ints({{1, 2, 3}, {3, 2, 1}}), weights = doubles({1., 2., 5.});
  CHECK(ops::average(x, 1, weights).dtype() == "float64");
  CHECK(ops::average(x, 1, K::cast(weights, "float16")).dtype() == "float16");
  CHECK(ops::average(K::cast(x, "float16"), 1, K::cast(weights, "bfloat16")).dtype() == "float32");
  CHECK(ops::average(K::cast(x, "float16"), {}, x).dtype() == "float16");
  CHECK(ops::average(x, {}, x).dtype() == K::floatx());
  CHECK(values(ops::average(x, 1, weights)) == Values{2.5, 1.5});
  CHECK(values(ops::average(x, {1}, weights)) == Values{2.5, 1.5});
  CHECK(values(ops::average(x, {0, 1}, x)) == values(ops::average(x, {}, x)));
  CHECK(values(ops::average(x, {0, 1})) == Values{2});
  CHECK_THROWS_WITH_AS(ops::average(x, {0, 1}, weights),
                       "[average] weights must have the shape of x, (2, 3): received weights=(3,)",
                       ValueError);
}

TEST_CASE("ops: the order of a number") {
  CHECK(values(ops::argsort(doubles(7.))) == Values{0});
  CHECK(ops::argsort(doubles(7.)).shape() == Shape{1});
  CHECK(ops::argsort(doubles(7.), {}).dtype() == "int32");
  CHECK_THROWS_AS(ops::argsort(doubles(7.), 1), ValueError);
}

TEST_CASE("ops: reductions that skip NaN, and groups of NaN alone") {
  CHECK(values(ops::nansum(with_nan(), 1)) == Values{4, 0, 3.5});
  CHECK(values(ops::nanprod(with_nan(), 1)) == Values{3, 1, -5});
  CHECK(values(ops::nanargmax(with_nan(), 1)) == Values{2, -1, 1});
  CHECK(values(ops::nanargmin(with_nan(), 1)) == Values{0, -1, 0});
  const std::vector<double> most = values(ops::nanmax(with_nan(), 1)),
                            mean = values(ops::nanmean(with_nan(), 1));
  CHECK(most[0] == 3);
  CHECK(std::isnan(most[1]));
  CHECK(mean[0] == 2);
  CHECK(std::isnan(mean[1]));
  CHECK(values(slope([](const Tensor& x) { return ops::nansum(x); }, with_nan())) ==
        Values{1, 0, 1, 0, 0, 0, 1, 1, 1});
  CHECK(values(ops::nancumsum(doubles({missing, 1., missing, 2.}))) == Values{0, 1, 1, 3});
}

TEST_CASE("ops: quantiles by every method") {
  const Tensor x = doubles({3., 1., 2., 4.});
  CHECK(ops::quantile(x, 0.5).item<double>() == 2.5);
  CHECK(ops::quantile(x, 0.5, {}, {.method = "lower"}).item<double>() == 2);
  CHECK(ops::quantile(x, 0.5, {}, {.method = "higher"}).item<double>() == 3);
  CHECK(ops::quantile(x, 0.4, {}, {.method = "nearest"}).item<double>() == 2);
  CHECK(ops::quantile(x, 0.5, {}, {.method = "nearest"}).item<double>() == 3);
  CHECK(ops::median(doubles({inf, inf, -inf, 2.})).item<double>() == inf);
  CHECK(std::isnan(ops::median(doubles({1., missing, 2.})).item<double>()));
  CHECK(ops::nanmedian(doubles({1., missing, 2.})).item<double>() == 1.5);
  CHECK(ops::percentile(K::reshape(x, {2, 2}), {0, 50, 100}, 1, {.keepdims = true}).shape() ==
        Shape{3, 2, 1});
}

TEST_CASE("ops: correlations of integers are floating and do not wrap around") {
  for (const char* dtype : {"bool", "uint8", "int8", "int16", "int32", "int64"}) {
    CAPTURE(dtype);
    const bool truth = dtype == std::string("bool"), wide = dtype == std::string("int64");
    const Tensor x = K::cast(doubles({100., 100., 100., 1.}), dtype),
                 y = K::cast(doubles({100., 100.}), dtype);
    for (const auto& [a, b] : {std::pair(x, y), std::pair(y, x)}) {
      const Tensor found = ops::correlate(a, b);
      CHECK(found.dtype() == (wide ? "float64" : "float32"));
      CHECK(K::max(found).item() == (truth ? 2 : 20000));
    }
  }
  CHECK(ops::correlate(ints({1, 2}, "int8"), K::constant({1., 2.}, {.dtype = "float16"})).dtype() ==
        "float16");
  CHECK(ops::correlate(ints({1, 2}, "int64"), K::constant({1., 2.})).dtype() == "float32");
}

TEST_CASE("ops: reductions refuse wrong arguments") {
  CHECK_THROWS_WITH_AS(ops::max(K::zeros({0, 3}), 0),
                       "[max] a group must have an element, or initial be given: received x=(0, 3), axis 0",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::quantile(doubles({1.}), 1.5), "[quantile] q must be in [0, 1]: received q=1.5",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::percentile(doubles({1.}), -1),
                       "[percentile] q must be in [0, 100]: received q=-1", ValueError);
  CHECK_THROWS_AS(ops::quantile(doubles({1.}), 0.5, {}, {.method = "best"}), ValueError);
  CHECK_THROWS_WITH_AS(ops::median(K::zeros({0})), "[median] a group must have an element: received x=(0,)",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::corrcoef(K::zeros({2, 2, 2})),
                       "[corrcoef] x must be a vector or a matrix: received x=(2, 2, 2)", ValueError);
  CHECK_THROWS_WITH_AS(ops::diff(doubles({1., 2.}), -1), "[diff] n must be at least 0: received n=-1",
                       ValueError);
  CHECK_THROWS_AS(ops::average(numbers(), 1, doubles({1., 2.})), ValueError);
  CHECK_THROWS_WITH_AS(ops::argpartition(doubles({1., 2.}), 2),
                       "[argpartition] kth must be in [-2, 2): received kth=2", ValueError);
  CHECK_THROWS_WITH_AS(ops::correlate(doubles({1.}), doubles({1.}), "most"),
                       "[correlate] mode must be \"valid\", \"same\" or \"full\": received mode=\"most\"",
                       ValueError);
}

namespace {

template <class F>
auto rows(F f) {
  return [f](In in) { return f(in[0], 1, false); };
}

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  const Tensor x = numbers();
  return {
      {"ops::sum", rows(ops::sum), {x}},
      {"ops::prod", [](In in) { return ops::prod(in[0], 1); }, {x}},
      {"ops::max", [](In in) { return ops::max(in[0], 1, false, 0.25); }, {x}},
      {"ops::min", [](In in) { return ops::min(in[0], 0); }, {x}},
      {"ops::amax", rows(ops::amax), {x}},
      {"ops::amin", rows(ops::amin), {x}},
      {"ops::ptp", rows(ops::ptp), {x}},
      {"ops::mean", rows(ops::mean), {x}},
      {"ops::var", rows(ops::var), {x}},
      {"ops::std", rows(ops::std), {x}},
      {"ops::logsumexp", rows(ops::logsumexp), {x}},
      {"ops::cumsum", [](In in) { return ops::cumsum(in[0], 1); }, {x}},
      {"ops::cumprod", [](In in) { return ops::cumprod(in[0]); }, {x}},
      {"ops::nansum", rows(ops::nansum), {x}},
      {"ops::nanprod", rows(ops::nanprod), {x}},
      {"ops::nanmean", rows(ops::nanmean), {x}},
      {"ops::nanvar", rows(ops::nanvar), {x}},
      {"ops::nanstd", rows(ops::nanstd), {x}},
      {"ops::nanmax", rows(ops::nanmax), {x}},
      {"ops::nanmin", rows(ops::nanmin), {x}},
      {"ops::nancumsum", [](In in) { return ops::nancumsum(in[0], 1); }, {x}},
      {"ops::nancumprod", [](In in) { return ops::nancumprod(in[0], 1); }, {x}},
      {"ops::quantile", [](In in) { return ops::quantile(in[0], {0.25, 0.7}, 1); }, {x}},
      {"ops::percentile", [](In in) { return ops::percentile(in[0], 30); }, {x}},
      {"ops::nanquantile", [](In in) { return ops::nanquantile(in[0], 0.25, 1); }, {x}},
      {"ops::nanpercentile", [](In in) { return ops::nanpercentile(in[0], 25, 1); }, {x}},
      {"ops::median", rows(ops::median), {x}},
      {"ops::nanmedian", rows(ops::nanmedian), {x}},
      {"ops::average", [](In in) { return ops::average(in[0], {}, in[1]); }, {x, K::exp(x)}},
      {"ops::sort", [](In in) { return ops::sort(in[0]); }, {x}},
      {"ops::corrcoef", of(ops::corrcoef), {x}},
      {"ops::correlate", [](In in) { return ops::correlate(in[0], in[1], "same"); }, {normal({5}), normal({3}, 2)}},
      {"ops::diff", [](In in) { return ops::diff(in[0], 2); }, {x}},
      {"ops::trapezoid", [](In in) { return ops::trapezoid(in[0], in[1]); }, {x, normal({3, 4}, 3)}},
      {"ops::any", no_gradient}, {"ops::all", no_gradient}, {"ops::count_nonzero", no_gradient},
      {"ops::argmax", no_gradient}, {"ops::argmin", no_gradient}, {"ops::nanargmax", no_gradient},
      {"ops::nanargmin", no_gradient}, {"ops::argsort", no_gradient}, {"ops::argpartition", no_gradient},
  };
});
// clang-format on

}  // namespace
