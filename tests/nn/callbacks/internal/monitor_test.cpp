#include <ktape/nn/callbacks/internal/monitor.hpp>

#include "../../../ops/check.hpp"
#include "../../captured_stderr.hpp"

namespace nn = ktape::nn;

TEST_CASE("a monitor keeps the best value, the least or the largest by its name") {
  nn::Monitor loss("EarlyStopping", "val_loss", "auto");
  CHECK(loss.best() == INFINITY);
  CHECK(loss.improved(2));
  CHECK_FALSE(loss.improved(2));
  CHECK(loss.improved(1));
  CHECK(loss.best() == 1);
  for (const char* name : {"val_accuracy", "auc", "precision_1", "recall", "f1_score", "mean_iou"}) {
    CAPTURE(name);
    CHECK(nn::Monitor("EarlyStopping", name, "auto").best() == -INFINITY);
  }
  nn::Monitor accuracy("EarlyStopping", "accuracy", "auto");
  accuracy.set_best(0.5);
  CHECK_FALSE(accuracy.improved(0.4));
  CHECK(accuracy.improved(0.6));
  accuracy.forget();
  CHECK(accuracy.best() == -INFINITY);
}

TEST_CASE("an improvement is larger than |min_delta|") {
  for (const double delta : {0.1, -0.1}) {
    nn::Monitor loss("EarlyStopping", "loss", "min", delta);
    CHECK(loss.improved(1));
    CHECK_FALSE(loss.improved(0.95));
    CHECK(loss.improved(0.85));
  }
  CHECK_THROWS_WITH_AS(nn::Monitor("EarlyStopping", "loss", "least"),
                       "[EarlyStopping] mode must be auto, min or max: received mode=least",
                       ktape::ValueError);
}

TEST_CASE("a value that the logs lack causes one warning in a training") {
  struct Silent : nn::CallbackImpl {
  } callback;
  callback.set_parameters({.verbose = 1});
  nn::Monitor monitor("EarlyStopping", "val_loss", "auto");
  const nn::Logs logs{{"loss", 2}};
  const CapturedStderr captured;
  CHECK(monitor.read({{"val_loss", 3}}, callback) == 3.0);
  CHECK_FALSE(monitor.read(logs, callback));
  const std::string once = captured.text();
  CHECK(once.find("[EarlyStopping] the logs must hold the monitored 'val_loss': received") !=
        std::string::npos);
  CHECK_FALSE(monitor.read(logs, callback));
  CHECK(captured.text() == once);
  monitor.begin();
  CHECK_FALSE(monitor.read(logs, callback));
  CHECK(captured.text() == once + once);
}
