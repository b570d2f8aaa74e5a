// A variational autoencoder of handwritten digits: the encoder gives a normal distribution over a plane, the
// decoder turns points of the plane into images, and a KL loss keeps the distributions near the standard
// normal one.
// Expect less than 26 nats for an unseen digit: the reconstruction loss of its 64 pixels plus the KL loss.
// Try next: a latent space of more dimensions; the KL term weighted by 4 (beta-VAE); the class as an input of
// the decoder, too (conditional VAE). `--out FOLDER` draws the decoded plane, and where digits lie.
#include <ktape/ktape.hpp>

#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
namespace plot = ktape::plot;
using ktape::All, ktape::Slice, ktape::Tensor;

/// A layer that draws from the encoder's normal distributions (mean, log variance) and adds their distance
/// to the standard normal distribution to the loss: KL(N(m, s) || N(0, 1)). The draw is written as m + s *
/// noise, so that gradients reach m and s past the random numbers (the reparametrization trick). `add_loss`
/// works as in Keras: `fit` adds the value to the compiled loss.
struct SamplingImpl : nn::LayerImpl {
  SamplingImpl() : nn::LayerImpl("Sampling", {.dtype = "float32"}) {}
  std::vector<Tensor> call(const std::vector<Tensor>& inputs) {
    const Tensor mean = inputs[0], log_variance = inputs[1];
    add_loss(K::mean(0.5f * K::sum(K::square(mean) + K::exp(log_variance) - log_variance - 1.f, -1)));
    return {mean + K::exp(0.5f * log_variance) * K::random_normal(K::shape(mean))};
  }
};
using Sampling = nn::LayerOf<SamplingImpl>;

/// Returns the model image -> (mean, log variance, a random point), all of two dimensions, so that the
/// latent space can be drawn. The logarithm lets a dense layer give any number, while a variance must be
/// positive.
static nn::Model image_encoder() {
  const Tensor image = nn::Input({8, 8, 1});
  Tensor h = nn::Conv2D(32, 3, {.strides = 2, .padding = "same", .activation = "relu"})(image);
  h = nn::Dense(64, {.activation = "relu"})(nn::Flatten()(h));
  const Tensor mean = nn::Dense(2, {.dtype = "float32", .name = "mean"})(h),
               log_variance = nn::Dense(2, {.dtype = "float32", .name = "log_variance"})(h);
  return nn::Model(image, {mean, log_variance, Sampling()({mean, log_variance})}, {.name = "encoder"});
}

/// Returns the model point of the plane -> image: the mirror of the encoder, with a transposed convolution
/// that doubles the size where the encoder halved it.
static nn::Sequential image_decoder() {
  return nn::Sequential(
      {
          nn::Input({2}),
          nn::Dense(64, {.activation = "relu"}),
          nn::Dense(4 * 4 * 32, {.activation = "relu"}),
          nn::Reshape({4, 4, 32}),
          nn::Conv2DTranspose(32, 3, {.strides = 2, .padding = "same", .activation = "relu"}),
          nn::Conv2D(1, 3, {.padding = "same", .activation = "sigmoid", .dtype = "float32"}),
      },
      {.name = "decoder"});
}

/// Draws the decoded plane: images of a grid of points. Neighbours look alike and fade into each other,
/// because the decoder was trained on clouds of points, not on single points.
static void draw(const std::string& folder, const nn::Model& encoder, const nn::Model& decoder,
                 const data::Element& digits) {
  std::vector<std::vector<float>> points;
  for (int row = 0; row < 15; ++row)
    for (int column = 0; column < 15; ++column)
      points.push_back({-2.1f + 0.3f * static_cast<float>(column), 2.1f - 0.3f * static_cast<float>(row)});
  plot::image_grid(decoder.predict(K::constant(points), {.verbose = 0}),
                   {.title = "The decoded plane, from -2.1 to 2.1", .columns = 15})
      .save(folder + "/plane.svg");

  // Where do the digits lie? The means of the encoder as points, a colour for each class. The classes form
  // clusters although no label was used.
  const Tensor where = encoder.predict(digits[0], {.verbose = 0}).outputs()[0];
  std::vector<plot::Series> classes(10);
  for (std::size_t digit = 0; digit < classes.size(); ++digit) classes[digit].name = std::to_string(digit);
  std::vector<std::vector<double>> x(10), y(10);
  for (std::int64_t i = 0; i < where.shape()[0]; ++i) {
    const auto digit = digits[1].item<std::size_t>(i);
    x[digit].push_back(where.item<double>(i, 0));
    y[digit].push_back(where.item<double>(i, 1));
  }
  for (std::size_t digit = 0; digit < classes.size(); ++digit)
    classes[digit].x = x[digit], classes[digit].y = y[digit];
  plot::scatter(classes, {.title = "Unseen digits in the plane", .width = 640, .height = 660, .equal = true})
      .save(folder + "/digits.svg");
}

/// Trains encoder and decoder as a single model; afterwards each can be used alone.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 60, .quick_epochs = 12, .data = "examples/data/digits.csv.gz"});
  K::set_random_seed(run.seed);

  // Images (n, 8, 8, 1) in 0..1. The classes are kept for the drawing only.
  const Tensor table = data::load_csv(run.data);  // 64 pixels of 0..16, then the class
  const Tensor x = K::reshape(table[{All, Slice(0, 64)}] / 16.f, {-1, 8, 8, 1});
  const auto split =
      data::train_test_split({x, K::cast(table[{All, 64}], "int32")}, {.test_size = 0.2, .seed = run.seed});

  // The third output of the encoder, the random point, enters the decoder. The loss is a sum over the 64
  // pixels, not Keras's mean: only the negative log likelihood of the whole image has the right weight
  // against the KL term.
  const nn::Model encoder = image_encoder();
  const nn::Sequential decoder = image_decoder();
  const nn::Model vae(encoder.inputs(), decoder(encoder.outputs()[2]), {.name = "vae"});
  const auto cost_of_pixels = [](const Tensor& y_true, const Tensor& y_pred) {
    return K::sum(K::binary_crossentropy(y_true, y_pred), {1, 2, 3});
  };
  vae.compile({.optimizer = nn::Adam(0.002), .loss = cost_of_pixels});
  vae.fit(split.train[0], split.train[0], {.batch_size = 64, .epochs = run.epochs, .verbose = 2});

  // Both terms together bound the negative log likelihood of an unseen digit from above (the ELBO), in
  // nats. A new random point is drawn for each digit, so the number varies a little.
  const double nats = vae.evaluate(split.test[0], split.test[0], {.verbose = 0})["loss"];
  if (!run.out.empty()) draw(run.out, encoder, decoder, split.test);
  const double expected = run.quick ? 28 : 26;
  std::printf("nats for an unseen digit: %.2f (expected: %.0f or less)\n", nats, expected);
  return nats <= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "vae: %s\n", error.what());
  return 1;
}
