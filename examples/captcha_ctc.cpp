// Reads words of digits from noisy images. The labels do not say where each digit is: convolutions extract
// features of the image's columns, a bidirectional LSTM reads the columns in order, and the CTC loss finds
// the alignment.
// Expect 0.85 of unseen words right in every digit, with beam search.
// Try next: {.greedy = true}, and words with repeated digits; no LSTM; longer words at test time.
// `--out FOLDER` draws images with the words that were read.
#include <ktape/ktape.hpp>

#include <cstdio>
#include <random>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor;

/// An image has room for a word of up to six digits of 8 x 8 pixels, with gaps.
static constexpr std::int64_t height = 12, width = 64, longest = 6;

/// Returns images of words of 3 to 6 handwritten digits, (n, 12, 64, 1), and their digits, (n, 6), padded
/// with -1. Neighbouring digits differ, since the beam search of K::ctc_decode merges equal neighbours, as
/// Keras's does.
static data::Element words(const data::Element& digits, std::int64_t n, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto drawn = [&](std::int64_t low, std::int64_t high) {
    return static_cast<std::size_t>(std::uniform_int_distribution<std::int64_t>(low, high)(random));
  };

  // Pixels are read and written through views of the tensors' memory, since single elements of a tensor as
  // tensors would be slow. The labels start as -1, the sign of "no digit".
  const std::int64_t rows = digits[0].shape()[0];
  const auto pixels = ktape::view<float>(digits[0]);
  const auto classes = ktape::view<int>(digits[1]);
  std::normal_distribution<float> noise(0, 0.08f);
  xt::xarray<float> images = xt::zeros<float>(
      {static_cast<std::size_t>(n), std::size_t{height}, std::size_t{width}, std::size_t{1}});
  xt::xarray<int> labels = -xt::ones<int>({static_cast<std::size_t>(n), std::size_t{longest}});

  // A word begins at a random column, and each digit has a random height and distance, so the network
  // cannot learn places by heart.
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const std::size_t length = drawn(3, longest);
    std::size_t left = drawn(0, width - 10 * static_cast<std::int64_t>(length));
    for (std::size_t k = 0; k < length; ++k, left += drawn(8, 10)) {
      std::size_t digit = drawn(0, rows - 1);
      while (k > 0 && classes(digit) == labels(i, k - 1)) digit = drawn(0, rows - 1);
      const std::size_t top = drawn(0, height - 8);
      labels(i, k) = classes(digit);
      for (std::size_t row = 0; row < 8; ++row)
        for (std::size_t column = 0; column < 8; ++column)
          images(i, top + row, left + column, 0) += pixels(digit, 8 * row + column);
    }
    for (std::size_t row = 0; row < height; ++row)
      for (std::size_t column = 0; column < width; ++column) images(i, row, column, 0) += noise(random);
  }
  return {K::constant(images), K::constant(labels, {.dtype = "int32"})};
}

/// Returns the number of time steps of each sequence, (n, 1), which the CTC functions need. All images are
/// equally wide, so all numbers are equal.
static Tensor lengths(const Tensor& y_pred) {
  return K::zeros({y_pred.shape()[0], 1}, {.dtype = "int32"}) + y_pred.shape()[1];
}

/// Returns the CTC loss of each sample, (n,): -log of the probability of all paths that spell the label,
/// with blanks and repetitions anywhere. `compile` takes any function of (y_true, y_pred) as the loss; the
/// lengths of the labels are counted from the padding.
static Tensor ctc_loss(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor label_length = K::sum(K::cast(y_true >= 0, "int32"), -1, true);
  return K::squeeze(K::ctc_batch_cost(y_true, y_pred, lengths(y_pred), label_length), -1);
}

/// Returns labels as text, without the padding of -1.
static std::string text(const Tensor& labels) {
  std::string digits;
  for (const Tensor& digit : K::unstack(labels))
    if (digit.item<int>() >= 0) digits += std::to_string(digit.item<int>());
  return digits;
}

/// Returns the network image -> probabilities (n, 32 steps, 11 classes); the eleventh class is the blank of
/// CTC. Pooling halves the image to 6 x 32, and `Permute` makes time steps of the columns. The LSTM reads
/// them in both directions, so a step also knows the right half of its digit.
static nn::Sequential word_reader() {
  return nn::Sequential({
      nn::Input({height, width, 1}),
      nn::Conv2D(32, 3, {.padding = "same", .use_bias = false}),
      nn::BatchNormalization({.momentum = 0.9}),
      nn::ReLU(),
      nn::MaxPooling2D(2),
      nn::Conv2D(32, 3, {.padding = "same", .use_bias = false}),
      nn::BatchNormalization({.momentum = 0.9}),
      nn::ReLU(),
      nn::Permute({2, 1, 3}),
      nn::Reshape({width / 2, height / 2 * 32}),
      nn::Dropout(0.2),
      nn::Dense(64, {.activation = "relu"}),
      nn::Bidirectional(nn::LSTM(48, {.return_sequences = true})),
      nn::Dense(11, {.activation = "softmax"}),
  });
}

/// Trains on words that are made on the fly, and spells unseen words by beam search.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 14, .quick_epochs = 10, .data = "examples/data/digits.csv.gz"});
  K::set_random_seed(run.seed);

  // Rows of 64 pixels in 0..1 and the classes. Words for the test are made of digits that the training
  // never uses.
  const Tensor table = data::load_csv(run.data);  // 64 pixels of 0..16, then the class
  const auto split =
      data::train_test_split({table[{All, Slice(0, 64)}] / 16.f, K::cast(table[{All, 64}], "int32")},
                             {.test_size = 0.2, .seed = run.seed});

  // Each batch has new random words: the elements of `range` only count the batches of an epoch, and the
  // map replaces each number by 32 words.
  const auto train = data::Dataset::range(run.quick ? 60 : 100).map([&](const data::Element&) {
    return words(split.train, 32, K::random_uniform({}, {.maxval = 1e6}).item<int>());
  });
  const data::Element test = words(split.test, 300, run.seed);

  // The loss stays on a plateau at first, where the network answers with blanks only; the rate is high in
  // the beginning and falls to 0 at the end of the last epoch.
  const nn::Sequential model = word_reader();
  const double batches = static_cast<double>(*train.cardinality());
  model.compile({.optimizer = nn::Adam(nn::CosineDecay(0.005, batches * run.epochs)), .loss = ctc_loss});
  model.fit(train, {.epochs = run.epochs, .verbose = 2});

  // Greedy decoding takes the best class of each step. Beam search sums over all paths of a word, since
  // many alignments spell the same word, and keeps the ten best prefixes. A word is right if all digits
  // are.
  const Tensor y_pred = model.predict(test[0], {.verbose = 0});
  const Tensor found =
      K::ctc_decode(y_pred, K::flatten(lengths(y_pred)), {.greedy = false, .beam_width = 10}).decoded[0];
  std::int64_t count = 0;
  std::vector<std::string> titles;
  const std::int64_t n = test[0].shape()[0];
  for (std::int64_t i = 0; i < n; ++i) {
    titles.push_back(text(found[{i}]));
    count += titles.back() == text(test[1][{i}]);
  }
  const double right = static_cast<double>(count) / static_cast<double>(n);

  // Twelve unseen words with the text that was read above each.
  if (!run.out.empty()) {
    titles.resize(12);
    ktape::plot::image_grid(
        K::clip(test[0][{Slice(0, 12)}], 0, 1),
        {.title = "Unseen words and what the network reads", .titles = titles, .columns = 3})
        .save(run.out + "/words.svg");
  }

  // Six digits must all be right: 0.97 for each digit would give 0.83 for the longest words.
  const double expected = run.quick ? 0.1 : 0.85;
  std::printf("unseen words right: %.4f (expected: %.2f or more)\n", right, expected);
  return right >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "captcha_ctc: %s\n", error.what());
  return 1;
}
