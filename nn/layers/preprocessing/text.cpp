#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/preprocessing/internal/vocabulary.hpp>
#include <ktape/nn/layers/preprocessing/text.hpp>
#include <ktape/ops/settings/config.hpp>

#include <algorithm>
#include <numeric>

namespace ktape::nn {
namespace K = backend;

namespace {

// --- From a text to tokens ---------------------------------------------------------------------------------

// The three functions know ASCII characters only, independent of the locale.
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

std::string standardized(std::string text, const TextStep<std::string>& step) {
  if (step.function()) return step.function()(text);
  const std::string& way = step.name();
  if (way.starts_with("lower"))
    for (char& c : text)
      if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  if (way.ends_with("strip_punctuation")) std::erase_if(text, is_punctuation);
  return text;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (auto at = text.begin(); at != text.end();) {
    const auto start = std::find_if_not(at, text.end(), is_space);
    at = std::find_if(start, text.end(), is_space);
    if (start != at) out.emplace_back(start, at);
  }
  return out;
}

/// Returns the number of bytes of the UTF-8 character at position `at`, or 0 for invalid UTF-8.
std::size_t character_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const unsigned first = byte(0), second = byte(1);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool beyond = (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
  return too_long || beyond ? 0 : length;
}

std::vector<std::string> characters(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    out.push_back(length > 0 ? text.substr(at, length) : "\xef\xbf\xbd");
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

/// Returns all n-grams: for each width n, in order, all runs of n neighbouring tokens, joined by spaces.
std::vector<std::string> joined(const std::vector<std::string>& tokens,
                                const std::vector<std::int64_t>& widths) {
  std::vector<std::string> out;
  for (const std::int64_t wanted : widths) {
    const auto width = static_cast<std::size_t>(wanted);
    for (std::size_t start = 0; start + width <= tokens.size(); ++start) {
      std::string gram = tokens[start];
      for (std::size_t i = 1; i < width; ++i) gram += ' ' + tokens[start + i];
      out.push_back(std::move(gram));
    }
  }
  return out;
}

// --- TextVectorization -------------------------------------------------------------------------------------

/// The options of TextVectorization, and the entries that Keras adds to the config.
struct TextVectorizationArguments : TextVectorizationOptions {
  std::optional<bool> has_input_vocabulary = {};  ///< false for a learned vocabulary
  std::optional<std::int64_t> vocabulary_size = {};
};

template <class F>
void fields(TextVectorizationArguments& a, F&& field) {
  field("max_tokens", a.max_tokens);
  field("standardize", a.standardize);
  field("split", a.split);
  field("ngrams", a.ngrams);
  field("output_mode", a.output_mode);
  field("output_sequence_length", a.output_sequence_length);
  field("pad_to_max_tokens", a.pad_to_max_tokens);
  field("vocabulary", a.vocabulary);
  field("idf_weights", a.idf_weights);
  field("ragged", a.ragged);
  field("sparse", a.sparse);
  field("encoding", a.encoding);
  field("has_input_vocabulary", a.has_input_vocabulary);
  field("vocabulary_size", a.vocabulary_size);
}

constexpr const char* layer_name = "TextVectorization";

template <class Step>
void expect_known(const char* argument, const Step& step, std::initializer_list<const char*> known) {
  if (step.name().empty() || step.function()) return;
  if (std::find(known.begin(), known.end(), step.name()) == known.end())
    fail("[", layer_name, "] ", argument, " must be ", in_quotes({known.begin(), known.end()}, " or "),
         ": received ", argument, "=\"", step.name(), '"',
         near_names(step.name(), {known.begin(), known.end()}));
}

class TextVectorizationImpl final : public LayerWith<TextVectorizationArguments> {
 public:
  explicit TextVectorizationImpl(const TextVectorizationArguments& arguments)
      : LayerWith(layer_name, canonical(arguments)),
        mode_(mode_of(args)),
        vocabulary_({.layer = layer_name,
                     .max_tokens = args.max_tokens,
                     .mask_token = "",
                     .oov_token = "[UNK]",
                     .pad_to_max_tokens = args.pad_to_max_tokens,
                     .mode = mode_},
                    args.vocabulary, args.idf_weights),
        learns_(!args.vocabulary.given() || !args.has_input_vocabulary.value_or(true)) {}

  Config get_config() const override {
    Config config = LayerWith::get_config();
    config.set("vocabulary", vocabulary_.empty() ? Value() : Value(vocabulary_.list(true)));
    config.set("idf_weights", vocabulary_.idf_weights());
    config.set("vocabulary_size", vocabulary_.empty() ? Value() : Value(vocabulary_.size()));
    config.set("has_input_vocabulary", !learns_);
    return config;
  }

  Tensor call(const Tensor& x) override { refuse(x); }
  void adapt(const Tensor& data) override { refuse(data); }
  void update_state(const Tensor& batch) override { refuse(batch); }

  Tensor vectors(const StringArray& texts) const {
    const StringArray::Rows documents = tokens(texts);
    std::size_t length = 0;
    for (const auto& document : documents) length = std::max(length, document.size());
    const bool cut = mode_ == OutputMode::Int && args.output_sequence_length;
    if (cut) length = static_cast<std::size_t>(*args.output_sequence_length);
    Shape shape{static_cast<std::int64_t>(documents.size()), static_cast<std::int64_t>(length)};
    const bool one_each = texts.rank() == 1 && args.split.name().empty() && length == 1;
    if (texts.rank() == 0) shape.erase(0);
    else if (one_each && mode_ == OutputMode::Int && !cut) shape.erase(1);
    const Tensor numbers = Tensor::empty(shape, DType::Int64);
    auto* next = numbers.pointer<std::int64_t>();
    const std::int64_t padding = mode_ == OutputMode::Int ? 0 : -1;  // -1 is left out of the vectors
    for (const auto& document : documents)
      for (std::size_t i = 0; i < length; ++i)
        *next++ = i < document.size() ? vocabulary_.place(document[i], name()) : padding;
    return vocabulary_.encoded(numbers, compute_dtype().is_floating() ? compute_dtype() : K::floatx(),
                               name());
  }

  void reset_state() override {
    expect_learning();
    vocabulary_.forget();
  }
  void add_batch(const StringArray& batch) {
    expect_learning();
    for (const auto& document : tokens(batch)) vocabulary_.count(document);
  }
  void finalize_state() override { vocabulary_.learn(); }

  Vocabulary<std::string>& vocabulary() { return vocabulary_; }

 private:
  static OutputMode mode_of(const TextVectorizationArguments& a) {
    return output_mode(layer_name, a.output_mode,
                       {OutputMode::Int, OutputMode::MultiHot, OutputMode::Count, OutputMode::TfIdf});
  }
  static TextVectorizationArguments canonical(TextVectorizationArguments a) {
    const OutputMode mode = mode_of(a);
    a.output_mode = name_of(mode);
    expect_known("standardize", a.standardize, {"lower_and_strip_punctuation", "lower", "strip_punctuation"});
    expect_known("split", a.split, {"whitespace", "character"});
    if (a.ngrams) a.ngrams = widths(*a.ngrams);
    if (a.output_sequence_length) {
      expect_at_least<std::int64_t>(layer_name, "output_sequence_length", *a.output_sequence_length, 1);
      if (mode != OutputMode::Int)
        fail("[", layer_name, "] output_sequence_length is for output_mode=\"int\": received output_mode=\"",
             a.output_mode, '"');
    }
    if (a.sparse || a.ragged)
      fail("[", layer_name, "] outputs are dense: received ", a.sparse ? "sparse" : "ragged", "=true");
    if (a.encoding != "utf-8")
      fail("[", layer_name, "] encoding must be \"utf-8\": received encoding=\"", a.encoding, '"');
    return a;
  }

  static void expect_in_gram(std::int64_t words) {
    expect_at_least<std::int64_t>(layer_name, "ngrams", words, 1);
    constexpr std::int64_t most = 1 << 16;
    if (words > most) fail("[", layer_name, "] ngrams must be at most ", most, ": received ngrams=", words);
  }
  /// Returns the widths of the n-grams: a single number n gives 1 to n.
  static std::vector<std::int64_t> widths(const backend::PerAxis<std::int64_t>& given) {
    for (const std::int64_t width : given.list()) expect_in_gram(width);
    const bool up_to = given.list().size() == 1 && given.over(2).size() == 2;
    std::vector<std::int64_t> widths = given.list();
    if (!up_to) return widths;
    widths.resize(static_cast<std::size_t>(given.list()[0]));
    std::iota(widths.begin(), widths.end(), 1);
    return widths;
  }
  [[noreturn]] void refuse(const Tensor& x) const {
    fail<TypeError>("[", name(), "] the layer takes strings: received a tensor of dtype=", x.dtype());
  }
  void expect_learning() const {
    if (!learns_) fail("[", name(), "] adapt is for a layer without a vocabulary: received one");
  }

  /// Returns the tokens of each text.
  StringArray::Rows tokens(const StringArray& texts) const {
    const std::string& split = args.split.name();
    StringArray::Rows documents;
    for (const auto& row : texts.each_alone()) {
      if (!split.empty() && row.size() != 1)
        fail("[", name(), "] texts must be a list, or rows of one: received a row of ", row.size());
      std::vector<std::string> tokens;
      for (const std::string& text : row) tokens.push_back(standardized(text, args.standardize));
      if (args.split.function()) tokens = args.split.function()(tokens[0]);
      else if (!split.empty()) tokens = split == "character" ? characters(tokens[0]) : words(tokens[0]);
      documents.push_back(args.ngrams ? joined(tokens, args.ngrams->list()) : std::move(tokens));
    }
    return documents;
  }

  OutputMode mode_;
  Vocabulary<std::string> vocabulary_;
  bool learns_;
};

TextVectorizationImpl& text_layer(const Layer& layer) {
  auto* text = dynamic_cast<TextVectorizationImpl*>(&layer.impl());
  if (!text) fail("[", layer_name, "] the layer must be a ", layer_name, ": received ", layer.class_name());
  return *text;
}

}  // namespace

TextVectorization::TextVectorization(const TextVectorizationOptions& options)
    : Layer(std::make_shared<TextVectorizationImpl>(TextVectorizationArguments{options})) {}
TextVectorization::TextVectorization(const Layer& layer) : Layer(layer) { text_layer(layer); }

Tensor TextVectorization::operator()(const StringArray& texts) const {
  return text_layer(*this).vectors(texts);
}
Tensor TextVectorization::operator()(const Tensor& x) const { return Layer::operator()(x); }
void TextVectorization::adapt(const StringArray& texts) const {
  reset_state();
  update_state(texts);
  finalize_state();
}
void TextVectorization::update_state(const StringArray& batch) const { text_layer(*this).add_batch(batch); }
std::vector<std::string> TextVectorization::get_vocabulary(bool include_special_tokens) const {
  return text_layer(*this).vocabulary().list(include_special_tokens);
}
std::int64_t TextVectorization::vocabulary_size() const { return text_layer(*this).vocabulary().size(); }
void TextVectorization::set_vocabulary(const Tokens<std::string>& vocabulary,
                                       const std::optional<std::vector<double>>& idf_weights) const {
  text_layer(*this).vocabulary().set(vocabulary.list(), idf_weights);
}

void add_text_layers(ClassRegistry& registry) {
  add_layer<TextVectorizationImpl, TextVectorizationArguments>(registry, "TextVectorization");
}

}  // namespace ktape::nn
