#include <ktape/nn/data/formats/text.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/schema/config.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace ktape::data {
namespace K = backend;
namespace {

std::string lowered(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Returns whether a byte is a continuation byte of UTF-8.
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> all;
  for (char c : text)
    if (continues(c) && !all.empty()) all.back() += c;
    else all.emplace_back(1, c);
  return all;
}

}  // namespace

std::vector<std::string> text_to_word_sequence(const std::string& text, const WordOptions& options) {
  const std::string& split = options.split;
  if (split.empty()) fail("[text_to_word_sequence] split must not be empty: received split=''");
  std::string plain;
  for (const std::string& c : characters(options.lower ? lowered(text) : text))
    plain += options.filters.find(c) == std::string::npos ? c : split;
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < plain.size();) {
    const std::size_t end = std::min(plain.find(split, begin), plain.size());
    if (end > begin) words.push_back(plain.substr(begin, end - begin));
    begin = end + split.size();
  }
  return words;
}

Tokenizer::Tokenizer(const TokenizerOptions& options) : options_(options) {
  if (options.num_words && *options.num_words < 1)
    fail("[Tokenizer] num_words must be at least 1: received num_words=", *options.num_words);
  if (options.split.empty()) fail("[Tokenizer] split must not be empty: received split=''");
}

Tokenizer::Texts Tokenizer::words_of(const std::string& text) const {
  if (options_.char_level) return characters(options_.lower ? lowered(text) : text);
  return text_to_word_sequence(text, {options_.filters, options_.lower, options_.split});
}

void Tokenizer::fit(const Texts& texts) {
  std::unordered_map<std::string, std::int64_t> last_document;
  for (const std::string& text : texts) {
    ++document_count_;
    for (const std::string& word : words_of(text)) {
      const bool first_in_document = std::exchange(last_document[word], document_count_) != document_count_;
      count(word, 1, first_in_document);
    }
  }
  std::vector<const Word*> order;
  for (const Word& word : words_) order.push_back(&word);
  std::stable_sort(order.begin(), order.end(),
                   [](const Word* a, const Word* b) { return a->count > b->count; });
  Texts words;
  if (options_.oov_token) words.push_back(*options_.oov_token);
  for (const Word* word : order) words.push_back(word->text);
  set_index(std::move(words));
}

void Tokenizer::count(const std::string& word, std::int64_t times, std::int64_t documents) {
  const auto [known, is_new] = known_.try_emplace(word, words_.size());
  if (is_new) words_.push_back({word, 0, 0});
  words_[known->second].count += times;
  words_[known->second].documents += documents;
}

void Tokenizer::set_index(Texts words) {
  by_index_ = std::move(words);
  by_index_.insert(by_index_.begin(), "");
  index_.clear();
  for (std::size_t i = 1; i < by_index_.size(); ++i) index_[by_index_[i]] = static_cast<std::int64_t>(i);
}

std::optional<std::int64_t> Tokenizer::index_of(const std::string& word) const {
  const auto known = index_.find(word);
  return known == index_.end() ? std::nullopt : std::optional(known->second);
}

std::vector<Tokenizer::Sequence> Tokenizer::texts_to_sequences(const Texts& texts) const {
  const auto other = options_.oov_token ? index_of(*options_.oov_token) : std::nullopt;
  std::vector<Sequence> sequences;
  for (const std::string& text : texts) {
    Sequence& sequence = sequences.emplace_back();
    for (const std::string& word : words_of(text)) {
      const std::optional<std::int64_t> index = index_of(word);
      if (index && used(*index)) sequence.push_back(*index);
      else if (other) sequence.push_back(*other);
    }
  }
  return sequences;
}

Tokenizer::Texts Tokenizer::sequences_to_texts(const std::vector<Sequence>& sequences) const {
  Texts texts;
  for (const Sequence& sequence : sequences) {
    std::string& text = texts.emplace_back();
    for (std::int64_t index : sequence) {
      const bool known = index >= 1 && index < std::ssize(by_index_) && used(index);
      if (!known && !options_.oov_token) continue;
      if (!text.empty()) text += ' ';
      text += known ? by_index_[static_cast<std::size_t>(index)] : *options_.oov_token;
    }
  }
  return texts;
}

Tensor Tokenizer::texts_to_matrix(const Texts& texts, const std::string& mode) const {
  return sequences_to_matrix(texts_to_sequences(texts), mode);
}

Tensor Tokenizer::sequences_to_matrix(const std::vector<Sequence>& sequences, const std::string& mode) const {
  constexpr const char* op = "Tokenizer.sequences_to_matrix";
  if (mode != "binary" && mode != "count" && mode != "freq" && mode != "tfidf")
    fail("[", op, "] mode must be 'binary', 'count', 'freq' or 'tfidf': received mode='", mode, "'");
  if (by_index_.size() == 1 && (!options_.num_words || mode == "tfidf"))
    fail("[", op, "] the tokenizer must know texts: call fit(), or give num_words");
  const std::int64_t columns = options_.num_words.value_or(std::ssize(by_index_));
  const auto value = [&](std::int64_t index, double count, double words) {
    if (mode == "count") return count;
    if (mode == "freq") return count / words;
    if (mode == "binary") return 1.0;
    double documents = 0;
    if (index >= 1 && index < std::ssize(by_index_)) {
      const auto known = known_.find(by_index_[static_cast<std::size_t>(index)]);
      if (known != known_.end()) documents = static_cast<double>(words_[known->second].documents);
    }
    return (1 + std::log(count)) * std::log(1 + static_cast<double>(document_count_) / (1 + documents));
  };
  const Tensor out = K::zeros({std::ssize(sequences), columns}, {.dtype = DType::Float64});
  double* row = out.pointer<double>();
  for (const Sequence& sequence : sequences) {
    std::map<std::int64_t, double> counts;
    for (std::int64_t index : sequence) {
      if (index < 0) fail("[", op, "] indices must be at least 0: received ", index);
      if (index < columns) ++counts[index];
    }
    for (const auto& [index, count] : counts)
      row[index] = value(index, count, static_cast<double>(sequence.size()));
    row += columns;
  }
  return K::cast(out, K::floatx());
}

Tokenizer::Counts Tokenizer::word_counts() const {
  Counts counts;
  for (const Word& word : words_) counts.emplace_back(word.text, word.count);
  return counts;
}

Tokenizer::Counts Tokenizer::word_docs() const {
  Counts counts;
  for (const Word& word : words_) counts.emplace_back(word.text, word.documents);
  return counts;
}

Tokenizer::Counts Tokenizer::word_index() const {
  Counts indices;
  for (std::size_t i = 1; i < by_index_.size(); ++i)
    indices.emplace_back(by_index_[i], static_cast<std::int64_t>(i));
  return indices;
}

// --- As JSON ----------------------------------------------------------------------------------------------

namespace {

/// Returns a dictionary as Keras stores it: a string of JSON within the JSON.
std::string dictionary(const Tokenizer::Counts& entries) {
  nn::Config config;
  for (const auto& [word, number] : entries) config.set(word, number);
  return nn::to_json(config);
}

Tokenizer::Counts dictionary(const nn::Config& config, const std::string& name) {
  const std::string what = "[tokenizer_from_json] " + name;
  const nn::Value value = nn::from_json(config.at(name).string(what));
  Tokenizer::Counts entries;
  for (const auto& [word, number] : value.config(what)) {
    entries.emplace_back(word, number.integer(what));
    if (entries.back().second < 0)
      fail(what, " must hold numbers from 0 on: received '", word, "': ", entries.back().second);
  }
  return entries;
}

}  // namespace

std::string Tokenizer::to_json(int indent) const {
  nn::Config index_word;
  Counts index_docs;
  for (const auto& [word, index] : word_index()) index_word.set(std::to_string(index), word);
  for (const auto& [word, documents] : word_docs())
    index_docs.emplace_back(std::to_string(index_.at(word)), documents);
  const nn::Config config{{"num_words", options_.num_words},
                          {"filters", options_.filters},
                          {"lower", options_.lower},
                          {"split", options_.split},
                          {"char_level", options_.char_level},
                          {"oov_token", options_.oov_token},
                          {"document_count", document_count_},
                          {"word_counts", dictionary(word_counts())},
                          {"word_docs", dictionary(word_docs())},
                          {"index_docs", dictionary(index_docs)},
                          {"index_word", nn::to_json(index_word)},
                          {"word_index", dictionary(word_index())}};
  return nn::to_json(nn::Config{{"class_name", "Tokenizer"}, {"config", config}}, indent);
}

Tokenizer tokenizer_from_json(const std::string& json) {
  constexpr const char* what = "[tokenizer_from_json] the tokenizer";
  const nn::Value value = nn::from_json(json), inner = value.config(what).at("config");
  const nn::Config& config = inner.config(what);
  const auto option = [&]<class T>(const char* name, const T& otherwise) {
    return config.get(name, otherwise).template as<T>(std::string("[tokenizer_from_json] ") + name);
  };
  Tokenizer tokenizer({.num_words = option("num_words", std::optional<std::int64_t>()),
                       .filters = option("filters", std::string(text_filters)),
                       .lower = option("lower", true),
                       .split = option("split", std::string(" ")),
                       .char_level = option("char_level", false),
                       .oov_token = option("oov_token", std::optional<std::string>())});
  tokenizer.document_count_ = option("document_count", std::int64_t{0});
  for (const auto& [word, times] : dictionary(config, "word_counts")) tokenizer.count(word, times, 0);
  for (const auto& [word, documents] : dictionary(config, "word_docs")) tokenizer.count(word, 0, documents);
  const Tokenizer::Counts index = dictionary(config, "word_index");
  Tokenizer::Texts words(index.size());
  for (const auto& [word, number] : index) {
    if (number < 1 || number > std::ssize(words) || !words[static_cast<std::size_t>(number - 1)].empty())
      fail("[tokenizer_from_json] word_index must number the words from 1 to ", index.size(),
           ", each once: received '", word, "': ", number);
    words[static_cast<std::size_t>(number - 1)] = word;
  }
  tokenizer.set_index(std::move(words));
  return tokenizer;
}

}  // namespace ktape::data
