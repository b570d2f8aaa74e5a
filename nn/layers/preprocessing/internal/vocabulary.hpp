#pragma once
#include <ktape/nn/layers/preprocessing/internal/categories.hpp>
#include <ktape/nn/layers/preprocessing/lookup.hpp>

#include <unordered_map>

/// The vocabulary of StringLookup, IntegerLookup and TextVectorization.
namespace ktape::nn {

template <class Token>
struct VocabularySettings {
  const char* layer = "";
  std::optional<std::int64_t> max_tokens = {};
  std::int64_t num_oov_indices = 1;
  std::optional<Token> mask_token = {};
  Token oov_token = {};
  bool invert = false, pad_to_max_tokens = false;
  OutputMode mode = OutputMode::Int;
};

/// A vocabulary: maps tokens to places, and learns the tokens from documents.
template <class Token>
class Vocabulary {
 public:
  using Document = std::vector<Token>;

  /// Throws ValueError for settings that contradict each other, and for an invalid vocabulary.
  Vocabulary(const VocabularySettings<Token>& settings, const Tokens<Token>& given,
             const std::optional<std::vector<double>>& idf_weights);

  void set(const std::vector<Token>& tokens, const std::optional<std::vector<double>>& idf_weights);
  bool empty() const { return tokens_.empty(); }
  std::int64_t size() const { return first_token() + static_cast<std::int64_t>(tokens_.size()); }
  std::vector<Token> list(bool special_tokens) const;
  /// Returns the weight of each token of `list(true)`; nothing without "tf_idf".
  const std::optional<std::vector<double>>& idf_weights() const { return idf_weights_; }

  /// Returns the number of elements of an output vector. Throws ValueError, naming the layer, if the
  /// vocabulary is empty and the number is not fixed by `pad_to_max_tokens`.
  std::int64_t depth(const std::string& name) const;
  /// Returns the place of a token. In all modes except "int" the mask token has the place -1, which `encoded`
  /// leaves out. Throws ValueError, naming the layer, for an unknown token if there are no places for unknown
  /// tokens.
  std::int64_t place(const Token& token, const std::string& name) const;
  const Token& token(std::int64_t place) const;
  /// Encodes places as the output mode says, in `dtype`; "int" returns the places.
  Tensor encoded(const Tensor& places, DType dtype, const std::string& name) const;

  void forget();
  void count(const Document& document);
  /// Replaces the vocabulary by the tokens that `count` has counted.
  void learn();

 private:
  struct Seen {
    std::int64_t count = 0, documents = 0, last_document = -1;
  };
  std::int64_t first_oov() const { return settings_.mask_token && settings_.mode == OutputMode::Int ? 1 : 0; }
  std::int64_t first_token() const { return first_oov() + settings_.num_oov_indices; }
  /// Returns the mask token, if the vocabulary has a place for it, followed by the token for unknown tokens,
  /// repeated for each of its places but at most `most` times.
  std::vector<Token> special_tokens(std::int64_t most = INT64_MAX) const;
  bool has_special_tokens(const std::vector<Token>& tokens) const;
  void check() const;
  void check_tokens(const std::vector<Token>& tokens) const;
  void put(std::vector<Token> tokens);
  void put_weights(std::vector<double> weights, bool with_special);

  VocabularySettings<Token> settings_;
  std::vector<Token> tokens_;
  std::unordered_map<Token, std::int64_t> places_;
  std::optional<std::vector<double>> idf_weights_;
  std::unordered_map<Token, Seen> seen_;
  std::int64_t documents_ = 0;
};

extern template class Vocabulary<std::string>;
extern template class Vocabulary<std::int64_t>;

}  // namespace ktape::nn
