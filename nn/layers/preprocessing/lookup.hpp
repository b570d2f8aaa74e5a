#pragma once
#include <ktape/nn/layers/base/layer.hpp>

/// Tokens, which are words or whole numbers, and their places in a vocabulary.
///
/// Tensors hold numbers, so layers of words are called on strings; they have names, configs and a place in
/// files like all layers, but none in a graph. `TypeError` is what a tensor gets there.
namespace ktape::nn {

/// Strings as an argument: one, a list or rows of them.
///
///     lookup({"cat", "dog"})   lookup({{"cat", "dog"}, {"dog", "owl"}})   lookup(words)
class StringArray {
 public:
  using Rows = std::vector<std::vector<std::string>>;

  StringArray(const char* one) : StringArray(std::string(one)) {}
  StringArray(std::string one) : rows_{{std::move(one)}}, rank_(0) {}
  /// Throws ValueError for strings beside lists, and for lists in lists in lists.
  StringArray(std::initializer_list<StringArray> rows);
  StringArray(std::vector<std::string> list) : rows_{std::move(list)}, rank_(1) {}
  StringArray(Rows rows) : rows_(std::move(rows)), rank_(2) {}

  /// 0 for one string, 1 for a list, 2 for rows, which may be of different lengths.
  int rank() const { return rank_; }
  /// The rows; one string, and a list, are one row.
  const Rows& rows() const { return rows_; }
  /// Returns a row for each string of a list; rows stay as they are.
  Rows each_alone() const;

 private:
  Rows rows_;
  int rank_;
};

/// The vocabulary that a layer is given: the tokens in their order, or the path of a file with one in each
/// line, which is read at once.
template <class Token>
class Tokens {
 public:
  Tokens() = default;  ///< none: the layer is to `adapt`
  Tokens(std::initializer_list<Token> tokens) : list_(std::vector<Token>(tokens)) {}
  Tokens(std::vector<Token> tokens) : list_(std::move(tokens)) {}
  /// Throws IOError for a file that cannot be read, ValueError for a line that is no token.
  Tokens(const char* path) : Tokens(std::string(path)) {}
  Tokens(const std::string& path);
  /// A list, or null for none.
  explicit Tokens(const Value& value);

  bool given() const { return list_.has_value(); }
  /// Empty when none are given.
  std::vector<Token> list() const { return list_.value_or(std::vector<Token>()); }
  Value to_value() const { return list_; }

 private:
  std::optional<std::vector<Token>> list_;
};

struct StringLookupOptions {
  std::optional<std::int64_t> max_tokens =
      {};                               ///< the largest size of the vocabulary, with the special tokens
  std::int64_t num_oov_indices = 1;     ///< how many places unknown tokens share; 0 refuses them
  OptionalString mask_token = {};       ///< 0 in "int", nothing in the other modes
  std::string oov_token = "[UNK]";      ///< what a place of unknown tokens is looked up as
  Tokens<std::string> vocabulary = {};  ///< the tokens, with or without the special tokens before them
  std::optional<std::vector<double>> idf_weights = {};  ///< the weight of each token, for "tf_idf"
  bool invert = false;                                  ///< from places to tokens
  std::string output_mode = "int";                      ///< "one_hot", "multi_hot", "count" or "tf_idf"
  bool pad_to_max_tokens = false;                       ///< vectors have max_tokens elements
  bool sparse = false;                                  ///< refused: outputs are dense
  std::string encoding = "utf-8";  ///< the encoding of the strings; "utf-8" is the only one
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

struct IntegerLookupOptions {
  std::optional<std::int64_t> max_tokens = {};
  std::int64_t num_oov_indices = 1;
  std::optional<std::int64_t> mask_token = {};
  std::int64_t oov_token = -1;
  Tokens<std::int64_t> vocabulary = {};
  std::string vocabulary_dtype = "int64";  ///< or "int32"
  std::optional<std::vector<double>> idf_weights = {};
  bool invert = false;
  std::string output_mode = "int";
  bool pad_to_max_tokens = false;
  bool sparse = false;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

/// Tokens become their places in a vocabulary, which holds, in this order: the mask token if there is one and
/// the mode is "int", the places of unknown tokens, and the tokens. Of several places an unknown token has
/// the one of its hash, FNV-1a modulo their number (TF's is another).
///
/// - "int": the places, int64, in the shape of the input.
/// - "one_hot", "multi_hot", "count": vectors, as of CategoryEncoding, floating. A mask token is in none.
/// - "tf_idf": as "count", each number times the weight of its token. `adapt` finds the weights
///   log(1 + documents / (1 + documents with the token)); a place of unknown tokens has their mean.
///
/// The vocabulary is given, or learned by `adapt`: the tokens by descending count, those of one count in
/// descending order, at most as many as max_tokens leaves. In `adapt` each string of a list is a document, in
/// `update_state` a list is one; rows are always documents. Config and files hold the vocabulary.
///
/// Throws ValueError for a vocabulary that is empty, has a token twice, special tokens in other places or
/// more than max_tokens; for `adapt` when one was given; for unknown tokens without a place; for rows of
/// different lengths in "int" and "one_hot"; for a call before there is a vocabulary, but in "int". Mirrors
/// `keras.layers.StringLookup`.
class StringLookup : public Layer {
 public:
  explicit StringLookup(const StringLookupOptions& options = {});
  /// The layer that another handle holds. Throws ValueError when it is not a StringLookup.
  explicit StringLookup(const Layer& layer);

  Tensor operator()(const StringArray& strings) const;
  /// Throws TypeError: it takes strings.
  Tensor operator()(const Tensor& x) const;
  /// Returns the tokens at the places, row by row: what the layer is for with `invert`. Places that the
  /// vocabulary does not have are unknown tokens.
  std::vector<std::string> strings(const Tensor& places) const;

  void adapt(const StringArray& data) const;
  void update_state(const StringArray& batch) const;

  std::vector<std::string> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
  /// Replaces the vocabulary; `idf_weights` as long as it, for "tf_idf" only.
  void set_vocabulary(const Tokens<std::string>& vocabulary,
                      const std::optional<std::vector<double>>& idf_weights = {}) const;
};

/// As StringLookup, for whole numbers in tensors, also in models: an unknown number n gets the place n mod
/// num_oov_indices of the places for unknown numbers. With `invert`, places become numbers. Throws ValueError
/// for a fraction or NaN. Mirrors `keras.layers.IntegerLookup`.
class IntegerLookup : public Layer {
 public:
  explicit IntegerLookup(const IntegerLookupOptions& options = {});
  /// The layer that another handle holds. Throws ValueError when it is not an IntegerLookup.
  explicit IntegerLookup(const Layer& layer);

  std::vector<std::int64_t> get_vocabulary(bool include_special_tokens = true) const;
  std::int64_t vocabulary_size() const;
  void set_vocabulary(const Tokens<std::int64_t>& vocabulary,
                      const std::optional<std::vector<double>>& idf_weights = {}) const;
};

}  // namespace ktape::nn
