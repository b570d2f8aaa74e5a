#include "../../ops/check.hpp"
#include "../captured_stderr.hpp"
#include "scripted.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::ValueError;

TEST_CASE("EarlyStopping waits, and restores the best weights") {
  const Scripted model(losses({3, 2, 1, 5, 5, 5, 5}));
  const nn::EarlyStopping stopping({.monitor = "loss", .patience = 2, .restore_best_weights = true});
  CHECK(run(model, {stopping})["loss"].size() == 5);
  CHECK(stopping.stopped_epoch() == 4);
  CHECK(model.get_weights()[0].item() == 3);
  CHECK(stopping.best() == 1);
  CHECK(stopping.best_epoch() == 2);
  CHECK(stopping.wait() == 2);
  CHECK(stopping.best_weights()[0].item() == 3);
  CHECK(nn::EarlyStopping({.mode = "min"}).best() == std::numeric_limits<double>::infinity());
  const Scripted rising(losses({1, 2, 3, 3, 3}));
  CHECK(run(rising, {nn::EarlyStopping({.monitor = "loss", .patience = 1, .mode = "max"})})["loss"].size() ==
        4);
  CHECK_THROWS_WITH_AS(nn::EarlyStopping({.mode = "least"}), Contains("mode must be auto, min or max"),
                       ValueError);
}

TEST_CASE("a monitored number that is not reported is a warning where the training prints, once") {
  const auto warned = [](const nn::Callback& callback, int verbose) {
    const Scripted model(losses({3, 2, 1}));
    model.compile({.optimizer = "sgd"});
    const CapturedStderr warning;
    model.fit(K::ones({1, 1}), {}, {.epochs = 3, .verbose = verbose, .callbacks = {callback}});
    return warning.text();
  };
  CHECK(warned(nn::EarlyStopping({.monitor = "los"}), 2) ==
        "\nWarning: [EarlyStopping] the logs must hold the monitored 'los': received loss: 3; did you mean "
        "'loss'?\n");
  CHECK(warned(nn::ReduceLROnPlateau(), 2)
            .find("[ReduceLROnPlateau] the logs must hold the monitored 'val_loss'") != std::string::npos);
  CHECK(warned(nn::EarlyStopping({.monitor = "los"}), 0).empty());
  CHECK(warned(nn::EarlyStopping({.monitor = "loss"}), 2).empty());
}
