#include <ktape/nn/layers/rnn/recurrent_loop.hpp>
#include <ktape/nn/saving/tfjs/tfjs_names.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace ktape::nn::saving {
namespace {

constexpr const char* op = "load_weights";

/// A weight with the two parts of its name: "rows/forward_lstm" and "kernel".
struct Named {
  std::string group, name;
  Variable weight;

  std::string path() const { return group.empty() ? name : group + '/' + name; }
};

/// The names of the weights of a model, in order.
class Names {
 public:
  explicit Names(const Model& model) {
    for (const Layer& layer : model.layers()) {
      const std::size_t begin = all_.size();
      add(layer, layer.name());
      for (std::size_t i = begin; i < all_.size(); ++i)
        numbered_.push_back(layer.name() + '/' + std::to_string(i - begin));
    }
    add_own(model, "");
    numbered_.resize(all_.size());
  }

  const std::vector<Named>& all() const { return all_; }
  /// Returns the Keras 3 name of each weight; empty for weights of the model itself.
  const std::vector<std::string>& numbered() const { return numbered_; }

 private:
  void add(const Layer& layer, const std::string& group) {
    const LayerImpl& impl = layer.impl();
    if (dynamic_cast<const ModelImpl*>(&impl)) return add_model(Model(layer));
    const std::string& kind = layer.class_name();
    const bool adds_nothing = dynamic_cast<const RecurrentImpl*>(&impl) || kind == "TimeDistributed";
    if (!adds_nothing && kind != "Bidirectional" && kind != "StackedRNNCells") {
      const bool depthwise = kind == "DepthwiseConv1D" || kind == "DepthwiseConv2D";
      for (const auto& [name, weight] : named_weights(layer))
        add(group, depthwise && name == "kernel" ? "depthwise_kernel" : name, weight);
      return;
    }
    int number = 0;
    for (const Layer& inner : impl.sublayers())
      add(inner, adds_nothing              ? group
                 : kind == "Bidirectional" ? group + '/' + inner.name()
                                           : group + "/RNNCell_" + std::to_string(number++));
    add_own(layer, group);
  }

  void add_model(const Model& model) {
    for (const Layer& layer : model.layers()) add(layer, layer.name());
    add_own(model, model.name());
  }

  /// Adds the weights that belong to a layer itself and not to its sublayers.
  void add_own(const Layer& layer, const std::string& group) {
    for (const auto& [name, weight] : named_weights(layer))
      if (name.find('/') == std::string::npos) add(group, name, weight);
  }

  void add(const std::string& group, const std::string& path, const Variable& weight) {
    if (std::any_of(all_.begin(), all_.end(), [&](const Named& n) { return n.weight.is(weight); })) return;
    const std::size_t slash = path.rfind('/');
    const bool is_path = slash != std::string::npos;
    Named named{is_path ? group + '/' + path.substr(0, slash) : group,
                is_path ? path.substr(slash + 1) : path, weight};
    const std::string name = named.name;
    for (int number = 1; !taken_.insert(named.path()).second; ++number)
      named.name = name + '_' + std::to_string(number);
    all_.push_back(named);
  }

  std::vector<Named> all_;
  std::vector<std::string> numbered_;
  std::set<std::string> taken_;
};

std::string group_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// Returns a path without the name of the cell: "lstm/kernel" for "lstm/lstm_cell/kernel".
std::string without_cell(const std::string& path) {
  const std::string group = group_of(group_of(path));
  return group.empty() ? path : group + '/' + last_part(path);
}

/// Lists of items by name, in the order in which the names were first added.
template <class T>
class Groups {
 public:
  T& operator[](const std::string& name) {
    const auto [place, is_new] = places_.emplace(name, all_.size());
    if (is_new) all_.push_back({name, {}});
    return all_[place->second].second;
  }
  const std::vector<std::pair<std::string, T>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::string, T>> all_;
  std::map<std::string, std::size_t> places_;
};

/// Finds the value of each weight.
class Matching {
 public:
  Matching(const Names& names, const std::string& path, const NamedTensors& given)
      : names_(names), path_(path), given_(given), values_(names.all().size()) {}

  /// Matches by name. Returns whether file and model have exactly the same names.
  bool by_name() {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < values_.size(); ++i) places.emplace(names_.all()[i].path(), i);
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!names_.numbered()[i].empty()) places.emplace(names_.numbered()[i], i);
    std::size_t found = 0;
    for (const auto& [name, value] : given_) {
      auto place = places.find(name);
      if (place == places.end()) place = places.find(without_cell(name));
      if (place == places.end() || values_[place->second].defined()) continue;
      values_[place->second] = value;
      ++found;
    }
    return found == values_.size() && found == given_.size();
  }

  /// Matches layers with weights in order: the first layer of the model gets the weights of the first layer
  /// of the file, and so on. The names of the weights in a layer must be equal.
  void in_order(bool skip_mismatch) {
    values_.assign(values_.size(), Tensor());
    Groups<std::vector<std::size_t>> layers;
    Groups<NamedTensors> groups;
    for (std::size_t i = 0; i < values_.size(); ++i) layers[names_.all()[i].group].push_back(i);
    for (const auto& [name, value] : given_) groups[group_of(name)].emplace_back(last_part(name), value);
    if (layers.all().size() != groups.all().size())
      fail("[", op, "] the file must have the weights of the model's layers, ", shown(layers.all()),
           ", unless by_name is set: received ", path_, ", of ", shown(groups.all()));
    for (std::size_t i = 0; i < layers.all().size(); ++i) {
      const auto& [layer, weights] = layers.all()[i];
      const auto& [group, given] = groups.all()[i];
      match_group(layer, weights, group, given, skip_mismatch);
    }
  }

  /// Returns the values for the layers of the model, which may lack layers.
  std::vector<LayerWeights> layers(const Model& model) const {
    std::vector<LayerWeights> layers;
    for (const auto& [layer, weights] : layer_variables(model)) {
      LayerWeights found{layer, {}};
      for (const auto& [name, weight] : weights)
        if (const Tensor value = value_of(weight); value.defined()) found.weights.emplace_back(name, value);
      layers.push_back(found);
    }
    return layers;
  }

 private:
  template <class Groups>
  static std::string shown(const Groups& groups) {
    constexpr std::size_t most = 20;
    std::string names;
    for (std::size_t i = 0; i < groups.size() && i < most; ++i)
      names += (i == 0 ? "'" : ", '") + groups[i].first + '\'';
    if (groups.size() > most) names += " and " + std::to_string(groups.size() - most) + " more";
    return names.empty() ? "none" : names;
  }

  void match_group(const std::string& layer, const std::vector<std::size_t>& weights,
                   const std::string& group, const NamedTensors& given, bool skip_mismatch) {
    const auto mismatch = [&](const auto&... what) {
      if (!skip_mismatch)
        fail("[", op, "] the layer '", layer, "' ", what..., " of '", group, "' in ", path_);
    };
    if (weights.size() != given.size())
      mismatch("takes ", weights.size(), " weights: received ", given.size());
    for (const std::size_t i : weights) {
      const std::string& name = names_.all()[i].name;
      const auto found =
          std::find_if(given.begin(), given.end(), [&](const auto& one) { return one.first == name; });
      if (found == given.end()) mismatch("must have the weight '", name, "': received the weights");
      else values_[i] = found->second;
    }
  }

  Tensor value_of(const Variable& weight) const {
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (names_.all()[i].weight.is(weight)) return values_[i];
    return {};
  }

  const Names& names_;
  const std::string& path_;
  const NamedTensors& given_;
  std::vector<Tensor> values_;
};

/// Converts the weights of CuDNNLSTM and CuDNNGRU to the layout of LSTM and GRU.
void convert_cudnn(const Model& model, std::vector<LayerWeights>& layers) {
  const std::vector<Layer> all = model.layers();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string kind = all[i].class_name();
    if (kind != "LSTM" && kind != "GRU" && kind != "Bidirectional") continue;
    std::vector<Tensor> values;
    for (const auto& [name, value] : layers[i].weights) values.push_back(value);
    values = without_cudnn(values);
    for (std::size_t j = 0; j < values.size(); ++j) layers[i].weights[j].second = values[j];
  }
}

}  // namespace

NamedTensors tfjs_weights(const Model& model) {
  layer_variables(model);  // throws for a model that is not built
  NamedTensors weights;
  const Names names(model);
  for (const Named& named : names.all()) weights.emplace_back(named.path(), named.weight.value().detach());
  return weights;
}

void assign_tfjs_weights(const Model& model, const std::string& path, const NamedTensors& given,
                         const LoadWeightsOptions& options) {
  layer_variables(model);
  const Names names(model);
  Matching matching(names, path, given);
  if (!matching.by_name() && !options.by_name) matching.in_order(options.skip_mismatch);
  std::vector<LayerWeights> layers = matching.layers(model);
  convert_cudnn(model, layers);
  // The names were matched above, so no layer is missing.
  assign_weights(model, path, layers, {.by_name = true, .skip_mismatch = options.skip_mismatch});
}

}  // namespace ktape::nn::saving
