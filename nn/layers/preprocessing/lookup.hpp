#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Layers that map tokens (words or whole numbers) to their places in a vocabulary.
///
/// Tensors hold numbers only, so StringLookup and TextVectorization are called on strings. Such a layer has a
/// name and a config and can be saved like all layers, but cannot be part of a model's graph, and throws
/// TypeError for a tensor.
namespace ktape::nn {

/// An argument of strings: a single string, a list of strings, or rows of strings.
///
///      lookup({"cat", "dog"})
///      lookup({{"cat", "dog"}, {"dog", "owl"}})
///      lookup(words)
///
/// For example:
///
///     nn::StringLookup lookup({.vocabulary = {"cat", "dog"}});
///     std::cout << lookup({{"cat", "dog"}, {"dog", "owl"}});
class StringArray {
 public:
  using Rows = std::vector<std::vector<std::string>>;

  StringArray(const char* one) : StringArray(std::string(one)) {}
  StringArray(std::string one) : rows_{{std::move(one)}}, rank_(0) {}
  /// Throws ValueError for a mix of strings and lists, and for more than two levels of lists.
  StringArray(std::initializer_list<StringArray> rows);
  StringArray(std::vector<std::string> list) : rows_{std::move(list)}, rank_(1) {}
  StringArray(Rows rows) : rows_(std::move(rows)), rank_(2) {}

  /// Returns 0 for a single string, 1 for a list, 2 for rows. Rows may have different lengths.
  int rank() const { return rank_; }
  /// Returns the rows. A single string and a list are one row.
  const Rows& rows() const { return rows_; }
  /// Returns a row for each string of a list, or the rows unchanged.
  Rows each_alone() const;

 private:
  Rows rows_;
  int rank_;
};

/// The vocabulary argument of a layer: a list of tokens in order, or the path of a text file with a token in
/// each line. The constructor reads the file.
template <class Token>
class Tokens {
 public:
  Tokens() = default;  ///< no vocabulary: `adapt` learns the vocabulary
  Tokens(std::initializer_list<Token> tokens) : list_(std::vector<Token>(tokens)) {}
  Tokens(std::vector<Token> tokens) : list_(std::move(tokens)) {}
  /// Reads the file. Throws IOError for a file that cannot be read, ValueError for a line that is not a
  /// token.
  Tokens(const char* path) : Tokens(std::string(path)) {}
  Tokens(const std::string& path);
  /// Converts a list of tokens from a config; null means no vocabulary.
  explicit Tokens(const Value& value);

  bool given() const { return list_.has_value(); }
  /// Returns the tokens; the list is empty if no vocabulary is given.
  std::vector<Token> list() const { return list_.value_or(std::vector<Token>()); }
  Value to_value() const { return list_; }

 private:
  std::optional<std::vector<Token>> list_;
};

struct StringLookupOptions {
  /// The largest size of the vocabulary, including the special tokens.
  std::optional<std::int64_t> max_tokens = {};
  /// The number of places for unknown tokens; with 0, an unknown token is a ValueError.
  std::int64_t num_oov_indices = 1;
  OptionalString mask_token = {};       ///< the token with place 0 in "int", left out in the other modes
  std::string oov_token = "[UNK]";      ///< the token at the places for unknown tokens
  Tokens<std::string> vocabulary = {};  ///< the tokens, with or without the special tokens before them
  std::optional<std::vector<double>> idf_weights = {};  ///< the weight of each token, for "tf_idf"
  bool invert = false;                                  ///< map places to tokens
  std::string output_mode = "int";  ///< "int", "one_hot", "multi_hot", "count" or "tf_idf"
  bool pad_to_max_tokens = false;   ///< make vectors of max_tokens elements for smaller vocabularies, too
  bool sparse = false;              ///< refused: outputs are dense
  std::string encoding = "utf-8";   ///< the encoding of the strings; "utf-8" is the only one
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

struct IntegerLookupOptions {
  std::optional<std::int64_t> max_tokens = {};
  std::int64_t num_oov_indices = 1;
  std::optional<std::int64_t> mask_token = {};
  std::int64_t oov_token = -1;
  Tokens<std::int64_t> vocabulary = {};
  std::string vocabulary_dtype = "int64";  ///< "int64" or "int32"
  std::optional<std::vector<double>> idf_weights = {};
  bool invert = false;
  std::string output_mode = "int";
  bool sparse = false;
  bool pad_to_max_tokens = false;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A layer that maps strings to their places in a vocabulary. The vocabulary holds, in this order: the mask
/// token (if given, in mode "int"), num_oov_indices places for unknown tokens, and the tokens. With several
/// places for unknown tokens, an unknown token has the place FNV-1a(token) mod num_oov_indices among these
/// places. (TensorFlow uses another hash.)
///
/// - "int": the places, int64, in the shape of the input.
/// - "one_hot", "multi_hot", "count": floating vectors, as CategoryEncoding makes of the places. A mask token
///   is left out.
/// - "tf_idf": the vectors of "count", with each count times the weight of its token. `adapt` computes the
///   weights as log(1 + documents / (1 + documents with the token)); the weight of unknown tokens is the mean
///   of the weights.
///
/// The vocabulary is given, or learned by `adapt`: the tokens in descending order of their counts, tokens
/// with equal counts in descending order, at most max_tokens including the special tokens. `adapt` takes each
/// string of a list as a document; `update_state` takes a list as one document. Both take each row of rows as
/// a document. Config and files hold the vocabulary.
///
/// Throws ValueError for a vocabulary that is empty, contains a token twice, has special tokens in wrong
/// places or is longer than max_tokens; for `adapt` when a vocabulary is given; for unknown tokens if
/// num_oov_indices is 0; for rows of different lengths in "int" and "one_hot"; for a call without a
/// vocabulary, except in "int". Mirrors `keras.layers.StringLookup`.
///
///     nn::StringLookup lookup({.vocabulary = {"cat", "dog"}});
///     std::cout << lookup({"dog", "owl", "cat"});
class StringLookup : public Layer {
 public:
  explicit StringLookup(const StringLookupOptions& options = {});
  /// Shares the layer of another handle. Throws ValueError for a layer that is not a StringLookup.
  explicit StringLookup(const Layer& layer);

  Tensor operator()(const StringArray& strings) const;
  /// Throws TypeError, because the layer takes strings only.
  Tensor operator()(const Tensor& x) const;
  /// Returns the tokens at the places, row by row, for a layer with `invert`. Places outside of the
  /// vocabulary give the token for unknown tokens.
  std::vector<std::string> strings(const Tensor& places) const;

  void adapt(const StringArray& data) const;
  void update_state(const StringArray& batch) const;

  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
  /// Replaces the vocabulary. `idf_weights` holds a weight for each token, and is for "tf_idf" only.
  void set_vocabulary(const Tokens<std::string>& vocabulary,
                      const std::optional<std::vector<double>>& idf_weights = {}) const;
};

/// A layer that maps whole numbers in tensors to their places in a vocabulary. Modes, vocabulary, `adapt` and
/// errors are described at StringLookup; an IntegerLookup can also be part of a model. An unknown number n
/// has the place n mod num_oov_indices among the places for unknown numbers. With `invert`, the layer maps
/// places to numbers. Throws ValueError for a fraction or NaN. Mirrors `keras.layers.IntegerLookup`.
///
///     nn::IntegerLookup lookup({.vocabulary = {10, 20}});
///     std::cout << lookup(K::constant({20, 5}, {.dtype = "int64"}));
class IntegerLookup : public Layer {
 public:
  explicit IntegerLookup(const IntegerLookupOptions& options = {});
  /// Shares the layer of another handle. Throws ValueError for a layer that is not an IntegerLookup.
  explicit IntegerLookup(const Layer& layer);

  using Layer::adapt;
  void adapt(const ArrayLike& data) const;

  std::vector<std::int64_t> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
  void set_vocabulary(const Tokens<std::int64_t>& vocabulary,
                      const std::optional<std::vector<double>>& idf_weights = {}) const;
};

}  // namespace ktape::nn
