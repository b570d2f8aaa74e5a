// ResNet-20, as in "Deep Residual Learning for Image Recognition": three stages of residual blocks, on images
// of 32 x 32. Learns ten generated shapes, or CIFAR-10 if --data names the folder of its binary version.
// Expect 0.95 of the unseen shapes. CIFAR-10 takes longer: `--epochs 30`.
// Try next: blocks without the shortcut (h instead of Add()({h, shortcut})); 56 layers, which is 9 blocks in
// a stage; nn::RandomFlip("horizontal") as the first layer; nn::plot_model(model, "resnet.svg").
#include <ktape/ktape.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Tensor;

/// Returns whether a point belongs to a shape; shapes are about as large as the unit circle.
static bool inside(int shape, float u, float v) {
  const float r = std::hypot(u, v), far = std::max(std::abs(u), std::abs(v)),
              near = std::min(std::abs(u), std::abs(v));
  switch (shape) {
    case 0:
      return r < 0.9f;  // disc
    case 1:
      return r < 0.9f && r > 0.5f;  // ring
    case 2:
      return far < 0.75f;  // square
    case 3:
      return far < 0.8f && far > 0.45f;  // frame
    case 4:
      return near < 0.25f && far < 0.9f;  // cross
    case 5:
      return v > -0.6f && v < 0.9f - 1.7f * std::abs(u);  // triangle
    case 6:
      return r < 0.9f && v > 0;  // half disc
    case 7:
      return std::abs(u) < 0.95f && std::abs(v) < 0.3f;  // bar
    case 8:
      return std::hypot(std::abs(u) - 0.55f, v) < 0.4f;  // two dots
    default:
      return far < 0.8f && (u < -0.2f || v < -0.2f);  // corner
  }
}

/// Returns noisy images (n, 32, 32, 3) of bright shapes of random position, size, color and small rotation,
/// and the class of each image, (n,).
static data::Element shapes(std::int64_t n, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::normal_distribution<float> noise(0, 0.08f);
  Tensor images = Tensor::empty({n, 32, 32, 3}, "float32"), labels = Tensor::empty({n}, "int32");
  auto pixels = ktape::view<float>(images);
  auto classes = ktape::view<int>(labels);

  // Each pixel is carried into the shape's own coordinates: moved, rotated, scaled. Random ink and paper
  // keep the network from reading the class off the color.
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const int shape = classes(i) = static_cast<int>(i % 10);
    const float x0 = 6 * uniform(random), y0 = 6 * uniform(random), size = 9 + 2 * uniform(random);
    const float turn = 0.5f * uniform(random), c = std::cos(turn) / size, s = std::sin(turn) / size;
    float paper[3], ink[3];
    for (int k = 0; k < 3; ++k)
      paper[k] = 0.2f + 0.2f * uniform(random), ink[k] = 0.7f + 0.3f * uniform(random);
    for (std::size_t row = 0; row < 32; ++row)
      for (std::size_t column = 0; column < 32; ++column) {
        const float x = static_cast<float>(column) - 15.5f - x0, y = 15.5f - static_cast<float>(row) - y0;
        const float* color = inside(shape, c * x + s * y, c * y - s * x) ? ink : paper;
        for (std::size_t k = 0; k < 3; ++k) pixels(i, row, column, k) = color[k] + noise(random);
      }
  }
  return {images, labels};
}

/// Applies two convolutions and adds the shortcut around them: relu(F(x) + x). Gradients pass
/// the shortcut unchanged, so that networks of many layers can be trained, and a block learns only the
/// difference between its output and its input. Where strides change the shape, a convolution of 1 x 1 makes
/// the shortcut fit.
static Tensor residual_block(const Tensor& x, std::int64_t filters, int strides) {
  const auto convolution = [&](const Tensor& t, std::int64_t size, int step) {
    const nn::Conv2D layer(
        filters, size,
        {.strides = step, .padding = "same", .use_bias = false, .kernel_initializer = "he_normal"});
    return nn::BatchNormalization({.momentum = 0.9})(layer(t));
  };
  Tensor h = nn::ReLU()(convolution(x, 3, strides));
  h = convolution(h, 3, 1);
  const Tensor shortcut = strides == 1 ? x : convolution(x, 1, strides);
  return nn::ReLU()(nn::Add()({h, shortcut}));
}

/// Returns ResNet with 6 n + 2 layers for n blocks in a stage: a first convolution, three stages of n
/// blocks of two, a dense layer. The first block of the second and third stage halves the size (32, 16, 8)
/// while the filters double (16, 32, 64). The mean over all places replaces the large dense layers of older
/// networks.
static nn::Model resnet(int blocks_in_a_stage) {
  const Tensor image = nn::Input({32, 32, 3});
  Tensor h =
      nn::Conv2D(16, 3, {.padding = "same", .use_bias = false, .kernel_initializer = "he_normal"})(image);
  h = nn::ReLU()(nn::BatchNormalization({.momentum = 0.9})(h));
  for (const int filters : {16, 32, 64})
    for (int block = 0; block < blocks_in_a_stage; ++block)
      h = residual_block(h, filters, block == 0 && filters > 16 ? 2 : 1);
  h = nn::GlobalAveragePooling2D()(h);
  return nn::Model(image, nn::Dense(10, {.activation = "softmax"})(h), {.name = "resnet"});
}

/// Trains the network with a falling learning rate, on shapes or on CIFAR-10.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 6, .quick_epochs = 4});
  K::set_random_seed(run.seed);

  // Test shapes come from another seed. The files of CIFAR-10 hold bytes, which are scaled to 0..1 like the
  // shapes.
  data::Element train, test;
  if (run.data.empty()) {
    train = shapes(run.quick ? 600 : 1500, run.seed), test = shapes(500, run.seed + 1);
  } else {
    for (data::Element* part : {&train, &test}) {
      *part = data::load_cifar10(run.data, part == &train ? "train" : "test");
      *part = {K::cast((*part)[0], "float32") / 255.f, K::cast((*part)[1], "int32")};
    }
  }

  // AdamW shrinks the weights apart from the gradient step, which regularizes better than an L2 loss under
  // Adam. `CosineDecay` counts steps, not epochs: large steps at first, tiny ones at the end.
  const nn::Model model = resnet(run.quick ? 1 : 3);  // 8 or 20 layers
  std::printf("%lld weights\n", static_cast<long long>(model.count_params()));
  const double steps = std::ceil(static_cast<double>(train[0].shape()[0]) / 32);
  model.compile({.optimizer = nn::AdamW({.learning_rate = nn::CosineDecay(0.004, steps * run.epochs)}),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"}});
  const nn::History history =
      model.fit(train[0], train[1], {.batch_size = 32, .epochs = run.epochs, .verbose = 2});

  // In evaluation, batch normalization uses its moving averages, so an image's class does not depend on the
  // other images of its batch.
  const double accuracy = model.evaluate(test[0], test[1], {.verbose = 0})["accuracy"];

  // A curve of the training, some of the test images and their confusion matrix: which shapes look alike to
  // the network?
  if (!run.out.empty()) {
    ktape::plot::curves(history, "accuracy", {.title = "Accuracy of training"})
        .save(run.out + "/accuracy.svg");
    std::vector<std::string> titles;
    for (int i = 0; i < 20; ++i) titles.push_back("class " + std::to_string(test[1].item<int>(i)));
    ktape::plot::image_grid(K::clip(test[0][{ktape::Slice(0, 20)}], 0, 1),
                            {.title = "Unseen images", .titles = titles, .columns = 10})
        .save(run.out + "/images.svg");
    ktape::plot::confusion_matrix(test[1], model.predict(test[0], {.verbose = 0}),
                                  {.title = "Classes of the unseen images"})
        .save(run.out + "/confusion.svg");
  }

  // Guessing among ten classes is right in 0.1 of the cases; a few epochs of CIFAR-10 reach 0.6.
  const double expected = run.quick ? 0.4 : run.data.empty() ? 0.95 : 0.6;
  std::printf("accuracy on %lld unseen images: %.4f (expected: %.2f or more)\n",
              static_cast<long long>(test[0].shape()[0]), accuracy, expected);
  return accuracy >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "resnet: %s\n", error.what());
  return 1;
}
