// DeepDream: an image that a network classifies with high probability. The network learns to read digits;
// then gray noise is changed, step by step along the gradient with respect to its pixels, towards each digit.
// Expect a second network to read every dream as its digit, with a probability of 0.8 or more.
// Try next: no blur; a digit in place of the initial noise; the mean of a hidden channel in place of a score;
// `--out FOLDER` draws the dreams, a row for each stage.
#include <ktape/ktape.hpp>

#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor;

/// Returns a trained classifier of digits: image -> logits. Noise on the inputs makes the network deaf to
/// changes of single pixels, so that a dream needs real strokes to convince.
static nn::Sequential reader(const Tensor& x, const Tensor& y, std::int64_t filters, int epochs) {
  nn::Sequential model({
      nn::Input({8, 8, 1}),
      nn::GaussianNoise(0.2),
      nn::Conv2D(filters, 3, {.padding = "same", .activation = "relu"}),
      nn::Conv2D(filters, 3, {.padding = "same", .activation = "relu"}),
      nn::MaxPooling2D(2),
      nn::Flatten(),
      nn::Dropout(0.3),
      nn::Dense(10, {.dtype = "float32"}),
  });
  model.compile(
      {.optimizer = nn::Adam(0.002), .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  model.fit(x, y, {.batch_size = 32, .epochs = epochs, .verbose = 0});
  return model;
}

/// Blurs the image slightly: 16/20 of a pixel and 1/20 of each of its four neighbours. Gradients like noise
/// of single pixels, which the blur takes away at every step. The symmetric padding repeats the border,
/// which would turn dark otherwise.
static Tensor blurred(const Tensor& image) {
  const Tensor kernel =
      K::reshape(K::constant({0.f, 1.f, 0.f, 1.f, 16.f, 1.f, 0.f, 1.f, 0.f}) / 20.f, {3, 3, 1, 1});
  return K::conv2d(K::pad(image, {0, 1, 1, 0}, {.mode = "symmetric"}), kernel);
}

/// Trains networks as usual, and then changes an image instead of weights: gradient ascent towards a class.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 15, .quick_epochs = 5, .data = "examples/data/digits.csv.gz"});
  K::set_random_seed(run.seed);

  // Two networks of different width learn the digits. A dream that also convinces the second network is a
  // digit, not a trick that fits the first network alone.
  const Tensor table = data::load_csv(run.data);  // 64 pixels of 0..16, then the class
  const Tensor x = K::reshape(table[{All, Slice(0, 64)}] / 16.f, {-1, 8, 8, 1});
  const Tensor y = K::cast(table[{All, 64}], "int32");
  const nn::Sequential dreamer = reader(x, y, 32, run.epochs), judge = reader(x, y, 24, run.epochs);

  // The gradient of each dream's log probability with respect to its pixels, scaled to RMS 1, so that all
  // dreams move at equal speed. The scores are a sum over ten images, of which each depends on its own
  // pixels only: a single gradient serves all ten. `K::function` makes a callable of symbolic tensors, as
  // in Keras.
  const Tensor images = dreamer.input(), digits = K::arange(0, 10);
  const Tensor scores = K::sum(K::log_softmax(dreamer.output()) * K::one_hot(digits, 10));
  Tensor slopes = K::gradients(scores, {images})[0];
  slopes = slopes / (K::sqrt(K::mean(K::square(slopes), {1, 2, 3}, true)) + 1e-6f);
  const auto dream_on = K::function({images}, {scores, slopes});

  // From gray noise, a hundred steps uphill: a small move along the slopes, the blur, a clip to valid
  // pixels.
  Tensor dreams = 0.3f + 0.1f * K::random_normal({10, 8, 8, 1});
  std::vector<Tensor> stages{dreams};
  for (int step = 1; step <= 100; ++step) {
    const std::vector<Tensor> now = dream_on({dreams});
    dreams = K::clip(blurred(dreams + 0.05f * now[1]), 0, 1);
    if (step % 25 == 0) {
      stages.push_back(dreams);
      std::printf("step %3d  mean log probability %.4f\n", step, now[0].item<double>() / 10);
    }
  }

  // The last dreams side by side as a picture, and all stages as a grid with a row for each.
  if (!run.out.empty()) {
    const Tensor side_by_side = K::reshape(K::permute_dimensions(dreams, {1, 0, 2, 3}), {1, 8, 80, 1});
    ktape::data::save_image(run.out + "/dreams.png",
                            K::squeeze(K::resize_images(side_by_side, 8, 8, "channels_last"), 0));
    ktape::plot::image_grid(K::clip(K::concatenate(stages, 0), 0, 1),
                            {.title = "Noise becomes digits",
                             .columns = 10,
                             .row_labels = {"noise", "25 steps", "50 steps", "75 steps", "100 steps"},
                             .column_labels = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}})
        .save(run.out + "/dreams.svg");
  }

  // The other network judges, as the dreamer's own score of its dreams is always high.
  const Tensor judged =
      K::sum(K::softmax(judge.predict(dreams, {.verbose = 0})) * K::one_hot(digits, 10), -1);
  std::printf("read by the other network as the digit, with a probability of:\n");
  for (int digit = 0; digit < 10; ++digit) std::printf("  %d: %.3f", digit, judged.item(digit));
  const double least = K::min(judged).item(), expected = run.quick ? 0.2 : 0.8;
  std::printf("\nleast probability: %.3f (expected: %.1f or more)\n", least, expected);
  return least >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "deep_dream: %s\n", error.what());
  return 1;
}
