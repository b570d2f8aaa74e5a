#include <ktape/nn/data/formats/text.hpp>
#include <ktape/nn/data/sequences.hpp>
#include <ktape/ops/creation.hpp>

#include "kinds.hpp"

namespace golden_nn {
namespace data = ktape::data;
namespace {

/// The arguments of a case; each one must be asked for.
class Arguments {
 public:
  explicit Arguments(const Run& run) : json_(run.at("args").config()) {}

  bool has(const std::string& name) {
    seen_.insert(name);
    return json_.contains(name) && !json_.at(name).is_null();
  }
  const Value& at(const std::string& name) {
    seen_.insert(name);
    return json_.at(name);
  }
  /// Sets an option that the case names.
  template <class T>
  void set(const std::string& name, T& option) {
    if (has(name)) option = at(name).as<T>(name);
  }
  void expect_all_used(Run& run) const {
    for (const std::string& name : json_.names())
      if (!seen_.count(name)) run.problem("the test does not use the argument ", name);
  }

 private:
  const Config& json_;
  std::set<std::string> seen_;
};

void to_categorical(Run& run, Arguments& a) {
  std::optional<std::int64_t> num_classes;
  a.set("num_classes", num_classes);
  run.compare_outputs({data::to_categorical(run.tensor(a.at("x")), num_classes)});
}

void pad_sequences(Run& run, Arguments& a) {
  data::PadSequencesOptions options;
  a.set("maxlen", options.maxlen);
  a.set("padding", options.padding);
  a.set("truncating", options.truncating);
  if (a.has("value")) options.value = a.at("value").number();
  if (a.has("dtype")) options.dtype = run.dtype(a.at("dtype").string());
  const auto sequences = a.at("sequences").as<std::vector<std::vector<double>>>("sequences");
  run.compare_outputs({data::pad_sequences(sequences, options)});
}

void normalize(Run& run, Arguments& a) {
  int axis = -1;
  double order = 2;
  a.set("axis", axis);
  a.set("order", order);
  run.compare_outputs({data::normalize(run.tensor(a.at("x")), axis, order)});
}

void compare_batches(Run& run, const data::Dataset& dataset) {
  const Value::List& want = run.at("batches").list();
  std::size_t i = 0;
  for (const data::Element& batch : dataset) {
    if (i == want.size()) return run.problem("there must be ", want.size(), " batches, there are more");
    const Config& parts = want[i].config();
    const std::string name = "batch " + std::to_string(i++);
    run.compare(name + " inputs", batch[0], parts.at("inputs"));
    if (batch.size() != parts.size()) return run.problem(name, " has ", batch.size(), " tensors");
    if (batch.size() > 1) run.compare(name + " targets", batch[1], parts.at("targets"));
  }
  if (i != want.size()) run.problem("there must be ", want.size(), " batches, there are ", i);
}

void timeseries_from_array(Run& run, Arguments& a) {
  data::TimeseriesOptions options;
  a.set("sequence_length", options.sequence_length);
  a.set("sequence_stride", options.sequence_stride);
  a.set("sampling_rate", options.sampling_rate);
  a.set("batch_size", options.batch_size);
  a.set("start_index", options.start_index);
  a.set("end_index", options.end_index);
  const Tensor targets = a.has("targets") ? run.tensor(a.at("targets")) : Tensor();
  compare_batches(run, data::timeseries_dataset_from_array(run.tensor(a.at("data")), targets, options));
}

void timeseries_generator(Run& run, Arguments& a) {
  data::TimeseriesGeneratorOptions options;
  a.set("sampling_rate", options.sampling_rate);
  a.set("stride", options.stride);
  a.set("start_index", options.start_index);
  a.set("end_index", options.end_index);
  a.set("reverse", options.reverse);
  a.set("batch_size", options.batch_size);
  compare_batches(run, data::TimeseriesGenerator(run.tensor(a.at("data")), run.tensor(a.at("targets")),
                                                 a.at("length").integer(), options));
}

void text_to_word_sequence(Run& run, Arguments& a) {
  data::WordOptions options;
  a.set("filters", options.filters);
  a.set("lower", options.lower);
  a.set("split", options.split);
  const Value words = data::text_to_word_sequence(a.at("input_text").string(), options);
  if (words != run.at("words")) run.problem("the words are ", words);
}

/// Compares counts with an object, names in order.
void compare_counts(Run& run, const std::string& key, const data::Tokenizer::Counts& got) {
  Config config;
  for (const auto& [word, count] : got) config.set(word, count);
  const Config& want = run.at(key).config();
  if (config != want || config.names() != want.names()) run.problem(key, " is ", Value(config));
}

void tokenizer(Run& run, Arguments& a) {
  data::TokenizerOptions options;
  a.set("num_words", options.num_words);
  a.set("filters", options.filters);
  a.set("lower", options.lower);
  a.set("split", options.split);
  a.set("char_level", options.char_level);
  a.set("oov_token", options.oov_token);
  data::Tokenizer words(options);
  words.fit_on_texts(run.at("fit_on_texts").as<std::vector<std::string>>());
  compare_counts(run, "word_counts", words.word_counts());
  compare_counts(run, "word_docs", words.word_docs());
  compare_counts(run, "word_index", words.word_index());
  if (words.document_count() != run.at("document_count").integer())
    run.problem("document_count is ", words.document_count());
  const auto texts = run.at("texts").as<std::vector<std::string>>();
  const Value sequences = words.texts_to_sequences(texts);
  if (sequences != run.at("sequences")) run.problem("the sequences are ", sequences);
  for (const auto& [mode, want] : run.at("matrices").config())
    run.compare("matrix of mode " + mode, words.texts_to_matrix(texts, mode), want);
  const auto numbers = run.at("sequences_in").as<std::vector<data::Tokenizer::Sequence>>();
  const Value back = words.sequences_to_texts(numbers);
  if (back != run.at("texts_back")) run.problem("the texts are ", back);
}

Runner runner(void (*f)(Run&, Arguments&)) {
  return [f](Run& run) {
    run.at("function");
    Arguments arguments(run);
    f(run, arguments);
    arguments.expect_all_used(run);
  };
}

}  // namespace

void add_utilities(Table& table) {
  table["function to_categorical"] = runner(to_categorical);
  table["function pad_sequences"] = runner(pad_sequences);
  table["function normalize"] = runner(normalize);
  table["function timeseries_dataset_from_array"] = runner(timeseries_from_array);
  table["function TimeseriesGenerator"] = runner(timeseries_generator);
  table["function text_to_word_sequence"] = runner(text_to_word_sequence);
  table["function Tokenizer"] = runner(tokenizer);
}

}  // namespace golden_nn
