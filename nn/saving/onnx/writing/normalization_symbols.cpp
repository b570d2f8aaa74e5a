#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/nn/normalization.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <numeric>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

template <class Options>
const Options& options_of(const Translation& t, std::size_t argument) {
  const std::vector<DescribedArgument>* const described = described_arguments(t.symbol);
  const Options* const options = described ? std::any_cast<Options>(&described->at(argument).value) : nullptr;
  if (!options) t.fail("its arguments are not recorded");
  return *options;
}

/// Returns the axis of the channels: the only axis of x along which the parameter changes; -1 if there is none.
int channel_axis(const Tensor& x, const Tensor& parameter, int axis) {
  if (x.ndim() == 4) return axis < 0 ? axis + 4 : axis;
  int found = -1;
  for (int d = 0; d < parameter.ndim(); ++d)
    if (parameter.shape()[d] != 1) {
      if (found >= 0) return -1;
      found = x.ndim() - parameter.ndim() + d;
    }
  return found >= 0 || x.ndim() < 2 ? found : x.ndim() - 1;
}

/// Returns a parameter as a vector of the channels; a number for all channels if the parameter is left out.
std::string vector(const Translation& t, const Tensor& parameter, std::int64_t channels, double otherwise) {
  if (!parameter.defined()) return t.graph.constant(K::full({channels}, otherwise, t.dtype()));
  if (parameter.ndim() == 1) return t.name(parameter);
  if (is_symbolic(parameter)) return t.graph.reshaped(t.name(parameter), {-1});
  return t.derived(parameter, "vector", [&] { return K::reshape(parameter.detach(), {-1}); });
}

/// Returns (x - mean) / sqrt(var + epsilon) * gamma + beta for parameters that broadcast.
std::string composed(const Translation& t, const std::string& x, const std::string& mean,
                     const std::string& variance, const std::string& beta, const std::string& gamma,
                     double epsilon) {
  const std::string deviation =
      t.node("Sqrt", {t.node("Add", {variance, t.graph.number(epsilon, t.dtype())})});
  std::string y = t.node("Div", {t.node("Sub", {x, mean}), deviation});
  if (!gamma.empty()) y = t.node("Mul", {y, gamma});
  return beta.empty() ? y : t.node("Add", {y, beta});
}

Names batch_normalization(const Translation& t) {
  const Tensor &x = t.operand(0), &mean = t.operand(1), &variance = t.operand(2), &beta = t.operand(3),
               &gamma = t.operand(4);
  const auto& options = options_of<K::BatchNormalizationOptions>(t, 5);
  const int axis = channel_axis(x, mean, options.axis), rank = x.ndim();
  const std::int64_t channels = mean.size();
  bool vectors = axis >= 0 && rank >= 2 && channels != None && x.shape()[axis] == channels;
  for (const Tensor& parameter : {variance, beta, gamma})
    vectors = vectors && (!parameter.defined() || parameter.size() == channels);
  if (!vectors) return {composed(t, t(0), t(1), t(2), t(3), t(4), options.epsilon)};
  Integers order{0, axis}, back(static_cast<std::size_t>(rank));
  for (int d = 1; d < rank; ++d)
    if (d != axis) order.push_back(d);
  if (axis == 0) order = {1, 0}, order.resize(2);
  for (int d = 2; axis == 0 && d < rank; ++d) order.push_back(d);
  for (std::size_t d = 0; d < order.size(); ++d)
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  const Names inputs{t.graph.transposed(t(0), order), vector(t, gamma, channels, 1),
                     vector(t, beta, channels, 0), vector(t, mean, channels, 0),
                     vector(t, variance, channels, 1)};
  const std::string y =
      t.node("BatchNormalization", inputs, {{"epsilon", static_cast<float>(options.epsilon)}});
  return {t.graph.transposed(y, back)};
}

/// Returns gamma or beta in the extents of the normalized axes, which stand in their order.
std::string parameter(const Translation& t, const Tensor& given, const Shape& x, const Integers& axes) {
  if (!given.defined()) return "";
  Integers shape;
  for (const std::int64_t axis : axes) shape.push_back(x[static_cast<int>(axis)]);
  if (std::equal(shape.begin(), shape.end(), given.shape().begin(), given.shape().end()))
    return t.name(given);
  if (std::count(shape.begin(), shape.end(), None) > 1) t.fail("the normalized extents are unknown");
  std::replace(shape.begin(), shape.end(), std::int64_t{None}, std::int64_t{-1});
  return t.graph.reshaped(t.name(given), shape);
}

Names layer_normalization(const Translation& t) {
  const Tensor &x = t.operand(0), &gamma = t.operand(1), &beta = t.operand(2);
  const auto& options = options_of<K::LayerNormalizationOptions>(t, 3);
  const int rank = x.ndim();
  Integers axes = whole_axes(options.axis, rank);
  if (options.axis.all()) axes.resize(static_cast<std::size_t>(rank)), std::iota(axes.begin(), axes.end(), 0);
  std::sort(axes.begin(), axes.end());
  const std::int64_t first = rank - static_cast<std::int64_t>(axes.size());
  const bool last = axes.front() == first;
  Integers order, back(static_cast<std::size_t>(rank));
  for (std::int64_t d = 0; d < rank; ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
  order.insert(order.end(), axes.begin(), axes.end());
  for (std::size_t d = 0; d < order.size(); ++d)
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  const std::string in = last ? t(0) : t.graph.transposed(t(0), order);
  std::string scale = parameter(t, gamma, x.shape(), axes);
  if (scale.empty()) scale = t.graph.number(1, t.dtype());
  if (!gamma.defined()) {
    Integers ones;
    for (const std::int64_t axis : axes) ones.push_back(x.shape()[static_cast<int>(axis)]);
    if (std::count(ones.begin(), ones.end(), None) > 0) t.fail("the normalized extents are unknown");
    scale = t.graph.constant(K::ones(Shape(ones), {.dtype = t.dtype()}));
  }
  const std::string y = t.node("LayerNormalization", {in, scale, parameter(t, beta, x.shape(), axes)},
                               {{"axis", first}, {"epsilon", static_cast<float>(options.epsilon)}});
  return {last ? y : t.graph.transposed(y, back)};
}

/// Translates the layer GroupNormalization: an instance normalization of the groups.
Names group_normalization(const Translation& t) {
  const Tensor x = t.layer->inputs()[0];
  const Config config = t.layer->layer.get_config();
  const int rank = x.ndim(), axis = config.at("axis").as<int>("axis") < 0
                                        ? config.at("axis").as<int>("axis") + rank
                                        : config.at("axis").as<int>("axis");
  const std::int64_t channels = x.shape()[axis], given = config.at("groups").integer(),
                     groups = given == -1 ? channels : given;
  const DType dtype = t.dtype();
  Integers order{0, axis}, back(static_cast<std::size_t>(rank)), along(static_cast<std::size_t>(rank), 1);
  for (int d = 1; d < rank; ++d)
    if (d != axis) order.push_back(d);
  for (std::size_t d = 0; d < order.size(); ++d)
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  along[static_cast<std::size_t>(axis)] = -1;
  const std::string first = t.graph.transposed(t.graph.cast(t.name(x), x.dtype(), dtype), order);
  const std::string grouped = t.graph.reshaped(first, {0, groups, -1});
  const std::string same = t.node("InstanceNormalization",
                                  {grouped, t.graph.constant(K::ones({groups}, {.dtype = dtype})),
                                   t.graph.constant(K::zeros({groups}, {.dtype = dtype}))},
                                  {{"epsilon", static_cast<float>(config.at("epsilon").number())}});
  std::string y = t.graph.transposed(t.node("Reshape", {same, t.node("Shape", {first})}), back);
  for (const auto& [name, op] : {std::pair("gamma", "Mul"), std::pair("beta", "Add")})
    if (config.at(std::string_view(name) == "gamma" ? "scale" : "center").boolean())
      y = t.node(op, {y, t.graph.reshaped(t.weight(t.layer->layer.weight(name)), along)});
  return {y};
}

}  // namespace

void add_normalization_layers(RowTable& rows) { rows["GroupNormalization"] = group_normalization; }

void add_normalization_symbols(RowTable& rows) {
  rows["batch_normalization"] = batch_normalization;
  rows["layer_normalization"] = layer_normalization;
}

}  // namespace ktape::nn::onnx
