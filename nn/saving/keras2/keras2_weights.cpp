#include <ktape/nn/core/names.hpp>
#include <ktape/nn/saving/keras/keras_layers.hpp>
#include <ktape/nn/saving/keras2/keras2_weights.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace ktape::nn::saving {
namespace {

using hdf5::Entry;
using Names = std::vector<std::string>;

constexpr std::size_t header_limit = 64512;  ///< Keras's limit for an attribute; HDF5's is 64 kB
constexpr const char* own_group = "top_level_model_weights";

// --- Writing -----------------------------------------------------------------------------------------------

/// Sets an attribute to a list of names or, if the list is too long for one attribute, several attributes to
/// parts of the list, divided as by NumPy's array_split.
void set_names(Entry& entry, const std::string& attribute, const Names& names) {
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  std::size_t parts = 1;
  while ((names.size() + parts - 1) / parts * longest > header_limit && parts < names.size()) ++parts;
  if (parts == 1) return entry.set_attribute(attribute, names);
  auto begin = names.begin();
  for (std::size_t part = 0; part < parts; ++part) {
    const auto size = static_cast<std::ptrdiff_t>(names.size() / parts + (part < names.size() % parts));
    entry.set_attribute(attribute + std::to_string(part), Names(begin, begin + size));
    begin += size;
  }
}

/// Returns the weights in Keras 2's order, which lists frozen weights after all trainable weights.
std::vector<Variable> keras2_order(const Layer& layer) {
  std::vector<Variable> weights = layer.trainable_weights();
  for (const Variable& weight : layer.non_trainable_weights()) weights.push_back(weight);
  return weights;
}

void expect_built(const Model& model) {
  if (!model.built())
    fail("[", model.name(), "] the model must be built, by a call or by build(), before it is saved");
}

// --- Reading ----------------------------------------------------------------------------------------------

const Names* names_in(const Entry& entry, const std::string& attribute) {
  const hdf5::Attribute* found = entry.attribute(attribute);
  return found ? std::get_if<Names>(found) : nullptr;
}

Names names_of(const hdf5::File& file, const Entry& entry, const std::string& path,
               const std::string& attribute) {
  if (const Names* names = names_in(entry, attribute)) return *names;
  Names all;
  for (int part = 0; const Names* names = names_in(entry, attribute + std::to_string(part)); ++part)
    all.insert(all.end(), names->begin(), names->end());
  if (all.empty() && entry.attribute(attribute))
    file.fail("the file must be complete, as Keras writes it", path.empty() ? "/" : path, ": its attribute ",
              attribute, " is no list of names");
  return all;
}

const Entry& member(const hdf5::File& file, const Entry& entry, const std::string& path,
                    const std::string& name) {
  const Entry* found = entry.find(name);
  if (!found) file.fail("the file must be complete, as Keras writes it", path, '/', name, ": is missing");
  return *found;
}

bool fits(const std::vector<Variable>& weights, const NamedTensors& arrays) {
  return std::equal(
      weights.begin(), weights.end(), arrays.begin(), arrays.end(),
      [](const Variable& weight, const auto& array) { return weight.shape() == array.second.shape(); });
}

/// Returns the weights of a layer in the order of the file. Weights that were trainable when the file was
/// written may be frozen now, and the other way round.
std::vector<Variable> order_in_file(const Layer& layer, const NamedTensors& arrays) {
  const std::vector<Variable> now = keras2_order(layer), plain = layer.weights();
  std::vector<Variable> thawed = plain;
  std::stable_partition(thawed.begin(), thawed.end(),
                        [](const Variable& weight) { return weight.trainable(); });
  for (const std::vector<Variable>& order : {now, thawed, plain})
    if (fits(order, arrays)) return order;
  return now;
}

using Values = std::vector<std::pair<Variable, Tensor>>;

/// Converts weights that CuDNNLSTM and CuDNNGRU wrote to the layout of LSTM and GRU.
void convert_recurrent(const Layer& layer, Values& values) {
  for (const Layer& inner : layer.impl().sublayers()) convert_recurrent(inner, values);
  if (layer.class_name() != "LSTM" && layer.class_name() != "GRU") return;
  std::vector<Tensor*> places;
  std::vector<Tensor> given;
  for (const Variable& weight : layer.weights())
    for (auto& [other, value] : values)
      if (other.is(weight)) places.push_back(&value), given.push_back(value);
  const std::vector<Tensor> converted = without_cudnn(given);
  for (std::size_t i = 0; i < places.size() && converted.size() == places.size(); ++i)
    *places[i] = converted[i];
}

/// Returns the arrays of a layer in the file under the names, and in the order, of the model's layer.
LayerWeights translated(const Layer& layer, const NamedTensors& arrays) {
  const std::vector<Variable> order = order_in_file(layer, arrays);
  if (order.size() != arrays.size()) return {layer.name(), arrays};
  Values values;
  for (std::size_t i = 0; i < order.size(); ++i) values.emplace_back(order[i], arrays[i].second);
  convert_recurrent(layer, values);
  LayerWeights out{layer.name(), {}};
  for (const auto& [name, weight] : named_weights(layer))
    for (const auto& [other, value] : values)
      if (other.is(weight)) out.weights.emplace_back(name, value);
  return out;
}

// --- Names that Keras has changed --------------------------------------------------------------------------

/// Returns the Keras 3 name of a layer whose older name has parts: "conv1_bn" for "conv1/bn", and "conv_1_bn"
/// for "Conv_1/BatchNorm".
std::string without_parts(std::string name) {
  constexpr std::string_view normalization = "/BatchNorm";
  if (name.ends_with(normalization))
    name.replace(name.size() - normalization.size(), std::string::npos, "/bn");
  for (char& c : name) c = c == '/' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

/// Returns an automatic name: "conv2d" for number 0, "conv2d_5" for number 5.
std::string automatic_name(const std::string& base, std::size_t number) {
  return number == 0 ? base : base + '_' + std::to_string(number);
}

/// The layers of a model, by the names that a file has for them.
using LayersByName = std::map<std::string, Layer>;

/// Renames layers for files written before Keras 2.4, whose automatic names count from 1: conv2d_1 to
/// conv2d_94 of the file are conv2d to conv2d_93 of the model. Names do not change if the counts or the
/// shapes differ.
void rename_counted_from_one(LayersByName& layers, const std::vector<LayerWeights>& given) {
  std::map<std::string, const NamedTensors*> arrays;
  for (const LayerWeights& layer : given) arrays.emplace(layer.layer, &layer.weights);
  std::set<std::string> bases;
  for (const auto& [name, layer] : layers)
    if (name == to_snake_case(layer.class_name())) bases.insert(name);
  for (const std::string& base : bases) {
    if (arrays.contains(base)) continue;
    std::vector<Layer> run;
    for (auto at = layers.find(base); at != layers.end(); at = layers.find(automatic_name(base, run.size())))
      run.push_back(at->second);
    bool same = !arrays.contains(automatic_name(base, run.size() + 1));
    for (std::size_t i = 0; i < run.size() && same; ++i) {
      const auto found = arrays.find(automatic_name(base, i + 1));
      same = found != arrays.end() && fits(order_in_file(run[i], *found->second), *found->second);
    }
    if (!same) continue;
    layers.erase(base);
    for (std::size_t i = 0; i < run.size(); ++i) layers.insert_or_assign(automatic_name(base, i + 1), run[i]);
  }
}

LayersByName layers_by_name(const std::vector<Layer>& all, const std::vector<LayerWeights>& given) {
  LayersByName layers;
  for (const Layer& layer : all) layers.emplace(layer.name(), layer);
  rename_counted_from_one(layers, given);
  const bool in_parts = std::any_of(given.begin(), given.end(), [](const LayerWeights& layer) {
    return layer.layer.find('/') != std::string::npos;
  });
  for (std::size_t i = 0; in_parts && i < given.size(); ++i)
    if (const auto found = layers.find(without_parts(given[i].layer)); found != layers.end())
      layers.emplace(given[i].layer, found->second);
  return layers;
}

/// The layers of the file, each with its layer of the model, if there is one.
class Matching {
 public:
  Matching(const Model& model, const std::vector<LayerWeights>& given, bool by_name) : given_(given) {
    for (const Layer& layer : keras_layers(model))
      if (!layer.weights().empty()) layers_.push_back(layer);
    std::set<std::string> ours, theirs;
    for (const Layer& layer : layers_) ours.insert(layer.name());
    for (const LayerWeights& layer : given) theirs.insert(layer.layer);
    by_name_ = by_name || (ours == theirs && given.size() == layers_.size());
    if (by_name_) named_ = layers_by_name(layers_, given);
  }

  std::optional<Layer> layer(std::size_t i) const {
    if (!by_name_) return given_.size() == layers_.size() ? std::optional(layers_[i]) : std::nullopt;
    const auto found = named_.find(given_[i].layer);
    return found == named_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::vector<Layer> layers_;
  const std::vector<LayerWeights>& given_;
  bool by_name_;
  LayersByName named_;
};

void load_from(const Model& model, const hdf5::File& file, const std::string& path,
               const LoadWeightsOptions& options) {
  const Entry& root = file.at(path);
  std::vector<LayerWeights> given;
  for (const std::string& name : names_of(file, root, path, "layer_names")) {
    const std::string there = path + '/' + name;
    given.push_back({name, arrays_of(file, member(file, root, path, name), there)});
    if (given.back().weights.empty()) given.pop_back();
  }
  const Matching matching(model, given, options.by_name);
  std::vector<LayerWeights> ours;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::optional<Layer> layer = matching.layer(i);
    ours.push_back(layer ? translated(*layer, given[i].weights) : given[i]);
  }
  if (const Entry* own = root.find(own_group))
    ours.push_back({"", arrays_of(file, *own, path + '/' + own_group)});
  assign_weights(model, file.name, ours, options);
}

}  // namespace

void add_arrays(Entry& group, const std::vector<Variable>& variables) {
  Names names;
  std::set<std::string> taken;
  for (const Variable& variable : variables) {
    std::string name = variable.name() + ":0";
    for (int number = 1; !taken.insert(name).second; ++number)
      name = variable.name() + '_' + std::to_string(number) + ":0";
    names.push_back(name);
    const std::size_t slash = name.rfind('/');
    const std::string folder = slash == std::string::npos ? "" : name.substr(0, slash);
    group.group(folder).members.emplace_back(name.substr(slash + 1), Entry(variable.value().detach()));
  }
  set_names(group, "weight_names", names);
}

void add_keras_version(Entry& entry, int version) {
  entry.set_attribute("backend", "tensorflow");
  entry.set_attribute("keras_version", version == 2 ? "2.15.0" : keras3_version);
}

void add_keras2_weights(Entry& root, const Model& model) {
  expect_built(model);
  Names names;
  for (const Layer& layer : keras_layers(model)) names.push_back(layer.name());
  set_names(root, "layer_names", names);
  add_keras_version(root, 2);
  for (const Layer& layer : keras_layers(model)) add_arrays(root.group(layer.name()), keras2_order(layer));
  add_arrays(root.group(own_group), own_weights(model));
}

NamedTensors arrays_of(const hdf5::File& file, const Entry& group, const std::string& path) {
  NamedTensors arrays;
  for (const std::string& name : names_of(file, group, path, "weight_names"))
    arrays.emplace_back(name, file.tensor(member(file, group, path, name), path + '/' + name));
  return arrays;
}

bool is_keras2(const hdf5::File& file) {
  return file.root.attribute("layer_names") || file.root.attribute("layer_names0") ||
         file.root.find("model_weights");
}

void load_keras2_weights(const hdf5::File& file, const Model& model, const LoadWeightsOptions& options) {
  const bool whole = !file.root.attribute("layer_names") && file.root.find("model_weights");
  load_from(model, file, whole ? "model_weights" : "", options);
}

}  // namespace ktape::nn::saving
