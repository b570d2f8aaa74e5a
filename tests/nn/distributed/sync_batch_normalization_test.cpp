#include <doctest/doctest.h>
#include "together.hpp"

using namespace together;

namespace {

nn::Sequential with(const nn::Layer& normalization) {
  return nn::Sequential(
      {nn::Input({6, 4}), nn::Dense(5), normalization, nn::Activation("tanh"), nn::Flatten(), nn::Dense(1)});
}

}  // namespace

TEST_CASE("SyncBatchNormalization over parts is BatchNormalization over the whole") {
  const std::int64_t n = 289;  // in the last batch rank 0 alone has a sample
  const Tensor x = normal({n, 6, 4}, 1), y = normal({n, 1}, 2);
  const nn::Sequential alone = with(nn::BatchNormalization()),
                       many = with(distributed::SyncBatchNormalization());
  many.set_weights(alone.get_weights());
  alone.compile({.optimizer = nn::SGD(0.05), .loss = "mse"});
  many.compile({.optimizer = distributed::Optimizer(nn::SGD(0.05)), .loss = "mse"});
  alone.set_weights(many.get_weights());
  const nn::FitOptions ten{.batch_size = 32, .epochs = 10, .verbose = 0, .shuffle = false};
  nn::FitOptions parts = ten;
  parts.batch_size = 32 / distributed::size();
  const nn::History expected = alone.fit(x, y, ten), received = many.fit(x, y, parts);
  if (distributed::first()) CHECK(close(alone.get_weights(), many.get_weights(), {.ulps = 0, .atol = 1e-5}));
  for (const Tensor& weight : many.get_weights()) CHECK(same_everywhere(weight));
}

TEST_CASE("SyncBatchNormalization has the gradients of the whole batch") {
  const int rank = distributed::rank();
  const std::int64_t part = 3;
  const Tensor whole = normal({part * distributed::size(), 4}, 1), weights = normal(whole.shape(), 2);
  const distributed::SyncBatchNormalization synchronized;
  const nn::BatchNormalization batch;
  const auto gradient = [](const nn::Layer& layer, const Tensor& x, const Tensor& weights) {
    const ktape::Variable v(x);
    return K::gradients(K::sum(layer(v, {.training = true}) * weights), {v})[0];
  };
  const Tensor expected = gradient(batch, whole, weights);
  const auto mine = [&](const Tensor& t) { return K::slice(t, {part * rank, 0}, {part, -1}); };
  CHECK(close({mine(expected)}, {gradient(synchronized, mine(whole), mine(weights))},
              {.ulps = 0, .atol = 1e-5}));
}

TEST_CASE("SyncBatchNormalization is saved under its name, and inference needs no other processes") {
  const nn::Sequential model = with(distributed::SyncBatchNormalization({.momentum = 0.9}));
  distributed::broadcast(model.weights());
  const std::string path = "sync_" + std::to_string(distributed::rank()) + ".ktape";
  model.save(path);
  const nn::Model loaded = nn::load_model(path);
  std::remove(path.c_str());
  CHECK(loaded.layers()[1].class_name() == "SyncBatchNormalization");
  CHECK(loaded.layers()[1].get_config().at("momentum").number() == 0.9);
  if (distributed::first())
    CHECK(loaded.predict(normal({2, 6, 4}, 1), {.verbose = 0}).shape() == ktape::Shape{2, 1});
}
