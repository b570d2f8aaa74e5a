// Learns MNIST's digits from 8,000 of its 10,000 test images, and classifies the other 2,000. The folder
// --data must hold two files of MNIST, for example from https://storage.googleapis.com/cvdf-datasets/mnist/ :
//   t10k-images-idx3-ubyte.gz   t10k-labels-idx1-ubyte.gz
// The folder --out gets the best model, best.ktape, and report.html, a page for the browser.
// Expect 0.98 of unseen digits, in less than a minute on two cores.
// Try next: data::load_mnist(folder, "train"), with 60,000 images; digits turned a little by
// nn::RandomRotation(0.05); nn::BatchNormalization after the convolutions.
#include <ktape/ktape.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Slice;

/// Scales images of bytes to 0..1 and adds a channel axis: (batch, 28, 28, 1). The dataset is
/// batched before the map, so that the function runs once for 64 images, which is faster than once for each.
static data::Element scaled(const data::Element& batch) {
  return {K::expand_dims(K::cast(batch[0], "float32") / 255.f), K::cast(batch[1], "int32")};
}

/// Returns the network: convolutions and pooling shrink the maps from 28 to 26, 13, 11 and 5 pixels a side,
/// two dense layers decide. With an `Input` the weights exist at once, so that `summary` can show all
/// shapes before the training.
static nn::Sequential digit_reader() {
  return nn::Sequential(
      {
          nn::Input({28, 28, 1}),
          nn::Conv2D(32, 3, {.activation = "relu"}),
          nn::MaxPooling2D(2),
          nn::Conv2D(64, 3, {.activation = "relu"}),
          nn::MaxPooling2D(2),
          nn::Flatten(),
          nn::Dropout(0.3),
          nn::Dense(128, {.activation = "relu"}),
          nn::Dropout(0.3),
          nn::Dense(10, {.activation = "softmax"}),
      },
      {.name = "digit_reader"});
}

/// Trains with a pipeline of batches and with callbacks, the tools of longer trainings. MNIST's files are
/// not part of the project, so the error says where they are.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 10, .quick_epochs = 5, .out = "mnist-run"});
  if (run.data.empty())
    throw std::invalid_argument(
        "--data must name a folder with MNIST's t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz; "
        "https://storage.googleapis.com/cvdf-datasets/mnist/ has them");
  K::set_random_seed(run.seed);

  // A fifth of the images, chosen by the seed, is held out for testing. The order of the pipeline matters:
  // `shuffle` before `batch` mixes single samples; `prefetch` prepares two batches while the network
  // computes; `cache` keeps the unseen batches, which are the same in each epoch.
  data::Element digits = data::load_mnist(run.data, "test");
  if (run.quick) digits = {digits[0][{Slice(0, 1000)}], digits[1][{Slice(0, 1000)}]};
  const auto split = data::train_test_split({digits[0], digits[1]}, {.test_size = 0.2, .seed = run.seed});
  const auto train =
      data::Dataset::from_tensor_slices(split.train).shuffle(8000).batch(64).map(scaled).prefetch(2);
  const auto unseen = data::Dataset::from_tensor_slices(split.test).batch(250).map(scaled).cache();

  // Adam starts with twice its usual rate; the first of the callbacks below lowers the rate later.
  const nn::Sequential model = digit_reader();
  model.summary();
  model.compile(
      {.optimizer = nn::Adam(0.002), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});

  // Callbacks act after each epoch: a lower rate if the validation loss stalls, an end if the accuracy
  // stalls, the best model in a file, and a report. Training can therefore be given too many epochs without
  // harm.
  const std::string best = run.out + "/best.ktape";
  model.fit(train,
            {
                .epochs = run.epochs,
                .callbacks = {nn::ReduceLROnPlateau({.monitor = "val_loss", .factor = 0.3, .patience = 2}),
                              nn::EarlyStopping(
                                  {.monitor = "val_accuracy", .patience = 4, .restore_best_weights = true}),
                              nn::ModelCheckpoint(best, {.monitor = "val_accuracy", .save_best_only = true}),
                              nn::Report(run.out + "/report.html", {.title = "MNIST's digits"})},
                .validation_data = unseen,
            });

  // The file holds the whole model, architecture and weights, so another program could load the model in
  // this way. The unseen digits also chose the best epoch, which makes the accuracy a little too
  // favourable; a third part of the data would give a fair number.
  const double accuracy = nn::load_model(best).evaluate(unseen, {.verbose = 0})["accuracy"];
  const double expected = run.quick ? 0.85 : 0.98;
  std::printf("accuracy on %d unseen digits: %.4f (expected: %.2f or more)\n",
              static_cast<int>(split.test[0].shape()[0]), accuracy, expected);
  std::printf("%s/report.html shows the training\n", run.out.c_str());
  return accuracy >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "mnist: %s\n", error.what());
  return 1;
}
