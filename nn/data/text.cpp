#include <ktape/nn/data/text.hpp>
#include <ktape/ops/config.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>

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

/// Whether a byte goes on with a character that another one began.
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
      const auto [known, is_new] = known_.try_emplace(word, words_.size());
      if (is_new) words_.push_back({word, 0, 0});
      Word& counted = words_[known->second];
      ++counted.count;
      counted.documents += std::exchange(last_document[word], document_count_) != document_count_;
    }
  }
  std::vector<const Word*> order;
  for (const Word& word : words_) order.push_back(&word);
  std::stable_sort(order.begin(), order.end(),
                   [](const Word* a, const Word* b) { return a->count > b->count; });
  by_index_.assign(1, "");
  if (options_.oov_token) by_index_.push_back(*options_.oov_token);
  for (const Word* word : order) by_index_.push_back(word->text);
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

}  // namespace ktape::data
