// Learns handwritten digits with a small convolutional network: layers, compile and fit, as in Keras.
// Expect 0.96 of unseen digits, in two seconds.
// Try next: another optimizer; a second dropout; nn::plot_model(model, "digits.svg");
// model.save("digits.keras") and load the file in Python; mnist.cpp, with larger digits and callbacks.
#include <ktape/ktape.hpp>

#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor;

/// Returns the network as a list of layers, as `keras.Sequential` takes it. Convolutions find strokes at
/// any place, pooling halves the maps from 8 x 8 to 4 x 4, and dropout keeps the dense layers from learning
/// the few digits by heart. Without an `Input` the weights are made at the first batch, whose shape is then
/// known.
static nn::Sequential digit_reader() {
  return nn::Sequential({
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::MaxPooling2D(2),
      nn::Flatten(),
      nn::Dropout(0.3),
      nn::Dense(64, {.activation = "relu"}),
      nn::Dense(10, {.activation = "softmax"}),
  });
}

/// Goes the way of most Keras programs: data, `compile`, `fit`, `evaluate`.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 20, .quick_epochs = 4, .data = "examples/data/digits.csv.gz"});
  K::set_random_seed(run.seed);

  // A row is 64 pixels of 0..16, then the class. Convolutions want images with a channel axis, (n, 8, 8,
  // 1). A fifth of the rows is held out for testing.
  const Tensor table = data::load_csv(run.data);
  const Tensor x = K::reshape(table[{All, Slice(0, 64)}] / 16.f, {-1, 8, 8, 1});
  const Tensor y = K::cast(table[{All, 64}], "int32");
  const auto split = data::train_test_split({x, y}, {.test_size = 0.2, .seed = run.seed});

  // `sparse_categorical_crossentropy` takes classes as integers; one-hot labels need
  // `categorical_crossentropy`. Both expect probabilities, so the last layer has a softmax.
  const nn::Sequential model = digit_reader();
  model.compile(
      {.optimizer = nn::Adam(0.002), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(split.train[0], split.train[1], {.batch_size = 32, .epochs = run.epochs, .verbose = 2});

  // `evaluate` turns dropout off and measures loss and metrics on digits that the training never saw.
  const double accuracy = model.evaluate(split.test[0], split.test[1], {.verbose = 0})["accuracy"];
  const double expected = run.quick ? 0.92 : 0.96;
  std::printf("accuracy on %d unseen digits: %.4f (expected: %.2f or more)\n",
              static_cast<int>(split.test[0].shape()[0]), accuracy, expected);

  // A confusion matrix counts each pair of true and predicted class: mistakes stand off the diagonal.
  if (!run.out.empty())
    ktape::plot::confusion_matrix(split.test[1], model.predict(split.test[0], {.verbose = 0}),
                                  {.title = "Classes of the unseen digits"})
        .save(run.out + "/confusion.svg");
  return accuracy >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "digits_cnn: %s\n", error.what());
  return 1;
}
