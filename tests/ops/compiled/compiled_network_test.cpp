#include <ktape/ktape.hpp>
#include <ktape/ops/compiled/compiled_network.hpp>

#include "../../close.hpp"
#include "../check.hpp"

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

namespace {

constexpr Tolerance rounding{.rtol = 1e-5, .atol = 1e-5};

Tensor random(const ktape::Shape& shape, int seed) { return normal(shape, seed, "float32"); }

/// Returns the output of a network of one node, or none where there is no network.
template <class F>
std::optional<Tensor> computed(const Tensor& x, const F& add) {
  K::NetworkBuilder builder;
  const auto node = add(builder, builder.input(x.shape()));
  if (!node) return {};
  builder.set_outputs({*node});
  const auto network = K::CompiledNetwork::make(builder);
  if (!network) return {};
  return network->run({x}).value()[0];
}

}  // namespace

TEST_CASE("a compiled convolution is K::conv2d with bias") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({3, 2, 5, 18}, 1)), bias(random({18}, 2));
  const Tensor x = random({2, 9, 8, 5}, 3);
  for (const std::string padding : {"same", "valid"})
    for (const std::int64_t strides : {1, 2}) {
      const auto y = computed(x, [&](auto& network, int in) {
        return network.convolution(in, kernel, bias,
                                   {.size = {3, 2}, .strides = {strides, strides}, .padding = padding});
      });
      REQUIRE(y);
      const Tensor want = K::conv2d(x, kernel, {.strides = strides, .padding = padding}) + bias;
      CHECK(close(*y, want, rounding));
    }
}

TEST_CASE("a compiled product is K::dot with bias") {
  if (!K::compiles_networks()) return;
  const Variable kernel(random({70, 33}, 1)), bias(random({33}, 2));
  for (const std::int64_t rows : {1, 3, 128}) {
    const Tensor x = random({rows, 70}, 3);
    const auto y = computed(x, [&](auto& network, int in) { return network.product(in, kernel, bias); });
    REQUIRE(y);
    CHECK(close(*y, K::dot(x, kernel) + bias, rounding));
  }
}

TEST_CASE("the builder refuses what a network cannot compute") {
  K::NetworkBuilder builder;
  const int rows = builder.input({2, 3}), images = builder.input({2, 5, 5, 3});
  CHECK_FALSE(builder.product(rows, Variable(K::zeros({3, 2}, {.dtype = "float64"})), Variable()));
  CHECK_FALSE(builder.product(rows, Variable(K::zeros({4, 2})), Variable()));
  CHECK_FALSE(builder.product(images, Variable(K::zeros({3, 2})), Variable()));
  CHECK_FALSE(builder.convolution(images, Variable(K::zeros({6, 6, 3, 2})), Variable(), {.size = {6, 6}}));
  CHECK_FALSE(builder.convolution(rows, Variable(K::zeros({1, 1, 3, 2})), Variable(), {}));
  CHECK_FALSE(builder.activation(rows, "hard_shrink"));
  CHECK_FALSE(builder.activation(images, "softmax"));
  CHECK_FALSE(builder.sum(rows, images));
  CHECK_FALSE(builder.concatenation({rows, images}));
  CHECK(builder.activation(rows, "linear") == rows);
}

TEST_CASE("a network without products is not compiled") {
  K::NetworkBuilder builder;
  builder.set_outputs({*builder.activation(builder.input({2, 3}), "relu")});
  CHECK_FALSE(K::CompiledNetwork::make(builder));
}
