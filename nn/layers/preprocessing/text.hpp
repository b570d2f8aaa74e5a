#pragma once
#include <ktape/nn/layers/preprocessing/lookup.hpp>

#include <functional>

namespace ktape::nn {

/// A step of text preprocessing (standardize or split): the name of a method of Keras, None, or a callable. A
/// layer with a callable cannot be made again from its config.
///
///     nn::TextVectorization layer(
///         {.standardize = [](const std::string& text) { return "the " + text; },
///          .split = "whitespace"});
///     layer.adapt(std::vector<std::string>{"tape", "tensor"});
///     std::cout << layer.get_vocabulary()[2];
template <class Result>
class TextStep {
 public:
  using Function = std::function<Result(const std::string&)>;

  TextStep(NoneType) {}
  TextStep(const char* name) : name_(name) {}
  TextStep(std::string name) : name_(std::move(name)) {}
  template <class F>
  requires(std::is_invocable_r_v<Result, F&, const std::string&>) TextStep(F f)
      : name_("function"), function_(std::move(f)) {}
  /// Reads a step from a config: a name, or null for None.
  explicit TextStep(const Value& value) {
    if (!value.is_null()) name_ = value.string("[TextVectorization] standardize or split");
  }

  /// Returns the name of the step, "function" for a callable, "" for None.
  const std::string& name() const { return name_; }
  const Function& function() const { return function_; }
  Value to_value() const {
    if (function_) return Config{{"class_name", "function"}, {"config", Config()}};
    return name_.empty() ? Value() : Value(name_);
  }

 private:
  std::string name_;
  Function function_;
};

struct TextVectorizationOptions {
  /// The largest size of the vocabulary, including the special tokens.
  std::optional<std::int64_t> max_tokens = {};
  /// "lower", "strip_punctuation", "lower_and_strip_punctuation", None, or a function from a text to a text.
  TextStep<std::string> standardize = "lower_and_strip_punctuation";
  /// "whitespace", "character", None, or a function from a text to its tokens.
  TextStep<std::vector<std::string>> split = "whitespace";
  /// The lengths of the n-grams, which are neighbouring tokens joined by spaces: a number n stands for the
  /// lengths 1 to n, a list for the lengths in the list.
  std::optional<backend::PerAxis<std::int64_t>> ngrams = {};
  std::string output_mode = "int";  ///< "int", "multi_hot", "count" or "tf_idf"
  /// The length of the rows in "int"; by default the length of the longest row.
  std::optional<std::int64_t> output_sequence_length = {};
  bool pad_to_max_tokens = false;       ///< make vectors of max_tokens elements for smaller vocabularies, too
  Tokens<std::string> vocabulary = {};  ///< the tokens, with or without the special tokens before them
  std::optional<std::vector<double>> idf_weights = {};  ///< the weight of each token, for "tf_idf"
  bool sparse = false, ragged = false;                  ///< refused: outputs are dense
  std::string encoding = "utf-8";  ///< the encoding of the texts; "utf-8" is the only one
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that maps texts to rows of numbers. The layer standardizes each text (lowers ASCII letters,
/// removes ASCII punctuation), splits the text into tokens (at ASCII white space, or into UTF-8 characters,
/// with U+FFFD for an invalid byte), joins tokens to n-grams, and looks the tokens up in a vocabulary. The
/// vocabulary has "" at place 0 for padding and "[UNK]" at place 1 for unknown tokens.
///
/// - "int": places (texts, tokens), int64, padded with 0, or cut to `output_sequence_length`. A single text
///   gives (tokens,).
/// - "multi_hot", "count", "tf_idf": vectors (texts, places) in the layer's dtype, without a place for
///   padding; see StringLookup. A single text gives (places,).
///
/// Texts are a single string, a list, or rows of one string each. With `split` None the strings are tokens:
/// rows are rows of tokens, and a list of tokens gives places in the shape of the list in "int". Vocabulary,
/// `adapt` and errors are described at StringLookup; each text is a document. Mirrors
/// `keras.layers.TextVectorization`.
///
///     nn::TextVectorization layer({.output_sequence_length = 4});
///     layer.adapt({"the cat sat", "the dog"});
///     std::cout << layer({"the dog sat down"});
class TextVectorization : public Layer {
 public:
  explicit TextVectorization(const TextVectorizationOptions& options = {});
  /// Shares the layer of another handle. Throws ValueError for a layer that is not a TextVectorization.
  explicit TextVectorization(const Layer& layer);

  Tensor operator()(const StringArray& texts) const;
  /// Throws TypeError, because the layer takes strings only.
  Tensor operator()(const Tensor& x) const;

  void adapt(const StringArray& texts) const;
  void update_state(const StringArray& batch) const;

  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
  /// Replaces the vocabulary. `idf_weights` holds a weight for each token, and is for "tf_idf" only.
  void set_vocabulary(const Tokens<std::string>& vocabulary,
                      const std::optional<std::vector<double>>& idf_weights = {}) const;
};

}  // namespace ktape::nn
