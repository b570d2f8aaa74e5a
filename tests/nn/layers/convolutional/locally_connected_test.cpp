#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Shape, ktape::Tensor, ktape::ValueError;

TEST_CASE("a locally connected layer has a kernel for each position") {
  const nn::LocallyConnected1D layer(1, 2, {.use_bias = false, .dtype = "float64"});
  const Tensor x = doubles({{{1}, {2}, {4}}});
  layer(x);
  CHECK(layer.weights()[0].shape() == Shape{2, 2, 1});
  layer.set_weights({doubles({{{1}, {10}}, {{100}, {1000}}})});
  CHECK(values(layer(x)) == Values{21, 4200});
}

TEST_CASE("with one kernel for all positions the layer is a convolution") {
  const nn::LocallyConnected2D local(3, 2, {.use_bias = false, .dtype = "float64"});
  const nn::Conv2D shared(3, 2, {.use_bias = false, .dtype = "float64"});
  const Tensor x = normal({2, 4, 4, 2});
  local(x), shared(x);
  const Tensor kernel = K::reshape(shared.get_weights()[0], {1, 8, 3});
  local.set_weights({K::repeat_elements(kernel, 9, 0)});
  CHECK(close(local(x), shared(x), {.rtol = 1e-12, .atol = 1e-12}));
}
