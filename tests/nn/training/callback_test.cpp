#include "../../ops/check.hpp"
#include "../callbacks/scripted.hpp"

namespace nn = ktape::nn;

TEST_CASE("callbacks with Keras's former method names are called for batches, too") {
  struct FormerImpl : nn::CallbackImpl {
    int begun = 0, ended = 0;
    void on_batch_begin(std::int64_t, const nn::Logs&) override { ++begun; }
    void on_batch_end(std::int64_t, const nn::Logs& logs) override { ended += logs.contains("loss"); }
  };
  const nn::CallbackOf<FormerImpl> former;
  run(Scripted(losses({3, 2})), {former});
  CHECK(former->begun == 2);
  CHECK(former->ended == 2);
}
