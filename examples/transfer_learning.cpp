// Transfer learning: a frozen ResNet50V2 gives 2048 features of each picture, and a small head learns to
// classify the features.
//
// Usage: transfer_learning [--data FOLDER] [--weights FILE] [--epochs N] [--seed N] [--out FOLDER] [--quick]
// By default the pictures are generated (rows, columns and checks in random colours) and the network's
// weights are random: expect 95 % of unseen pictures, since random filters distinguish directions, too.
// --data names a folder with a folder of pictures for each class, --weights the file that Keras publishes,
//   https://storage.googleapis.com/tensorflow/keras-applications/resnet/
//     resnet50v2_weights_tf_dim_ordering_tf_kernels_notop.h5
// Try next: your own photos, 50 of each class; unfreeze conv5 and train on with a rate of 1e-5 (fine-tuning).
#include <ktape/ktape.hpp>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
namespace applications = nn::applications;
using ktape::Tensor;

/// Reads the options that all examples have, and --weights.
static nn::ProgramOptions read_options(int argc, char** argv, std::string& weights) {
  std::vector<const char*> others{argv[0]};
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--weights" && i + 1 < argc) weights = argv[++i];
    else others.push_back(argv[i]);
  return nn::program_options(static_cast<int>(others.size()), others.data(),
                             {.epochs = 30, .quick_epochs = 30});
}

/// The side of a picture. ResNet was made for 224, but without its top a convolutional network takes any
/// size that leaves a map after five halvings: 64 becomes 2.
constexpr std::int64_t size = 64;

/// Pictures (n, 64, 64, 3) with values of 0..255, as `preprocess_input` wants them, and their classes (n,).
struct Pictures {
  Tensor x, y;
  std::int64_t classes;
};

/// Draws rows, columns or checks in a dark and a bright colour, of random width and offset, with some
/// noise. Colours tell nothing about the class, so the network must look at directions.
static void draw(float* pixels, int pattern, std::mt19937& random) {
  const auto uniform = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  const int width = uniform(4, 8), down = uniform(0, 15), right = uniform(0, 15);
  int colours[2][3];
  for (int channel = 0; channel < 3; ++channel)
    colours[0][channel] = uniform(10, 100), colours[1][channel] = uniform(150, 245);
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column) {
      const bool in_row = (row + down) / width % 2, in_column = (column + right) / width % 2;
      const bool bright = pattern == 0 ? in_row : pattern == 1 ? in_column : in_row != in_column;
      for (const int channel : colours[bright]) *pixels++ = static_cast<float>(channel + uniform(-10, 10));
    }
}

/// Returns pictures of the three patterns in turn, so the classes are balanced.
static Pictures drawn(std::int64_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<float> pixels(static_cast<std::size_t>(count * size * size * 3));
  std::vector<int> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<int>(i % 3));
    draw(&pixels[static_cast<std::size_t>(i * size * size * 3)], labels.back(), random);
  }
  return {K::reshape(K::constant(pixels), {count, size, size, 3}), K::constant(labels, {.dtype = "int32"}),
          3};
}

/// Reads a folder with a folder for each class, as `keras.utils.image_dataset_from_directory` does; the
/// names of the folders are the classes. An empty batch size gives single pictures, which are stacked.
static Pictures from_folder(const std::string& folder) {
  const auto pictures = data::image_dataset_from_directory(
      folder, {.batch_size = {}, .image_size = {size, size}, .shuffle = false});
  std::vector<Tensor> x, y;
  for (const data::Element& picture : pictures) x.push_back(picture[0]), y.push_back(picture[1]);
  return {K::stack(x), K::stack(y), static_cast<std::int64_t>(pictures.class_names.size())};
}

/// Returns the head: features (2048) -> probabilities. The normalization brings the features of an unknown
/// network to one scale; dropout is important, as 2048 features can tell a few hundred pictures apart by
/// chance.
static nn::Sequential classifier(std::int64_t classes) {
  return nn::Sequential({nn::BatchNormalization({.momentum = 0.9}), nn::Dropout(0.3),
                         nn::Dense(classes, {.activation = "softmax"})});
}

/// Joins the frozen network and the head into a model of pictures. A model can be called like a layer, and
/// the joined model shares all weights with the two models, so that no further training is needed.
static nn::Model joined(const nn::Model& base, const nn::Sequential& head) {
  const Tensor in = nn::Input({size, size, 3});
  return nn::Model(in, head(base(applications::resnet_v2::preprocess_input(in))), {.name = "transferred"});
}

/// Trains a head on the features of a network that is never trained here.
int main(int argc, char** argv) try {
  std::string weights;
  const auto run = read_options(argc, argv, weights);
  K::set_random_seed(run.seed);

  // `include_top = false` leaves out the layer of ImageNet's 1000 classes, and the pooling gives the mean
  // of each of 2048 maps. `set_trainable(false)` keeps the weights, and also keeps batch normalization on
  // its stored averages.
  const Pictures pictures = run.data.empty() ? drawn(run.quick ? 240 : 900, run.seed) : from_folder(run.data);
  const nn::Model base = applications::ResNet50V2(
      {.include_top = false, .weights = weights, .input_shape = {size, size, 3}, .pooling = "avg"});
  base.set_trainable(false);
  const nn::Sequential head = classifier(pictures.classes);

  // The features of a picture never change, so they are computed once, not in every epoch: the large
  // network sees each picture once instead of thirty times. Random changes of the pictures during training
  // would forbid this trick.
  const Tensor features = base.predict(applications::resnet_v2::preprocess_input(pictures.x), {.verbose = 0});
  const auto split =
      data::train_test_split({features, pictures.y, pictures.x}, {.test_size = 0.25, .seed = run.seed});
  head.compile(
      {.optimizer = nn::Adam(1e-3), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  head.fit(split.train[0], split.train[1], {.batch_size = 16, .epochs = run.epochs, .verbose = 2});

  // The joined model reads pictures, so its accuracy also tests that preprocessing, network and head fit
  // together.
  const nn::Model model = joined(base, head);
  model.compile({.loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const double accuracy = model.evaluate(split.test[2], split.test[1], {.verbose = 0})["accuracy"],
               expected = run.quick ? 0.8 : 0.95;

  // Which patterns does the head confuse?
  if (!run.out.empty())
    ktape::plot::confusion_matrix(split.test[1], model.predict(split.test[2], {.verbose = 0}),
                                  {.title = "Classes of the unseen pictures"})
        .save(run.out + "/confusion.svg");

  // The training changed the weights of the head only, because the network is frozen. No accuracy is
  // expected for pictures of the user.
  std::printf("trained %zu of %zu weights\n", model.trainable_weights().size(), model.weights().size());
  std::printf("accuracy on %d unseen pictures: %.3f", static_cast<int>(split.test[1].shape()[0]), accuracy);
  if (!run.data.empty()) return std::printf("\n"), 0;
  std::printf(" (expected: %.2f)\n", expected);
  return accuracy >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "transfer_learning: %s\n", error.what());
  return 1;
}
