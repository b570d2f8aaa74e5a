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

/// Tokens and their places, and how they are learned from documents.
template <class Token>
class Vocabulary {
 public:
  using Document = std::vector<Token>;

  /// Throws ValueError for settings that do not go together.
  Vocabulary(const VocabularySettings<Token>& settings, const Tokens<Token>& given,
             const std::optional<std::vector<double>>& idf_weights);

  void set(const std::vector<Token>& tokens, const std::optional<std::vector<double>>& idf_weights);
  bool empty() const { return tokens_.empty(); }
  std::int64_t size() const { return first_token() + static_cast<std::int64_t>(tokens_.size()); }
  std::vector<Token> list(bool special_tokens) const;
  /// For each of `list(true)`; none without "tf_idf".
  const std::optional<std::vector<double>>& idf_weights() const { return idf_weights_; }

  /// Returns the elements of a vector. Throws ValueError, naming the layer, while it is unknown.
  std::int64_t depth(const std::string& name) const;
  /// The place of a token, -1 for a mask that is in no vector. Throws ValueError, naming the layer, for an
  /// unknown token that has none.
  std::int64_t place(const Token& token, const std::string& name) const;
  const Token& token(std::int64_t place) const;
  /// Encodes places in the vocabulary as the output mode says, in `dtype`; "int" gives int64.
  Tensor encoded(const Tensor& places, DType dtype, const std::string& name) const;

  void forget();
  void count(const Document& document);
  /// The tokens that were counted become the vocabulary.
  void learn();

 private:
  struct Seen {
    std::int64_t count = 0, documents = 0, last_document = -1;
  };
  std::int64_t first_oov() const { return settings_.mask_token && settings_.mode == OutputMode::Int ? 1 : 0; }
  std::int64_t first_token() const { return first_oov() + settings_.num_oov_indices; }
  /// The mask token, and the one for unknown tokens as often as it has places, but at most so often.
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
