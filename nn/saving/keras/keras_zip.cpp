#include <ktape/nn/core/loading.hpp>
#include <ktape/nn/core/names.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/files/json_part.hpp>
#include <ktape/nn/files/zip.hpp>
#include <ktape/nn/saving/keras/keras_optimizer.hpp>
#include <ktape/nn/saving/keras/keras_state.hpp>
#include <ktape/nn/saving/keras/keras_zip.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>
#include <ktape/nn/serialization/model_config.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>

namespace ktape::nn::saving {
namespace {

constexpr const char* config_file = "config.json";
constexpr const char* metadata_file = "metadata.json";
constexpr const char* weights_file = "model.weights.h5";

// --- Writing -----------------------------------------------------------------------------------------------

std::string metadata() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%d@%H:%M:%S", &local);
  return to_json(Config{{"keras_version", keras3_version}, {"date_saved", date}});
}

void save_model(const Model& model, const std::string& path, const SaveOptions& options) {
  Config config = with_keras3_operations(model_config(model).config());
  if (const Value compiled = compile_config(model); !compiled.is_null())
    config.set("compile_config", compiled);
  const hdf5::Image weights = hdf5::to_image("save", path, keras_state(model, options.include_optimizer));
  AtomicFile file("save", path);
  data::ZipWriter archive("save", file);
  archive.add(metadata_file, {metadata()});
  archive.add(config_file, {to_json(config)});
  archive.add(weights_file, weights.pieces());
  archive.finish();
  file.commit();
}

// --- Reading -----------------------------------------------------------------------------------------------

class KerasArchive {
 public:
  KerasArchive(const char* op, const std::string& path, std::uint64_t expected = 0)
      : op_(op), path_(path), expected_(expected), archive_(op, path, expected) {}

  std::optional<std::string> find(const std::string& name) const {
    const data::ZipEntry* const found = entry(name);
    return found ? std::optional(archive_.text(*found)) : std::nullopt;
  }

  Config config() const {
    const Value value = json_part(op_, path_, config_file, archive_.text(expected(config_file)));
    if (!value.is_config())
      fail<IOError>("[", op_, "] config.json must be the config of a model: received ", path_, " (", value,
                    ')');
    return value.config();
  }

  hdf5::File weights() const {
    const data::ZipEntry& found = expected(weights_file);
    const std::unique_ptr<data::ByteSource> bytes = archive_.open(found);
    const std::string name = path_ + ", entry " + weights_file;
    hdf5::File file{op_, name, {}};
    if (found.deflated) {
      file = hdf5::read_bytes(op_, name, bytes->rest(), expected_);
    } else {
      bytes->skip_rest();  // reading to the end compares the checksum
      file = hdf5::read_part(op_, name, path_, found.data, found.size, expected_);
    }
    separate_names(file.root);
    return file;
  }

 private:
  const data::ZipEntry* entry(const std::string& name) const {
    for (const data::ZipEntry& entry : archive_.entries())
      if (entry.name == name) return &entry;
    return nullptr;
  }

  const data::ZipEntry& expected(const char* name) const {
    const data::ZipEntry* const found = entry(name);
    if (!found)
      fail<IOError>("[", op_, "] a Keras model has a file ", name, ": received ", path_, " (without it)");
    return *found;
  }

  const char* op_;
  const std::string& path_;
  const std::uint64_t expected_;
  data::ZipArchive archive_;
};

/// Inserts learned vocabularies, which Keras stores in separate files, into the configs of their layers.
class Vocabularies {
 public:
  Vocabularies(const KerasArchive& archive, const hdf5::File& weights)
      : archive_(archive), weights_(weights) {}

  Value put_into(const Value& layer, const std::string& path) const {
    if (!layer.is_config() || !layer.config().get("config").is_config()) return layer;
    Config whole = layer.config(), config = whole.at("config").config();
    const Value class_name = whole.get("class_name");
    if (config.get("layers").is_list()) config.set("layers", in_list(config.at("layers").list(), path));
    else if (class_name == Value("TextVectorization") || class_name == Value("StringLookup") ||
             class_name == Value("IntegerLookup"))
      put(config, path, class_name == Value("IntegerLookup"));
    whole.set("config", config);
    return whole;
  }

 private:
  Value in_list(const Value::List& layers, const std::string& path) const {
    std::map<std::string, int> count;
    Value::List out;
    for (const Value& layer : layers) {
      const Value name = layer.is_config() ? layer.config().get("class_name") : Value();
      std::string place = name.is_string() ? to_snake_case(name.string()) : "";
      if (const int number = count[place]++; number > 0) place += '_' + std::to_string(number);
      out.push_back(put_into(layer, path + "/layers/" + place));
    }
    return out;
  }

  void put(Config& config, const std::string& path, bool integers) const {
    const Value given = config.get("vocabulary");
    if (!given.is_null() && !(given.is_list() && given.list().empty())) return;
    for (const std::string& place : {path, path + "/_lookup_layer"}) {
      const std::optional<std::string> text = archive_.find("assets" + place + "/vocabulary.txt");
      if (!text) continue;
      config.set("vocabulary", lines(*text, integers));
      config.set("has_input_vocabulary", false);
      if (const hdf5::Entry* weights = weights_.root.find(place + "/vars/idf_weights"))
        config.set("idf_weights", numbers(weights_.tensor(*weights, place)));
      return;
    }
  }

  Value lines(const std::string& text, bool integers) const {
    Value::List tokens;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string token = text.substr(begin, end - begin);
      if (token.ends_with('\r')) token.pop_back();
      if (integers) tokens.push_back(number(token));
      else tokens.push_back(std::move(token));
      begin = end + 1;
    }
    return tokens;
  }

  static Value numbers(const Tensor& tensor) {
    const Tensor values = backend::cast(tensor, "float64");
    return std::vector<double>(values.pointer<double>(), values.pointer<double>() + values.size());
  }

  std::int64_t number(const std::string& token) const {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (error != std::errc() || end != token.data() + token.size())
      weights_.fail("a vocabulary of integers must have one in each line", "'", token.substr(0, 50), "'");
    return number;
  }

  const KerasArchive& archive_;
  const hdf5::File& weights_;
};

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  const hdf5::File file = KerasArchive("load_weights", path, expected_bytes(model)).weights();
  assign_weights(model, path, keras_weights(file, model, options.by_name), options);
}

Model load_model(const std::string& path, const LoadOptions& options) {
  const KerasArchive archive("load_model", path);
  const Config config = archive.config();
  const hdf5::File file = archive.weights();
  const weight_loading_scope loading(file.root.elements());
  const Model model = model_from_config(Vocabularies(archive, file).put_into(config, ""));
  assign_weights(model, path, keras_weights(file, model, false), {});
  const Value compiled = options.compile ? canonical_compile(config.get("compile_config")) : Value();
  if (compiled.is_null()) return model;
  compile_from_config(model, compiled);
  restore_optimizer(model, path, keras_optimizer_state(file));
  return model;
}

}  // namespace

const Format keras_zip = {".keras", save_model, load_model, nullptr, load_weights};

}  // namespace ktape::nn::saving
