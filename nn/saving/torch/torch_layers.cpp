#include <ktape/nn/saving/torch/torch_layers.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <optional>
#include <set>

namespace ktape::nn::saving {
namespace {

namespace K = backend;
using Names = std::vector<std::string>;

/// A weight of a layer: the tensors of the module, and their conversion. A conversion gets undefined tensors for
/// those that the module lacks.
struct WeightRow {
  Names sources;
  std::function<Tensor(const std::vector<Tensor>& tensors)> convert;
};
using WeightRows = std::map<std::string, WeightRow>;

Tensor same(const std::vector<Tensor>& t) { return t[0]; }

Tensor permuted(const Tensor& x, const std::vector<std::int64_t>& order) {
  return K::permute_dimensions(x, order);
}

/// Moves the first two axes, in this or the other order, to the end.
Tensor moved_last(const Tensor& x, bool swapped) {
  std::vector<std::int64_t> order;
  for (int axis = 2; axis < x.ndim(); ++axis) order.push_back(axis);
  order.push_back(swapped ? 1 : 0), order.push_back(swapped ? 0 : 1);
  return permuted(x, order);
}

Tensor kernel_of_dense(const std::vector<Tensor>& t) {
  Tensor x = t[0];
  while (x.ndim() > 2 && x.shape().back() == 1) x = K::squeeze(x, x.ndim() - 1);  // a convolution of width 1
  return x.ndim() == 2 ? K::transpose(x) : x;
}
Tensor kernel_of_conv(const std::vector<Tensor>& t) {
  return t[0].ndim() < 3 ? t[0] : moved_last(t[0], true);
}
Tensor kernel_of_transposed(const std::vector<Tensor>& t) {
  return t[0].ndim() < 3 ? t[0] : moved_last(t[0], true);
}

/// Returns the kernel (..., channels, multiplier) for a weight (channels * multiplier, 1, ...).
std::function<Tensor(const std::vector<Tensor>&)> kernel_of_depthwise(std::int64_t channels) {
  return [channels](const std::vector<Tensor>& t) {
    const Shape& shape = t[0].shape();
    if (shape.rank() < 3 || shape[1] != 1 || channels == 0 || shape[0] % channels != 0) return t[0];
    Shape split{channels, shape[0] / channels};
    for (int axis = 2; axis < shape.rank(); ++axis) split.push_back(shape[axis]);
    return moved_last(K::reshape(t[0], split), false);
  };
}

// --- Recurrent layers -------------------------------------------------------------------------------------

/// Puts the gates, which stand along axis 0 in PyTorch's order, into Keras's order.
Tensor with_gates(const Tensor& x, const std::string& layer) {
  if (layer != "GRU" || x.shape()[0] % 3 != 0) return x;
  const std::vector<Tensor> gates = K::split(x, 3, 0);
  return K::concatenate({gates[1], gates[0], gates[2]}, 0);
}

/// Returns the rows of a recurrent layer for tensors whose names end in `suffix`.
WeightRows recurrent_rows(const Layer& layer, const std::string& suffix, bool transposes) {
  const std::string kind = layer.class_name();
  const bool two_biases = kind == "GRU" && layer.get_config().get("reset_after", true).boolean();
  const auto matrix = [=](const std::vector<Tensor>& t) {
    return transposes && t[0].ndim() == 2 ? K::transpose(with_gates(t[0], kind)) : t[0];
  };
  const auto bias = [=](const std::vector<Tensor>& t) {
    const Tensor inputs = with_gates(t[0], kind);
    if (!t[1].defined()) return inputs;
    const Tensor states = with_gates(t[1], kind);
    return two_biases ? K::stack({inputs, states}, 0) : inputs + states;
  };
  return {{"kernel", {{"weight_ih" + suffix}, matrix}},
          {"recurrent_kernel", {{"weight_hh" + suffix}, matrix}},
          {"bias", {{"bias_ih" + suffix, "bias_hh" + suffix}, bias}}};
}

// --- Attention --------------------------------------------------------------------------------------------

/// Returns the conversion of a matrix (outputs, inputs), or of one of three such matrices side by side, to a kernel whose
/// first `bound` axes are the inputs; of a vector to a bias.
std::function<Tensor(const std::vector<Tensor>&)> projection(const Shape& shape, int bound, bool transposes,
                                                             std::optional<std::size_t> part = {}) {
  std::int64_t inputs = 1;
  for (int axis = 0; axis < bound && axis < shape.rank(); ++axis) inputs *= shape[axis];
  return [=](const std::vector<Tensor>& t) {
    Tensor x = t[0];
    const int axis = transposes ? 0 : x.ndim() - 1;
    if (part && (x.ndim() == 0 || x.shape()[axis] % 3 != 0)) return x;
    if (part) x = K::split(x, 3, axis)[*part];
    if (transposes && x.ndim() == 2) x = K::transpose(x);
    const bool fits = x.size() == shape.count() && (x.ndim() == 1 || x.shape()[0] == inputs);
    return fits ? K::reshape(x, shape) : x;
  };
}

/// Returns the rows of one projection of an attention layer, "query" or "attention_output".
WeightRows projection_rows(const NamedVariables& weights, const std::string& name, bool transposes,
                           std::optional<std::size_t> part = {}) {
  WeightRows rows;
  const std::string prefix = part ? "in_proj_" : "";
  const int bound = name == "attention_output" ? 2 : 1;
  for (const auto& [weight, variable] : weights)
    if (weight == name + "/kernel")
      rows[weight] = {{prefix + "weight"}, projection(variable.shape(), bound, transposes, part)};
    else if (weight == name + "/bias")
      rows[weight] = {{prefix + "bias"}, projection(variable.shape(), 0, transposes, part)};
  return rows;
}

// --- All layers -------------------------------------------------------------------------------------------

std::int64_t extent(const NamedVariables& weights, const std::string& name, int axis) {
  for (const auto& [weight, variable] : weights)
    if (weight == name && variable.shape().rank() >= -axis) return variable.shape()[axis];
  return 0;
}

/// Returns the rows of a layer that is one module; an empty table for a layer of another class.
WeightRows rows_of(const Layer& layer, const NamedVariables& weights, bool transposes) {
  const std::string name = layer.class_name();
  const auto kernel = [&](std::function<Tensor(const std::vector<Tensor>&)> convert) {
    return WeightRow{{"weight"}, transposes ? std::move(convert) : same};
  };
  const WeightRow bias{{"bias"}, same}, weight{{"weight"}, same};
  if (name == "Dense") return {{"kernel", kernel(kernel_of_dense)}, {"bias", bias}};
  if (name == "Conv1D" || name == "Conv2D" || name == "Conv3D")
    return {{"kernel", kernel(kernel_of_conv)}, {"bias", bias}};
  if (name.ends_with("DTranspose")) return {{"kernel", kernel(kernel_of_transposed)}, {"bias", bias}};
  if (name.starts_with("DepthwiseConv"))
    return {{"kernel", kernel(kernel_of_depthwise(extent(weights, "kernel", -2)))}, {"bias", bias}};
  if (name == "BatchNormalization")
    return {{"gamma", weight},
            {"beta", bias},
            {"moving_mean", {{"running_mean"}, same}},
            {"moving_variance", {{"running_var"}, same}}};
  if (name == "LayerNormalization" || name == "GroupNormalization")
    return {{"gamma", weight}, {"beta", bias}};
  if (name == "RMSNormalization") return {{"scale", weight}};
  if (name == "Embedding") return {{"embeddings", weight}};
  if (name == "PReLU") return {{"alpha", weight}};
  return {};
}

TorchUnit unit_of(const std::string& path, const NamedVariables& weights, const WeightRows& rows) {
  TorchUnit unit{path, {}, {}, {}};
  for (const auto& [name, variable] : weights)
    if (rows.contains(name)) unit.weights.emplace_back(name, variable);
  unit.value = [rows](const std::string& weight, const ModuleTensors& module) -> Tensor {
    const WeightRow& row = rows.at(weight);
    std::vector<Tensor> tensors;
    for (const std::string& source : row.sources) {
      const auto found = module.find(source);
      tensors.push_back(found == module.end() ? Tensor() : found->second);
    }
    return tensors[0].defined() ? row.convert(tensors) : Tensor();
  };
  unit.sources = [rows](const std::string& weight) { return rows.at(weight).sources; };
  return unit;
}

/// Returns the weights of a layer under the last part of their names.
NamedVariables last_names(const NamedVariables& weights) {
  NamedVariables short_names;
  for (const auto& [name, variable] : weights)
    short_names.emplace_back(name.substr(name.rfind('/') + 1), variable);
  return short_names;
}

bool is_recurrent(const std::string& name) { return name == "LSTM" || name == "GRU" || name == "SimpleRNN"; }

/// Collects the units in a layer.
class Units {
 public:
  explicit Units(const TorchForm& form) : form_(form) {}

  void visit(const Layer& layer, const std::string& path) {
    const NamedVariables weights = named_weights(layer);
    if (weights.empty()) return;
    const std::string name = layer.class_name();
    if (is_recurrent(name)) return add_recurrent(layer, path, weights);
    if (name == "Bidirectional") return add_bidirectional(layer, path);
    if (name.starts_with("SeparableConv")) return add_separable(layer, path, weights);
    if (name == "MultiHeadAttention" || name == "GroupQueryAttention") return add_attention(path, weights);
    if (const WeightRows rows = rows_of(layer, weights, form_.transposes); !rows.empty())
      return units.push_back(unit_of(path, weights, rows));
    const std::vector<Layer> inner = layer.impl().sublayers();
    for (const Layer& sublayer : inner) visit(sublayer, path + '/' + sublayer.name());
    if (!inner.empty()) return;
    WeightRows rows;
    for (const auto& [weight, variable] : weights) rows[weight] = {{weight}, same};
    units.push_back(unit_of(path, weights, rows));
  }

  std::vector<TorchUnit> units;

 private:
  void add_recurrent(const Layer& layer, const std::string& path, const NamedVariables& weights) {
    units.push_back(unit_of(path, last_names(weights), recurrent_rows(layer, "_l0", form_.transposes)));
  }

  /// Adds one unit for both directions, whose weights have the names of the layers before them.
  void add_bidirectional(const Layer& layer, const std::string& path) {
    WeightRows rows;
    NamedVariables weights;
    const std::vector<Layer> directions = layer.impl().sublayers();
    for (std::size_t i = 0; i < directions.size(); ++i) {
      const std::string prefix = i == 0 ? "forward/" : "backward/";
      for (auto& [name, row] :
           recurrent_rows(directions[i], i == 0 ? "_l0" : "_l0_reverse", form_.transposes))
        rows[prefix + name] = row;
      for (const auto& [name, variable] : last_names(named_weights(directions[i])))
        weights.emplace_back(prefix + name, variable);
    }
    units.push_back(unit_of(path, weights, rows));
  }

  /// Adds two units: PyTorch has two modules for the depthwise and the pointwise convolution.
  void add_separable(const Layer&, const std::string& path, const NamedVariables& weights) {
    const auto kernel = [&](const std::function<Tensor(const std::vector<Tensor>&)>& convert) {
      return WeightRow{{"weight"}, form_.transposes ? convert : same};
    };
    const std::int64_t channels = extent(weights, "depthwise_kernel", -2);
    units.push_back(unit_of(path, weights, {{"depthwise_kernel", kernel(kernel_of_depthwise(channels))}}));
    units.push_back(
        unit_of(path, weights, {{"pointwise_kernel", kernel(kernel_of_conv)}, {"bias", {{"bias"}, same}}}));
  }

  /// Adds a unit for each projection; for packed projections one for query, key and value together, and one for the
  /// output, as in PyTorch's MultiheadAttention.
  void add_attention(const std::string& path, const NamedVariables& weights) {
    const bool packed = form_.packed_attention;
    WeightRows together;
    std::size_t part = 0;
    for (const char* name : {"query", "key", "value"}) {
      if (!packed)
        units.push_back(
            unit_of(path + '/' + name, weights, projection_rows(weights, name, form_.transposes)));
      else together.merge(projection_rows(weights, name, form_.transposes, part++));
    }
    if (packed) units.push_back(unit_of(path, weights, together));
    units.push_back(unit_of(path + (packed ? "/out_proj" : "/attention_output"), weights,
                            projection_rows(weights, "attention_output", form_.transposes)));
  }

  const TorchForm form_;
};

}  // namespace

std::vector<TorchUnit> torch_units(const Model& model, const TorchForm& form) {
  if (!model.built())
    fail("[load_torch_weights] the model must be built, by a call or by build(): received the model '",
         model.name(), '\'');
  Units all(form);
  std::set<std::string> paths;
  for (const Layer& layer : model.layers())
    if (paths.insert(layer.name()).second) all.visit(layer, layer.name());
  return std::move(all.units);
}

}  // namespace ktape::nn::saving
