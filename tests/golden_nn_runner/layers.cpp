#include <ktape/nn/layers/core/input.hpp>
#include <ktape/nn/layers/rnn/recurrent.hpp>
#include <ktape/nn/models/model.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/reductions.hpp>

#include "kinds.hpp"

namespace golden_nn {
namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace {

nn::Layer made(const Run& run) {
  return nn::Layer::from_value(Config{{"class_name", run.at("layer")}, {"config", run.config()}});
}

std::string last_part(const std::string& name) { return name.substr(name.rfind('/') + 1); }

/// The inputs and arguments of a call, and the tensors that have gradients.
struct Call {
  std::vector<std::pair<std::string, Variable>> sources;
  std::vector<Variable> inputs, initial_state;
  nn::CallArguments arguments;
  std::vector<std::pair<std::string, Tensor>> masks;  ///< the masks, with the names of their arguments

  explicit Call(const Run& run) {
    for (const Value& json : run.at("inputs").list()) {
      const std::string name = json.config().at("name").string();
      if (name.ends_with("_mask")) {
        masks.emplace_back(name, run.tensor(json));
        continue;
      }
      sources.emplace_back(name, run.variable(json, name));
      (name.starts_with("initial_state/") ? initial_state : inputs).push_back(sources.back().second);
    }
    arguments.training = run.at("training").boolean();
    if (run.has("mask")) arguments.mask = given_mask(run);
    else if (!masks.empty())
      arguments.mask = TensorList({mask("query_mask"), mask("value_mask"), mask("key_mask")});
    arguments.attention_mask = mask("attention_mask");
    if (!run.has("call")) return;
    const Config& call = run.at("call").config();
    arguments.use_causal_mask = call.get("use_causal_mask", false).boolean();
    arguments.return_attention_scores = call.get("return_attention_scores", false).boolean();
  }

  std::vector<Tensor> operator()(const nn::Layer& layer) { return (*this)(layer, inputs); }
  std::vector<Tensor> operator()(const nn::Layer& layer, const TensorList& given) {
    arguments.initial_state = initial_state;
    return layer.apply(given, arguments);
  }

  /// Calls a model of the layer alone: the layer is called on symbolic tensors first.
  std::vector<Tensor> through_model(const nn::Layer& layer) {
    std::vector<Tensor> in, values;
    for (const Variable& input : inputs) {
      const Shape& shape = input.shape();
      in.push_back(nn::Input(Shape(shape.begin() + 1, shape.rank() - 1), {.dtype = input.dtype()}));
      values.push_back(input.value());
    }
    return nn::Model(in, (*this)(layer, in)).apply(values);
  }

  std::vector<Shape> shapes() const {
    std::vector<Shape> shapes;
    for (const Variable& input : inputs) shapes.push_back(input.shape());
    return shapes;
  }

 private:
  static TensorList given_mask(const Run& run) {
    if (run.at("mask").is_config()) return run.tensor(run.at("mask"));
    std::vector<Tensor> masks;
    for (const Value& mask : run.at("mask").list()) masks.push_back(run.tensor(mask));
    return masks;
  }

  Tensor mask(const std::string& name) const {
    for (const auto& [known, value] : masks)
      if (known == name) return value;
    return Tensor();
  }
};

void load_weights(Run& run, const nn::Layer& layer, Call& call) {
  const Value::List& wanted = run.at("weights").list();
  const std::vector<Variable> weights = layer.weights();
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string name = wanted[i].config().at("name").string();
    values.push_back(run.tensor(wanted[i]));
    if (i >= weights.size()) continue;
    if (last_part(weights[i].name()) != last_part(name))
      run.problem("weight ", i, " must be named ", name, ", is named ", weights[i].name());
    call.sources.emplace_back(name, weights[i]);
  }
  layer.set_weights(values);
}

void compare_masks(Run& run, const std::vector<Tensor>& outputs) {
  const auto compare = [&](std::size_t i, const Value& want) {
    const Tensor mask = nn::mask_of(outputs[i]);
    const std::string what = "mask of output " + std::to_string(i);
    if (!want.is_null()) run.compare(what, mask, want);
    else if (mask.defined()) run.problem(what, " must be None");
  };
  if (!run.has("output_mask")) return run.has("mask") ? compare(0, Value()) : void();
  const Value& want = run.at("output_mask");
  if (!want.is_list()) return compare(0, want);
  for (std::size_t i = 0; i < want.list().size(); ++i) compare(i, want.list()[i]);
}

void compare_state(Run& run, const nn::Layer& layer) {
  if (!run.has("state_after")) return;
  for (const Value& want : run.at("state_after").list()) {
    const std::string name = want.config().at("name").string();
    if (name.starts_with("state/")) {
      const std::vector<Tensor> states = nn::RecurrentLayer(layer).states();
      const auto at = static_cast<std::size_t>(std::stoul(last_part(name)));
      if (at < states.size()) run.compare(name, states[at], want);
      else run.problem("the layer must have ", name, ", has ", states.size(), " states");
      continue;
    }
    bool found = false;
    for (const Variable& weight : layer.weights())
      if (last_part(weight.name()) == name) run.compare(name, weight, want), found = true;
    if (!found) run.problem("the layer must have a weight ", name);
  }
}

void run_layer(Run& run) {
  const nn::Layer layer = made(run);
  Call call(run);
  layer.build(call.shapes());
  if (!run.has("adapt")) load_weights(run, layer, call);
  else if (run.at("weights").list().empty()) layer.adapt(run.tensor(run.at("adapt")));
  std::vector<Tensor> outputs;
  const auto calls = run.has("calls") ? run.at("calls").integer() : 1;
  for (std::int64_t i = 0; i < calls; ++i) outputs = call(layer);
  run.compare_outputs(outputs);
  compare_masks(run, outputs);
  compare_state(run, layer);
  run.compare_gradients(outputs, call.sources);
  if (!run.has("state_after")) run.compare_outputs(call.through_model(layer));
}

// --- Layers without arguments --------------------------------------------------------------------

void check_initial(Run& run, const Variable& weight, const Config& want) {
  const std::string name = want.at("name").string();
  if (last_part(weight.name()) != last_part(name))
    run.problem("must have the weight ", name, ", has ", weight.name());
  if (want.contains("data")) return run.compare(name, weight, want);
  if (weight.shape() != want.at("shape").shape())
    return run.problem(name, " must have the shape ", want.at("shape").shape(), ", has ", weight.shape());
  const Config& property = want.at("property").config();
  if (property.at("kind").string() == "orthogonal")
    return check_orthogonal(run, weight, property.at("gain").number());
  const double limit = property.at("limit").number(), largest = K::max(K::abs(weight)).item<double>();
  if (largest > limit * (1 + 1e-6) || largest < 0.5 * limit)
    run.problem(name, " must have elements up to ", limit, ": has ", largest);
}

void run_defaults(Run& run) {
  const nn::Layer layer = made(run);
  std::vector<Shape> shapes;
  const Value& given = run.at("input_shape");
  const bool several = given.list()[0].is_list();
  if (several)
    for (const Value& shape : given.list()) shapes.push_back(shape.shape());
  else shapes.push_back(given.shape());
  const std::vector<Shape> outputs = layer.compute_output_shapes(shapes);
  const Shape want = run.at("output_shape").shape();
  if (outputs.size() != 1 || outputs[0] != want)
    run.problem("must give the shape ", want, ", gives ", outputs[0]);
  const Value::List& initial = run.at("initial").list();
  const std::vector<Variable> weights = layer.weights();
  if (weights.size() != initial.size())
    return run.problem("must have ", initial.size(), " weights, has ", weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) check_initial(run, weights[i], initial[i].config());
  const Config config = layer.get_config();
  for (const auto& [name, value] : run.at("defaults").config())
    if (!(config.get(name) == value)) run.problem(name, " must be ", value, ", is ", config.get(name));
}

}  // namespace

void add_layers(Table& table) {
  table["layer"] = [](Run& run) { run.has("input_shape") ? run_defaults(run) : run_layer(run); };
}

}  // namespace golden_nn
