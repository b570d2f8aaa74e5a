#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/layers/preprocessing/internal/vocabulary.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <unordered_set>

namespace ktape::nn {
namespace K = backend;

// --- Strings and tokens as arguments -----------------------------------------------------------------------

StringArray::StringArray(std::initializer_list<StringArray> rows) : rank_(1) {
  for (const StringArray& row : rows) {
    if (row.rank() != rows.begin()->rank() || row.rank() > 1)
      fail("[StringArray] strings must be a list, or rows of one depth: received another nesting");
    rank_ = row.rank() + 1;
    if (row.rank() == 1) rows_.push_back(row.rows()[0]);
    else if (rows_.empty()) rows_.push_back(row.rows()[0]);
    else rows_[0].push_back(row.rows()[0][0]);
  }
  if (rows_.empty()) rows_.emplace_back();
}

StringArray::Rows StringArray::each_alone() const {
  if (rank_ == 2) return rows_;
  Rows rows;
  for (const std::string& one : rows_[0]) rows.push_back({one});
  return rows;
}

namespace {

std::string token_of(const std::string& line, const std::string&, std::string*) { return line; }
std::int64_t token_of(const std::string& line, const std::string& path, std::int64_t*) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc() || end != line.data() + line.size())
    fail("[vocabulary] a line must hold a whole number: received \"", line, "\" in \"", path, '"');
  return number;
}

}  // namespace

template <class Token>
Tokens<Token>::Tokens(const std::string& path) : list_(std::vector<Token>()) {
  std::istringstream file(data::InputFile("vocabulary", path).rest());
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    list_->push_back(token_of(line, path, static_cast<Token*>(nullptr)));
  }
}

template <class Token>
Tokens<Token>::Tokens(const Value& value) {
  if (!value.is_null()) list_ = value.as<std::vector<Token>>("[vocabulary] vocabulary");
}

template class Tokens<std::string>;
template class Tokens<std::int64_t>;

// --- The vocabulary ----------------------------------------------------------------------------------------

namespace {

std::uint64_t fnv1a(const std::string& token) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : token) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::int64_t bucket(const std::string& token, std::int64_t buckets) {
  return static_cast<std::int64_t>(fnv1a(token) % static_cast<std::uint64_t>(buckets));
}
std::int64_t bucket(std::int64_t token, std::int64_t buckets) {
  return (token % buckets + buckets) % buckets;
}

}  // namespace

template <class Token>
Vocabulary<Token>::Vocabulary(const VocabularySettings<Token>& settings, const Tokens<Token>& given,
                              const std::optional<std::vector<double>>& idf_weights)
    : settings_(settings) {
  check();
  if (given.given()) set(given.list(), idf_weights);
  else if (idf_weights)
    fail("[", settings.layer, "] idf_weights are for a vocabulary: received no vocabulary");
}

template <class Token>
void Vocabulary<Token>::check() const {
  const auto& s = settings_;
  if (s.max_tokens && *s.max_tokens <= 1)
    fail("[", s.layer, "] max_tokens must be at least 2: received max_tokens=", *s.max_tokens);
  if (s.pad_to_max_tokens && s.max_tokens) backend::expect_columns(s.layer, "max_tokens", *s.max_tokens);
  if (s.pad_to_max_tokens && !s.max_tokens)
    fail("[", s.layer, "] max_tokens must be given with pad_to_max_tokens: received none");
  // Each place has a weight in "tf_idf": a config out of a file must not make the layer allocate more.
  const bool weighted = s.mode == OutputMode::TfIdf;
  const std::int64_t most = weighted                    ? 1 << 20
                            : s.mode != OutputMode::Int ? backend::most_columns
                                                        : std::numeric_limits<std::int32_t>::max();
  if (s.num_oov_indices < 0 || most < s.num_oov_indices)
    fail("[", s.layer, "] num_oov_indices must be in [0, ", most, "]",
         weighted ? " with output_mode=\"tf_idf\"" : "", ": received num_oov_indices=", s.num_oov_indices);
  if (s.max_tokens && *s.max_tokens <= first_token())
    fail("[", s.layer, "] max_tokens must leave a place for tokens: received max_tokens=", *s.max_tokens,
         ", num_oov_indices=", s.num_oov_indices);
  if (s.invert && s.mode != OutputMode::Int)
    fail("[", s.layer, "] output_mode must be \"int\" with invert: received output_mode=\"", name_of(s.mode),
         '"');
}

template <class Token>
std::vector<Token> Vocabulary<Token>::special_tokens(std::int64_t most) const {
  std::vector<Token> special;
  if (first_oov() > 0) special.push_back(*settings_.mask_token);
  const std::int64_t unknown = std::min(settings_.num_oov_indices, most);
  special.insert(special.end(), static_cast<std::size_t>(unknown), settings_.oov_token);
  return special;
}

/// Returns whether a list of tokens begins with the special tokens. The size is compared first, because
/// num_oov_indices may be far larger than the list.
template <class Token>
bool Vocabulary<Token>::has_special_tokens(const std::vector<Token>& tokens) const {
  if (static_cast<std::int64_t>(tokens.size()) < first_token()) return false;
  const std::vector<Token> special = special_tokens();
  return std::equal(special.begin(), special.end(), tokens.begin());
}

template <class Token>
std::vector<Token> Vocabulary<Token>::list(bool special) const {
  std::vector<Token> all = special ? special_tokens() : std::vector<Token>();
  all.insert(all.end(), tokens_.begin(), tokens_.end());
  return all;
}

template <class Token>
void Vocabulary<Token>::check_tokens(const std::vector<Token>& tokens) const {
  const char* layer = settings_.layer;
  std::unordered_set<Token> known;
  for (const Token& token : tokens) {
    if (!known.insert(token).second)
      fail("[", layer, "] a vocabulary must hold each token once: received ", Value(token), " twice");
    const bool is_mask = settings_.mask_token && token == *settings_.mask_token;
    if (is_mask || (settings_.invert && token == settings_.oov_token))
      fail("[", layer,
           "] the special tokens must be left out, or be in front in this order: ", Value(special_tokens(10)),
           ": received ", Value(token), " among the tokens");
  }
  const std::int64_t size = first_token() + static_cast<std::int64_t>(tokens.size());
  if (settings_.max_tokens && size > *settings_.max_tokens)
    fail("[", layer, "] a vocabulary must have at most max_tokens places: received ", size,
         ", max_tokens=", *settings_.max_tokens);
}

template <class Token>
void Vocabulary<Token>::set(const std::vector<Token>& tokens,
                            const std::optional<std::vector<double>>& idf_weights) {
  const bool weighted = settings_.mode == OutputMode::TfIdf;
  if (weighted != idf_weights.has_value())
    fail("[", settings_.layer,
         "] idf_weights must be given with a vocabulary in output_mode=\"tf_idf\", and in "
         "no other: received output_mode=\"",
         name_of(settings_.mode), '"');
  if (weighted && idf_weights->size() != tokens.size())
    fail("[", settings_.layer, "] idf_weights must have a weight for each token of the vocabulary: received ",
         idf_weights->size(), " for ", tokens.size());
  const bool with_special = has_special_tokens(tokens);
  const auto skipped = with_special ? static_cast<std::ptrdiff_t>(first_token()) : 0;
  std::vector<Token> own(tokens.begin() + skipped, tokens.end());
  if (tokens.empty()) fail("[", settings_.layer, "] a vocabulary must hold tokens: received none");
  check_tokens(own);
  put(std::move(own));
  if (weighted) put_weights(*idf_weights, with_special);
}

template <class Token>
void Vocabulary<Token>::put(std::vector<Token> tokens) {
  tokens_ = std::move(tokens);
  places_.clear();
  for (const Token& token : tokens_)
    places_.emplace(token, first_token() + static_cast<std::int64_t>(places_.size()));
}

/// Stores the weights by place. Without entries for the special tokens, the special tokens get the mean of
/// all weights.
template <class Token>
void Vocabulary<Token>::put_weights(std::vector<double> weights, bool with_special) {
  if (!with_special && !weights.empty()) {
    const double mean =
        std::accumulate(weights.begin(), weights.end(), 0.) / static_cast<double>(weights.size());
    weights.insert(weights.begin(), static_cast<std::size_t>(first_token()), mean);
  }
  idf_weights_ = std::move(weights);
}

template <class Token>
std::int64_t Vocabulary<Token>::depth(const std::string& name) const {
  if (settings_.pad_to_max_tokens) return *settings_.max_tokens;
  if (empty())
    fail("[", name, "] a vocabulary must be given, or learned by adapt, before a call: received none");
  return size();
}

template <class Token>
std::int64_t Vocabulary<Token>::place(const Token& token, const std::string& name) const {
  if (settings_.mask_token && token == *settings_.mask_token)
    return settings_.mode == OutputMode::Int ? 0 : -1;
  if (const auto known = places_.find(token); known != places_.end()) return known->second;
  if (settings_.num_oov_indices == 0)
    fail("[", name, "] tokens must be in the vocabulary when num_oov_indices=0: received ", Value(token));
  return first_oov() + bucket(token, settings_.num_oov_indices);
}

template <class Token>
const Token& Vocabulary<Token>::token(std::int64_t place) const {
  if (place == 0 && first_oov() > 0) return *settings_.mask_token;
  const bool known = place >= first_token() && place < size();
  return known ? tokens_[static_cast<std::size_t>(place - first_token())] : settings_.oov_token;
}

template <class Token>
Tensor Vocabulary<Token>::encoded(const Tensor& places, DType dtype, const std::string& name) const {
  if (settings_.mode == OutputMode::Int) return places;
  if (settings_.mode != OutputMode::TfIdf) return nn::encoded(places, settings_.mode, depth(name), dtype);
  const Tensor counts = nn::encoded(places, OutputMode::Count, depth(name), dtype);
  std::vector<double> weights = idf_weights_.value_or(std::vector<double>());
  weights.resize(static_cast<std::size_t>(counts.shape().back()));
  const Tensor each = Tensor::from_buffer(weights.data(), weights.size() * sizeof(double),
                                          {counts.shape().back()}, DType::Float64);
  return counts * K::as_dtype(each, dtype);
}

// --- Learning ----------------------------------------------------------------------------------------------

template <class Token>
void Vocabulary<Token>::forget() {
  seen_.clear();
  documents_ = 0;
}

template <class Token>
void Vocabulary<Token>::count(const Document& document) {
  for (const Token& token : document) {
    Seen& seen = seen_[token];
    ++seen.count;
    if (std::exchange(seen.last_document, documents_) != documents_) ++seen.documents;
  }
  ++documents_;
}

template <class Token>
void Vocabulary<Token>::learn() {
  if (settings_.mask_token) seen_.erase(*settings_.mask_token);
  seen_.erase(settings_.oov_token);
  std::vector<std::pair<Token, Seen>> order(seen_.begin(), seen_.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.count != b.second.count ? a.second.count > b.second.count : a.first > b.first;
  });
  if (order.empty()) return forget();
  if (settings_.max_tokens)
    order.resize(std::min(order.size(), static_cast<std::size_t>(*settings_.max_tokens - first_token())));
  std::vector<Token> tokens;
  std::vector<double> weights;
  for (const auto& [token, seen] : order) {
    tokens.push_back(token);
    weights.push_back(std::log1p(static_cast<double>(documents_) / static_cast<double>(1 + seen.documents)));
  }
  put(std::move(tokens));
  if (settings_.mode == OutputMode::TfIdf) put_weights(std::move(weights), false);
  forget();
}

template class Vocabulary<std::string>;
template class Vocabulary<std::int64_t>;

}  // namespace ktape::nn
