// A U-Net segments images: it marks the pixels of discs among squares and triangles in the same colors. Skip
// connections hand the feature maps of the downsampling path to the upsampling path, so that outlines stay
// sharp.
// Expect an intersection over union of 0.9 of true and found discs in unseen images.
// Try next: no Concatenate; three classes and a softmax; dark shapes, too. `--out FOLDER` draws images, and
// below them the discs found.
#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>
#include <random>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Slice, ktape::Tensor;

static constexpr std::int64_t side = 32;

/// Returns noisy images (n, 32, 32, 3) of two bright shapes, the second drawn over the first, and masks (n,
/// 32, 32, 1) that are 1 at the visible pixels of discs.
static data::Element shapes(std::int64_t n, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> uniform(0, 1);
  std::normal_distribution<float> noise(0, 0.05f);
  Tensor images = Tensor::empty({n, side, side, 3}, "float32"),
         discs = Tensor::empty({n, side, side, 1}, "float32");
  auto pixels = ktape::view<float>(images), marks = ktape::view<float>(discs);
  pixels.fill(0.2f), marks.fill(0);

  // A pixel's place (u, v) is measured from the middle of the shape, in units of its size, so that each
  // shape is a simple condition. Squares and triangles share the colors of discs: only the outline tells
  // them apart.
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    for (int drawn = 0; drawn < 2; ++drawn) {
      const int shape = static_cast<int>(3 * uniform(random));  // disc, square, triangle
      const float size = 5 + 3 * uniform(random), room = side - 2 * size;
      const float x0 = size + room * uniform(random), y0 = size + room * uniform(random);
      float color[3];
      for (float& c : color) c = 0.5f + 0.5f * uniform(random);
      for (std::size_t row = 0; row < side; ++row)
        for (std::size_t column = 0; column < side; ++column) {
          const float u = (static_cast<float>(column) - x0) / size, v = (static_cast<float>(row) - y0) / size;
          const bool inside = shape == 0   ? std::hypot(u, v) < 1
                              : shape == 1 ? std::max(std::abs(u), std::abs(v)) < 0.85f
                                           : v < 0.8f && v > 1.8f * std::abs(u) - 1;
          if (!inside) continue;
          for (std::size_t k = 0; k < 3; ++k) pixels(i, row, column, k) = color[k];
          marks(i, row, column, 0) = shape == 0 ? 1.f : 0.f;
        }
    }
    for (std::size_t row = 0; row < side; ++row)
      for (std::size_t column = 0; column < side; ++column)
        for (std::size_t k = 0; k < 3; ++k) pixels(i, row, column, k) += noise(random);
  }
  return {images, discs};
}

/// Applies two convolutions of 3 x 3 that keep the size. The convolutions have no bias, because the batch
/// normalization that follows subtracts the mean; a momentum of 0.9, in place of Keras's 0.99, lets the
/// moving averages settle within a short training.
static Tensor convolutions(Tensor h, std::int64_t filters) {
  for (int i = 0; i < 2; ++i) {
    h = nn::Conv2D(filters, 3, {.padding = "same", .use_bias = false, .kernel_initializer = "he_normal"})(h);
    h = nn::ReLU()(nn::BatchNormalization({.momentum = 0.9})(h));
  }
  return h;
}

/// Returns the model image -> probability of a disc at each pixel. On the way down, pooling halves the size
/// and the filters double: more meaning, less place. On the way up, transposed convolutions double the
/// size, and `Concatenate` joins the maps of equal size from the way down, which still know the exact place
/// of each edge.
static nn::Model unet(std::int64_t filters, int levels) {
  const Tensor image = nn::Input({side, side, 3});
  Tensor h = image;
  std::vector<Tensor> across;
  for (int level = 0; level < levels; ++level) {
    across.push_back(convolutions(h, filters << level));
    h = nn::MaxPooling2D(2)(across.back());
  }
  h = convolutions(h, filters << levels);
  for (int level = levels - 1; level >= 0; --level) {
    h = nn::Conv2DTranspose(filters << level, 2, {.strides = 2})(h);
    h = convolutions(nn::Concatenate()({across[static_cast<std::size_t>(level)], h}), filters << level);
  }
  return nn::Model(image, nn::Conv2D(1, 1, {.activation = "sigmoid", .dtype = "float32"})(h),
                   {.name = "unet"});
}

/// Trains on generated images, whose masks are exact, and tests on images of another seed.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 8, .quick_epochs = 8});
  K::set_random_seed(run.seed);
  const data::Element train = shapes(run.quick ? 400 : 1600, run.seed), test = shapes(200, run.seed + 1);

  // Every pixel is a binary classification. Accuracy would be high for an empty mask, since most pixels are
  // background; intersection over union only counts pixels that are disc in truth or by prediction. The
  // rate falls to 0 along half a cosine, in as many steps as `fit` will do.
  const nn::Model model = unet(run.quick ? 8 : 12, 2);
  const double batches = static_cast<double>(train[0].shape()[0]) / 8;
  model.compile({.optimizer = nn::Adam(nn::CosineDecay(0.004, batches * run.epochs)),
                 .loss = "binary_crossentropy",
                 .metrics = {nn::BinaryIoU({.target_class_ids = {1}, .name = "iou"})}});
  model.fit(train[0], train[1], {.batch_size = 8, .epochs = run.epochs, .verbose = 2});

  // `BinaryIoU` with `target_class_ids = {1}` takes probabilities above 0.5 as discs and ignores the
  // overlap of the background.
  const double iou = model.evaluate(test[0], test[1], {.verbose = 0})["iou"],
               expected = run.quick ? 0.5 : 0.9;

  // The masks have one channel; repeated three times, they can stand in a grid with the colored images.
  if (!run.out.empty()) {
    const Tensor some = K::clip(test[0][{Slice(0, 8)}], 0, 1);
    const Tensor found = K::repeat_elements(model.predict(test[0][{Slice(0, 8)}], {.verbose = 0}), 3, -1);
    const Tensor truth = K::repeat_elements(test[1][{Slice(0, 8)}], 3, -1);
    ktape::plot::image_grid(
        K::concatenate({some, found, truth}, 0),
        {.title = "Discs in unseen images", .columns = 8, .row_labels = {"image", "found", "truth"}})
        .save(run.out + "/discs.svg");
  }

  // The mask is right where truth and prediction overlap; pixels missed and pixels invented both lower the
  // quotient.
  std::printf("intersection over union: %.4f (expected: %.1f or more)\n", iou, expected);
  return iou >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "unet: %s\n", error.what());
  return 1;
}
