// A denoising autoencoder: a convolutional network gets noisy digits and learns to return the clean digits.
// Expect a mean squared error of 0.027 on unseen digits; the noisy digits have 0.068.
// Try next: more noise; a bottleneck of fewer channels; compare with the mean of each pixel's neighbours;
// `--out FOLDER` draws unseen digits, noisy above and cleaned below.
#include <ktape/ktape.hpp>

#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor;

/// Returns the network: pooling halves the image to 4 x 4, a transposed convolution with strides of 2
/// doubles the size again. The sigmoid keeps pixels in 0..1. The middle of 4 x 4 x 32 numbers is no
/// bottleneck; the noise alone forces the network to learn the look of digits, since a copy of the input
/// would be wrong.
static nn::Sequential cleaner() {
  return nn::Sequential({
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::MaxPooling2D(2),
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::Conv2DTranspose(32, 3, {.strides = 2, .padding = "same", .activation = "relu"}),
      nn::Conv2D(1, 3, {.padding = "same", .activation = "sigmoid", .dtype = "float32"}),
  });
}

/// Trains on pairs of noisy and clean digits, and compares the error of cleaned digits with the error of
/// noisy ones.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 40, .quick_epochs = 8, .data = "examples/data/digits.csv.gz"});
  K::set_random_seed(run.seed);

  // Clean digits, (n, 8, 8, 1), are the targets. The test digits get their noise once, so that the errors
  // before and after cleaning belong to the same images.
  const Tensor table = data::load_csv(run.data);  // 64 pixels of 0..16, then the class
  const Tensor clean = K::reshape(table[{All, Slice(0, 64)}] / 16.f, {-1, 8, 8, 1});
  const auto with_noise = [](const Tensor& x) {
    return K::clip(x + 0.35f * K::random_normal(K::int_shape(x)), 0, 1);
  };
  const auto split = data::train_test_split({with_noise(clean), clean}, {.test_size = 0.2, .seed = run.seed});

  // The map draws new noise in each epoch, so the network never sees an image twice: endless data from few
  // digits.
  const auto train =
      data::Dataset::from_tensor_slices(split.train).shuffle(2000).batch(64).map([&](const data::Element& e) {
        return data::Element{with_noise(e[1]), e[1]};
      });

  // Binary cross-entropy also suits targets between 0 and 1, as its minimum lies at the target; its slope
  // stays large for wrong pixels where a sigmoid with squared error would hardly learn.
  const nn::Sequential model = cleaner();
  model.compile({.optimizer = nn::Adam(0.003), .loss = "binary_crossentropy", .metrics = {"mse"}});
  model.fit(train, {.epochs = run.epochs, .verbose = 2});

  // The error of the noisy digits themselves is the baseline, the score of a network that returns its
  // input.
  const double noise = K::mean(K::square(split.test[0] - split.test[1])).item();
  const double error = model.evaluate(split.test[0], split.test[1], {.verbose = 0})["mse"];
  const double expected = run.quick ? 0.036 : 0.027;

  // Ten unseen digits in three rows, for the eye to judge: mean squared error does not tell blur from
  // sharpness.
  if (!run.out.empty()) {
    const Tensor noisy = split.test[0][{Slice(0, 10)}], cleaned = model.predict(noisy, {.verbose = 0});
    ktape::plot::image_grid(
        K::concatenate({noisy, cleaned, split.test[1][{Slice(0, 10)}]}, 0),
        {.title = "Unseen digits", .columns = 10, .row_labels = {"with noise", "cleaned", "without noise"}})
        .save(run.out + "/pairs.svg");
  }

  // Both errors belong to the same noisy images, so their quotient is the gain of the cleaning.
  std::printf("mean squared error of unseen digits: %.4f before\n", noise);
  std::printf("mean squared error of unseen digits: %.4f cleaned (expected: %.3f or less)\n", error,
              expected);
  return error <= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "autoencoder: %s\n", error.what());
  return 1;
}
