#include <ktape/nn/compiled/planned_operations.hpp>
#include <ktape/nn/compiled/recorded_call.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/operators.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace ktape::nn {
namespace K = backend;

namespace {

using Builder = K::NetworkBuilder;
using Nodes = std::vector<int>;
using Node = std::optional<int>;
using MaybePlanned = std::optional<PlannedOperation>;
using kernels::ElementFunction, kernels::BinaryFunction;
using Function = ElementFunction::Kind;

using Call = RecordedCall;

template <class F>
PlannedOperation of_one(const Tensor& x, F add, AxisOrder order = AxisOrder::Own) {
  return {
      {x}, [add](Builder& network, const Nodes& inputs) -> Node { return add(network, inputs[0]); }, order};
}

constexpr float infinite = std::numeric_limits<float>::infinity();

// --- Functions ---------------------------------------------------------------------------------------------

MaybePlanned of_function(const Tensor& x, const ElementFunction& f) {
  return of_one(
      x, [f](Builder& network, int x) { return network.function(x, f); }, AxisOrder::Any);
}
MaybePlanned of_function(const Call& call, const ElementFunction& f) {
  return of_function(call->tensor("x"), f);
}
MaybePlanned of_linear(const Tensor& x, double factor, double offset) {
  return of_function(x, {Function::Linear, static_cast<float>(factor), static_cast<float>(offset)});
}

/// Plans the activation of this name, with default arguments.
template <const char* name>
MaybePlanned activation(const Call& call) {
  return of_one(
      call->tensor("x"), [](Builder& network, int x) { return network.activation(x, name); }, AxisOrder::Any);
}

MaybePlanned softmax(const Call& call) {
  const Tensor x = call->tensor("x");
  if (!call->has("axis")) return {};
  const std::optional<AxisOrder> order = call.order_of_axis(x);
  if (!order) return {};
  return of_one(
      x, [](Builder& network, int x) { return network.softmax(x); }, *order);
}

/// Plans arithmetic with one number, which is the second operand or, for `number_first`, the first.
MaybePlanned with_number(std::string_view name, const Tensor& x, double number, bool number_first) {
  const auto is_normal = [](double factor) { return std::isnormal(static_cast<float>(factor)); };
  if (!std::isfinite(static_cast<float>(number))) return {};
  if (name == "Add") return of_linear(x, 1, number);
  if (name == "Multiply") return of_linear(x, number, 0);
  if (name == "Subtract") return number_first ? of_linear(x, -1, number) : of_linear(x, 1, -number);
  if (name == "Maximum" && number == 0) return of_function(x, {Function::Relu});
  if (name == "Maximum") return of_function(x, {Function::Clip, static_cast<float>(number), infinite});
  if (name == "Minimum") return of_function(x, {Function::Clip, -infinite, static_cast<float>(number)});
  if ((name == "Divide" || name == "TrueDivide") && !number_first && is_normal(number) &&
      is_normal(1 / number))
    return of_linear(x, 1 / number, 0);
  return {};
}

/// Adds (x - 0) / 1 * scale + offset, of which either may be undefined, channel by channel.
MaybePlanned per_channel(const Tensor& x, const Variable& scale, const Variable& offset, AxisOrder order) {
  const std::int64_t channels = scale.defined() ? scale.size() : offset.size();
  const Variable zeros(K::zeros({channels})), ones(K::ones({channels}));
  const auto add = [=](Builder& network, int x) {
    return network.normalization(x, scale, offset, zeros, ones, 0);
  };
  return of_one(x, add, order);
}

bool has_normal_reciprocals(const Tensor& numbers) {
  const auto is_normal = [](float x) { return std::isnormal(x) && std::isnormal(1 / x); };
  return numbers.dtype() == DType::Float32 &&
         std::all_of(numbers.pointer<float>(), numbers.pointer<float>() + numbers.size(), is_normal);
}

/// Plans arithmetic with one known number for each position along the last axis or axis 1.
MaybePlanned with_channels(const Call& call, const char* symbol, const char* known) {
  const Tensor x = call->tensor(symbol);
  if (x.ndim() < 2 || call.result().rank() != x.ndim()) return {};
  for (const AxisOrder order : {AxisOrder::Own, AxisOrder::ChannelsLast}) {
    const auto numbers = call.channel_weight(known, x, order == AxisOrder::Own ? x.ndim() - 1 : 1);
    if (!numbers) continue;
    if (call.name() == "Add" || call.name() == "bias_add") return per_channel(x, Variable(), *numbers, order);
    if (call.name() == "Multiply") return per_channel(x, *numbers, Variable(), order);
    if (call.is_variable(*numbers)) return {};
    const bool x_first = std::string_view(symbol) == "x1";
    const Tensor known_numbers = numbers->stored();
    if (call.name() == "Subtract")
      return x_first ? per_channel(x, Variable(), Variable(-known_numbers), order)
                     : per_channel(x, Variable(-K::ones_like(known_numbers)), *numbers, order);
    if ((call.name() == "Divide" || call.name() == "TrueDivide") && x_first &&
        has_normal_reciprocals(known_numbers))
      return per_channel(x, Variable(1 / known_numbers), Variable(), order);
    return {};
  }
  return {};
}

/// Plans slopes of negative numbers, one for each position along the last axis or axis 1.
MaybePlanned prelu(const Call& call) {
  const Tensor x = call->tensor("x");
  if (x.ndim() < 2 || call.result().rank() != x.ndim()) return {};
  for (const AxisOrder order : {AxisOrder::Own, AxisOrder::ChannelsLast})
    if (const auto slope = call.channel_weight("slope", x, order == AxisOrder::Own ? x.ndim() - 1 : 1))
      return of_one(
          x, [slope = *slope](Builder& network, int x) { return network.prelu(x, slope); }, order);
  return {};
}

MaybePlanned of_binary(const Call& call) {
  const auto is_symbol = [&](const char* name) {
    return !call->is_number(name) && is_symbolic(call->tensor(name)) &&
           !variable_read_by(call->tensor(name)).defined();
  };
  const bool first = is_symbol("x1"), second = is_symbol("x2");
  if (!first && !second) return {};
  const char* const other = first ? "x2" : "x1";
  if (first != second) {
    const Tensor x = call->tensor(first ? "x1" : "x2");
    const std::optional<double> number = call.result().rank() == x.ndim() ? call.number(other) : std::nullopt;
    return number ? with_number(call.name(), x, *number, !first)
                  : with_channels(call, first ? "x1" : "x2", other);
  }
  static const std::map<std::string_view, BinaryFunction> functions{{"Add", BinaryFunction::Add},
                                                                    {"Subtract", BinaryFunction::Subtract},
                                                                    {"Multiply", BinaryFunction::Multiply},
                                                                    {"Maximum", BinaryFunction::Maximum},
                                                                    {"Minimum", BinaryFunction::Minimum}};
  const auto found = functions.find(call.name());
  if (found == functions.end()) return {};
  const Tensor x1 = call->tensor("x1"), x2 = call->tensor("x2");
  const auto add = [f = found->second](Builder& network, const Nodes& x) {
    return network.binary(f, x[0], x[1]);
  };
  return PlannedOperation{{x1, x2}, add, x1.ndim() == x2.ndim() ? AxisOrder::Any : AxisOrder::Own};
}

// --- Windows -----------------------------------------------------------------------------------------------

/// The zeros or other numbers around the axes between samples and channels.
struct Border {
  Tensor x;
  double number;
  AxisOrder order;
  std::vector<std::int64_t> before, after;
};

/// Returns the border that an op puts around images or sequences; none for another op.
std::optional<Border> border_of(const Symbol& padded) {
  const std::optional<OperationCall> pad = operation_of(padded, true);
  if (!pad || std::string_view(pad->operation().name) != "Pad" || pad->text("mode") != "constant") return {};
  const Tensor x = pad->tensor("x");
  if (!pad->value("pad_width").is_list() || x.ndim() < 3 || x.ndim() > 4 || !is_symbolic(x)) return {};
  const auto pairs = pad->value("pad_width").as<std::vector<K::PaddingPair>>("[Pad] pad_width");
  const auto none = [&](int axis) {
    const K::PaddingPair& pair = pairs[static_cast<std::size_t>(axis)];
    return pair.before == 0 && pair.after == 0;
  };
  if (static_cast<int>(pairs.size()) != x.ndim() || !none(0) || (!none(1) && !none(x.ndim() - 1))) return {};
  const double number = pad->has("constant_values") ? pad->scalar("constant_values").real() : 0;
  Border border{x, number, none(1) ? AxisOrder::ChannelsLast : AxisOrder::Own, {}, {}};
  for (int axis = 1; axis < x.ndim() - 1; ++axis) {
    const auto& pair = pairs[static_cast<std::size_t>(none(1) ? axis + 1 : axis)];
    border.before.push_back(pair.before), border.after.push_back(pair.after);
  }
  return border;
}

/// Returns x without its border if it has this number, and then makes the border the padding of the window.
Tensor with_border(const Tensor& x, double number, AxisOrder order, K::WindowOptions& window) {
  const auto border =
      window.padding == "valid" && is_symbolic(x) ? border_of(*x.get()->symbol) : std::nullopt;
  if (!border || border->order != order || border->number != number) return x;
  for (std::size_t axis = 0; axis < window.size.size();
       ++axis)  // a window in the border alone would have no element
    if (std::max(border->before[axis], border->after[axis]) >= window.size[axis]) return x;
  window.padding = "explicit", window.before = border->before, window.after = border->after;
  return border->x;
}

/// Plans a convolution. A border of zeros is padding.
template <bool depthwise>
MaybePlanned convolution(const Call& call) {
  const Tensor x = call->tensor("inputs");
  const std::optional<Variable> kernel = call.weight("kernel");
  const int axes = x.ndim() - 2;
  if (!kernel || !kernel->defined() || axes < 1 || axes > 2 || kernel->ndim() != x.ndim()) return {};
  K::WindowOptions window{
      {}, call.extents("strides", axes), call.extents("dilation_rate", axes), call->text("padding")};
  for (int axis = 0; axis < axes; ++axis) window.size.push_back(kernel->shape()[axis]);
  const Tensor inside = with_border(x, 0, call.order_of_format(), window);
  const auto add = [kernel = *kernel, window](Builder& network, int x) {
    return network.convolution(x, kernel, Variable(), window, depthwise);
  };
  return of_one(inside, add, call.order_of_format());
}

/// Plans pooling. A border of -infinity, which no maximum takes, is padding.
template <bool maximum>
MaybePlanned pooling(const Call& call) {
  const Tensor given = call->tensor("inputs");
  const int axes = given.ndim() - 2;
  if (axes < 1 || axes > 2) return {};
  K::WindowOptions window{.size = call.extents("pool_size", axes),
                          .strides = call.extents(call->has("strides") ? "strides" : "pool_size", axes),
                          .padding = call->text("padding")};
  const Tensor inside = maximum ? with_border(given, -infinite, call.order_of_format(), window) : given;
  const auto add = [window](Builder& network, int x) { return network.pooling(x, window, maximum); };
  return of_one(inside, add, call.order_of_format());
}

/// Plans the maximum or the mean over the axes between samples and channels.
template <bool maximum>
MaybePlanned over_positions(const Call& call) {
  const Tensor x = call->tensor("x");
  const Axes axes = call->axes("axis");
  if (axes.all() || x.ndim() < 3 || x.ndim() > 4 || static_cast<int>(axes.list().size()) != x.ndim() - 2)
    return {};
  if (maximum && call->has("initial")) return {};
  std::vector<int> sorted = axes.list();
  for (int& axis : sorted) axis += axis < 0 ? x.ndim() : 0;
  std::sort(sorted.begin(), sorted.end());
  const AxisOrder order = sorted[0] == 1 ? AxisOrder::Own : AxisOrder::ChannelsLast;
  for (int i = 0; i < x.ndim() - 2; ++i)
    if (sorted[static_cast<std::size_t>(i)] != i + (order == AxisOrder::Own ? 1 : 2)) return {};
  const auto add = [keeps = call->flag("keepdims")](Builder& network, int x) {
    return network.global_pooling(x, maximum, keeps);
  };
  return of_one(x, add, order);
}

/// Plans zeros around images.
MaybePlanned padding(const Call& call) {
  const Tensor x = call->tensor("x");
  const std::optional<Border> border = x.ndim() == 4 ? border_of(call.symbol()) : std::nullopt;
  if (!border || border->number != 0) return {};
  const std::array<std::int64_t, 2> before{border->before[0], border->before[1]},
      after{border->after[0], border->after[1]};
  return of_one(
      x, [=](Builder& network, int x) { return network.padding(x, before, after); }, border->order);
}

// --- Products and normalizations ---------------------------------------------------------------------------

MaybePlanned product(const Call& call, const char* left, const char* right) {
  const Tensor x = call->tensor(left);
  const std::optional<Variable> kernel = call.weight(right);
  if (!is_symbolic(x) || x.ndim() < 2 || !kernel || kernel->ndim() != 2) return {};
  return of_one(
      x, [kernel = *kernel](Builder& network, int x) { return network.product(x, kernel, Variable()); });
}
MaybePlanned product_of_two(const Call& call) { return product(call, "x1", "x2"); }

struct NormalizationArguments {
  const char *mean, *variance, *offset, *scale;
};
template <const NormalizationArguments& names>
MaybePlanned batch_normalization(const Call& call) {
  const Tensor x = call->tensor("x");
  const auto mean = call.weight(names.mean), variance = call.weight(names.variance),
             offset = call.weight(names.offset), scale = call.weight(names.scale);
  const std::optional<AxisOrder> order = call.order_of_axis(x);
  if (!mean || !variance || !offset || !scale || !order) return {};
  const auto add = [=, epsilon = call->number("epsilon")](Builder& network, int x) {
    return network.normalization(x, *scale, *offset, *mean, *variance, epsilon);
  };
  return of_one(x, add, *order);
}

MaybePlanned layer_normalization(const Call& call) {
  const Tensor x = call->tensor("x");
  const auto gamma = call.weight("gamma"), beta = call.weight("beta");
  if (!gamma || !beta || call.order_of_axis(x) != AxisOrder::Own || !call->has("epsilon") ||
      call->flag("rms_scaling"))
    return {};
  return of_one(x, [=, epsilon = call->number("epsilon")](Builder& network, int x) {
    return network.layer_normalization(x, *gamma, *beta, epsilon, 1);
  });
}

// --- Shapes ------------------------------------------------------------------------------------------------

/// Plans an op that gives the same elements another shape.
MaybePlanned reshaped(const Call& call) {
  if (std::count(call.result().begin(), call.result().end(), None) > 1) return {};
  return of_one(call->tensor("x"), [made = call.result()](Builder& network, int x) -> Node {
    Shape shape = made;
    std::int64_t rest = 1;
    for (const std::int64_t extent : shape) rest *= extent == None ? 1 : extent;
    if (rest == 0) return {};
    std::replace(shape.begin(), shape.end(), std::int64_t{None}, Shape(network.shape(x)).count() / rest);
    return network.reshape(x, shape);
  });
}

MaybePlanned permutation(const Call& call) {
  const Tensor x = call->tensor("x");
  if (!call->has("axes")) return {};
  std::vector<int> axes;
  for (const std::int64_t axis : call->shape("axes"))
    axes.push_back(static_cast<int>(axis < 0 ? axis + x.ndim() : axis));
  if (axes.size() < 2 || axes[0] != 0) return {};
  const std::vector<int> to_last = x.ndim() == 3 ? std::vector{0, 2, 1} : std::vector{0, 2, 3, 1};
  const auto as_it_is = [](Builder&, int x) -> Node { return x; };
  if (axes == to_last) return of_one(x, as_it_is, AxisOrder::ToLast);
  if (axes == std::vector{0, 3, 1, 2}) return of_one(x, as_it_is, AxisOrder::FromLast);
  return of_one(x, [axes](Builder& network, int x) { return network.permutation(x, axes); });
}

MaybePlanned concatenation(const Call& call) {
  const std::vector<Tensor>& xs = call->tensors("xs");
  const std::optional<AxisOrder> order = call->has("axis") ? call.order_of_axis(xs[0]) : std::nullopt;
  if (!order) return {};
  return PlannedOperation{xs, [](Builder& network, const Nodes& x) { return network.concatenation(x); },
                          *order};
}

// --- The table ---------------------------------------------------------------------------------------------

constexpr char relu[] = "relu", relu6[] = "relu6", selu[] = "selu", silu[] = "silu", sigmoid[] = "sigmoid",
               tanh[] = "tanh", exponential[] = "exponential", linear[] = "linear";
constexpr NormalizationArguments of_keras{"mean", "variance", "offset", "scale"},
    of_backend{"mean", "var", "beta", "gamma"};

using Planner = MaybePlanned (*)(const Call&);

/// The operations that networks compute, by their names.
const std::map<std::string_view, Planner>& plans() {
  static const std::map<std::string_view, Planner> all{
      {"Relu", activation<relu>},
      {"Relu6", activation<relu6>},
      {"Selu", activation<selu>},
      {"Silu", activation<silu>},
      {"Sigmoid", activation<sigmoid>},
      {"Tanh", activation<tanh>},
      {"Exp", activation<exponential>},
      {"identity", activation<linear>},
      {"Negative", [](const Call& call) { return of_linear(call->tensor("x"), -1, 0); }},
      {"Elu",
       [](const Call& call) {
         return of_function(call, {Function::Elu, static_cast<float>(call->number("alpha"))});
       }},
      {"LeakyRelu",
       [](const Call& call) {
         return of_function(call, {Function::Relu, static_cast<float>(call->number("negative_slope"))});
       }},
      {"Gelu",
       [](const Call& call) {
         return of_function(call, {call->flag("approximate") ? Function::GeluTanh : Function::Gelu});
       }},
      {"prelu", prelu},
      {"Softmax", softmax},
      {"Add", of_binary},
      {"Subtract", of_binary},
      {"Multiply", of_binary},
      {"Divide", of_binary},
      {"TrueDivide", of_binary},
      {"Maximum", of_binary},
      {"Minimum", of_binary},
      {"bias_add",
       [](const Call& call) {
         return call.channels_last() ? with_channels(call, "x", "bias") : std::nullopt;
       }},
      {"Conv", convolution<false>},
      {"DepthwiseConv", convolution<true>},
      {"MaxPool", pooling<true>},
      {"AveragePool", pooling<false>},
      {"Clip",
       [](const Call& call) -> MaybePlanned {
         if (!call->is_number("x_min") || !call->is_number("x_max")) return {};
         return of_function(call, {Function::Clip, static_cast<float>(call->number("x_min")),
                                   static_cast<float>(call->number("x_max"))});
       }},
      {"Max", over_positions<true>},
      {"Mean", over_positions<false>},
      {"Pad", padding},
      {"Matmul", product_of_two},
      {"Dot", product_of_two},
      {"BatchNorm", batch_normalization<of_keras>},
      {"batch_normalization", batch_normalization<of_backend>},
      {"LayerNorm", layer_normalization},
      {"Reshape", reshaped},
      {"ExpandDims", reshaped},
      {"Squeeze", reshaped},
      {"batch_flatten", reshaped},
      {"Transpose", permutation},
      {"Concatenate", concatenation},
  };
  return all;
}

}  // namespace

std::optional<PlannedOperation> planned_operation(const Symbol& symbol) {
  if (symbol.outputs().size() != 1 || symbol.captured() > 0) return {};
  const DType dtype = symbol.outputs()[0].dtype;
  if (dtype != DType::Float32 && dtype != DType::BFloat16) return {};
  const std::optional<OperationCall> call = operation_of(symbol, true);
  const auto plan = call ? plans().find(call->operation().name) : plans().end();
  if (plan == plans().end()) return {};
  MaybePlanned planned = plan->second({symbol, *call});
  const auto fits = [dtype](const Tensor& x) { return is_symbolic(x) && x.dtype() == dtype; };
  if (!planned || !std::all_of(planned->inputs.begin(), planned->inputs.end(), fits)) return {};
  return planned;
}

}  // namespace ktape::nn
