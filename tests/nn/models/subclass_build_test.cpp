#include "../../hdf5.hpp"
#include "../../ops/check.hpp"
#include "../data/files.hpp"

#include <ktape/ktape.hpp>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::None, ktape::Tensor;

// Classes that build their layers by calling them.
namespace {

struct TwoLayersImpl : nn::ModelImpl {
  nn::Dense hidden = add_layer(nn::Dense(4, {.activation = "relu"})), out = add_layer(nn::Dense(1));
  Tensor call(const Tensor& x) override { return out(hidden(x)); }
};
using TwoLayers = nn::ModelOf<TwoLayersImpl>;

struct BlockImpl : nn::LayerImpl {
  nn::Dense inner = add_layer(nn::Dense(3));
  BlockImpl() : nn::LayerImpl("Block") {}
  Tensor call(const Tensor& x) override { return inner(x) + x; }
};
using Block = nn::LayerOf<BlockImpl>;

struct PairImpl : nn::ModelImpl {
  nn::Dense left = add_layer(nn::Dense(2)), right = add_layer(nn::Dense(2));
  Tensor call(const std::vector<Tensor>& inputs) { return left(inputs[0]) + right(inputs[1]); }
};

}  // namespace

TEST_CASE("build of a model class makes the weights of its layers") {
  const TwoLayers model;
  model.build({None, 3});
  CHECK(model.built());
  CHECK(model.weights().size() == 4);
  CHECK(model.count_params() == 3 * 4 + 4 + 4 + 1);
  const nn::ModelOf<PairImpl> pair;
  pair.build({{None, 3}, {None, 5}});
  CHECK(pair.count_params() == 3 * 2 + 2 + 5 * 2 + 2);
  const nn::Layer block = Block();
  block.build({None, 3});
  CHECK(block.weights().size() == 2);
}

TEST_CASE("a model class that was built by a shape saves all its weights" * needs_hdf5) {
  const Files files;
  const TwoLayers model, other;
  model.build({None, 3});
  other.build({None, 3});
  const std::string path = files.folder() + "/model.weights.h5";
  model.save_weights(path);
  other.load_weights(path);
  const Tensor x = K::ones({2, 3});
  CHECK(values(other.predict(x, {.verbose = 0})) == values(model.predict(x, {.verbose = 0})));
}

TEST_CASE("a build by a shape that does not fit changes nothing") {
  const nn::Layer block = Block();
  CHECK_THROWS_AS(block.build({None, 4}), ktape::ValueError);
  CHECK(!block.built());
  CHECK(block.weights().empty());
  block.build({None, 3});
  CHECK(block.weights().size() == 2);
}
