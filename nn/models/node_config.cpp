#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/nn/models/node_config.hpp>

#include <algorithm>

namespace ktape::nn {
namespace {

constexpr const char* tensor_class = "__keras_tensor__";

/// Calls f with each tensor in lists of lists.
template <class F>
void each_tensor(const Value& value, F&& f) {
  if (is_tensor_config(value)) return f(value);
  if (!value.is_list()) return;
  for (const Value& item : value.list()) each_tensor(item, f);
}

/// Calls f with each argument of the call and its name, "" for a positional argument.
template <class F>
void each_argument(const Value& call, const std::string& what, F&& f) {
  const Config& parts = call.config(what + " a call");
  for (const Value& argument : parts.at("args").list(what + " args")) f("", argument);
  const Value named = parts.get("kwargs", Config());
  for (const auto& [name, argument] : named.config(what + " kwargs")) f(name, argument);
}

}  // namespace

bool is_tensor_config(const Value& value) {
  return value.is_config() && value.config().get("class_name") == Value(tensor_class);
}

Value tensor_config(const Tensor& x, const TensorPlace& place) {
  return Config{
      {"class_name", tensor_class},
      {"config",
       Config{{"shape", x.shape()}, {"dtype", x.dtype().name()}, {"keras_history", place.to_value()}}}};
}

TensorPlace place_in(const Value& tensor, const std::string& what) {
  const Config& config = tensor.config().at("config").config(what + " the config of a tensor");
  return TensorPlace::from_value(config.at("keras_history"), what);
}

TensorPlace TensorPlace::from_value(const Value& value, const std::string& what) {
  const Value::List& parts = value.list(what + " the place of a tensor");
  if (parts.size() < 3) fail(what, " the place of a tensor must be [layer, call, output]: received ", value);
  const TensorPlace place{parts[0].string(what + " a layer"), parts[1].integer(what + " a call"),
                          parts[2].integer(what + " an output")};
  if (place.call < 0 || place.output < 0)
    fail(what, " the place of a tensor must be [layer, call, output]: received ", value);
  return place;
}

std::string layer_name(const Value& layer, const std::string& model) {
  const std::string what = '[' + model + "] ";
  const Config& config = layer.config(what + "a layer");
  Value name = config.get("name");
  const Value own = config.get("config");
  if (name.is_null() && own.is_config()) name = own.config().get("name");
  return name.is_null() ? "" : name.string(what + "the name of a layer");
}

thread_local const LayerSource* LayerSource::active_ = nullptr;

Layer layer_from(const Value& layer, const std::string& model) {
  if (const LayerSource* source = LayerSource::active_; source && source->model_ == model)
    if (Layer given = source->layer_(layer_name(layer, model)); given.defined()) return given;
  const std::string where = " (in the layer '" + layer_name(layer, model) + "' of '" + model + "')";
  try {
    return Layer::from_value(layer);
  } catch (const TypeError& error) {
    fail<TypeError>(error.what(), where);
  } catch (const ValueError& error) {
    fail(error.what(), where);
  }
}

// --- Writing ----------------------------------------------------------------------------------------------

namespace {

class CallWriter {
 public:
  CallWriter(const LayerCall& call, const std::function<TensorPlace(const Tensor&)>& place_of)
      : call_(call), place_of_(place_of) {}

  Value written() const {
    Config kwargs;
    if (runs_cells() && call_.inputs().size() > 1) kwargs.set("initial_state", further_inputs());
    write_arguments(kwargs);
    Config call{{"args", args()}, {"kwargs", kwargs}};
    if (kwargs.contains("training")) call.set(fixed_training, true);
    return call;
  }

 private:
  bool is_one_of(std::initializer_list<const char*> classes) const {
    return std::find(classes.begin(), classes.end(), call_.layer.class_name()) != classes.end();
  }
  bool runs_cells() const {
    return is_one_of(
        {"RNN", "SimpleRNN", "LSTM", "GRU", "Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D"});
  }
  Value::List further_inputs() const {
    const std::vector<Tensor> inputs = call_.inputs();
    return tensors({inputs.begin() + 1, inputs.end()});
  }

  /// Returns the positional arguments: a list of the inputs, except for layers whose inputs are separate
  /// arguments in Keras.
  Value::List args() const {
    const std::vector<Tensor> inputs = call_.inputs();
    if (inputs.size() == 1 || runs_cells()) return {tensor(inputs[0])};
    if (is_one_of({"MultiHeadAttention", "GroupQueryAttention"})) return tensors(inputs);
    if (is_one_of({"SimpleRNNCell", "LSTMCell", "GRUCell", "StackedRNNCells"}))
      return {tensor(inputs[0]), further_inputs()};
    return {Value(tensors(inputs))};
  }

  void write_arguments(Config& kwargs) const {
    const CallArguments& a = call_.arguments;
    if (a.training) kwargs.set("training", *a.training);
    if (a.mask.size() == 1) kwargs.set("mask", tensor(a.mask[0]));
    if (a.mask.size() > 1) kwargs.set("mask", tensors(a.mask.vector()));
    if (!a.initial_state.empty()) kwargs.set("initial_state", tensors(a.initial_state.vector()));
    if (a.attention_mask.defined()) kwargs.set("attention_mask", tensor(a.attention_mask));
    if (a.count_weights.defined()) kwargs.set("count_weights", tensor(a.count_weights));
    if (a.use_causal_mask) kwargs.set("use_causal_mask", true);
    if (a.return_attention_scores) kwargs.set("return_attention_scores", true);
  }

  Value tensor(const Tensor& x) const {
    if (!x.defined()) return {};
    if (!is_symbolic(x))
      fail("[", call_.layer.name(),
           "] the layer is called on a tensor with a value, which has no place in a config: received shape=",
           x.shape());
    return tensor_config(x, place_of_(x));
  }

  Value::List tensors(const std::vector<Tensor>& all) const {
    Value::List list;
    for (const Tensor& x : all) list.push_back(tensor(x));
    return list;
  }

  const LayerCall& call_;
  const std::function<TensorPlace(const Tensor&)>& place_of_;
};

}  // namespace

Value call_config(const LayerCall& call, const std::function<TensorPlace(const Tensor&)>& place_of) {
  return CallWriter(call, place_of).written();
}

// --- Reading ----------------------------------------------------------------------------------------------

namespace {

class CallReader {
 public:
  CallReader(const std::function<Tensor(const TensorPlace&)>& tensor_at, const std::string& what)
      : tensor_at_(tensor_at), what_(what) {}

  CallInputs read(const Value& call) {
    each_argument(call, what_, [&](const std::string& name, const Value& value) { take(name, value); });
    if (out_.inputs.empty()) fail(what_, " a call must have an input: received ", call);
    set_mask();
    return std::move(out_);
  }

 private:
  void take(const std::string& name, const Value& value) {
    static const std::vector<std::string> inputs{"",      "inputs", "sequence", "sequences", "query",
                                                 "value", "key",    "states",   "x"};
    static const std::vector<std::string> masks{"query_mask", "value_mask", "key_mask"};
    CallArguments& a = out_.arguments;
    const auto mask = std::find(masks.begin(), masks.end(), name);
    if (value.is_null()) return;
    if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) append(out_.inputs, name, value);
    else if (mask != masks.end()) set_mask(static_cast<std::size_t>(mask - masks.begin()), one(name, value));
    else if (name == "mask") append(masks_, name, value);
    else if (name == "training") a.training = value.boolean(what_ + " training");
    else if (name == "initial_state") a.initial_state = several(name, value);
    else if (name == "attention_mask") a.attention_mask = one(name, value);
    else if (name == "count_weights") a.count_weights = one(name, value);
    else if (name == "use_causal_mask") a.use_causal_mask = value.boolean(what_ + " use_causal_mask");
    else if (name == "return_attention_scores")
      a.return_attention_scores = value.boolean(what_ + " return_attention_scores");
    else {
      const std::vector<std::string> known{"training",
                                           "mask",
                                           "initial_state",
                                           "attention_mask",
                                           "count_weights",
                                           "use_causal_mask",
                                           "return_attention_scores"};
      fail(what_, " an argument of a call must be ", in_quotes(known, " or "), ": received ", name, '=',
           value, near_names(name, known));
    }
  }

  /// Appends the tensors in the value, which may be in lists of lists; null stands for no tensor.
  void append(std::vector<Tensor>& tensors, const std::string& name, const Value& value) {
    if (value.is_list())
      for (const Value& item : value.list()) append(tensors, name, item);
    else tensors.push_back(value.is_null() ? Tensor() : one(name, value));
  }
  std::vector<Tensor> several(const std::string& name, const Value& value) {
    std::vector<Tensor> tensors;
    append(tensors, name, value);
    return tensors;
  }
  Tensor one(const std::string& name, const Value& value) {
    if (!is_tensor_config(value))
      fail(what_, " the call takes tensors of the model", name.empty() ? "" : " as " + name, ": received ",
           value);
    return tensor_at_(place_in(value, what_));
  }

  void set_mask(std::size_t at, const Tensor& mask) {
    if (masks_.size() <= at) masks_.resize(at + 1);
    masks_[at] = mask;
  }
  void set_mask() {
    const bool any =
        std::any_of(masks_.begin(), masks_.end(), [](const Tensor& mask) { return mask.defined(); });
    if (any) out_.arguments.mask = masks_;
  }

  const std::function<Tensor(const TensorPlace&)>& tensor_at_;
  const std::string& what_;
  CallInputs out_;
  std::vector<Tensor> masks_;
};

}  // namespace

CallInputs call_from(const Value& call, const std::function<Tensor(const TensorPlace&)>& tensor_at,
                     const std::string& what) {
  return CallReader(tensor_at, what).read(call);
}

std::vector<TensorPlace> places_in(const Value& call, const std::string& what) {
  std::vector<TensorPlace> places;
  each_argument(call, what, [&](const std::string&, const Value& argument) {
    each_tensor(argument, [&](const Value& tensor) { places.push_back(place_in(tensor, what)); });
  });
  return places;
}

}  // namespace ktape::nn
