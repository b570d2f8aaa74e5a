#include "../../ops/check.hpp"
#include "../data/files.hpp"
#include "scripted.hpp"

#include <ktape/nn/files/npy.hpp>

#include <iostream>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace fs = std::filesystem;
using doctest::Contains;
using ktape::IOError, ktape::ValueError;

namespace {

const std::vector<nn::Logs> falling_then_rising{{{"loss", 0.5}, {"val_loss", 3}},
                                                {{"loss", 0.4}, {"val_loss", 2}},
                                                {{"loss", 0.3}, {"val_loss", 4}},
                                                {{"loss", 0.2}, {"val_loss", 1.25}}};

/// Returns the names in a folder, in order.
std::vector<std::string> names(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns the number of steps after which the weights of a file were saved.
double steps_in(const std::string& path) {
  const Scripted model(falling_then_rising);
  model(K::ones({1, 1}));
  model.load_weights(path);
  return model.get_weights()[0].item<float>();
}

/// Returns the text that f writes to std::cout.
template <class F>
std::string written(F f) {
  struct Redirection {
    std::ostringstream out;
    std::streambuf* before = std::cout.rdbuf(out.rdbuf());
    ~Redirection() { std::cout.rdbuf(before); }
  } redirection;
  f();
  return redirection.out.str();
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("ModelCheckpoint saves each epoch under another name") {
  const Files files;
  const std::string folder = files.folder() + "/new/folder";
  run(Scripted(falling_then_rising),
      {nn::ModelCheckpoint(folder + "/{epoch:02d}-{val_loss:.1f}.npz", {.save_weights_only = true})});
  CHECK(names(folder) == Texts{"01-3.0.npz", "02-2.0.npz", "03-4.0.npz", "04-1.2.npz"});
  CHECK(steps_in(folder + "/03-4.0.npz") == 3);
}

TEST_CASE("ModelCheckpoint saves the best") {
  const Files files;
  const std::string path = files.folder() + "/best.npz";
  const auto options = [] {
    return nn::ModelCheckpointOptions{.save_best_only = true, .save_weights_only = true};
  };
  std::vector<nn::Logs> logs = falling_then_rising;
  logs.pop_back();
  const nn::ModelCheckpoint best(path, options());
  run(Scripted(logs), {best});
  CHECK(steps_in(path) == 2);
  CHECK(best.best() == 2);
  nn::ModelCheckpointOptions most = options();
  most.mode = "max";
  run(Scripted(logs), {nn::ModelCheckpoint(path, most)});
  CHECK(steps_in(path) == 3);
  nn::ModelCheckpointOptions below = options();
  below.initial_value_threshold = 1.5;
  const std::string good = files.folder() + "/good.npz";
  run(Scripted(logs), {nn::ModelCheckpoint(good, below)});
  CHECK(!fs::exists(good));
  run(Scripted(falling_then_rising), {nn::ModelCheckpoint(good, below)});
  CHECK(steps_in(good) == 4);
  nn::ModelCheckpointOptions unknown = options();
  unknown.monitor = "val_accuracy";  // as Keras does: a warning, and every model is saved
  run(Scripted(logs), {nn::ModelCheckpoint(path, unknown)});
  CHECK(steps_in(path) == 3);
}

TEST_CASE("ModelCheckpoint saves after every n batches, counted over the epochs") {
  const Files files;
  nn::Sequential model({nn::Input({1}), nn::Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.fit(K::ones({3, 1}), K::ones({3, 1}),
            {.batch_size = 1,
             .epochs = 3,
             .verbose = 0,
             .callbacks = {nn::ModelCheckpoint(files.folder() + "/{epoch}-{batch}.npz",
                                               {.save_weights_only = true, .save_freq = 2})}});
  CHECK(names(files.folder()) == Texts{"1-2.npz", "2-1.npz", "2-3.npz", "3-2.npz"});
}

TEST_CASE("ModelCheckpoint with verbose prints what it saves") {
  const Files files;
  const std::string path = files.folder() + "/best.npz";
  const std::string text = written([&] {
    run(Scripted(falling_then_rising),
        {nn::ModelCheckpoint(path, {.verbose = 1, .save_best_only = true, .save_weights_only = true})});
  });
  CHECK(text == "\nEpoch 1: val_loss improved from inf to 3.00000, saving model to " + path +
                    "\n\nEpoch 2: val_loss improved from 3.00000 to 2.00000, saving model to " + path +
                    "\n\nEpoch 3: val_loss did not improve from 2.00000\n"
                    "\nEpoch 4: val_loss improved from 2.00000 to 1.25000, saving model to " +
                    path + "\n");
}

TEST_CASE("ModelCheckpoint: bad arguments and paths are errors") {
  const Files files;
  const Scripted model(falling_then_rising);
  CHECK_THROWS_WITH_AS(nn::ModelCheckpoint("model.xyz"),
                       Contains("[ModelCheckpoint] the name of the file must end in one of "), ValueError);
  CHECK_THROWS_WITH_AS(nn::ModelCheckpoint("model.npz"),
                       Contains("[ModelCheckpoint] the format .npz must support the options: received "
                                "filepath='model.npz', save_weights_only=false"),
                       ValueError);
  CHECK_THROWS_WITH_AS(nn::ModelCheckpoint("model.npz", {.save_weights_only = true, .mode = "least"}),
                       Contains("[ModelCheckpoint] mode must be auto, min or max"), ValueError);
  CHECK_THROWS_WITH_AS(
      run(model, {nn::ModelCheckpoint(files.folder() + "/{val_los:.2f}.npz", {.save_weights_only = true})}),
      Contains("received '{val_los:.2f}'; did you mean 'val_loss'"), ValueError);
  CHECK(names(files.folder()).empty());
  const std::string file = files.write("file", "");
  CHECK_THROWS_WITH_AS(run(model, {nn::ModelCheckpoint(file + "/a.npz", {.save_weights_only = true})}),
                       Contains("[ModelCheckpoint] the folder must be writable: received '"), IOError);
}
