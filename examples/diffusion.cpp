// Denoising diffusion (DDPM) generates handwritten digits: a network learns to predict the noise in a noisy
// digit, given the digit's class. Removing the predicted noise step by step turns pure noise into digits.
// Expect the network of digits_cnn.cpp to read 0.9 of the samples as the requested digit.
// Try next: fewer steps; the image in place of the noise as the target; a U-Net in place of the perceptron.
// `--out FOLDER` draws samples, a row for each digit.
#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor;

/// The number of steps from a digit to noise. More steps are smaller, and so easier to undo, but sampling
/// takes longer.
static constexpr std::int64_t steps = 100;

/// The noise schedule: `left` is the part of the image's variance left after each step, cumprod(1 - beta).
/// The noise grows slowly at first, and in the end little more than noise is left, from which sampling can
/// start.
struct Schedule {
  Tensor beta = 0.0005f + 0.08f * K::cast(K::arange(0, steps), "float32") / static_cast<float>(steps);
  Tensor left = K::cumprod(1.f - beta);
};

/// Returns the step as sines and cosines of 16 frequencies, (n, 32), as transformers encode positions. A
/// network reads such waves better than a number from 0 to 99.
static Tensor waves(const Tensor& step) {
  const Tensor frequency =
      K::exp(K::cast(K::arange(0, 16), "float32") * static_cast<float>(-std::log(1000.0) / 16));
  const Tensor angle = K::cast(step, "float32") * frequency;
  return K::concatenate({K::sin(angle), K::cos(angle)}, -1);
}

/// Returns the model (image, step as waves, one-hot digit) -> the noise in the image. The condition is
/// added in each of three residual blocks, so that step and digit stay present at every depth. Noise has no
/// bounds, so the last layer has no activation.
static nn::Model noise_finder() {
  const Tensor image = nn::Input({64}), step = nn::Input({32}), digit = nn::Input({10});
  const Tensor condition = nn::Concatenate()({step, digit});
  Tensor h = nn::Dense(256)(image);
  for (int block = 0; block < 3; ++block) {
    const Tensor wide = nn::Dense(256, {.activation = "swish"})(nn::Add()({h, nn::Dense(256)(condition)}));
    h = nn::Add()({h, nn::Dense(256)(wide)});
  }
  return nn::Model({image, step, digit}, nn::Dense(64, {.dtype = "float32"})(nn::LayerNormalization()(h)),
                   {.name = "noise_finder"});
}

/// Samples digits of the requested classes, starting from noise. Each step subtracts the share of the
/// predicted noise that the step had added, and adds a little new noise, except at the end (DDPM). Images
/// live in -1..1 and are scaled to 0..1 for the result.
static Tensor sample(const nn::Model& model, const Schedule& schedule, const Tensor& digit) {
  Tensor x = K::random_normal({digit.shape()[0], 64});
  for (std::int64_t t = steps - 1; t >= 0; --t) {
    const float beta = schedule.beta.item(t), left = schedule.left.item(t);
    const Tensor step = K::zeros({digit.shape()[0], 1}) + static_cast<float>(t);
    const Tensor noise = model.predict({x, waves(step), digit}, {.batch_size = 256, .verbose = 0});
    x = (x - beta / std::sqrt(1 - left) * noise) / std::sqrt(1 - beta);
    if (t > 0) x = x + std::sqrt(beta) * K::random_normal(K::int_shape(x));
  }
  return K::clip((x + 1.f) / 2.f, 0, 1);
}

/// Returns the network of digits_cnn.cpp, trained to classify digits. A classifier turns "looks like a
/// three" into a number.
static nn::Sequential reader(const Tensor& x, const Tensor& y) {
  nn::Sequential model({
      nn::Reshape({8, 8, 1}),
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
      nn::MaxPooling2D(2),
      nn::Flatten(),
      nn::Dropout(0.3),
      nn::Dense(64, {.activation = "relu"}),
      nn::Dense(10, {.activation = "softmax", .dtype = "float32"}),
  });
  model.compile({.optimizer = nn::Adam(0.002), .loss = "sparse_categorical_crossentropy"});
  model.fit(x, y, {.batch_size = 32, .epochs = 8, .verbose = 0});
  return model;
}

/// Trains on noise, samples digits, and lets a classifier read the samples.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 300, .quick_epochs = 60, .data = "examples/data/digits.csv.gz"});
  K::set_random_seed(run.seed);

  // Images as rows of 64 pixels in 0..1, and the class of each.
  const Tensor table = data::load_csv(run.data);  // 64 pixels of 0..16, then the class
  const Tensor images = table[{All, Slice(0, 64)}] / 16.f, classes = K::cast(table[{All, 64}], "int32");

  // Each digit gets a random step of the schedule and new noise in each epoch: image = sqrt(left) * digit +
  // sqrt(1 - left) * noise. The closed form reaches any step at once, so training never walks through the
  // steps. The noise is the target.
  const Schedule schedule;
  const auto noisy = [&](const data::Element& e) {
    const std::int64_t n = e[0].shape()[0];
    const Tensor step = K::cast(K::random_uniform({n}, {.maxval = static_cast<double>(steps)}), "int32");
    const Tensor left = K::expand_dims(K::gather(schedule.left, step)), noise = K::random_normal({n, 64});
    const Tensor image = K::sqrt(left) * (2.f * e[0] - 1.f) + K::sqrt(1.f - left) * noise;
    return data::Element{image, waves(K::expand_dims(step)), K::one_hot(e[1], 10), noise};
  };
  const auto train = data::Dataset::from_tensor_slices({images, classes}).shuffle(2000).batch(128).map(noisy);

  // An element of the dataset holds three inputs and the target last. The loss is the mean squared error of
  // the noise.
  const nn::Model model = noise_finder();
  const double batches = static_cast<double>(*train.cardinality());
  model.compile({.optimizer = nn::Adam(nn::CosineDecay(0.002, batches * run.epochs)), .loss = "mse"});
  const nn::History history = model.fit(train, {.epochs = run.epochs, .verbose = 0});
  std::printf("loss: %.4f, %.4f in the end\n", history["loss"].front(), history["loss"].back());

  // Twenty samples of each class, and a fresh classifier as the judge.
  const Tensor asked = K::repeat_elements(K::arange(0, 10), 20, 0);
  const Tensor made = sample(model, schedule, K::one_hot(asked, 10));
  if (!run.out.empty())
    ktape::plot::image_grid(K::reshape(made, {-1, 8, 8}),
                            {.title = "Samples of each class",
                             .columns = 20,
                             .row_labels = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}})
        .save(run.out + "/samples.svg");

  // A sample counts if the judge reads the digit that was asked for. Readable samples may still be copies
  // of each other, so the pictures deserve a look, too.
  const Tensor read = K::argmax(reader(images, classes).predict(made, {.verbose = 0}));
  const double right = K::mean(K::cast(K::cast(read, "int32") == asked, "float32")).item();
  const double expected = run.quick ? 0.6 : 0.9;
  std::printf("samples read as what was asked for: %.3f (expected: %.1f or more)\n", right, expected);
  return right >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "diffusion: %s\n", error.what());
  return 1;
}
