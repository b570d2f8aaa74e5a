// Learns to add from examples alone: an encoder reads "275+68 " character by character, a decoder writes "343
// ". Numbers are written from the ones digit on, the order of addition by hand, which makes the task much
// easier.
// Expect 0.98 of unseen sums to be right, for two numbers of up to three digits.
// Try next: numbers with the highest digit first (without std::reverse); subtraction; a decoder with
// nn::Attention over all states of the encoder.
#include <ktape/ktape.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Slice, ktape::Tensor;

/// Twelve characters; a blank fills short numbers. Two numbers of three digits and a plus make seven
/// characters, and their sum has at most four.
static const std::string alphabet = "0123456789+ ";
static constexpr std::size_t digits = 3, question_length = 2 * digits + 1, answer_length = digits + 1;

/// Writes a number from the ones digit on, padded with blanks. A carry then comes from the digit that was
/// written before, as in addition by hand.
static std::string backwards(int number, std::size_t length) {
  std::string text = std::to_string(number);
  std::reverse(text.begin(), text.end());
  return text + std::string(length - text.size(), ' ');
}

/// Returns questions and answers, (n, steps), as indices into the alphabet. No question occurs twice, not
/// even as b + a, so unseen questions are new indeed. Lengths are drawn first, otherwise nine of ten
/// numbers would have three digits.
static data::Element sums(std::size_t n, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_int_distribution<std::size_t> length(1, digits);
  const int limits[] = {10, 100, 1000};
  const auto number = [&] {
    return std::uniform_int_distribution<int>(0, limits[length(random) - 1] - 1)(random);
  };
  const auto places = [](const std::string& text) {
    std::vector<int> found;
    for (const char c : text) found.push_back(static_cast<int>(alphabet.find(c)));
    return found;
  };

  // Random pairs until there are enough; pairs that have occurred are skipped.
  std::set<std::pair<int, int>> asked;
  std::vector<std::vector<int>> questions, answers;
  while (questions.size() < n) {
    const int a = number(), b = number();
    if (!asked.insert(std::minmax(a, b)).second) continue;
    questions.push_back(places(backwards(a, digits) + "+" + backwards(b, digits)));
    answers.push_back(places(backwards(a + b, answer_length)));
  }
  return {K::constant(questions, {.dtype = "int32"}), K::constant(answers, {.dtype = "int32"})};
}

/// Returns indices as the text that they stand for.
static std::string read(const Tensor& places) {
  std::string text;
  for (const Tensor& place : K::unstack(places)) text += alphabet[place.item<std::size_t>()];
  return text;
}

/// Returns the fraction of answers that are right in every digit. The accuracy that Keras shows counts
/// single characters and is far higher: 0.95 for each of four would leave 0.81.
static double part_right(const nn::Model& model, const data::Element& part, int shown = 0) {
  const Tensor answers =
      K::cast(K::argmax(model.predict(part[0], {.batch_size = 256, .verbose = 0})), "int32");
  for (int i = 0; i < shown; ++i)
    std::printf("  %s = %s %s\n", read(part[0][{i}]).c_str(), read(answers[{i}]).c_str(),
                read(answers[{i}]) == read(part[1][{i}]) ? "" : "(wrong)");
  return K::mean(K::cast(K::all(answers == part[1], -1), "float32")).item();
}

/// Returns encoder and decoder. The first LSTM turns the question into a vector of 128, `RepeatVector`
/// hands this vector to the decoder at each digit's step, and the second LSTM gives a state for each digit
/// (`return_sequences`).
static nn::Sequential calculator() {
  const auto characters = static_cast<std::int64_t>(alphabet.size());
  return nn::Sequential({
      nn::Input({question_length}, {.dtype = "int32"}),
      nn::Embedding(characters, 16),
      nn::LSTM(128),
      nn::RepeatVector(answer_length),
      nn::LSTM(128, {.return_sequences = true}),
      nn::Dense(characters, {.activation = "softmax"}),
  });
}

/// Trains on sums, and asks for sums that were not among them.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 16, .quick_epochs = 6});
  K::set_random_seed(run.seed);

  // A tenth of the sums is held out: 2,400 of 24,000.
  const data::Element all = sums(run.quick ? 8000 : 24000, run.seed);
  const auto split = data::train_test_split({all[0], all[1]}, {.test_size = 0.1, .seed = run.seed});

  // The loss falls in jumps, as the network understands a digit after the other. `ReduceLROnPlateau` halves
  // the rate when the loss stalls, which settles the last digits.
  const nn::Sequential model = calculator();
  model.compile(
      {.optimizer = nn::Adam(0.004), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(split.train[0], split.train[1],
            {.batch_size = 64,
             .epochs = run.epochs,
             .verbose = 2,
             .callbacks = {nn::ReduceLROnPlateau({.monitor = "loss", .factor = 0.5, .patience = 2})}});

  // The first ten unseen sums are shown, with numbers still backwards.
  const double right = part_right(model, split.test, 10), expected = run.quick ? 0.02 : 0.98;
  std::printf("unseen sums that are right: %.4f (expected: %.2f or more)\n", right, expected);
  return right >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "addition_seq2seq: %s\n", error.what());
  return 1;
}
