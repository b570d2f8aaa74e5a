#include <ktape/ktape.hpp>
#include <ktape/nn/compiled/planned_operations.hpp>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

TEST_CASE("arithmetic and activations are nodes of networks, other ops are not") {
  const Tensor x = K::placeholder({K::None, 4}), y = K::placeholder({K::None, 4});
  for (const Tensor& planned : {x + y, x * 2, K::relu(x), K::concatenate({x, y})}) {
    const auto operation = nn::planned_operation(*planned.get()->symbol);
    REQUIRE(operation.has_value());
    CHECK_FALSE(operation->inputs.empty());
    CHECK(operation->plan);
  }
  for (const Tensor& other : {K::cumsum(x, 1), K::dot(x, K::transpose(y))})
    CHECK_FALSE(nn::planned_operation(*other.get()->symbol).has_value());
}
