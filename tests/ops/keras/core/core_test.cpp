#include <doctest/doctest.h>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/core/core.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../catalogue.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("ops: loops and choices") {
  const auto sum = ops::while_loop([](const ops::LoopVariables& v) { return v[0] < 5; },
                                   [](const ops::LoopVariables& v) {
                                     return ops::LoopVariables{v[0] + 1, v[1] + v[0]};
                                   },
                                   {doubles(0.), doubles(0.)});
  CHECK(sum[1].item() == 10);
  CHECK(ops::while_loop([](const ops::LoopVariables&) { return K::constant(true); },
                        [](const ops::LoopVariables& v) { return ops::LoopVariables{v[0] + 1}; },
                        {doubles(0.)}, 3)[0]
            .item() == 3);
  CHECK(ops::fori_loop(
            1, 4, [](std::int64_t i, const Tensor& x) { return x * static_cast<double>(i); }, doubles(1.))
            .item() == 6);
  CHECK(ops::cond(K::constant(false), doubles(1.), doubles(2.)).item() == 2);
  CHECK(
      ops::switch_(7, {[](In in) { return in[0]; }, [](In in) { return in[0] * 2; }}, {doubles(3.)}).item() ==
      6);
  CHECK(values(ops::vectorized_map([](const Tensor& x) { return x * x; }, doubles({1., 2.}))) ==
        Values{1, 4});
  CHECK(values(ops::map([](const Tensor& x) { return x + 1; }, doubles({1., 2.}))) == Values{2, 3});
  const auto [last, ys] = ops::scan(
      [](const Tensor& c, const Tensor& x) {
        return std::pair{c + x, c * x};
      },
      doubles(1.), doubles({2., 3.}), {.reverse = true});
  CHECK(last.item() == 6);
  CHECK(values(ys) == Values{8, 3});
  CHECK_THROWS_WITH_AS(ops::scan(
                           [](const Tensor& c, const Tensor&) {
                             return std::pair{c, c};
                           },
                           doubles(1.)),
                       "[scan] the number of steps must be known and at least 1: received 0", ValueError);
  CHECK_THROWS_WITH_AS(ops::switch_(0, {}), "[switch] there must be a branch: received branches=[]",
                       ValueError);
}

TEST_CASE("ops: products with the jacobian, jacobian and hessian") {
  const auto f = [](const Tensor& x) { return x * x * x; };
  const Tensor x = doubles({1., 2.});
  const auto [value, product] = ops::jvp(f, x, doubles({1., 10.}));
  CHECK(values(value) == Values{1, 8});
  CHECK(values(product) == Values{3, 120});
  CHECK(values(ops::vjp(f, x).second(doubles({1., 10.}))) == Values{3, 120});
  CHECK(values(ops::jacobian(f, x)) == Values{3, 0, 0, 12});
  CHECK(values(ops::hessian([&](const Tensor& x) { return K::sum(f(x)); }, x)) == Values{6, 0, 0, 12});
  CHECK_THROWS_WITH_AS(ops::hessian(f, x),
                       "[hessian] f must return one number: received a result of shape (2,)", ValueError);
  CHECK_THROWS_WITH_AS(ops::jvp(f, x, doubles(1.)),
                       "[jvp] the tangent must have the shape (2,): received tangent=()", ValueError);
}

namespace {

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  return {
      {"ops::associative_scan", [](In in) {
         return ops::associative_scan([](const Tensor& a, const Tensor& b) { return a * b; }, K::reshape(in[0], {-1, 3}), {.axis = 1}); }, {normal({2, 3})}},
      {"ops::scan", [](In in) {
         return ops::scan([](const Tensor& c, const Tensor& x) { return std::pair{K::tanh(c + x), c * x}; }, K::sum(in[0]), K::reshape(in[0], {3, -1})).second; }, {normal({2, 3})}},
      {"ops::cond", [](In in) { return ops::cond(K::sum(in[0]) > -100., in[0] * in[1], in[1]); }, {normal({2, 3}), normal({2, 3}, 2)}},
      {"ops::switch_", [](In in) {
         return ops::switch_(1, {[](In in) { return in[1]; }, [](In in) { return in[0] * in[1]; }}, {in[0], in[1]}); }, {normal({2, 3}), normal({2, 3}, 2)}},
      {"ops::map", [](In in) {
         return ops::map([](const Tensor& x) { return K::sum(x * x * x); }, K::reshape(in[0], {3, -1})); }, {normal({2, 3})}},
      {"ops::vectorized_map", [](In in) {
         return ops::vectorized_map([](const Tensor& x) { return K::sin(x) * x; }, K::reshape(in[0], {3, -1})); }, {normal({2, 3})}},
      {"ops::fori_loop", [](In in) {
         return ops::fori_loop(1, 4, [](std::int64_t i, const Tensor& x) { return K::sin(x) * static_cast<double>(i); }, in[0]); }, {normal({2, 3})}},
      {"ops::while_loop", [](In in) {
         return ops::while_loop([](const ops::LoopVariables& v) { return v[0] < 3; },
                                [](const ops::LoopVariables& v) { return ops::LoopVariables{v[0] + 1, K::tanh(v[1]) * v[1]}; }, {ints(0), in[0]})[1]; }, {normal({2, 3})}},
  };
});
// clang-format on

}  // namespace
