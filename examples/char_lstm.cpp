// A character model of text: an LSTM learns to predict the next character of Shakespeare's plays, and then
// writes some lines.
// Expect 2.6 bits per character on unseen text; without a model a character costs 6.
// Try next: two LSTM layers; nn::GRU; sequences twice as long; other temperatures; `--data FILE`, your own
// text. mini_gpt.cpp solves this task with attention.
#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor;

/// The length of a sequence. Gradients flow back through 64 characters and no further.
static constexpr std::int64_t steps = 64;

/// The distinct characters of a text; `numbers` gives the index of each character of a text.
struct Alphabet {
  std::string characters;
  explicit Alphabet(const std::string& text) {
    for (const char c : text)
      if (characters.find(c) == std::string::npos) characters += c;
  }
  Tensor numbers(const std::string& text) const {
    std::vector<int> found;
    for (const char c : text) found.push_back(static_cast<int>(characters.find(c)));
    return K::constant(found, {.dtype = "int32"});
  }
};

/// Returns consecutive sequences as inputs, and the sequences shifted by one character as targets, both
/// (rows, 64). Each position thus has a target: 64 predictions are trained in one pass.
static data::Element sequences(const Tensor& numbers) {
  const std::int64_t rows = (numbers.shape()[0] - 1) / steps;
  const auto from = [&](std::int64_t start) {
    return K::reshape(numbers[{Slice(start, start + rows * steps)}], {rows, steps});
  };
  return {from(0), from(1)};
}

/// Continues a text: each character is drawn from the model's distribution, flatter at higher temperature.
/// The draw counts how many cumulated probabilities lie below a random number. The most probable character
/// alone would end in endless repetition.
static std::string sample(const nn::Model& model, const Alphabet& alphabet, std::string text, int length,
                          double temperature) {
  for (int i = 0; i < length; ++i) {
    const std::string end = text.substr(text.size() - std::min<std::size_t>(text.size(), steps));
    const Tensor logits = model.predict(K::expand_dims(alphabet.numbers(end), 0), {.verbose = 0})[{0, -1}];
    const Tensor p = K::cumsum(K::softmax(logits / temperature));
    const Tensor below = K::cast(p < K::random_uniform({1}), "int32");
    text += alphabet.characters.at(K::sum(below).item<std::size_t>());
  }
  return text;
}

/// Returns the network characters (n, steps) -> logits (n, steps, classes). The embedding makes vectors of
/// character numbers; `return_sequences` gives the LSTM's state after every character instead of the last
/// alone. The LSTM reads from left to right, so no position can see its target.
static nn::Sequential next_character(std::int64_t classes) {
  return nn::Sequential({
      nn::Embedding(classes, 32),
      nn::LSTM(128, {.return_sequences = true}),
      nn::Dropout(0.2),
      nn::Dense(classes, {.dtype = "float32"}),
  });
}

/// Trains on the first nine tenths of the text and measures the rest.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 12, .quick_epochs = 6, .data = "examples/data/shakespeare.txt"});
  K::set_random_seed(run.seed);

  // A text is split at a place, not at random: sequences from between training sequences would be too easy.
  std::string text = data::load_text(run.data);
  if (run.quick) text.resize(text.size() / 4);
  const Alphabet alphabet(text);
  const auto classes = static_cast<std::int64_t>(alphabet.characters.size());
  const std::size_t read = text.size() / 10 * 9;
  const data::Element train = sequences(alphabet.numbers(text.substr(0, read)));
  const data::Element unread = sequences(alphabet.numbers(text.substr(read)));

  // Gradients of recurrent networks can explode over many steps; `clipnorm` shortens long ones and permits
  // the high rate of 0.005.
  const nn::Sequential model = next_character(classes);
  model.compile({.optimizer = nn::Adam({.learning_rate = 0.005, .clipnorm = 1.0}),
                 .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  model.fit(
      train[0], train[1],
      {.batch_size = 32, .epochs = run.epochs, .verbose = 2, .validation_data = {unread[0], unread[1]}});

  // The model writes. A temperature of 0.7 prefers likely characters without forbidding others.
  std::printf("\n%s\n\n", sample(model, alphabet, "First Citizen:\n", run.quick ? 100 : 500, 0.7).c_str());

  // The loss is the mean of -log p in nats; divided by log 2, the result is in bits. A guess among 64
  // characters costs 6 bits.
  const double nats = model.evaluate(unread[0], unread[1], {.verbose = 0})["loss"];
  const double bits = nats / std::log(2.0), expected = run.quick ? 3.6 : 2.65;
  std::printf("bits for an unread character: %.3f (expected: %.2f or less)\n", bits, expected);
  return bits <= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "char_lstm: %s\n", error.what());
  return 1;
}
