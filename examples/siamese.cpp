// Do two images show the same digit? A siamese network: one encoder, called on both images, gives a vector of
// each, and the absolute difference of the vectors gives the similarity.
// Expect an area under the ROC curve of 0.97 for pairs of unseen images.
// Try next: pairs of classes that are left out of the training; the triplet loss; the nearest of ten examples
// as a classifier. `--out FOLDER` draws pairs with their predicted similarity.
#include <ktape/ktape.hpp>

#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor;

/// Returns pairs of random images, half of them of equal class: (left, right, 1 if the classes are equal).
static data::Element pairs(const data::Element& digits, std::int64_t n) {
  const std::int64_t rows = digits[0].shape()[0];
  const auto drawn = [&](std::int64_t count) {
    return K::cast(K::random_uniform({count}, {.maxval = static_cast<double>(rows)}), "int32");
  };

  // Only a tenth of random pairs have equal classes, which would reward the answer "different". From 20 n
  // random pairs, n / 2 of equal class and n / 2 of different classes are chosen. The sort is stable and
  // puts different pairs first.
  const Tensor left = drawn(20 * n), right = drawn(20 * n);
  const Tensor same = K::cast(K::gather(digits[1], left) == K::gather(digits[1], right), "float32");
  const Tensor order = K::argsort(same);  // stable: different pairs come first
  const Tensor chosen = K::concatenate({order[{Slice(0, n / 2)}], order[{Slice(-n / 2, ktape::None)}]}, 0);
  return {K::gather(digits[0], K::gather(left, chosen)), K::gather(digits[0], K::gather(right, chosen)),
          K::expand_dims(K::gather(same, chosen))};
}

/// Returns the model (left, right) -> probability of equal digits. Both calls of the encoder share its
/// weights, so a digit gets equal vectors on either side; the absolute difference makes the answer
/// independent of the order. K functions of symbolic tensors become part of the model.
static nn::Model siamese() {
  const nn::Sequential encoder(
      {
          nn::Input({8, 8, 1}),
          nn::Conv2D(16, 3, {.padding = "same", .activation = "relu"}),
          nn::MaxPooling2D(2),
          nn::Conv2D(32, 3, {.padding = "same", .activation = "relu"}),
          nn::Flatten(),
          nn::Dropout(0.2),
          nn::Dense(16),
      },
      {.name = "encoder"});
  const Tensor left = nn::Input({8, 8, 1}), right = nn::Input({8, 8, 1});
  const Tensor difference = K::abs(encoder(left) - encoder(right));
  return nn::Model({left, right}, nn::Dense(1, {.activation = "sigmoid"})(difference), {.name = "siamese"});
}

/// Learns to compare instead of to classify: no class number enters the network, so the comparison can be
/// tried on classes that were absent in training.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 15, .quick_epochs = 4, .data = "examples/data/digits.csv.gz"});
  K::set_random_seed(run.seed);

  // The images are split before they are paired. Pairs that were split afterwards would share images
  // between training and test, and the result would be too good.
  const Tensor table = data::load_csv(run.data);  // 64 pixels of 0..16, then the class
  const auto split = data::train_test_split(
      {K::reshape(table[{All, Slice(0, 64)}] / 16.f, {-1, 8, 8, 1}), K::cast(table[{All, 64}], "int32")},
      {.test_size = 0.3, .seed = run.seed});
  const data::Element train = pairs(split.train, run.quick ? 2000 : 6000), test = pairs(split.test, 2000);

  // A model of two inputs gets a list of two tensors. Each pair is a binary classification; AUC is the
  // probability that a pair of equal digits scores higher than a pair of different ones, whatever the
  // threshold.
  const nn::Model model = siamese();
  model.compile(
      {.optimizer = nn::Adam(0.003), .loss = "binary_crossentropy", .metrics = {nn::AUC({.name = "auc"})}});
  model.fit({train[0], train[1]}, train[2], {.batch_size = 64, .epochs = run.epochs, .verbose = 2});

  // Unseen images in new pairs; 0.5 would be guessing.
  const double area = model.evaluate({test[0], test[1]}, test[2], {.verbose = 0})["auc"];

  // `pairs` puts different pairs first, so rows 994 to 1005 are six pairs of either kind.
  if (!run.out.empty()) {
    const Tensor some = K::arange(994, 1006);  // six pairs of different digits, then six of equal digits
    const Tensor a = K::gather(test[0], some), b = K::gather(test[1], some),
                 alike = model.predict({a, b}, {.verbose = 0});
    std::vector<std::string> titles;
    for (int i = 0; i < 12; ++i) titles.push_back(std::to_string(alike.item(i, 0)).substr(0, 4));
    ktape::plot::image_grid(K::concatenate({a, b}, 2),
                            {.title = "Unseen pairs and the predicted probability of equal digits",
                             .titles = titles,
                             .columns = 6,
                             .row_labels = {"different digits", "equal digits"}})
        .save(run.out + "/pairs.svg");
  }

  // The smaller training of `--quick` sees fewer pairs and needs a less strict bound.
  const double expected = run.quick ? 0.83 : 0.97;
  std::printf("area under the ROC curve of unseen pairs: %.4f (expected: %.2f or more)\n", area, expected);
  return area >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "siamese: %s\n", error.what());
  return 1;
}
