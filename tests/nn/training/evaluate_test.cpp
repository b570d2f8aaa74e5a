#include "../../close.hpp"
#include "line.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::Tensor;

TEST_CASE("evaluate and predict go over all samples, in inference") {
  const Line line;
  const nn::Sequential model({nn::Dropout(0.5), nn::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mae"});
  const Tensor p = model.predict(line.x, {.batch_size = 10, .verbose = 0});
  CHECK(p.shape() == Shape{64, 1});
  CHECK(close(p, model(line.x), {.atol = 1e-6}));
  const nn::Logs scores = model.evaluate(line.x, line.y, {.batch_size = 10, .verbose = 0});
  CHECK(close(scores["loss"], K::mean(K::abs(p - line.y)).item(), {.rtol = 1e-5}));
  CHECK(ktape::tape().size() == 0);
}
