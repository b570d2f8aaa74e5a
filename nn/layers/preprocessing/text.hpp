#pragma once
#include <ktape/nn/layers/preprocessing/lookup.hpp>

#include <functional>

namespace ktape::nn {

/// A function that standardizes texts, or splits them into tokens: a method of Keras by name, None, or a
/// callable. A layer with a function has no config from which it could be made again.
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
  /// A name, or null for None.
  explicit TextStep(const Value& value) {
    if (!value.is_null()) name_ = value.string("[TextVectorization] standardize or split");
  }

  /// Empty for None.
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
  std::optional<std::int64_t> max_tokens =
      {};  ///< the largest size of the vocabulary, with the special tokens
  /// "lower", "strip_punctuation", both, None or a function of a text.
  TextStep<std::string> standardize = "lower_and_strip_punctuation";
  /// "whitespace", "character", None or a function of a text that gives its tokens.
  TextStep<std::vector<std::string>> split = "whitespace";
  /// Joins neighbours with a space: n stands for 1 to n of them, a list for just these numbers.
  std::optional<backend::PerAxis<std::int64_t>> ngrams = {};
  std::string output_mode = "int";  ///< "multi_hot", "count" or "tf_idf"
  std::optional<std::int64_t> output_sequence_length =
      {};                               ///< the length of rows in "int"; by default that of the longest row
  bool pad_to_max_tokens = false;       ///< vectors have max_tokens elements
  Tokens<std::string> vocabulary = {};  ///< the tokens, with or without the special tokens before them
  std::optional<std::vector<double>> idf_weights = {};  ///< the weight of each token, for "tf_idf"
  bool sparse = false, ragged = false;                  ///< refused: outputs are dense
  std::string encoding = "utf-8";  ///< the encoding of the texts; "utf-8" is the only one
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Texts become rows of numbers: each is standardized (ASCII letters lowered, ASCII punctuation removed),
/// split (at ASCII white space, or into the characters of UTF-8, of which a broken one is U+FFFD), joined to
/// n-grams, and looked up in a vocabulary, in which "" at 0 is padding and "[UNK]" is every unknown token.
///
/// - "int": (texts, tokens) places, int64, padded with 0 or cut to `output_sequence_length`. One text alone
///   gives (tokens,).
/// - "multi_hot", "count", "tf_idf": (texts, places) in the layer's dtype, without the padding's place; see
///   StringLookup. One text alone gives (places,).
///
/// Texts are one string, a list, or rows of one; without `split` rows are tokens, and a list is a list of
/// tokens ("int" then gives its shape). Vocabulary, `adapt` and errors are as in StringLookup, each text
/// being a document. Mirrors `keras.layers.TextVectorization`.
class TextVectorization : public Layer {
 public:
  explicit TextVectorization(const TextVectorizationOptions& options = {});
  /// The layer that another handle holds. Throws ValueError when it is not a TextVectorization.
  explicit TextVectorization(const Layer& layer);

  Tensor operator()(const StringArray& texts) const;
  /// Throws TypeError: it takes strings.
  Tensor operator()(const Tensor& x) const;

  void adapt(const StringArray& texts) const;
  void update_state(const StringArray& batch) const;

  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
  /// Replaces the vocabulary; `idf_weights` as long as it, for "tf_idf" only.
  void set_vocabulary(const Tokens<std::string>& vocabulary,
                      const std::optional<std::vector<double>>& idf_weights = {}) const;
};

}  // namespace ktape::nn
