#include <ktape/ktape.hpp>
#include <ktape/ops/nn/prelu.hpp>

#include <limits>

#include "../check.hpp"

namespace K = ktape::backend;
using ktape::Tensor;
using ktape::op_helpers::prelu;

TEST_CASE("prelu multiplies negative numbers by slopes, which broadcast") {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const Tensor x = K::constant({{-2., 3., 0.}, {4., -infinite, -5.}}, {.dtype = "float64"});
  CHECK(values(prelu(x, K::constant({0.5, 0.25, 2.}, {.dtype = "float64"}))) ==
        Values{-1, 3, 0, 4, -infinite, -10});
  CHECK(values(prelu(x, K::constant({{2.}, {1.}}, {.dtype = "float64"}))) ==
        Values{-4, 3, 0, 4, -infinite, -5});
  const Tensor none = prelu(K::constant({NAN}), K::constant({1.f}));
  CHECK(std::isnan(none.item<float>()));
  const Tensor s = K::placeholder({2, 3});
  CHECK(prelu(s, K::placeholder({3})).shape() == ktape::Shape{2, 3});
}

TEST_CASE("prelu has derivatives of any order, and 0 at 0") {
  check_gradients([](In in) { return prelu(in[0], in[1]); }, {normal({4, 3}), normal({3})});
  const ktape::Variable x = K::variable({0.f, -1.f});
  CHECK(values(K::gradients(K::sum(prelu(x, K::constant({3.f, 3.f}))), {x})[0]) == Values{0, 3});
}
