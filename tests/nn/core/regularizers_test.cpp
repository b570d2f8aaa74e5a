#include <ktape/nn/core/regularizers.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../close.hpp"
#include "../../ops/check.hpp"

using namespace ktape;
namespace K = ktape::backend;

TEST_CASE("regularizers are a penalty with a gradient") {
  const Tensor x = doubles({{1, -2}, {3, 4}});
  CHECK(nn::L1(0.5)(x).item<double>() == 5);
  CHECK(close(nn::L2(0.1)(x).item<double>(), 3));
  CHECK(close(nn::L1L2({.l1 = 0.5, .l2 = 0.1})(x).item<double>(), 8));
  CHECK(close(nn::Regularizer("l2")(x).item<double>(), 0.3));
  check_gradients([](In in) { return nn::L1L2({.l1 = 0.5, .l2 = 0.1})(in[0]); }, {x});
  for (const char* mode : {"rows", "columns"})
    check_gradients([&](In in) { return nn::OrthogonalRegularizer({.factor = 2, .mode = mode})(in[0]); },
                    {normal({3, 2})});
  const nn::Regularizer largest = [](const Tensor& w) { return K::max(K::abs(w)); };
  CHECK(largest(x).item<double>() == 4);
}

TEST_CASE("orthogonal rows or columns cost nothing") {
  const Tensor rows = doubles({{1, 0, 2}, {0, 3, 0}});
  CHECK(nn::OrthogonalRegularizer()(rows).item<double>() == 0);
  CHECK(close(nn::OrthogonalRegularizer({.factor = 1, .mode = "columns"})(rows).item<double>(), 1 / 3.0));
  CHECK(nn::OrthogonalRegularizer()(doubles({{1, 2}})).item<double>() == 0);
}

TEST_CASE("bad options of regularizers") {
  CHECK_THROWS_WITH_AS(nn::L2(-1), "[L2] l2 must be finite and at least 0: received l2=-1", ValueError);
  CHECK_THROWS_AS(nn::L1L2({.l1 = NAN}), ValueError);
  CHECK_THROWS_WITH_AS(nn::OrthogonalRegularizer({.mode = "all"}),
                       "[OrthogonalRegularizer] mode must be 'rows' or 'columns': received mode='all'",
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::OrthogonalRegularizer()(doubles({1, 2})),
                       "[OrthogonalRegularizer] x must be a matrix: received x=(2,)", ValueError);
}
