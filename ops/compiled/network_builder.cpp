#include <ktape/ops/compiled/network_builder.hpp>
#include <ktape/ops/kernels/engine/engine.hpp>

#include <algorithm>

namespace ktape::backend {

using kernels::ElementFunction, kernels::NetworkNode;
using Kind = NetworkNode::Kind;
using Node = NetworkBuilder::Node;

namespace {

bool is_float(const Variable& variable) { return variable.dtype() == DType::Float32 && variable.has_value(); }
bool fits(const Variable& variable) { return !variable.defined() || is_float(variable); }
bool fits(const Variable& variable, std::int64_t size) {
  return !variable.defined() || (is_float(variable) && variable.size() == size);
}

}  // namespace

std::optional<kernels::NumberType> network_numbers(DType dtype) {
  if (dtype == DType::Float32) return kernels::NumberType::Float32;
  if (dtype == DType::BFloat16 && kernels::multiplies_bfloat16()) return kernels::NumberType::BFloat16;
  return {};
}

int NetworkBuilder::add(NetworkNode node) {
  network_.nodes.push_back(std::move(node));
  return static_cast<int>(network_.nodes.size()) - 1;
}

int NetworkBuilder::add_own(std::vector<int> inputs, const Shape& shape,
                            std::shared_ptr<const kernels::NodeKernel> kernel, std::vector<int> weights) {
  NetworkNode node;
  node.kind = Kind::Own, node.inputs = std::move(inputs), node.own = std::move(kernel);
  node.numbers = numbers(node.inputs[0]);
  node.weights = std::move(weights), node.shape.assign(shape.begin(), shape.end());
  return add(std::move(node));
}

int NetworkBuilder::weight(const Variable& variable) {
  if (!variable.defined()) return -1;
  const auto same = [&](const Variable& other) { return other.is(variable); };
  const auto at = std::find_if(weights_.begin(), weights_.end(), same);
  if (at != weights_.end()) return static_cast<int>(at - weights_.begin());
  weights_.push_back(variable);
  return static_cast<int>(weights_.size()) - 1;
}

NetworkNode NetworkBuilder::like(Kind kind, int x) const {
  NetworkNode node;
  node.kind = kind, node.inputs = {x}, node.shape = shape(x), node.numbers = numbers(x);
  return node;
}

int NetworkBuilder::input(const Shape& shape, kernels::NumberType numbers) {
  NetworkNode node;
  node.numbers = numbers;
  node.shape.assign(shape.begin(), shape.end());
  return add(node);
}

bool NetworkBuilder::multiplies() const {
  return std::any_of(network_.nodes.begin(), network_.nodes.end(), [](const NetworkNode& node) {
    return node.multiplies() || (node.own && node.own->products() > 0);
  });
}

// --- Windows -----------------------------------------------------------------------------------------------

bool NetworkBuilder::windowed(NetworkNode& node, int x, const WindowOptions& window) const {
  if (rank(x) != 4 || window.size.size() != 2 || window.strides.size() != 2 || window.dilation.size() != 2)
    return false;
  const bool same = window.padding == "same", causal = window.padding == "causal",
             given = window.padding == "explicit";
  if (!same && !causal && !given && window.padding != "valid") return false;
  if (given && (window.before.size() != 2 || window.after.size() != 2)) return false;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t around = given ? window.before[d] + window.after[d] : 0;
    const std::int64_t n = shape(x)[d + 1] + around, stride = window.strides[d];
    const std::int64_t reach = (window.size[d] - 1) * window.dilation[d] + 1;
    const std::int64_t extent = same || causal ? (n + stride - 1) / stride : (n - reach) / stride + 1;
    if (n < 1 || (!same && !causal && n < reach)) return false;
    const std::int64_t zeros =
        causal ? reach - 1 : std::max<std::int64_t>(0, (extent - 1) * stride + reach - n);
    node.window[d] = window.size[d], node.strides[d] = stride, node.dilation[d] = window.dilation[d];
    if (same) node.before[d] = zeros / 2, node.after[d] = zeros - zeros / 2;
    if (causal) node.before[d] = zeros;
    if (given) node.before[d] = window.before[d], node.after[d] = window.after[d];
    node.shape[d + 1] = extent;
  }
  return true;
}

/// Calls `add` on x as images and the window as a window over images: sequences become images of height 1.
Node NetworkBuilder::on_images(int x, WindowOptions window,
                               const std::function<Node(int, const WindowOptions&)>& add) {
  if (rank(x) == 4) return add(x, window);
  if (rank(x) != 3 || window.size.size() != 1 || window.strides.size() != 1) return {};
  window.size.insert(window.size.begin(), 1), window.strides.insert(window.strides.begin(), 1);
  window.dilation = {1, window.dilation.back()};
  if (!window.before.empty()) window.before.insert(window.before.begin(), 0);
  if (!window.after.empty()) window.after.insert(window.after.begin(), 0);
  const auto all = shape(x);
  const Node images = reshape(x, {all[0], 1, all[1], all[2]});
  const Node y = add(*images, window);
  if (!y) return {};
  const auto made = shape(*y);
  return reshape(*y, {made[0], made[2], made[3]});
}

Node NetworkBuilder::convolution(int x, const Variable& kernel, const Variable& bias,
                                 const WindowOptions& window, bool depthwise) {
  if (!is_float(kernel) || kernel.ndim() != rank(x)) return {};
  const std::int64_t channels = shape(x).back(), last = kernel.shape().back();
  const std::int64_t filters = depthwise ? channels * last : last;
  if (kernel.shape()[-2] != channels || !fits(bias, filters)) return {};
  return on_images(x, window, [&](int images, const WindowOptions& at) -> Node {
    NetworkNode node = like(Kind::Convolution, images);
    if (!windowed(node, images, at)) return {};
    node.shape.back() = filters;
    node.depthwise = depthwise, node.kernel = weight(kernel), node.bias = weight(bias);
    return add(node);
  });
}

Node NetworkBuilder::pooling(int x, const WindowOptions& window, bool maximum) {
  return on_images(x, window, [&](int images, const WindowOptions& at) -> Node {
    NetworkNode node = like(maximum ? Kind::MaxPooling : Kind::AveragePooling, images);
    if (!windowed(node, images, at)) return {};
    return add(node);
  });
}

Node NetworkBuilder::global_pooling(int x, bool maximum, bool keepdims) {
  const auto all = shape(x);
  if (rank(x) != 3 && rank(x) != 4) return {};
  const Node pooled = pooling(
      x, {.size = {all.begin() + 1, all.end() - 1}, .strides = std::vector<std::int64_t>(all.size() - 2, 1)},
      maximum);
  return !pooled || keepdims ? pooled : reshape(*pooled, {all[0], all.back()});
}

Node NetworkBuilder::padding(int x, const std::array<std::int64_t, 2>& before,
                             const std::array<std::int64_t, 2>& after) {
  if (rank(x) != 4) return {};
  NetworkNode node = like(Kind::Padding, x);
  node.before = before, node.after = after;
  for (std::size_t d = 0; d < 2; ++d) node.shape[d + 1] += before[d] + after[d];
  return add(node);
}

// --- Products and normalizations ----------------------------------------------------------------------------

Node NetworkBuilder::product(int x, const Variable& kernel, const Variable& bias, int inner) {
  if (!is_float(kernel) || inner < 1 || inner >= rank(x) || kernel.ndim() <= inner) return {};
  Shape rows(shape(x)), made;
  std::int64_t width = 1;
  for (int axis = 0; axis < inner; ++axis) {
    if (rows[rank(x) - inner + axis] != kernel.shape()[axis]) return {};
    width *= kernel.shape()[axis];
  }
  for (int axis = 0; axis < rank(x) - inner; ++axis) made.push_back(rows[axis]);
  for (int axis = inner; axis < kernel.ndim(); ++axis) made.push_back(kernel.shape()[axis]);
  const std::int64_t channels = kernel.size() / std::max<std::int64_t>(width, 1);
  if (!fits(bias, channels) || made.rank() > 5 || width == 0 || channels == 0) return {};
  Shape flat = made;
  while (flat.rank() > rank(x) - inner + 1) flat.erase(flat.rank() - 1);
  flat[-1] = channels;
  if (inner > 1) {
    Shape joined = flat;
    joined[-1] = width;
    x = *reshape(x, joined);
  }
  NetworkNode node = like(Kind::Product, x);
  node.shape.assign(flat.begin(), flat.end());
  node.kernel = weight(kernel), node.bias = weight(bias);
  const int y = add(node);
  return flat == made ? y : reshape(y, made);
}

Node NetworkBuilder::normalization(int x, const Variable& gamma, const Variable& beta, const Variable& mean,
                                   const Variable& variance, double epsilon) {
  NetworkNode node = like(Kind::Normalization, x);
  if (!fits(gamma) || !fits(beta) || !is_float(mean) || !is_float(variance) || mean.size() != shape(x).back())
    return {};
  node.normalizers = {{weight(gamma), weight(beta), weight(mean), weight(variance), epsilon}};
  return add(node);
}

Node NetworkBuilder::layer_normalization(int x, const Variable& gamma, const Variable& beta, double epsilon,
                                         int axes) {
  if (axes < 1 || axes >= rank(x)) return {};
  std::int64_t rows = 1, n = 1;
  for (int axis = 0; axis < rank(x); ++axis)
    (axis < rank(x) - axes ? rows : n) *= shape(x)[static_cast<std::size_t>(axis)];
  if (!fits(gamma, n) || !fits(beta, n)) return {};
  return add_own({x}, shape(x),
                 kernels::layer_normalization_kernel(rows, n, epsilon, gamma.defined(), beta.defined()),
                 {weight(gamma), weight(beta)});
}

// --- Functions ---------------------------------------------------------------------------------------------

Node NetworkBuilder::function(int x, const ElementFunction& f) {
  NetworkNode node = like(Kind::Function, x);
  node.functions = {f};
  return add(node);
}

Node NetworkBuilder::activation(int x, const std::string& name) {
  using Function = ElementFunction::Kind;
  if (name == "linear") return x;
  if (name == "relu") return function(x, {Function::Relu});
  if (name == "relu6") return function(x, {Function::Clip, 0, 6});
  if (name == "elu") return function(x, {Function::Elu, 1});
  if (name == "selu")
    return function(*function(x, {Function::Elu, 1.6732632F}), {Function::Linear, 1.050701F, 0});
  if (name == "leaky_relu") return function(x, {Function::Relu, 0.2F});
  if (name == "sigmoid") return function(x, {Function::Sigmoid});
  if (name == "tanh") return function(x, {Function::Tanh});
  if (name == "silu" || name == "swish") return function(x, {Function::Swish});
  if (name == "gelu") return function(x, {Function::Gelu});
  if (name == "exponential") return function(x, {Function::Exp});
  if (name == "softmax") return softmax(x);
  return {};
}

Node NetworkBuilder::prelu(int x, const Variable& slope) {
  const std::int64_t channels = shape(x).back();
  if (!is_float(slope) || slope.size() != channels || numbers(x) != kernels::NumberType::Float32) return {};
  const std::int64_t rows = Shape(shape(x)).count() / std::max<std::int64_t>(channels, 1);
  return add_own({x}, Shape(shape(x)), kernels::prelu_kernel(rows, channels), {weight(slope)});
}

Node NetworkBuilder::softmax(int x) { return add(like(Kind::Softmax, x)); }

Node NetworkBuilder::binary(kernels::BinaryFunction function, int a, int b) {
  if (numbers(a) != numbers(b)) return {};
  if (shape(a) == shape(b)) {
    NetworkNode node = like(function == kernels::BinaryFunction::Add ? Kind::Sum : Kind::Binary, a);
    node.inputs.push_back(b), node.binary = function;
    return add(node);
  }
  if (rank(a) != rank(b)) return {};
  const auto repeats_to = [&](int from, int to) {
    return std::equal(shape(from).begin(), shape(from).end(), shape(to).begin(),
                      [](std::int64_t n, std::int64_t all) { return n == 1 || n == all; });
  };
  if (!repeats_to(b, a)) {
    if (function == kernels::BinaryFunction::Subtract || !repeats_to(a, b)) return {};
    std::swap(a, b);
  }
  NetworkNode node = like(Kind::Binary, a);
  node.inputs.push_back(b), node.binary = function;
  return add(node);
}

// --- Shapes ------------------------------------------------------------------------------------------------

Node NetworkBuilder::concatenation(const std::vector<int>& inputs) {
  NetworkNode node = like(Kind::Concatenation, inputs.at(0));
  node.inputs = inputs, node.shape.back() = 0;
  for (const int x : inputs) {
    if (numbers(x) != node.numbers || shape(x).size() != node.shape.size() ||
        !std::equal(shape(x).begin(), shape(x).end() - 1, node.shape.begin()))
      return {};
    node.shape.back() += shape(x).back();
  }
  return add(node);
}

int NetworkBuilder::cast(int x, kernels::NumberType numbers) {
  if (numbers == this->numbers(x)) return x;
  NetworkNode node = like(Kind::Cast, x);
  node.numbers = numbers;
  return add(node);
}

Node NetworkBuilder::reshape(int x, const Shape& shape) {
  NetworkNode node = like(Kind::Reshape, x);
  if (shape.rank() < 2 || shape.rank() > 5 || shape.count() != Shape(this->shape(x)).count()) return {};
  node.shape.assign(shape.begin(), shape.end());
  return add(node);
}

Node NetworkBuilder::permutation(int x, const std::vector<int>& axes) {
  Shape made;
  for (const int axis : axes) made.push_back(shape(x)[static_cast<std::size_t>(axis)]);
  return add_own({x}, made, kernels::permute_kernel(shape(x), axes));
}

Node NetworkBuilder::reversal(int x) {
  if (rank(x) != 3) return {};
  const auto all = shape(x);
  return add_own({x}, all, kernels::reversal_kernel(all[0], all[1], all[2]));
}

// --- Sequences ---------------------------------------------------------------------------------------------

Node NetworkBuilder::recurrence(int x, kernels::RecurrentDescription::Cell cell,
                                const RecurrentWeights& weights, const RecurrentLoop& loop) {
  using Cell = kernels::RecurrentDescription::Cell;
  const std::int64_t gates = cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1;
  const auto& [kernel, recurrent, bias] = weights;
  if (rank(x) != 3 || !is_float(kernel) || !is_float(recurrent)) return {};
  const std::int64_t samples = shape(x)[0], steps = shape(x)[1], units = recurrent.shape()[0];
  const std::int64_t rows = cell == Cell::Gru ? 2 : 1;
  if (kernel.shape() != Shape{shape(x)[2], gates * units} || !fits(bias, rows * gates * units)) return {};
  NetworkNode projection = like(Kind::Product, x);
  projection.columns = kernels::recurrent_columns(cell, units);
  projection.shape.back() = static_cast<std::int64_t>(projection.columns->size());
  projection.kernel = weight(kernel);
  const int projected = add(std::move(projection));
  const Shape made = loop.return_sequences ? Shape{samples, steps, units} : Shape{samples, units};
  return add_own({projected}, made,
                 kernels::recurrent_kernel(
                     {cell, loop.relu, samples, steps, units, loop.go_backwards, loop.return_sequences}),
                 {weight(recurrent), weight(bias)});
}

Node NetworkBuilder::attention(int query, int key, int value, double scale) {
  if (rank(query) != 4 || rank(key) != 4 || rank(value) != 4) return {};
  if (numbers(query) != numbers(key) || numbers(query) != numbers(value)) return {};
  const auto q = shape(query), k = shape(key), v = shape(value);
  if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1] || q[2] != k[2] || q[2] != v[2] || q[3] != k[3]) return {};
  return add_own({query, key, value}, {q[0], q[1], q[2], v[3]},
                 kernels::attention_kernel({q[0], q[2], q[1], k[1], q[3], v[3], scale, false,
                                            numbers(query) == kernels::NumberType::BFloat16}));
}

}  // namespace ktape::backend
