#pragma once
#include <ktape/nn/data/dataset.hpp>
#include <ktape/ops/schema/config.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

/// Text as numbers, as in Keras 2's `keras.preprocessing.text`. Texts are UTF-8; `lower` changes the
/// letters A to Z alone.
namespace ktape::data {

/// Returns the text of a file, plain or gzip-compressed, without a byte order mark. Throws IOError, naming
/// the file, for a file that is missing or damaged, and for a gzip file that inflates to more than 64 MB and
/// 32 times its size.
std::string load_text(const std::string& path);
/// Reads a text file as lines without their ends, LF or CR LF.
std::vector<std::string> load_text_lines(const std::string& path);
/// Returns a dataset of the lines of a text file: the callable makes an element of each line, or returns none
/// to leave the line out. Reading throws the errors of `load_text`.
///
///     data::text_line_dataset("train.txt", [&](const std::string& line) -> std::optional<data::Element> {
///       if (line.empty()) return std::nullopt;
///       return data::Element{data::pad_sequences(words.texts_to_sequences({line}), {.maxlen = 20})};
///     }).unbatch().shuffle(10000).batch(32)
///
/// For example:
///
///     std::ofstream("lines.txt") << "1\n2\n\n3\n";
///     auto numbers = data::text_line_dataset(
///         "lines.txt", [](const std::string& line) -> std::optional<data::Element> {
///           if (line.empty()) return std::nullopt;
///           return data::Element{K::constant(std::stod(line))};
///         });
///     for (const data::Element& e : numbers.batch(8)) std::cout << e[0];
Dataset text_line_dataset(const std::string& path,
                          std::function<std::optional<Element>(const std::string&)> function);

inline constexpr const char* text_filters = "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n";

struct WordOptions {
  std::string filters = text_filters;  ///< characters that separate words, as `split` does
  bool lower = true;
  std::string split = " ";
};

/// Returns the words of a text. Throws ValueError for an empty `split`.
/// `keras.preprocessing.text.text_to_word_sequence`.
///
///     for (const std::string& word : data::text_to_word_sequence("The cat, the DOG!"))
///       std::cout << word << "\n";
///     const std::string filters = std::string(data::text_filters) + "0123456789";
///     for (const std::string& word : data::text_to_word_sequence(
///              "3 Dogs, 12 cats", {.filters = filters, .lower = false}))
///       std::cout << word << "\n";
std::vector<std::string> text_to_word_sequence(const std::string& text, const WordOptions& options = {});

struct TokenizerOptions {
  std::optional<std::int64_t> num_words =
      {};  ///< only words with an index below num_words are used; all words by default
  std::string filters = text_filters;
  bool lower = true;
  std::string split = " ";
  bool char_level = false;  ///< whether the units are characters instead of words
  nn::OptionalString oov_token =
      {};  ///< the word, with index 1, that stands for unused words; by default unused words are left out
};

/// Numbers words by their frequency, from 1 on: the most frequent word first, and of equally frequent words
/// the word that occurred first. Mirrors Keras 2's `Tokenizer`.
///
///     data::Tokenizer words({.num_words = 10000, .oov_token = "<unk>"});
///     words.fit(texts);
///     Tensor x = data::pad_sequences(words.texts_to_sequences(texts), {.maxlen = 100});
///
/// For example:
///
///     data::Tokenizer words({.num_words = 100, .oov_token = "<unk>"});
///     words.fit({"the cat sat", "the dog"});
///     std::cout << data::pad_sequences(words.texts_to_sequences({"the cat ran"}));
class Tokenizer {
 public:
  using Texts = std::vector<std::string>;
  using Sequence = std::vector<std::int64_t>;
  using Counts = std::vector<std::pair<std::string, std::int64_t>>;

  /// Throws ValueError for num_words below 1 and an empty `split`.
  explicit Tokenizer(const TokenizerOptions& options = {});

  /// Counts the words of texts, in addition to earlier texts, and numbers all words anew.
  void fit(const Texts& texts);
  void fit_on_texts(const Texts& texts) { fit(texts); }

  /// Returns the numbers of the words of each text.
  std::vector<Sequence> texts_to_sequences(const Texts& texts) const;
  /// Returns the words of each sequence, with blanks between them.
  Texts sequences_to_texts(const std::vector<Sequence>& sequences) const;
  /// Returns a row for each text, with a column for each index below num_words, in floatx(): 1 for words in
  /// the text ("binary"), the number of occurrences ("count"), the fraction of the text's words ("freq"), or
  /// the count weighted by the rareness of the word ("tfidf"). Throws ValueError for another mode and before
  /// `fit`, when num_words is not given.
  Tensor texts_to_matrix(const Texts& texts, const std::string& mode = "binary") const;
  Tensor sequences_to_matrix(const std::vector<Sequence>& sequences,
                             const std::string& mode = "binary") const;

  /// Return, for each word in the order of first occurrence, the number of occurrences, or the number of
  /// texts that contain the word.
  Counts word_counts() const;
  Counts word_docs() const;
  /// Returns each word with its number, in the order of the numbers, which begin with 1.
  Counts word_index() const;
  /// Returns the number of a word; none for an unknown word.
  std::optional<std::int64_t> index_of(const std::string& word) const;
  std::int64_t document_count() const { return document_count_; }

  /// Returns options and counts as JSON, in the layout of Keras 2's `Tokenizer.to_json`; on several lines
  /// with an indent.
  std::string to_json(int indent = -1) const;

 private:
  friend Tokenizer tokenizer_from_json(const std::string& json);

  struct Word {
    std::string text;
    std::int64_t count, documents;
  };

  void count(const std::string& word, std::int64_t times, std::int64_t documents);
  /// Numbers the given words, from 1 on.
  void set_index(Texts words);
  Texts words_of(const std::string& text) const;
  bool used(std::int64_t index) const { return !options_.num_words || index < *options_.num_words; }

  TokenizerOptions options_;
  std::vector<Word> words_;                             ///< the words, in the order of their first occurrence
  std::unordered_map<std::string, std::size_t> known_;  ///< the index of each word in words_
  std::vector<std::string> by_index_{""};               ///< the word of each index; index 0 is no word
  std::unordered_map<std::string, std::int64_t> index_;
  std::int64_t document_count_ = 0;
};

/// Returns the tokenizer that `Tokenizer::to_json` wrote, here or in Keras. Throws ValueError or TypeError
/// for another text. `keras.preprocessing.text.tokenizer_from_json`.
///
///     data::Tokenizer words;
///     words.fit({"the cat", "the dog"});
///     data::Tokenizer same = data::tokenizer_from_json(words.to_json());
///     for (const auto& [word, number] : same.word_index())
///       std::cout << word << " " << number << "\n";
Tokenizer tokenizer_from_json(const std::string& json);

}  // namespace ktape::data
