#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/symbol.hpp>
#include <ktape/nn/layers/base/arguments.hpp>
#include <ktape/nn/layers/core/input.hpp>
#include <ktape/nn/models/functional.hpp>
#include <ktape/nn/models/graph.hpp>
#include <ktape/nn/models/node_config.hpp>
#include <ktape/nn/models/operation_config.hpp>
#include <ktape/nn/models/sequential.hpp>

#include <algorithm>
#include <map>
#include <set>

/// Conversion of functional models to configs, and back.
namespace ktape::nn {

// --- Writing ----------------------------------------------------------------------------------------------

namespace {

using Key = std::pair<const Symbol*, std::uint32_t>;

class GraphWriter {
 public:
  GraphWriter(const std::string& model, const LayerGraph& graph) : model_(model), graph_(graph) {
    for (const Layer& layer : graph.layers()) names_.insert(layer.name());
    for (const Ref<Symbol>& symbol : graph.symbols()) names_.insert(graph.name_of(*symbol));
    for (const Tensor& input : graph.inputs()) add_input(input);
    for (const Ref<Symbol>& symbol : graph.symbols()) add_call(*symbol);
  }

  Value layers() const {
    Value::List list;
    for (const Entry& entry : entries_) {
      Config config = entry.value.config();
      config.set("name", entry.name);
      config.set("inbound_nodes", entry.calls);
      list.push_back(config);
    }
    return list;
  }

  /// Returns the places of inputs or outputs: a single place, as in Keras, for a model that was made from one
  /// tensor, otherwise a list.
  Value places(const std::vector<Tensor>& tensors, bool outputs) const {
    Value::List list;
    for (const Tensor& x : tensors) {
      TensorPlace place = place_of(x);
      // For outputs, Keras counts the construction of an inner functional model as its first call.
      if (outputs && functional_.count(place.layer)) ++place.call;
      list.push_back(place.to_value());
    }
    return list.size() == 1 ? list[0] : Value(list);
  }

 private:
  struct Entry {
    std::string name;
    Value value;
    Value::List calls = {};
  };

  void add_input(const Tensor& input) {
    const LayerCall* call = call_of(input);
    const Symbol& symbol = *input.get()->symbol;
    const bool made_so = call && symbol.placeholder();
    const Layer layer =
        made_so ? call->layer : placeholder_of(input, call ? call->layer.name() : symbol.name());
    entries_.push_back({layer.name(), layer.to_value()});
    place_of_[{&symbol, input.get()->output}] = {layer.name(), 0, 0};
  }

  /// Returns the InputLayer for a tensor in the middle of another graph.
  Layer placeholder_of(const Tensor& input, std::string name) {
    while (!names_.insert(name).second) name += "_input";
    const Config config{{"batch_shape", input.shape()}, {"dtype", input.dtype().name()}, {"name", name}};
    return Layer::from_value(Config{{"class_name", "InputLayer"}, {"config", config}});
  }

  void add_call(const Symbol& symbol) {
    const LayerCall* call = call_of(symbol);
    if (!call) return add_operation(symbol);
    Entry& entry = entry_of(call->layer);
    for (std::uint32_t i = 0; i < symbol.outputs().size(); ++i)
      place_of_[{&symbol, i}] = {entry.name, static_cast<std::int64_t>(entry.calls.size()), i};
    entry.calls.push_back(call_config(*call, [this](const Tensor& x) { return place_of(x); }));
  }

  void add_operation(const Symbol& symbol) {
    const std::optional<OperationCall> call = operation_of(symbol);
    if (!call)
      fail("[", model_, "] the op '", symbol.op(),
           "' between layers has no config from which it could be made again: make it the call of a layer "
           "class (nn::LayerOf)");
    const std::string name = graph_.name_of(symbol);
    for (std::uint32_t i = 0; i < symbol.outputs().size(); ++i) place_of_[{&symbol, i}] = {name, 0, i};
    entries_.push_back({name,
                        operation_config(*call, name),
                        {operation_call_config(*call, [this](const Tensor& x) { return place_of(x); })}});
  }

  Entry& entry_of(const Layer& layer) {
    const auto [known, is_new] = at_.emplace(layer.shared().get(), entries_.size());
    if (is_new) entries_.push_back({layer.name(), as_member(layer)});
    if (dynamic_cast<const FunctionalImpl*>(layer.shared().get())) functional_.insert(layer.name());
    return entries_[known->second];
  }

  TensorPlace place_of(const Tensor& x) const {
    return place_of_.at({x.get()->symbol.get(), x.get()->output});
  }

  const std::string& model_;
  const LayerGraph& graph_;
  std::set<std::string> names_, functional_;
  std::vector<Entry> entries_;
  std::map<const LayerImpl*, std::size_t> at_;
  std::map<Key, TensorPlace> place_of_;
};

}  // namespace

Config FunctionalImpl::get_config() const {
  const auto graph =
      reports_.empty() ? graph_ : std::make_shared<const LayerGraph>(name(), inputs_, outputs_);
  const GraphWriter writer(name(), *graph);
  Config config{{"name", name()}, {"trainable", trainable()}};
  if (dtype_policy() != DTypePolicy("float32")) config.set("dtype", dtype_policy());  // Keras writes none
  config.set("layers", writer.layers());
  config.set("input_layers", writer.places(inputs_, false));
  config.set("output_layers", writer.places(outputs_, true));
  return config;
}

// --- Reading ----------------------------------------------------------------------------------------------

namespace {

bool is_functional(const Layer& layer) {
  return layer.defined() && dynamic_cast<const FunctionalImpl*>(layer.shared().get());
}

class GraphReader {
 public:
  GraphReader(std::string model, const Value::List& layers) : model_(std::move(model)) {
    for (const Value& layer : layers) add(layer);
    for (std::size_t i = 0; i < entries_.size(); ++i) find_needs(i);
    call_all();
  }

  /// Returns the tensors at a place, or at each place of a list or of a config of names.
  std::vector<Tensor> tensors(const char* key, const Value& places) const {
    const std::string what = '[' + model_ + "] " + key;
    if (places.is_config()) {
      Value::List list;
      for (const auto& [name, place] : places.config()) list.push_back(place);
      return tensors(key, list);
    }
    const Value::List& list = places.list(what);
    if (list.empty()) fail(what, " must name a tensor: received none");
    if (list[0].is_string()) return {output_at(TensorPlace::from_value(places, what), what)};
    std::vector<Tensor> tensors;
    for (const Value& place : list) tensors.push_back(output_at(TensorPlace::from_value(place, what), what));
    return tensors;
  }

 private:
  struct Call {
    Value value;
    std::vector<Tensor> outputs = {};
    std::size_t needs = 0;                                        ///< the number of calls to make before
    std::vector<std::pair<std::size_t, std::size_t>> users = {};  ///< the calls that need these results
    bool made = false;
  };
  struct Entry {
    std::string name;
    Layer layer;  ///< undefined for an operation
    Value operation;
    std::vector<Call> calls;
  };
  using Place = std::pair<std::size_t, std::size_t>;

  std::string what(const Entry& entry) const { return '[' + model_ + "] the layer '" + entry.name + "':"; }

  void add(const Value& value) {
    Entry entry{layer_name(value, model_), {}, {}, {}};
    if (!at_.emplace(entry.name, entries_.size()).second)
      fail("[", model_, "] layers must have different names: received two layers named '", entry.name, "'");
    if (value.config().get("class_name") == Value(operation_class)) entry.operation = value;
    else entry.layer = layer_from(value, model_);
    const Value calls = value.config().get("inbound_nodes", Value::List());
    for (const Value& call : calls.list(what(entry) + " inbound_nodes")) entry.calls.push_back({call});
    const Tensor input = entry.layer.defined() ? input_of(entry.layer) : Tensor();
    if (input.defined()) {
      if (!entry.calls.empty())
        fail(what(entry), " an input is not called: received ", entry.calls.size(), " inbound_nodes");
      entry.calls.push_back({Value(), {input}, 0, {}, true});
    }
    entries_.push_back(std::move(entry));
  }

  Place find(const TensorPlace& place, const std::string& what) const {
    const auto known = at_.find(place.layer);
    if (known == at_.end()) {
      std::vector<std::string> names;
      for (const Entry& entry : entries_) names.push_back(entry.name);
      fail(what, " the model must have the layer: received '", place.layer, "'",
           suggestion(place.layer, names));
    }
    const auto call = static_cast<std::size_t>(place.call);
    const Entry& entry = entries_[known->second];
    if (call >= entry.calls.size())
      fail(what, " the index of a call of '", place.layer, "' must be below ", entry.calls.size(),
           ": received ", place.call);
    return {known->second, call};
  }

  void find_needs(std::size_t at) {
    for (std::size_t i = 0; i < entries_[at].calls.size(); ++i) {
      Call& call = entries_[at].calls[i];
      if (call.made) continue;
      for (const TensorPlace& place : places_in(call.value, what(entries_[at]))) {
        const auto [layer, before] = find(place, what(entries_[at]));
        Call& needed = entries_[layer].calls[before];
        if (needed.made) continue;
        needed.users.emplace_back(at, i);
        ++call.needs;
      }
    }
  }

  /// Makes the calls, each after the calls that make its inputs. Among several possible calls, the call of
  /// the layer that comes first in the list is made, so that the model's layers have the order of the list.
  void call_all() {
    std::set<Place> ready;
    for (std::size_t at = 0; at < entries_.size(); ++at)
      for (std::size_t i = 0; i < entries_[at].calls.size(); ++i)
        if (entries_[at].calls[i].needs == 0 && !entries_[at].calls[i].made) ready.emplace(at, i);
    while (!ready.empty()) {
      const auto [at, i] = *ready.begin();
      ready.erase(ready.begin());
      Call& call = entries_[at].calls[i];
      make(entries_[at], call);
      for (const auto& [user, number] : call.users)
        if (--entries_[user].calls[number].needs == 0) ready.emplace(user, number);
    }
    for (const Entry& entry : entries_)
      for (const Call& call : entry.calls)
        if (!call.made)
          fail(what(entry), " the inputs of a call must not depend on its own outputs: received a cycle");
  }

  void make(const Entry& entry, Call& call) {
    const auto at = [&](const TensorPlace& place) { return tensor_at(place, what(entry)); };
    call.made = true;
    if (!entry.layer.defined()) {
      const OperationCall read = operation_call_from(entry.operation, call.value, at, what(entry));
      call.outputs = apply_operation(read, entry.name);
      return;
    }
    const CallInputs read = call_from(call.value, at, what(entry));
    call.outputs = entry.layer.apply(read.inputs, read.arguments);
  }

  Tensor tensor_at(const TensorPlace& place, const std::string& what) const {
    const auto [layer, call] = find(place, what);
    const std::vector<Tensor>& outputs = entries_[layer].calls[call].outputs;
    if (static_cast<std::size_t>(place.output) >= outputs.size())
      fail(what, " the index of an output of '", place.layer, "' must be below ", outputs.size(),
           ": received ", place.output);
    return outputs[static_cast<std::size_t>(place.output)];
  }

  /// Returns an input or output of the model, where Keras counts the calls of a functional model from 1.
  Tensor output_at(TensorPlace place, const std::string& what) const {
    const auto known = at_.find(place.layer);
    if (known != at_.end() && place.call > 0 && is_functional(entries_[known->second].layer)) --place.call;
    return tensor_at(place, what);
  }

  std::string model_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> at_;
};

}  // namespace

FunctionalImpl::Parts FunctionalImpl::parts_of(const Config& config) {
  const LayerOptions common = layer_options("Functional", config);
  const std::string name = common.name.empty() ? automatic_name("Model") : common.name;
  const GraphScope scope;
  const GraphReader graph(name, config.at("layers").list("[Functional] layers"));
  return {graph.tensors("input_layers", config.at("input_layers")),
          graph.tensors("output_layers", config.at("output_layers")),
          {.trainable = common.trainable, .dtype = common.dtype, .name = name}};
}

void add_models(ClassRegistry& registry) {
  const auto functional = [](const Config& config) {
    return Layer(std::make_shared<FunctionalImpl>(config));
  };
  registry.add("Functional", Factory(functional), {"Model"});
  registry.add("Sequential", Factory(sequential_from));
}

}  // namespace ktape::nn
