#include <ktape/autograd/base/log.hpp>
#include <ktape/autograd/reading.hpp>
#include <ktape/nn/core/names.hpp>
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/saving/base/weight_names.hpp>
#include <ktape/nn/saving/base/weights.hpp>
#include <ktape/ops/inspection.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace ktape::nn::saving {
namespace {

constexpr const char* op = "load_weights";

/// Returns the name, or, if the name is taken, the name with the first free number.
std::string unused(const std::string& name, std::set<std::string>& taken) {
  std::string other = name;
  for (int number = 1; !taken.insert(other).second; ++number) other = name + '_' + std::to_string(number);
  return other;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool has(const NamedVariables& list, const Variable& variable) {
  return std::any_of(list.begin(), list.end(), [&](const auto& entry) { return entry.second.is(variable); });
}

/// Returns the weights that belong to a layer itself and not to its sublayers, under names that are not in
/// `names`, and adds the names.
NamedVariables own_weights(const Layer& layer, std::set<std::string>& names) {
  NamedVariables inner, own;
  for (const Layer& sublayer : layer.impl().sublayers())
    for (const Variable& weight : sublayer.weights()) inner.emplace_back("", weight);
  for (const Variable& weight : layer.weights())
    if (!has(inner, weight)) own.emplace_back(unused(last_part(weight.name()), names), weight);
  return own;
}

/// Returns the name of a sublayer in its outer layer. If the outer layer is not a model, the number at the
/// end of an automatic name is removed, because it counts all objects of the class: "lstm_cell_5" becomes
/// "lstm_cell".
std::string name_in(const Layer& outer, const Layer& layer) {
  const std::string automatic = to_snake_case(layer.class_name());
  const std::string& name = layer.name();
  const bool is_model = dynamic_cast<const ModelImpl*>(&outer.impl()) != nullptr;
  const bool counted = name.starts_with(automatic + '_') &&
                       name.find_first_not_of("0123456789", automatic.size() + 1) == std::string::npos;
  return counted && !is_model ? automatic : name;
}

void collect(const Layer& layer, const std::string& prefix, NamedVariables& found) {
  std::set<std::string> names;
  for (const auto& [name, weight] : own_weights(layer, names))
    if (!has(found, weight)) found.emplace_back(prefix + name, weight);
  for (const Layer& sublayer : layer.impl().sublayers())
    collect(sublayer, prefix + unused(name_in(layer, sublayer), names) + '/', found);
}

void collect(const Layer& layer, const std::string& prefix,
             std::vector<std::pair<std::string, Layer>>& found) {
  std::set<std::string> names;
  for (const Layer& sublayer : layer.impl().sublayers()) {
    const std::string path = prefix + unused(name_in(layer, sublayer), names);
    found.emplace_back(path, sublayer);
    collect(sublayer, path + '/', found);
  }
}

}  // namespace

std::vector<LayerVariables> layer_variables(const Model& model) {
  if (!model.built())
    fail("[", model.name(),
         "] the model must be built, by a call or by build(), before its weights are saved or loaded");
  std::vector<LayerVariables> layers;
  std::set<std::string> names;
  for (const Layer& layer : model.layers())
    layers.push_back({unused(layer.name(), names), named_weights(layer)});
  const NamedVariables own = own_weights(model, names);
  if (!own.empty()) layers.push_back({"", own});
  return layers;
}

namespace {

std::string shown(const LayerVariables& target) {
  return target.layer.empty() ? "the model itself" : "the layer '" + target.layer + '\'';
}

/// Returns the name of the layer that holds a weight, for messages; a layer of an inner model is named by its
/// path.
std::string shown_owner(const LayerVariables& target, const std::string& weight) {
  const std::size_t end = weight.rfind('/');
  if (end == std::string::npos) return shown(target);
  const std::string prefix = target.layer.empty() ? "" : target.layer + '/';
  return "the layer '" + prefix + weight.substr(0, end) + '\'';
}

template <class Layers>
std::string shown_names(const Layers& layers) {
  constexpr std::size_t most = 20;
  std::string names;
  for (std::size_t i = 0; i < layers.size() && i < most; ++i)
    names += (i == 0 ? "'" : ", '") + layers[i].layer + '\'';
  if (layers.size() > most) names += " and " + std::to_string(layers.size() - most) + " more";
  return names.empty() ? "no layers" : names;
}

template <class Layers>
std::set<std::string> names_of(const Layers& layers) {
  std::set<std::string> names;
  for (const auto& layer : layers) names.insert(layer.layer);
  return names;
}

/// The assignment of a file's weights to a model's weights; messages name the file.
class Assignment {
 public:
  Assignment(const Model& model, const std::string& path, const LoadWeightsOptions& options)
      : path_(path), options_(options), targets_(layer_variables(model)) {
    std::erase_if(targets_, [](const LayerVariables& target) { return target.weights.empty(); });
  }

  const std::vector<LayerVariables>& targets() const { return targets_; }

  /// Finds the value of each weight. With `named`, the last parts of the names must be equal.
  void match(std::vector<LayerWeights> given, bool named) {
    std::erase_if(given, [](const LayerWeights& layer) { return layer.weights.empty(); });
    const bool same_names = names_of(targets_) == names_of(given) && targets_.size() == given.size();
    if (!options_.by_name && !same_names) return match_in_order(given, named);
    std::map<std::string, const LayerWeights*> by_name;
    for (const LayerWeights& layer : given) by_name.emplace(layer.layer, &layer);
    for (const LayerVariables& target : targets_)
      if (const auto found = by_name.find(target.layer); found != by_name.end())
        match_layer(target, *found->second, named);
    if (values_.empty() && !targets_.empty())
      warn("no weights were loaded: received " + path_ + ", of " + shown_names(given) + ", for " +
           shown_names(targets_));
  }

  /// Assigns all values, or none if an assignment fails.
  void commit() const {
    std::vector<std::pair<Variable, Tensor>> cast;
    for (const auto& [weight, value] : values_)
      cast.emplace_back(weight,
                        value.dtype() == weight.dtype() ? value : backend::cast(value, weight.dtype()));
    assign_all(cast);
  }

 private:
  static void warn(const std::string& text) {
    if (log::enabled(log::Level::Warn)) log::write(log::Level::Warn, std::string("[") + op + "] " + text);
  }

  void match_in_order(const std::vector<LayerWeights>& given, bool named) {
    if (given.size() != targets_.size())
      fail("[", op, "] the file must have the weights of the model's layers, ", shown_names(targets_),
           ", unless by_name is set: received ", path_, ", of ", shown_names(given));
    for (std::size_t i = 0; i < given.size(); ++i) match_layer(targets_[i], given[i], named);
  }

  void match_layer(const LayerVariables& target, const LayerWeights& given, bool named) {
    try {
      std::vector<std::pair<Variable, Tensor>> found = matched(target, given, named);
      values_.insert(values_.end(), found.begin(), found.end());
    } catch (const ValueError& error) {
      if (!options_.skip_mismatch) throw;
      warn(shown(target) + " was skipped: " + error.what());
    }
  }

  std::vector<std::pair<Variable, Tensor>> matched(const LayerVariables& target, const LayerWeights& given,
                                                   bool named) const {
    if (given.weights.size() != target.weights.size())
      fail("[", op, "] ", shown(target), " takes ", target.weights.size(), " weights: received ",
           given.weights.size(), " of '", given.layer, "' in ", path_);
    std::map<std::string, const Tensor*> by_name;
    for (const auto& [name, value] : given.weights) by_name.emplace(name, &value);
    const bool same_names = given.layer == target.layer &&
                            std::all_of(target.weights.begin(), target.weights.end(),
                                        [&](const auto& weight) { return by_name.contains(weight.first); });
    std::vector<std::pair<Variable, Tensor>> found;
    for (std::size_t i = 0; i < target.weights.size(); ++i) {
      const auto& [name, weight] = target.weights[i];
      const auto& [other, in_order] = given.weights[i];
      const Tensor& value = same_names ? *by_name.at(name) : in_order;
      if (named && !same_names && last_part(other) != last_part(name))
        fail("[", op, "] the weight '", last_part(name), "' of ", shown_owner(target, name),
             " must be in the file: received '", other, "' of '", given.layer, "' in its place in ", path_);
      if (value.shape() != weight.shape())
        fail("[", op, "] the weight '", last_part(name), "' of ", shown_owner(target, name),
             " must have the shape ", weight.shape(), ": received shape=", value.shape(), " in ", path_);
      found.emplace_back(weight, value);
    }
    return found;
  }

  const std::string& path_;
  const LoadWeightsOptions& options_;
  std::vector<LayerVariables> targets_;
  std::vector<std::pair<Variable, Tensor>> values_;
};

std::string flat_name(const std::string& layer, const std::string& weight) {
  return layer.empty() ? weight : layer + '/' + weight;
}

/// Returns the layer of a flat name: the name of a layer of the model, which may have several parts, or the
/// first part.
std::string layer_of(const std::string& name, const std::set<std::string>& layers) {
  for (std::size_t end = name.rfind('/'); end != std::string::npos && end > 0; end = name.rfind('/', end - 1))
    if (layers.contains(name.substr(0, end))) return name.substr(0, end);
  const std::size_t end = name.find('/');
  return end == std::string::npos ? "" : name.substr(0, end);
}

}  // namespace

std::uint64_t expected_bytes(const Model& model) {
  std::uint64_t bytes = 0;
  for (const Variable& weight : model.weights()) bytes += data::tensor_bytes(weight.shape(), weight.dtype());
  return 4 * bytes;
}

NamedVariables named_weights(const Layer& layer) {
  NamedVariables found;
  collect(layer, "", found);
  return found;
}

std::vector<std::pair<std::string, Layer>> named_layers(const Layer& layer) {
  std::vector<std::pair<std::string, Layer>> found;
  collect(layer, "", found);
  return found;
}

std::vector<LayerWeights> collect_weights(const Model& model) {
  std::vector<LayerWeights> all;
  for (const LayerVariables& layer : layer_variables(model)) {
    all.push_back({layer.layer, {}});
    for (const auto& [name, weight] : layer.weights)
      all.back().weights.emplace_back(name, weight.value().detach());
  }
  return all;
}

void assign_weights(const Model& model, const std::string& path, const std::vector<LayerWeights>& given,
                    const LoadWeightsOptions& options) {
  if (!options.names.empty())
    fail("[", op,
         "] names are for files that are one list of tensors, such as .safetensors and .npz: received ",
         path);
  Assignment assignment(model, path, options);
  assignment.match(given, false);
  assignment.commit();
}

NamedVariables flat_variables(const Model& model) {
  NamedVariables flat;
  std::set<std::string> taken;
  for (const LayerVariables& target : layer_variables(model))
    for (const auto& [name, weight] : target.weights)
      flat.emplace_back(unused(flat_name(target.layer, name), taken), weight);
  return flat;
}

NamedTensors flat_weights(const Model& model) {
  NamedTensors flat;
  for (const auto& [name, weight] : flat_variables(model)) flat.emplace_back(name, weight.value().detach());
  return flat;
}

namespace {

std::vector<LayerWeights> grouped_by_layer(const NamedTensors& given, const std::set<std::string>& layers) {
  std::vector<LayerWeights> grouped;
  std::map<std::string, std::size_t> places;
  for (const auto& [name, value] : given) {
    const std::string layer = layer_of(name, layers);
    const auto [place, is_new] = places.emplace(layer, grouped.size());
    if (is_new) grouped.push_back({layer, {}});
    grouped[place->second].weights.emplace_back(layer.empty() ? name : name.substr(layer.size() + 1), value);
  }
  return grouped;
}

/// Throws unless the renamed tensors are weights of the model and, with `all`, each weight has a tensor.
void expect_weights(const NamedVariables& weights, const NamedTensors& given, const std::string& path,
                    bool all) {
  std::set<std::string> wanted, there;
  for (const auto& [name, weight] : weights) wanted.insert(name);
  for (const auto& [name, tensor] : given) {
    if (!wanted.contains(name))
      fail("[", op, "] names must map tensors to weights of the model: received '", name,
           "' for a tensor of ", path);
    there.insert(name);
  }
  for (const auto& [name, weight] : weights)
    if (all && !there.contains(name))
      fail("[", op, "] names must map a tensor to each weight of the model, unless by_name is set: received ",
           path, ", without a tensor for '", name, '\'');
}

}  // namespace

void assign_flat_weights(const Model& model, const std::string& path, const NamedTensors& given,
                         const LoadWeightsOptions& options) {
  LoadWeightsOptions matching = options;
  matching.by_name |= !options.names.empty();
  Assignment assignment(model, path, matching);
  const std::set<std::string> layers = names_of(assignment.targets());
  if (options.names.empty()) {
    assignment.match(grouped_by_layer(given, layers), true);
  } else {
    const NamedTensors tensors = renamed(path, given, options.names);
    expect_weights(flat_variables(model), tensors, path, !options.by_name);
    assignment.match(grouped_by_layer(tensors, layers), true);
  }
  assignment.commit();
}

}  // namespace ktape::nn::saving
