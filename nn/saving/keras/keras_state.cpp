#include <ktape/nn/core/names.hpp>
#include <ktape/nn/saving/keras/keras_layers.hpp>
#include <ktape/nn/saving/keras/keras_optimizer.hpp>
#include <ktape/nn/saving/keras/keras_state.hpp>
#include <ktape/nn/training/trainer.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace ktape::nn::saving {
namespace {

using hdf5::Entry;

/// Returns the names that versions of Keras give a class in lists; they divide class names into words
/// differently. Files are written with the first name.
std::vector<std::string> names_of_class(const Layer& layer) {
  const std::string name = layer.class_name();
  if (name == "GroupQueryAttention") return {"grouped_query_attention"};
  const std::string snake = to_snake_case(name);
  if (snake.starts_with("conv_lstm")) return {snake, "conv_lst_m" + snake.substr(9)};
  return {snake};
}

/// The sublayers of a layer, and their names in Keras's files.
struct Parts {
  std::vector<Layer> layers;
  std::string list;  ///< the attribute that holds a list of all sublayers; if empty:
  std::vector<std::vector<std::string>>
      names;  ///< the names of each attribute; files are written with the first name
};

Parts parts_of(const Layer& layer) {
  if (const auto model = as_model(layer)) return {keras_layers(*model), "layers", {}};
  const std::string name = layer.class_name();
  Parts parts{layer.impl().sublayers(), "", {}};
  if (name == "StackedRNNCells") {
    parts.list = "cells";
  } else if (name == "Bidirectional") {
    parts.names = {{"forward_layer"}, {"backward_layer"}};
  } else if (name == "TimeDistributed") {
    parts.names = {{"layer"}};
  } else if (name == "MultiHeadAttention" || name == "GroupQueryAttention") {
    for (const Layer& part : parts.layers) {
      const std::string role = part.name() == "attention_output" ? "output" : part.name();
      parts.names.push_back({'_' + role + "_dense", role + "_dense"});  // no underscore since Keras 3.5
    }
  } else if (name == "RNN" || name == "SimpleRNN" || name == "LSTM" || name == "GRU" ||
             name.starts_with("ConvLSTM")) {
    parts.names = {{"cell"}};
  }
  if (parts.list.empty() && parts.names.size() != parts.layers.size()) parts = {parts.layers, "layers", {}};
  return parts;
}

/// Returns the names of layers in a list: the names of their classes, with counts.
std::vector<std::string> counted_names(const std::vector<Layer>& layers) {
  std::map<std::string, int> count;
  std::vector<std::string> names;
  for (const Layer& layer : layers) {
    const std::string name = names_of_class(layer)[0];
    const int number = count[name]++;
    names.push_back(number == 0 ? name : name + '_' + std::to_string(number));
  }
  return names;
}

using Visited = std::set<const LayerImpl*>;

// --- Writing ---------------------------------------------------------------------------------------------

void add_variables(Entry& vars, const std::vector<Variable>& variables) {
  for (std::size_t i = 0; i < variables.size(); ++i)
    vars.members.emplace_back(std::to_string(i), Entry(variables[i].value().detach()));
}

void save(const Layer& layer, Entry& group, Visited& visited) {
  visited.insert(layer.shared().get());
  Entry& vars = group.group("vars");
  vars.set_attribute("name", layer.name());
  add_variables(vars, own_weights(layer));
  const Parts parts = parts_of(layer);
  const std::vector<std::string> counted = counted_names(parts.layers);
  for (std::size_t i = 0; i < parts.layers.size(); ++i)
    if (!visited.contains(parts.layers[i].shared().get()))
      save(parts.layers[i],
           group.group(parts.list.empty() ? parts.names[i][0] : parts.list + '/' + counted[i]), visited);
}

// --- Reading -----------------------------------------------------------------------------------------------

bool has_arrays(const Entry& entry) {
  return !entry.is_group() || std::any_of(entry.members.begin(), entry.members.end(),
                                          [](const auto& member) { return has_arrays(member.second); });
}

/// Returns the number at the end of a name that begins with the name of a class: 0 for "dense", 2 for
/// "dense_2"; none for other names.
std::optional<std::uint64_t> count_in(const std::string& name, const std::string& class_name) {
  if (name == class_name) return 0;
  if (!name.starts_with(class_name + '_')) return {};
  const std::string digits = name.substr(class_name.size() + 1);
  if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
    return {};
  return std::stoull(digits);
}

class StateReader {
 public:
  StateReader(const hdf5::File& file, const Model& model, bool by_name)
      : file_(file), model_(model), by_name_(by_name) {}

  std::vector<LayerWeights> read() {
    const std::vector<Layer> layers = model_.layers();
    take_weights(model_, &file_.root, "");
    const NamedTensors own = std::exchange(others_, {});
    const Parts parts = parts_of(model_);
    const std::vector<const Entry*> groups = by_name_ ? named(parts.layers) : listed(parts, file_.root);
    std::map<const LayerImpl*, NamedTensors> more;
    for (std::size_t i = 0; i < parts.layers.size(); ++i) {
      take(parts.layers[i], groups[i], '/' + parts.layers[i].name());
      more[parts.layers[i].shared().get()] = std::exchange(others_, {});
    }
    std::vector<LayerWeights> all;
    for (const Layer& layer : layers) {
      all.push_back({layer.name(), found(named_weights(layer))});
      NamedTensors& others = more[layer.shared().get()];
      all.back().weights.insert(all.back().weights.end(), others.begin(), others.end());
    }
    all.push_back({"", own});
    for (const Variable& weight : own_weights(model_)) {
      const NamedTensors value = found({{weight.name(), weight}});
      all.back().weights.insert(all.back().weights.end() - static_cast<std::ptrdiff_t>(own.size()),
                                value.begin(), value.end());
    }
    return all;
  }

 private:
  void take(const Layer& layer, const Entry* group, const std::string& path) {
    if (!group || !visited_.insert(layer.shared().get()).second) return;
    take_weights(layer, group, path);
    const Parts parts = parts_of(layer);
    const std::vector<const Entry*> groups =
        parts.list.empty() ? attributes(parts, *group) : listed(parts, *group);
    for (std::size_t i = 0; i < parts.layers.size(); ++i)
      take(parts.layers[i], groups[i], path + '/' + parts.layers[i].name());
  }

  void take_weights(const Layer& layer, const Entry* group, const std::string& path) {
    const std::vector<Variable> own = own_weights(layer);
    const Entry* vars = group->find("vars");
    if (own.empty() || !vars) return;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::string name = std::to_string(i);
      if (const Entry* value = vars->find(name))
        found_.emplace_back(own[i], file_.tensor(*value, path + "/vars/" + name));
    }
    for (const auto& [name, value] : vars->members)
      if (const auto number = count_in("vars_" + name, "vars"); number && *number >= own.size())
        others_.emplace_back("vars/" + name, file_.tensor(value, path + "/vars/" + name));
  }

  NamedTensors found(const NamedVariables& weights) const {
    NamedTensors values;
    for (const auto& [name, weight] : weights)
      for (const auto& [other, value] : found_)
        if (other.is(weight)) values.emplace_back(name, value);
    return values;
  }

  static std::vector<const Entry*> attributes(const Parts& parts, const Entry& group) {
    std::vector<const Entry*> groups;
    for (const std::vector<std::string>& names : parts.names) {
      groups.push_back(nullptr);
      for (const std::string& name : names)
        if (const Entry* part = group.find(name); part && (!groups.back() || !has_arrays(*groups.back())))
          groups.back() = part;
    }
    return groups;
  }

  /// Returns the groups of a list of layers. The layers with weights of a class get the groups with weights
  /// of this class in order, because Keras 2.13 counts layers with weights twice. If their numbers differ,
  /// the counts in the names are used.
  std::vector<const Entry*> listed(const Parts& parts, const Entry& group) const {
    std::vector<const Entry*> groups(parts.layers.size(), nullptr);
    const Entry* list = group.find(parts.list);
    const Entry* older = group.find("_layer_checkpoint_dependencies");
    if (older && (!list || !has_arrays(*list))) list = older;
    if (list) find_listed(parts.layers, *list, groups);
    // A class of the user may hold its layers in attributes with the names of the layers.
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (!groups[i] || !has_arrays(*groups[i])) groups[i] = group.find(parts.layers[i].name());
    return groups;
  }

  void find_listed(const std::vector<Layer>& layers, const Entry& list,
                   std::vector<const Entry*>& groups) const {
    const std::vector<std::string> counted = counted_names(layers);
    for (std::size_t i = 0; i < layers.size(); ++i) groups[i] = list.find(counted[i]);
    std::map<std::string, std::vector<std::size_t>> classes;
    std::set<const LayerImpl*> met = visited_;
    for (std::size_t i = 0; i < layers.size(); ++i)
      if (!layers[i].weights().empty() && met.insert(layers[i].shared().get()).second)
        classes[names_of_class(layers[i])[0]].push_back(i);
    for (const auto& [name, places] : classes) {
      const std::vector<const Entry*> there = of_class(list, names_of_class(layers[places[0]]));
      for (std::size_t i = 0; i < places.size() && there.size() == places.size(); ++i)
        groups[places[i]] = there[i];
    }
  }

  static std::vector<const Entry*> of_class(const Entry& list, const std::vector<std::string>& names) {
    std::map<std::uint64_t, const Entry*> numbered;
    for (const auto& [name, entry] : list.members)
      for (const std::string& class_name : names)
        if (const auto number = count_in(name, class_name); number && has_arrays(entry))
          numbered[*number] = &entry;
    std::vector<const Entry*> groups;
    for (const auto& [number, entry] : numbered) groups.push_back(entry);
    return groups;
  }

  std::vector<const Entry*> named(const std::vector<Layer>& layers) const {
    std::map<std::string, const Entry*> names;
    if (const Entry* list = file_.root.find("layers"))
      for (const auto& [key, entry] : list->members)
        if (const Entry* vars = entry.find("vars"))
          if (const auto* name = vars->attribute("name"))
            if (const auto* text = std::get_if<std::string>(name)) names.emplace(*text, &entry);
    if (names.empty())
      fail("[", file_.op,
           "] by_name needs a file with the names of layers, which Keras writes since 3.6: received ",
           file_.name);
    std::vector<const Entry*> groups;
    for (const Layer& layer : layers) {
      const auto found = names.find(layer.name());
      groups.push_back(found == names.end() ? nullptr : found->second);
    }
    return groups;
  }

  const hdf5::File& file_;
  const Model& model_;
  const bool by_name_;
  std::vector<std::pair<Variable, Tensor>> found_;
  NamedTensors others_;  ///< the tensors of the last group that are not weights of the layer
  Visited visited_;
};

}  // namespace

Entry keras_state(const Model& model, bool include_optimizer) {
  if (!model.built())
    fail("[", model.name(), "] the model must be built, by a call or by build(), before it is saved");
  Entry root;
  Visited visited;
  save(model, root, visited);
  if (include_optimizer && model.impl().trainer().compiled()) {
    Entry& vars = root.group("optimizer/vars");
    vars.set_attribute("name", model.optimizer().name());
    add_variables(vars, optimizer_variables(model));
  }
  return root;
}

std::vector<LayerWeights> keras_weights(const hdf5::File& file, const Model& model, bool by_name) {
  return StateReader(file, model, by_name).read();
}

NamedTensors keras_optimizer_state(const hdf5::File& file) {
  NamedTensors state;
  const Entry* vars = file.root.find("optimizer/vars");
  if (!vars) return state;
  for (std::size_t i = 0; const Entry* value = vars->find(std::to_string(i)); ++i)
    state.emplace_back("", file.tensor(*value, "/optimizer/vars/" + std::to_string(i)));
  return state;
}

void separate_names(Entry& root) {
  const bool any = std::any_of(root.members.begin(), root.members.end(), [](const auto& member) {
    return member.first.find('\\') != std::string::npos;
  });
  if (!any) return;
  for (auto& [name, entry] : std::exchange(root.members, {})) {
    std::string path = name;
    std::replace(path.begin(), path.end(), '\\', '/');
    Entry& place = root.group(path);
    for (auto& attribute : entry.attributes) place.attributes.push_back(std::move(attribute));
    for (auto& member : entry.members) place.members.push_back(std::move(member));
    if (!entry.is_group()) place.value = entry.value, place.fault = entry.fault;
  }
}

}  // namespace ktape::nn::saving
