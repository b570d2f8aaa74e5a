#include <ktape/nn/core/archive.hpp>
#include <ktape/nn/core/loading.hpp>
#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/crc32.hpp>
#include <ktape/nn/files/json_part.hpp>
#include <ktape/nn/saving/ktape/ktape_file.hpp>
#include <ktape/nn/saving/safetensors/safetensors_file.hpp>
#include <ktape/nn/serialization/model_config.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/random/random_scope.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <type_traits>

namespace ktape::nn::saving {
namespace {

constexpr const char* format_name = "ktape";
constexpr const char* format_version = "1";
constexpr const char* optimizer_part = "optimizer/";

/// Reads or writes the state that a model and its layers keep beside the weights. Layers are identified by
/// their position in the model, because counted names (dense_3) differ between programs. Files of the first
/// version have the paths of the layers instead.
void layers_state(const Model& model, Archive& state) {
  state.part("model", [&] { model.impl().state(state); });
  std::size_t number = 0;
  for (const auto& [path, layer] : named_layers(model)) {
    const std::string by_place = "layers/" + std::to_string(number++), by_path = "layers/" + path;
    const bool old = state.sets() && !state.has_part(by_place) && state.has_part(by_path);
    state.part(old ? by_path : by_place, [&, &layer = layer] { layer.impl().state(state); });
  }
}

void random_state(Archive& state) {
  backend::RandomState random = backend::random_state();
  state("random/seed", random.seed);
  state("random/drawn", random.drawn);
  if (state.sets()) backend::set_random_state(random);
}

// --- Writing ----------------------------------------------------------------------------------------------

/// Returns the index of a variable among the weights of a model.
std::size_t place_of(const Variable& variable, const NamedVariables& weights) {
  for (std::size_t place = 0; place < weights.size(); ++place)
    if (weights[place].second.is(variable)) return place;
  fail(
      "[save] the optimizer must have been applied to weights of the model, unless include_optimizer is "
      "false: received '",
      variable.name(), '\'');
}

/// Describes, by their indices, the weights for which an optimizer has state.
Config optimizer_config(const Model& model, const OptimizerImpl& optimizer) {
  const NamedVariables weights = flat_variables(model);
  Value::List variables, excluded;
  for (const Variable& variable : optimizer.built_for()) variables.push_back(place_of(variable, weights));
  for (std::size_t place = 0; place < weights.size(); ++place)
    if (optimizer.excluded(weights[place].second)) excluded.push_back(place);
  return {{"variables", variables}, {"excluded", excluded}, {"excluded_words", optimizer.excluded_names()}};
}

NamedTensors training_tensors(const Model& model, bool compiled) {
  Archive state;
  layers_state(model, state);
  random_state(state);
  NamedTensors tensors = state.entries();
  if (!compiled) return tensors;
  std::size_t number = 0;
  for (const Variable& variable : model.optimizer().variables())
    tensors.emplace_back(optimizer_part + std::to_string(number++), variable.value().detach());
  return tensors;
}

std::int64_t checksum(const Tensor& x) {
  return data::crc32(0, x.raw(), static_cast<std::size_t>(x.size()) * x.dtype().size());
}

Config checksums_of(const NamedTensors& tensors) {
  Config checksums;
  for (const auto& [name, tensor] : tensors) checksums.set(name, checksum(tensor));
  return checksums;
}

void save_model(const Model& model, const std::string& path, const SaveOptions& options) {
  Metadata metadata = {
      {"format", format_name}, {"version", format_version}, {"architecture", to_json(model_config(model))}};
  NamedTensors tensors = flat_weights(model);
  const Value compiled = compile_config(model);
  if (!compiled.is_null()) metadata.emplace_back("compile", to_json(compiled));
  if (options.include_optimizer) {
    Value::List names;
    for (const auto& [name, tensor] : training_tensors(model, !compiled.is_null())) {
      names.push_back(name);
      tensors.emplace_back(name, tensor);
    }
    Config training{{"tensors", names}};
    if (!compiled.is_null()) training.set("optimizer", optimizer_config(model, model.optimizer().impl()));
    metadata.emplace_back("training", to_json(training));
  }
  metadata.emplace_back("checksums", to_json(checksums_of(tensors)));
  write_safetensors("save", path, tensors, metadata);
}

// --- Reading ----------------------------------------------------------------------------------------------

class KtapeFile {
 public:
  KtapeFile(const char* op, const std::string& path) : op_(op), path_(path), file_(op, path) {
    if (text("format") != format_name) damaged("its metadata must have format=ktape");
    if (text("version") != format_version) damaged("its version must be ", format_version);
    in_part("training", [&] {
      training_ = part("training");
      if (training_.is_null()) return;
      for (const Value& name : training_.config().at("tensors").list())
        if (!of_training_.insert(name.string()).second)
          damaged("'", printable(name.string()), "' is named twice");
    });
    in_part("checksums", [&] {
      if (const Value checksums = part("checksums"); !checksums.is_null()) checksums_ = checksums.config();
    });
    std::set<std::string> missing = of_training_;
    for (const SafetensorsFile::Entry& entry : file_.entries()) missing.erase(entry.name);
    if (!missing.empty()) damaged("the tensor '", printable(*missing.begin()), "' is missing");
  }

  /// Returns the number of elements of the weights in the file. Reading refuses an architecture with larger
  /// weights.
  std::int64_t weight_elements() const {
    std::int64_t elements = 0;
    for (const SafetensorsFile::Entry& entry : file_.entries())
      if (!of_training_.contains(entry.name)) elements += entry.shape.count();
    return elements;
  }
  NamedTensors weights() const { return read(false); }

  Model architecture() const {
    return in_part("architecture", [&] {
      const Value config = part("architecture");
      if (config.is_null()) damaged("its metadata must have an architecture");
      return model_from_config(config);
    });
  }

  void compile(const Model& model) const {
    in_part("compile", [&] {
      const Value config = part("compile");
      if (!config.is_null()) compile_from_config(model, config);
    });
  }

  /// Compiles the model if the file has the arguments, restores the state of the training and, with
  /// `random_numbers`, the state of the random generator.
  void resume(const Model& model, bool random_numbers) const {
    if (training_.is_null()) return;
    in_part("training", [&] {
      NamedTensors others;
      std::map<std::string, Tensor> of_optimizer;
      for (auto& [name, tensor] : read(true))
        if (name.starts_with(optimizer_part)) of_optimizer.emplace(name, tensor);
        else others.emplace_back(name, tensor);
      const Value optimizer = training_.config().get("optimizer");
      if (!optimizer.is_null()) set_optimizer(model, optimizer.config(), of_optimizer);
      Archive state(std::move(others));
      layers_state(model, state);
      if (random_numbers) random_state(state);
    });
  }

 private:
  template <class... Parts>
  [[noreturn]] void damaged(const Parts&... reason) const {
    fail<IOError>("[", op_, "] the file must be one that save wrote: received ", path_, " (", reason..., ')');
  }

  /// Runs a function that reads a part of the file; its errors name the file, too.
  template <class F>
  std::invoke_result_t<F> in_part(const char* name, F f) const {
    try {
      return f();
    } catch (const ValueError& error) {
      fail(error.what(), " (in the ", name, " of ", path_, ')');
    } catch (const TypeError& error) {
      fail<TypeError>(error.what(), " (in the ", name, " of ", path_, ')');
    }
  }

  const std::string& text(const std::string& name) const {
    static const std::string none;
    for (const auto& [key, text] : file_.metadata())
      if (key == name) return text;
    return none;
  }

  /// Returns the value of a JSON text in the metadata; null for a missing text.
  Value part(const char* name) const {
    const std::string& json = text(name);
    return json.empty() ? Value() : json_part(op_, path_, name, json);
  }

  /// Returns the weights or, with `of_training`, the other tensors.
  NamedTensors read(bool of_training) const {
    NamedTensors tensors;
    for (const SafetensorsFile::Entry& entry : file_.entries())
      if (of_training_.contains(entry.name) == of_training)
        tensors.emplace_back(entry.name, checked(entry.name, file_.read(entry)));
    return tensors;
  }

  /// Returns the tensor after a comparison of its checksum, which files of the first version lack.
  Tensor checked(const std::string& name, const Tensor& tensor) const {
    const Value expected = checksums_.get(name);
    if (!expected.is_null() && expected != Value(checksum(tensor)))
      damaged("the bytes of the tensor '", printable(name), "' have changed");
    return tensor;
  }

  /// Returns the index of a weight; files of the first version have the name. Returns the number of weights
  /// for an unknown weight.
  static std::int64_t place_in(const NamedVariables& weights, const Value& weight) {
    if (!weight.is_string()) return weight.integer();
    const auto named = [&](const auto& other) { return other.first == weight.string(); };
    return std::find_if(weights.begin(), weights.end(), named) - weights.begin();
  }

  /// Returns the weights at these indices.
  std::vector<Variable> placed(const Value& places, const NamedVariables& weights) const {
    std::vector<Variable> found;
    std::set<std::int64_t> seen;
    for (const Value& value : places.list()) {
      const std::int64_t place = place_in(weights, value);
      if (place < 0 || place >= static_cast<std::int64_t>(weights.size()) || !seen.insert(place).second)
        damaged("the optimizer has state for ", printable(to_json(value)), ", which is no weight, or twice");
      found.push_back(weights[static_cast<std::size_t>(place)].second);
    }
    return found;
  }

  void set_optimizer(const Model& model, const Config& config,
                     const std::map<std::string, Tensor>& tensors) const {
    const NamedVariables weights = flat_variables(model);
    const Optimizer& optimizer = model.optimizer();
    optimizer.exclude_from_weight_decay(placed(config.at("excluded"), weights),
                                        config.at("excluded_words").as<std::vector<std::string>>());
    optimizer.build(placed(config.at("variables"), weights));
    const std::vector<Variable> variables = optimizer.variables();
    if (variables.size() != tensors.size())
      damaged("the optimizer has ", variables.size(), " variables: ", tensors.size(), " are there");
    VariableTransaction transaction;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const std::string name = optimizer_part + std::to_string(i);
      const auto value = tensors.find(name);
      if (value == tensors.end()) damaged("the tensor '", name, "' is missing");
      set(variables[i], name, value->second);
    }
    transaction.commit();
  }

  /// Assigns a value to a variable. The value is converted, because `floatx`, the dtype of the learning rate,
  /// may have changed.
  void set(Variable variable, const std::string& name, const Tensor& value) const {
    if (value.shape() != variable.shape() || value.dtype().is_floating() != variable.dtype().is_floating())
      damaged("'", name, "' must be ", variable.dtype(), " of the shape ", variable.shape(), ": it is ",
              value.dtype(), " of the shape ", value.shape());
    variable.assign(value.dtype() == variable.dtype() ? value : backend::cast(value, variable.dtype()));
  }

  const char* op_;
  const std::string& path_;
  const SafetensorsFile file_;
  Value training_;
  std::set<std::string> of_training_;
  Config checksums_;
};

Model load_model(const std::string& path, const LoadOptions& options) {
  const KtapeFile file("load_model", path);
  const weight_loading_scope loading(file.weight_elements());
  const Model model = file.architecture();
  assign_flat_weights(model, path, file.weights(), {});
  if (!options.compile) return model;
  file.compile(model);
  file.resume(model, options.random_state);
  return model;
}

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  assign_flat_weights(model, path, KtapeFile("load_weights", path).weights(), options);
}

}  // namespace

const Format ktape_file = {".ktape", save_model, load_model, nullptr, load_weights};

}  // namespace ktape::nn::saving
