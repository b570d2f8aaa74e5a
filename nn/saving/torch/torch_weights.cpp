#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/torch.hpp>
#include <ktape/nn/saving/base/weight_names.hpp>
#include <ktape/nn/saving/safetensors/safetensors_index.hpp>
#include <ktape/nn/saving/torch/torch_layers.hpp>
#include <ktape/nn/saving/torch/torch_weights.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace ktape::nn {
namespace saving {
namespace {

constexpr const char* op = "load_torch_weights";

/// A module of the file: each layer of a recurrent module counts as one module.
struct Module {
  std::string path;
  ModuleTensors tensors;
  std::map<std::string, std::string> names;  ///< the names of the tensors in the file
  bool used = false;
};

/// Splits "rnn.weight_ih_l1_reverse" into the module "rnn", its layer 1, and "weight_ih_l0_reverse".
struct TensorName {
  std::string module, tensor;
  int layer = 0;

  explicit TensorName(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    module = dot == std::string::npos ? "" : name.substr(0, dot);
    tensor = dot == std::string::npos ? name : name.substr(dot + 1);
    static const Pattern recurrent("((?:weight|bias)_(?:ih|hh)_l)([0-9]{1,4})(_reverse)?");
    const std::vector<std::string> parts = recurrent.groups(tensor);
    if (parts.empty()) return;
    layer = std::stoi(parts[2]);
    tensor = parts[1] + '0' + parts[3];
  }
};

NamedTensors tensors_of(const std::string& path) {
  const bool safetensors = path.ends_with(".safetensors") || path.ends_with(".safetensors.index.json");
  return safetensors ? read_safetensors(op, path) : data::load_torch(path);
}

/// Returns whether attention has the form of PyTorch's MultiheadAttention.
bool is_packed(const NamedTensors& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& one) { return TensorName(one.first).tensor == "in_proj_weight"; });
}

std::vector<Module> modules_of(const NamedTensors& tensors) {
  std::vector<Module> modules;
  std::map<std::pair<std::string, int>, std::size_t> places;
  for (const auto& [name, tensor] : tensors) {
    const TensorName parts(name);
    if (parts.tensor == "num_batches_tracked") continue;
    const auto [place, is_new] = places.emplace(std::pair(parts.module, parts.layer), modules.size());
    if (is_new) modules.push_back({parts.module, {}, {}});
    modules[place->second].tensors[parts.tensor] = tensor;
    modules[place->second].names[parts.tensor] = name;
  }
  return modules;
}

/// A rule for names.
class Rename {
 public:
  explicit Rename(const WeightName& rule) : rule_(rule), pattern_(pattern_of(op, "rename", rule)) {}
  bool matches(const std::string& name) const { return pattern_.matches(name); }
  std::string renamed(const std::string& name) const { return pattern_.replaced(name, rule_.name); }
  const WeightName& rule() const { return rule_; }

 private:
  const WeightName& rule_;
  Pattern pattern_;
};

/// The matching of the tensors of a file with the weights of a model. Nothing changes before `commit`.
class TorchLoading {
 public:
  TorchLoading(const Model& model, const std::string& path, const TorchWeightsOptions& options)
      : path_(path),
        options_(options),
        tensors_(tensors_of(path)),
        units_(torch_units(model, {options.layout == "torch", is_packed(tensors_)})) {
    for (const auto& [name, variable] : flat_variables(model)) {
      weights_.emplace_back(name, variable);
      keys_[variable.value().get()] = name;
    }
  }

  TorchWeightsReport run() {
    NamedTensors rest;
    by_rules(std::exchange(tensors_, {}), rest);
    modules_ = modules_of(rest);
    by_paths();
    by_order();
    finish();
    return report_;
  }

 private:
  std::string key(const Variable& variable) const { return keys_.at(variable.value().get()); }
  bool done(const Variable& variable) const { return values_.contains(key(variable)); }

  void set(const Variable& variable, const Tensor& value, const std::string& tensor) {
    const std::string name = key(variable);
    if (value.shape() != variable.shape())
      fail("[", op, "] a tensor must fit the weight '", name, "' of shape=", variable.shape(), ": received '",
           printable(tensor), "' of ", path_, ", which gives shape=", value.shape());
    if (!values_.emplace(name, std::pair(variable, backend::as_dtype(value, variable.dtype()))).second)
      fail("[", op, "] a weight must get one tensor: received '", name, "' twice, for '", printable(tensor),
           "' and another of ", path_);
    report_.matched.emplace_back(name, tensor);
  }

  // --- Rules

  void by_rules(const NamedTensors& tensors, NamedTensors& rest) {
    const std::vector<Rename> rules(options_.rename.begin(), options_.rename.end());
    for (const auto& [name, tensor] : tensors) {
      const auto rule = std::find_if(rules.begin(), rules.end(),
                                     [&, &name = name](const Rename& r) { return r.matches(name); });
      if (rule == rules.end()) rest.emplace_back(name, tensor);
      else if (!rule->rule().name.empty()) rename(*rule, name, tensor);
    }
  }

  void rename(const Rename& rule, const std::string& name, const Tensor& tensor) {
    const std::string wanted = rule.renamed(name);
    const auto weight =
        std::find_if(weights_.begin(), weights_.end(), [&](const auto& one) { return one.first == wanted; });
    if (weight == weights_.end())
      fail("[", op, "] rename must map tensors to weights of the model: received '", printable(wanted),
           "' for the tensor '", printable(name), "' of ", path_);
    if (!rule.rule().transpose.empty())
      return set(weight->second, backend::permute_dimensions(tensor, Shape(rule.rule().transpose)), name);
    set(weight->second, converted(weight->second, name, tensor), name);
  }

  /// Returns the tensor as its layer needs it.
  Tensor converted(const Variable& weight, const std::string& name, const Tensor& tensor) const {
    for (const TorchUnit& unit : units_)
      for (const auto& [own, variable] : unit.weights)
        if (key(variable) == key(weight)) {
          const std::vector<std::string> sources = unit.sources(own);
          const std::string given = TensorName(name).tensor;
          if (sources.size() == 1 || given != sources.back()) return unit.value(own, {{sources[0], tensor}});
          fail("[", op,
               "] a weight that is made of several tensors must be matched without a rule: received '",
               printable(name), '\'');
        }
    return tensor;
  }

  // --- Modules

  static std::string dotted(std::string path) {
    std::replace(path.begin(), path.end(), '/', '.');
    return path;
  }

  bool is_done(const TorchUnit& unit) const {
    return std::all_of(unit.weights.begin(), unit.weights.end(),
                       [&](const auto& w) { return done(w.second); });
  }

  void by_paths() {
    for (const TorchUnit& unit : units_)
      for (Module& module : modules_)
        if (!module.used && !is_done(unit) && module.path == dotted(unit.path)) {
          assign(unit, module);
          break;
        }
  }

  void by_order() {
    std::vector<const TorchUnit*> units;
    std::vector<Module*> modules;
    for (const TorchUnit& unit : units_)
      if (!is_done(unit)) units.push_back(&unit);
    for (Module& module : modules_)
      if (!module.used) modules.push_back(&module);
    if (units.size() != modules.size() && options_.strict)
      fail("[", op, "] the modules of the file must be as many as the layers with weights: received ", path_,
           " with ", modules.size(), " modules for ", units.size(), " layers (", sides(units, modules), ')');
    for (std::size_t i = 0; i < std::min(units.size(), modules.size()); ++i)
      if (options_.strict || fits(*units[i], *modules[i])) assign(*units[i], *modules[i]);
  }

  /// Returns the first names of both sides, for messages.
  static std::string sides(const std::vector<const TorchUnit*>& units, const std::vector<Module*>& modules) {
    constexpr std::size_t most = 10;
    std::string text = "the modules";
    for (std::size_t i = 0; i < std::min(most, modules.size()); ++i)
      text += " '" + printable(modules[i]->path) + '\'';
    text += "; the layers";
    for (std::size_t i = 0; i < std::min(most, units.size()); ++i) text += " '" + units[i]->path + '\'';
    return text;
  }

  bool fits(const TorchUnit& unit, const Module& module) const {
    for (const auto& [name, variable] : unit.weights) {
      const Tensor value = unit.value(name, module.tensors);
      if (!done(variable) && (!value.defined() || value.shape() != variable.shape())) return false;
    }
    return true;
  }

  void assign(const TorchUnit& unit, Module& module) {
    module.used = true;
    for (const auto& [name, variable] : unit.weights) {
      if (done(variable)) continue;
      const Tensor value = unit.value(name, module.tensors);
      if (!value.defined()) continue;
      std::string tensors;
      for (const std::string& source : unit.sources(name))
        if (const auto found = module.names.find(source); found != module.names.end()) {
          tensors += (tensors.empty() ? "" : " + ") + found->second;
          taken_.insert(found->second);
        }
      set(variable, value, tensors);
    }
  }

  // --- The end

  void finish() {
    for (const auto& [name, variable] : weights_)
      if (!values_.contains(name)) report_.missing.push_back(name);
    for (const Module& module : modules_)
      for (const auto& [tensor, name] : module.names)
        if (!taken_.contains(name)) report_.unused.push_back(name);
    if (options_.strict && !report_.missing.empty())
      fail("[", op, "] each weight must get a tensor unless strict is false: received ", path_,
           " without one for '", report_.missing[0], "' and ", report_.missing.size() - 1, " others");
    if (options_.strict && !report_.unused.empty())
      fail("[", op, "] each tensor must be used unless strict is false: received ", path_, " with '",
           printable(report_.unused[0]), "' and ", report_.unused.size() - 1, " others");
    for (const auto& [name, value] : values_) backend::set_value(value.first, value.second);
  }

  const std::string& path_;
  const TorchWeightsOptions& options_;
  NamedTensors tensors_;
  std::vector<TorchUnit> units_;
  NamedVariables weights_;
  std::map<const void*, std::string> keys_;  ///< the names of the weights
  std::vector<Module> modules_;
  std::map<std::string, std::pair<Variable, Tensor>> values_;
  std::set<std::string> taken_;
  TorchWeightsReport report_;
};

}  // namespace
}  // namespace saving

TorchWeightsReport load_torch_weights(const Model& model, const std::string& path,
                                      const TorchWeightsOptions& options) {
  if (options.layout != "torch" && options.layout != "keras")
    fail("[load_torch_weights] layout must be \"torch\" or \"keras\": received layout=\"", options.layout,
         '"');
  return saving::TorchLoading(model, path, options).run();
}

}  // namespace ktape::nn
