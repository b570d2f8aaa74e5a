// A small GPT: predicts the next character of a text from all characters before, by attention with a causal
// mask.
// Expect 2.8 bits per character on unseen text; without a model a character costs 6.
// Try next: four blocks; a longer context; no position embedding; `--data FILE`, your own text, the longer
// the better. char_lstm.cpp solves this task with a recurrent network.
#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Slice, ktape::Tensor;

/// A context of 64 characters, vectors of 64 numbers, and four heads that compare 16 of these numbers each.
static constexpr std::int64_t steps = 64, width = 64, heads = 4;

/// Applies attention and a perceptron. Each reads a normalized input, and the sum of input and output, after
/// dropout, is the result. The causal mask lets a character look at earlier characters only; without the mask
/// the next character, the target, could simply be read off.
static Tensor transformer_block(const Tensor& x) {
  Tensor h = nn::LayerNormalization()(x);
  h = nn::MultiHeadAttention(heads, width / heads)({h, h}, {.use_causal_mask = true});
  const Tensor attended = nn::Add()({x, nn::Dropout(0.1)(h)});
  h = nn::Dense(4 * width, {.activation = "gelu"})(nn::LayerNormalization()(attended));
  return nn::Add()({attended, nn::Dropout(0.1)(nn::Dense(width)(h))});
}

/// A layer that adds the embeddings of each character and of its position, since attention itself does not
/// know the order. Layers within a layer are registered by `add_layer`, so that their weights are trained
/// and saved.
struct TokenAndPositionImpl : nn::LayerImpl {
  nn::Embedding tokens, positions;
  explicit TokenAndPositionImpl(std::int64_t classes)
      : nn::LayerImpl("TokenAndPosition"),
        tokens(add_layer(nn::Embedding(classes, width))),
        positions(add_layer(nn::Embedding(steps, width))) {}
  Tensor call(const Tensor& x) override { return tokens(x) + positions(K::arange(0, K::shape(x)[{1}])); }
};
using TokenAndPosition = nn::LayerOf<TokenAndPositionImpl>;

/// Returns the model characters (n, steps) -> logits (n, steps, classes). The number of steps is open
/// (None), so a short prompt needs no padding; the position embeddings set the limit of 64.
static nn::Model gpt(std::int64_t classes, int blocks) {
  const Tensor characters = nn::Input({ktape::None}, {.dtype = "int32"});
  Tensor h = TokenAndPosition(classes)(characters);
  for (int i = 0; i < blocks; ++i) h = transformer_block(h);
  return nn::Model(characters, nn::Dense(classes, {.dtype = "float32"})(nn::LayerNormalization()(h)),
                   {.name = "mini_gpt"});
}

/// Returns a text as indices into the alphabet.
static Tensor numbers(const std::string& text, const std::string& alphabet) {
  std::vector<int> found;
  for (const char c : text) found.push_back(static_cast<int>(alphabet.find(c)));
  return K::constant(found, {.dtype = "int32"});
}

/// Returns sequences as inputs, one every `stride` characters, and the next characters as targets.
/// `K::gather` takes a table of places, (rows, 64), and gives the characters at these places.
static data::Element sequences(const Tensor& text, std::int64_t stride) {
  const std::int64_t rows = (text.shape()[0] - steps - 1) / stride;
  const Tensor starts = K::expand_dims(K::arange(0, rows * stride, stride));
  const Tensor places = starts + K::arange(0, steps);
  return {K::gather(text, places), K::gather(text, places + 1)};
}

/// Continues a text: each character is drawn from the ten most likely, at temperature 0.8. The cut at ten
/// keeps out unlikely characters, which together are drawn often enough to spoil words.
static std::string sample(const nn::Model& model, const std::string& alphabet, std::string text, int length) {
  for (int i = 0; i < length; ++i) {
    const std::string end = text.substr(text.size() - std::min<std::size_t>(text.size(), steps));
    const Tensor logits = model.predict(K::expand_dims(numbers(end, alphabet), 0), {.verbose = 0})[{0, -1}];
    const auto best = K::top_k(logits / 0.8f, 10);
    const Tensor p = K::cumsum(K::softmax(best.values));
    const auto drawn = K::sum(K::cast(p < K::random_uniform({1}), "int32")).item<std::int64_t>();
    text += alphabet.at(best.indices.item<std::size_t>(std::min<std::int64_t>(drawn, 9)));
  }
  return text;
}

/// Trains a GPT in half a minute: the architecture of the large models, with 64 numbers for a character.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 12, .quick_epochs = 3, .data = "examples/data/shakespeare.txt"});
  K::set_random_seed(run.seed);

  // The alphabet has the characters that occur. Nine tenths of the text are for training, and the last
  // tenth is only measured.
  std::string text = data::load_text(run.data);
  if (run.quick) text.resize(text.size() / 4);
  std::string alphabet;
  for (const char c : text)
    if (alphabet.find(c) == std::string::npos) alphabet += c;
  const std::size_t read = text.size() / 10 * 9;
  const data::Element train = sequences(numbers(text.substr(0, read), alphabet), steps);
  const data::Element unread = sequences(numbers(text.substr(read), alphabet), steps);

  // Transformers diverge easily in the first steps, so the rate climbs linearly over 50 steps (warm-up)
  // before it falls along the cosine.
  const nn::Model model = gpt(static_cast<std::int64_t>(alphabet.size()), run.quick ? 1 : 2);
  model.summary();
  const double batches = std::ceil(static_cast<double>(train[0].shape()[0]) / 32);
  model.compile(
      {.optimizer = nn::AdamW({.learning_rate = nn::CosineDecay({.initial_learning_rate = 0,
                                                                 .decay_steps = batches * run.epochs,
                                                                 .warmup_target = 0.003,
                                                                 .warmup_steps = 50}),
                               .clipnorm = 1.0}),
       .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  model.fit(
      train[0], train[1],
      {.batch_size = 32, .epochs = run.epochs, .verbose = 2, .validation_data = {unread[0], unread[1]}});

  // Only the last 64 characters are passed on, as the model has no position beyond.
  std::printf("\n%s\n\n", sample(model, alphabet, "First Citizen:\n", run.quick ? 50 : 500).c_str());

  // The mean of -log2 p over unseen text: the bits that a perfect compressor with this model would need for
  // a character.
  const double nats = model.evaluate(unread[0], unread[1], {.verbose = 0})["loss"];
  const double bits = nats / std::log(2.0), expected = run.quick ? 3.9 : 2.8;
  std::printf("bits for an unread character: %.3f (expected: %.1f or less)\n", bits, expected);
  return bits <= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "mini_gpt: %s\n", error.what());
  return 1;
}
