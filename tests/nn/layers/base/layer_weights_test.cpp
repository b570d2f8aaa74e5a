#include "../../../ops/check.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

/// A layer of two layers, which records the learning phase.
struct BlockImpl : nn::LayerImpl {
  nn::Dense dense = add_layer(nn::Dense(3, {.name = "dense"}));
  nn::Dropout dropout = add_layer(nn::Dropout(0.5));
  BlockImpl() : nn::LayerImpl("Block") {}
  Tensor call(const Tensor& x) override { return dropout(dense(x)); }
};
using Block = nn::LayerOf<BlockImpl>;

}  // namespace

TEST_CASE("a layer of layers has their weights, and passes the phase on to them") {
  const Block block;
  const Tensor x = K::ones({50, 4});
  CHECK(block(x).shape() == Shape{50, 3});
  CHECK(block.weights().size() == 2);
  CHECK(block.weights()[0].name() == "block/dense/kernel");
  block.set_weights({K::ones({4, 3}), K::zeros({3})});
  CHECK(K::max(block(x)).item() == 4);
  CHECK(K::max(block(x, {.training = true})).item() == 8);
  block.set_trainable(false);
  CHECK(block.trainable_weights().empty());
  CHECK(block.non_trainable_weights().size() == 2);
  CHECK(!block->dense.trainable());
}

TEST_CASE("a layer that `call` uses becomes a sublayer of the calling layer, as in Keras") {
  struct PlainImpl : nn::LayerImpl {
    nn::Dense first{3, {.name = "first"}}, second{2, {.name = "second"}};
    PlainImpl() : nn::LayerImpl("Plain") {}
    Tensor call(const Tensor& x) override { return second(nn::Dropout(0.5)(first(first(x)))); }
  };
  const nn::LayerOf<PlainImpl> layer;
  layer(nn::Input({3}));
  CHECK(layer.weights().size() == 4);
  CHECK(layer.weights()[2].name() == layer.name() + "/second/kernel");
  for (int step = 0; step < 5; ++step) layer(K::ones({1, 3}));
  const std::vector<nn::Layer> inner = layer.impl().sublayers();
  REQUIRE(inner.size() == 3);  // of the layers made by the calls only the last one
  CHECK(inner[0].is(layer->first));

  nn::Sequential net({nn::Input({3}), layer});
  net.compile({.optimizer = nn::SGD(0.1), .loss = "mse"});
  const Tensor before = layer->first.get_weights()[0];
  net.train_on_batch(K::ones({4, 3}), K::zeros({4, 2}));
  CHECK(K::sum(K::abs(layer->first.get_weights()[0] - before)).item<float>() > 0);
}

TEST_CASE("a weight is found by its name, or by the end of its path") {
  const Block block;
  CHECK_THROWS_WITH_AS(block.weight("kernel"),
                       Contains("the layer must be built, by a call or by build(), before it has weights"),
                       ValueError);
  block(K::ones({1, 4}));
  CHECK(block.weight("dense/kernel").is(block.weights()[0]));
  CHECK(block.weight("bias").is(block.weights()[1]));
  CHECK_THROWS_WITH_AS(block.weight("gamma"),
                       Contains("the layer must have the weight: received name='gamma'"), ValueError);
  const nn::Sequential two({nn::Dense(2, {.name = "a"}), nn::Dense(2, {.name = "b"})});
  two(K::ones({1, 3}));
  CHECK_THROWS_WITH_AS(two.weight("kernel"), Contains("the name must identify one weight"), ValueError);
  CHECK(two.weight("b/kernel").is(two.weights()[2]));
}

TEST_CASE("values that do not fit the weights change nothing") {
  const nn::Dense dense(3, {.name = "scores"});
  CHECK_THROWS_WITH_AS(dense.count_params(), Contains("[scores] the layer must be built"), ValueError);
  dense(K::ones({2, 4}));
  CHECK(dense.count_params() == 15);
  CHECK_THROWS_WITH_AS(dense.set_weights({K::ones({4, 3})}),
                       "[scores] set_weights must be given one value for each of the 2 weights: received 1",
                       ValueError);
  CHECK_THROWS_WITH_AS(dense.set_weights({K::ones({4, 3}), K::ones({4})}),
                       Contains("of the weight 'scores/bias'"), ValueError);
  CHECK_THROWS_WITH_AS(dense.set_weights({K::ones({4, 3}), Tensor()}),
                       Contains("[set_weights] values[1] must be a tensor"), ValueError);
  CHECK_THROWS_WITH_AS(dense.set_weights({K::ones({4, 3}), K::placeholder({3})}),
                       Contains("[set_weights] a symbolic tensor has a value only inside a function"),
                       ValueError);
  CHECK_THROWS_WITH_AS(dense.set_weights({K::ones({4, 3}), K::placeholder({3})}),
                       Contains("(a weight of 'scores')"), ValueError);
  CHECK(K::max(dense.weights()[0]).item() != 1);
}
