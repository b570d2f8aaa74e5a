#include "data/files.hpp"

#include <ktape/ops/help/declared_text.hpp>
#include <ktape/ops/help/header_index.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

// The order of options: the fields of each struct, as the headers have them, follow the arguments of the function or
// class of Keras (docs/keras/signatures.txt), because designators must follow the fields.
namespace {

using namespace ktape::help_text;
using Names = std::vector<std::string>;

struct Signature {
  Names all, required;
};

/// The arguments of Keras's names.
std::map<std::string, Signature> read_signatures() {
  std::map<std::string, Signature> signatures;
  std::ifstream file("docs/keras/signatures.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t open = line.find('(');
    Signature& signature = signatures[line.substr(0, open)];
    std::string quoted;  // without the texts in quotes, which may contain commas
    for (char quote = 0; const char c : line.substr(open + 1, line.size() - open - 2)) {
      if (quote == 0) quoted += c;
      if (quote == c) quote = 0;
      else if (quote == 0 && (c == '\'' || c == '"')) quote = c;
    }
    for (const std::string& part : split_outside(quoted, ',')) {
      const std::string argument = trimmed(part), name = argument.substr(0, argument.find('='));
      if (name.empty() || name.starts_with('*')) continue;
      signature.all.push_back(name);
      if (name == argument) signature.required.push_back(name);
    }
  }
  return signatures;
}

/// The namespaces of Keras's modules.
const std::vector<std::pair<std::string, Names>> modules = {
    {"activations", {"nn::activations"}},
    {"applications", {"nn::applications"}},
    {"backend", {"backend"}},
    {"callbacks", {"nn"}},
    {"constraints", {"nn::constraints", "nn"}},
    {"initializers", {"nn::initializers", "nn"}},
    {"layers", {"nn"}},
    {"losses", {"nn", "nn::losses"}},
    {"metrics", {"nn::metrics", "nn"}},
    {"models", {"nn"}},
    {"ops", {"ops"}},
    {"ops.image", {"ops"}},
    {"optimizers", {"nn"}},
    {"optimizers.schedules", {"nn"}},
    {"random", {"random"}},
    {"regularizers", {"nn::regularizers", "nn"}},
    {"utils", {"data", "nn"}},
};

/// Methods, and structs that several functions take.
const std::vector<std::pair<std::string, std::string>> structs = {
    {"layers.Layer", "nn::LayerOptions"},
    {"layers.Layer.add_weight", "nn::WeightOptions"},
    {"models.Model", "nn::FunctionalOptions"},
    {"models.Model.compile", "nn::CompileOptions"},
    {"models.Model.fit", "nn::FitOptions"},
    {"models.Model.evaluate", "nn::EvaluateOptions"},
    {"models.Model.predict", "nn::PredictOptions"},
    {"models.Model.train_on_batch", "nn::OnBatchOptions"},
    {"models.Model.summary", "nn::SummaryOptions"},
    {"models.Model.save", "nn::SaveOptions"},
    {"models.Model.load_weights", "nn::LoadWeightsOptions"},
    {"models.Model.export", "nn::ExportOptions"},
};

/// The arguments that Keras's layers take as **kwargs and pass to Layer, in the order of LayerOptions.
const Names of_layers = {
    "activity_regularizer", "input_shape", "batch_input_shape", "trainable", "dtype", "name"};

// Keras's Conv3DTranspose has data_format before output_padding, unlike Conv1DTranspose and Conv2DTranspose. LambdaCallback
// passes the other functions on.
const std::set<std::string> unlike_keras = {"layers.Conv3DTranspose"};

/// The headers under the folder `ktape`, as an installation has them.
const HeaderIndex& headers() {
  static const Files files;
  static const HeaderIndex index = [] {
    std::filesystem::create_directory_symlink(std::filesystem::current_path(), files.folder() + "/ktape");
    return HeaderIndex(files.folder());
  }();
  return index;
}

Names field_names(const std::string& name) {
  Names fields;
  for (const Place& place : headers().places(name))
    for (const auto& [field, line] : fields_of(lines_around(place), place.line - 1, place.last_line - 1))
      fields.push_back(field);
  return fields;
}

/// The names of `order` that `names` has, in the order of `order`.
Names sorted_as(const Names& order, const Names& names) {
  Names found;
  for (const std::string& name : order)
    if (std::count(names.begin(), names.end(), name)) found.push_back(name);
  return found;
}

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += name + ' ';
  return text;
}

/// Returns what is wrong with fields; empty for fields in the order of the arguments.
std::string wrong_order(const std::string& keras, const Signature& signature, const Names& fields) {
  Names order = signature.all;
  if (keras.starts_with("layers.") && keras != "layers.Layer.add_weight" && keras != "layers.Input") {
    std::erase_if(order, [](const std::string& name) {
      return name == "trainable" || name == "dtype" || name == "name";
    });
    for (const std::string& name : of_layers)
      if (!std::count(order.begin(), order.end(), name)) order.push_back(name);
  }
  const Names wanted = sorted_as(order, fields), had = sorted_as(fields, order);
  return wanted == had ? "" : keras + " has " + joined(wanted) + "and the header " + joined(had);
}

std::string split_name(const std::string& keras, std::string& module) {
  const std::size_t dot = keras.rfind('.');
  module = keras.substr(0, dot);
  return keras.substr(dot + 1);
}

/// The option structs of a name of Keras.
std::vector<OptionStruct> options_of(const std::string& keras) {
  std::string module;
  const std::string name = split_name(keras, module);
  for (const auto& [of, spaces] : modules)
    if (of == module)
      for (const std::string& space : spaces)
        if (const std::vector<OptionStruct> found = headers().options_of(space + "::" + name); !found.empty())
          return found;
  return {};
}

Names names_of(const OptionStruct& options) {
  Names fields;
  for (const auto& [field, place] : options.fields) fields.push_back(field);
  return fields;
}

}  // namespace

TEST_CASE("options are in the order of Keras's arguments") {
  const auto signatures = read_signatures();
  std::size_t compared = 0;
  for (const auto& [keras, signature] : signatures) {
    if (unlike_keras.contains(keras)) continue;
    for (const OptionStruct& options : options_of(keras)) {
      CHECK(wrong_order(keras, signature, names_of(options)) == "");
      ++compared;
    }
  }
  CHECK(compared > 270);
  for (const auto& [keras, name] : structs) {
    CAPTURE(keras);
    REQUIRE(signatures.contains(keras));
    CHECK(!field_names(name).empty());
    CHECK(wrong_order(keras, signatures.at(keras), field_names(name)) == "");
  }
}

TEST_CASE("arguments that Keras requires of layers, callbacks and optimizers are options, too") {
  const auto signatures = read_signatures();
  std::size_t compared = 0;
  for (const auto& [keras, signature] : signatures) {
    std::string module;
    const std::string name = split_name(keras, module);
    if (module != "layers" && module != "callbacks" && module != "optimizers") continue;
    if (!std::isupper(static_cast<unsigned char>(name[0]))) continue;
    for (const OptionStruct& options : options_of(keras)) {
      CAPTURE(keras);
      CHECK(joined(sorted_as(signature.required, names_of(options))) == joined(signature.required));
      ++compared;
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("a wrong order is found") {
  const Signature signature{{"a", "b", "c"}, {"a"}};
  CHECK(wrong_order("ops.f", signature, {"a", "mine", "b", "c"}) == "");
  CHECK(wrong_order("ops.f", signature, {"c", "a"}) == "ops.f has a c and the header c a ");
  CHECK(wrong_order("layers.F", signature, {"b", "dtype", "name"}) == "");
  CHECK(wrong_order("layers.F", signature, {"b", "name", "dtype"}) != "");
}
