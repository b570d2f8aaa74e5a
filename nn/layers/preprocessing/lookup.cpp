#include <ktape/autograd/defer.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/preprocessing/internal/vocabulary.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/settings/config.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

/// The options of a lookup layer, and the entries that Keras adds to the config.
template <class Options>
struct LookupArguments : Options {
  std::optional<bool> has_input_vocabulary = {};  ///< false for a learned vocabulary
  std::optional<std::int64_t> vocabulary_size = {};
  std::string oov_method = "floormod";
};

template <class Options, class F>
void lookup_fields(LookupArguments<Options>& a, F&& field) {
  field("max_tokens", a.max_tokens);
  field("num_oov_indices", a.num_oov_indices);
  field("mask_token", a.mask_token);
  field("oov_token", a.oov_token);
  field("vocabulary", a.vocabulary);
  field("idf_weights", a.idf_weights);
  field("invert", a.invert);
  field("output_mode", a.output_mode);
  field("pad_to_max_tokens", a.pad_to_max_tokens);
  field("sparse", a.sparse);
  field("has_input_vocabulary", a.has_input_vocabulary);
  field("vocabulary_size", a.vocabulary_size);
  field("oov_method", a.oov_method);
}

using StringArguments = LookupArguments<StringLookupOptions>;
using IntegerArguments = LookupArguments<IntegerLookupOptions>;

}  // namespace

template <class F>
void fields(LookupArguments<StringLookupOptions>& a, F&& field) {
  lookup_fields(a, field);
  field("encoding", a.encoding);
}
template <class F>
void fields(LookupArguments<IntegerLookupOptions>& a, F&& field) {
  lookup_fields(a, field);
  field("vocabulary_dtype", a.vocabulary_dtype);
}

namespace {

OutputMode mode_of(const char* layer, const std::string& name) {
  return output_mode(
      layer, name,
      {OutputMode::Int, OutputMode::OneHot, OutputMode::MultiHot, OutputMode::Count, OutputMode::TfIdf});
}

template <class Token, class Arguments>
class LookupImpl : public LayerWith<Arguments> {
 public:
  LookupImpl(const char* class_name, const Arguments& arguments)
      : LayerWith<Arguments>(class_name, canonical(class_name, arguments)),
        mode_(mode_of(class_name, this->args.output_mode)),
        vocabulary_(settings(class_name, this->args, mode_), this->args.vocabulary, this->args.idf_weights),
        learns_(!this->args.vocabulary.given() || !this->args.has_input_vocabulary.value_or(true)) {}

  Config get_config() const override {
    Config config = LayerWith<Arguments>::get_config();
    config.set("vocabulary", vocabulary_.empty() ? Value() : Value(vocabulary_.list(true)));
    config.set("idf_weights", vocabulary_.idf_weights());
    config.set("vocabulary_size", vocabulary_.empty() ? Value() : Value(vocabulary_.size()));
    config.set("has_input_vocabulary", !learns_);
    config.erase("oov_method");  // always the default; Keras before 3.14 does not know the entry
    return config;
  }

  void reset_state() override {
    if (!learns_) fail("[", this->name(), "] adapt is for a layer without a vocabulary: received one");
    vocabulary_.forget();
  }
  void finalize_state() override { vocabulary_.learn(); }

  Vocabulary<Token>& vocabulary() { return vocabulary_; }

 protected:
  /// Encodes places as the output mode says. Vectors have the layer's dtype if the dtype is floating,
  /// otherwise floatx().
  Tensor encoded(const Tensor& places) const {
    return vocabulary_.encoded(places, vector_dtype(), this->name());
  }
  DType vector_dtype() const {
    return this->compute_dtype().is_floating() ? this->compute_dtype() : K::floatx();
  }
  OutputInfo result(const Shape& tokens) const {
    if (mode_ == OutputMode::Int) return {tokens, DType::Int64};
    const OutputMode shape = mode_ == OutputMode::TfIdf ? OutputMode::Count : mode_;
    return {encoded_shape(tokens, shape, vocabulary_.depth(this->name())), vector_dtype()};
  }
  void count(const std::vector<std::vector<Token>>& documents) {
    reset_check();
    for (const auto& document : documents) vocabulary_.count(document);
  }

  OutputMode mode_;
  Vocabulary<Token> vocabulary_;

 private:
  static Arguments canonical(const char* layer, Arguments a) {
    a.output_mode = name_of(mode_of(layer, a.output_mode));
    if (a.sparse) fail("[", layer, "] outputs are dense: received sparse=true");
    if (a.oov_method != "floormod")
      fail("[", layer, "] oov_method must be \"floormod\": received oov_method=\"", a.oov_method, '"');
    return a;
  }
  static VocabularySettings<Token> settings(const char* layer, const Arguments& a, OutputMode mode) {
    return {layer,       a.max_tokens, a.num_oov_indices,   a.mask_token,
            a.oov_token, a.invert,     a.pad_to_max_tokens, mode};
  }
  void reset_check() const {
    if (!learns_) fail("[", this->name(), "] adapt is for a layer without a vocabulary: received one");
  }
  bool learns_;
};

// --- StringLookup ------------------------------------------------------------------------------------------

class StringLookupImpl final : public LookupImpl<std::string, StringArguments> {
 public:
  explicit StringLookupImpl(const StringArguments& arguments) : LookupImpl("StringLookup", arguments) {
    if (args.encoding != "utf-8")
      fail("[StringLookup] encoding must be \"utf-8\": received encoding=\"", args.encoding, '"');
  }

  Tensor call(const Tensor& x) override { refuse(x); }
  void adapt(const Tensor& data) override { refuse(data); }
  void update_state(const Tensor& batch) override { refuse(batch); }

  Tensor look_up(const StringArray& strings) const {
    if (args.invert)
      fail<TypeError>("[", name(), "] places become tokens by strings(): received strings, invert=true");
    const bool rows_alone = mode_ == OutputMode::Int || mode_ == OutputMode::OneHot;
    const StringArray::Rows& rows = strings.rows();
    std::size_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, row.size());
    std::vector<std::int64_t> places;
    for (const auto& row : rows) {
      if (rows_alone && row.size() != longest)
        fail("[", name(), "] the rows must have one length in output_mode=\"", args.output_mode,
             "\": received ", row.size(), " and ", longest);
      for (const std::string& token : row) places.push_back(vocabulary_.place(token, name()));
      places.insert(places.end(), longest - row.size(), -1);  // left out of the vectors
    }
    Shape shape;
    if (strings.rank() == 2) shape.push_back(static_cast<std::int64_t>(rows.size()));
    if (strings.rank() > 0) shape.push_back(static_cast<std::int64_t>(longest));
    return encoded(
        Tensor::from_buffer(places.data(), places.size() * sizeof(std::int64_t), shape, DType::Int64));
  }

  std::vector<std::string> strings(const Tensor& places) const {
    if (mode_ != OutputMode::Int)
      fail("[", name(), "] output_mode must be \"int\" to look places up: received output_mode=\"",
           args.output_mode, '"');
    expect_value("strings", places);
    const Tensor numbers = K::class_numbers(name(), "place", places);
    std::vector<std::string> strings;
    for (std::int64_t i = 0; i < numbers.size(); ++i)
      strings.push_back(vocabulary_.token(numbers.pointer<std::int64_t>()[i]));
    return strings;
  }

  void learn_from(const StringArray& data) {
    reset_state();
    count(data.each_alone());
    finalize_state();
  }
  void add_batch(const StringArray& batch) { count(batch.rows()); }

 private:
  [[noreturn]] void refuse(const Tensor& x) const {
    fail<TypeError>("[", name(), "] the layer takes strings: received a tensor of dtype=", x.dtype(),
                    args.invert ? "; strings(x) looks places up" : "");
  }
};

// --- IntegerLookup -----------------------------------------------------------------------------------------

class IntegerLookupImpl final : public LookupImpl<std::int64_t, IntegerArguments> {
 public:
  explicit IntegerLookupImpl(const IntegerArguments& arguments) : LookupImpl("IntegerLookup", arguments) {
    if (args.vocabulary_dtype != "int64" && args.vocabulary_dtype != "int32")
      fail("[IntegerLookup] vocabulary_dtype must be \"int64\" or \"int32\": received vocabulary_dtype=\"",
           args.vocabulary_dtype, '"');
  }

  Tensor call(const Tensor& x) override {
    if (is_symbolic(x))
      return defer(
          impure("lookup"), result(x.shape()),
          [self = shared_from_this()](const Tensor& given) { return self->call(given); }, x);
    const Tensor numbers = K::class_numbers(name(), "number", x);
    Tensor out = Tensor::empty(x.shape(), DType::Int64);
    const auto* from = numbers.pointer<std::int64_t>();
    for (std::int64_t i = 0; i < out.size(); ++i)
      out.pointer<std::int64_t>()[i] =
          args.invert ? vocabulary_.token(from[i]) : vocabulary_.place(from[i], name());
    return encoded(out);
  }

  void adapt(const Tensor& data) override {
    expect_value("adapt", data);
    reset_state();
    count(documents(data, data.ndim() < 2 ? data.size() : data.shape()[0]));
    finalize_state();
  }
  void update_state(const Tensor& batch) override {
    expect_value("adapt", batch);
    count(documents(batch, batch.ndim() < 2 ? 1 : batch.shape()[0]));
  }

 private:
  std::vector<std::vector<std::int64_t>> documents(const Tensor& data, std::int64_t count) const {
    const Tensor numbers = K::class_numbers(name(), "number", data);
    const auto* next = numbers.pointer<std::int64_t>();
    std::vector<std::vector<std::int64_t>> documents;
    for (std::int64_t i = 0; i < count; ++i, next += numbers.size() / count)
      documents.emplace_back(next, next + numbers.size() / count);
    return documents;
  }
};

/// Returns the implementation of the layer. Throws ValueError for a layer of another class.
template <class T>
T& as(const Layer& layer, const char* class_name) {
  auto* lookup = dynamic_cast<T*>(&layer.impl());
  if (!lookup) fail("[", class_name, "] the layer must be a ", class_name, ": received ", layer.class_name());
  return *lookup;
}
StringLookupImpl& string_lookup(const Layer& layer) { return as<StringLookupImpl>(layer, "StringLookup"); }
IntegerLookupImpl& integer_lookup(const Layer& layer) {
  return as<IntegerLookupImpl>(layer, "IntegerLookup");
}

}  // namespace

StringLookup::StringLookup(const StringLookupOptions& options)
    : Layer(std::make_shared<StringLookupImpl>(StringArguments{options})) {}
StringLookup::StringLookup(const Layer& layer) : Layer(layer) { string_lookup(layer); }

Tensor StringLookup::operator()(const StringArray& strings) const {
  return string_lookup(*this).look_up(strings);
}
Tensor StringLookup::operator()(const Tensor& x) const { return Layer::operator()(x); }
std::vector<std::string> StringLookup::strings(const Tensor& places) const {
  return string_lookup(*this).strings(places);
}
void StringLookup::adapt(const StringArray& data) const { string_lookup(*this).learn_from(data); }
void StringLookup::update_state(const StringArray& batch) const { string_lookup(*this).add_batch(batch); }
std::vector<std::string> StringLookup::get_vocabulary(bool include_special_tokens) const {
  return string_lookup(*this).vocabulary().list(include_special_tokens);
}
std::int64_t StringLookup::vocabulary_size() const { return string_lookup(*this).vocabulary().size(); }
void StringLookup::set_vocabulary(const Tokens<std::string>& vocabulary,
                                  const std::optional<std::vector<double>>& idf_weights) const {
  string_lookup(*this).vocabulary().set(vocabulary.list(), idf_weights);
}

IntegerLookup::IntegerLookup(const IntegerLookupOptions& options)
    : Layer(std::make_shared<IntegerLookupImpl>(IntegerArguments{options})) {}
IntegerLookup::IntegerLookup(const Layer& layer) : Layer(layer) { integer_lookup(layer); }

void IntegerLookup::adapt(const ArrayLike& data) const {
  data.expect_defined("adapt", "data");
  integer_lookup(*this).adapt(data.tensor({}, DType::Int64, "adapt"));
}

std::vector<std::int64_t> IntegerLookup::get_vocabulary(bool include_special_tokens) const {
  return integer_lookup(*this).vocabulary().list(include_special_tokens);
}
std::int64_t IntegerLookup::vocabulary_size() const { return integer_lookup(*this).vocabulary().size(); }
void IntegerLookup::set_vocabulary(const Tokens<std::int64_t>& vocabulary,
                                   const std::optional<std::vector<double>>& idf_weights) const {
  integer_lookup(*this).vocabulary().set(vocabulary.list(), idf_weights);
}

void add_lookup_layers(ClassRegistry& registry) {
  add_layer<StringLookupImpl, StringArguments>(registry, "StringLookup");
  add_layer<IntegerLookupImpl, IntegerArguments>(registry, "IntegerLookup");
}

}  // namespace ktape::nn
