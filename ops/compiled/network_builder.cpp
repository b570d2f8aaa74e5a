#include <ktape/ops/compiled/network_builder.hpp>
#include <ktape/ops/kernels/network/program.hpp>

#include <algorithm>

namespace ktape::backend {

using kernels::ElementFunction, kernels::NetworkNode;
using Kind = NetworkNode::Kind;
using Node = NetworkBuilder::Node;

namespace {

bool is_float(const Variable& variable) { return variable.dtype() == DType::Float32; }
bool fits(const Variable& variable) { return !variable.defined() || is_float(variable); }

}  // namespace

int NetworkBuilder::add(NetworkNode node) {
  network_.nodes.push_back(std::move(node));
  return static_cast<int>(network_.nodes.size()) - 1;
}

std::int64_t NetworkBuilder::products() const { return kernels::total_products(network_); }

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
  node.kind = kind, node.inputs = {x}, node.shape = shape(x);
  return node;
}

bool NetworkBuilder::windowed(NetworkNode& node, int x, const WindowOptions& window) const {
  if (shape(x).size() != 4 || window.size.size() != 2 || window.strides.size() != 2 ||
      window.dilation.size() != 2 || (window.padding != "valid" && window.padding != "same"))
    return false;
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t n = shape(x)[d + 1], stride = window.strides[d];
    const std::int64_t reach = (window.size[d] - 1) * window.dilation[d] + 1;
    const bool same = window.padding == "same";
    const std::int64_t extent = same ? (n + stride - 1) / stride : (n - reach) / stride + 1;
    if (n < 1 || (!same && n < reach)) return false;
    const std::int64_t zeros = std::max<std::int64_t>(0, (extent - 1) * stride + reach - n);
    node.window[d] = window.size[d], node.strides[d] = stride, node.dilation[d] = window.dilation[d];
    if (same) node.before[d] = zeros / 2, node.after[d] = zeros - zeros / 2;
    node.shape[d + 1] = extent;
  }
  return true;
}

int NetworkBuilder::input(const Shape& shape) {
  NetworkNode node;
  node.shape.assign(shape.begin(), shape.end());
  return add(node);
}

Node NetworkBuilder::convolution(int x, const Variable& kernel, const Variable& bias,
                                 const WindowOptions& window, bool depthwise) {
  NetworkNode node = like(Kind::Convolution, x);
  if (!is_float(kernel) || !fits(bias) || kernel.ndim() != 4 || !windowed(node, x, window)) return {};
  const std::int64_t channels = shape(x).back(), filters = kernel.shape().back();
  if (kernel.shape()[2] != channels) return {};
  node.shape.back() = depthwise ? channels * filters : filters;
  node.depthwise = depthwise, node.kernel = weight(kernel), node.bias = weight(bias);
  return add(node);
}

Node NetworkBuilder::product(int x, const Variable& kernel, const Variable& bias) {
  NetworkNode node = like(Kind::Product, x);
  if (!is_float(kernel) || !fits(bias) || shape(x).size() != 2 || kernel.ndim() != 2 ||
      kernel.shape()[0] != shape(x)[1])
    return {};
  node.shape.back() = kernel.shape()[1], node.kernel = weight(kernel), node.bias = weight(bias);
  return add(node);
}

Node NetworkBuilder::normalization(int x, const Variable& gamma, const Variable& beta, const Variable& mean,
                                   const Variable& variance, double epsilon) {
  NetworkNode node = like(Kind::Normalization, x);
  if (!fits(gamma) || !fits(beta) || !is_float(mean) || !is_float(variance) || mean.size() != shape(x).back())
    return {};
  node.normalizers = {{weight(gamma), weight(beta), weight(mean), weight(variance), epsilon}};
  return add(node);
}

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
  if (name == "leaky_relu") return function(x, {Function::Relu, 0.2F});
  if (name == "sigmoid") return function(x, {Function::Sigmoid});
  if (name == "tanh") return function(x, {Function::Tanh});
  if (name == "silu" || name == "swish") return function(x, {Function::Swish});
  if (name == "gelu") return function(x, {Function::Gelu});
  if (name == "softmax" && shape(x).size() == 2) return add(like(Kind::Softmax, x));
  return {};
}

Node NetworkBuilder::sum(int a, int b) {
  if (shape(a) != shape(b)) return {};
  NetworkNode node = like(Kind::Sum, a);
  node.inputs.push_back(b);
  return add(node);
}

Node NetworkBuilder::concatenation(const std::vector<int>& inputs) {
  NetworkNode node = like(Kind::Concatenation, inputs.at(0));
  node.inputs = inputs, node.shape.back() = 0;
  for (const int x : inputs) {
    if (shape(x).size() != node.shape.size() ||
        !std::equal(shape(x).begin(), shape(x).end() - 1, node.shape.begin()))
      return {};
    node.shape.back() += shape(x).back();
  }
  return add(node);
}

Node NetworkBuilder::pooling(int x, const WindowOptions& window, bool maximum) {
  NetworkNode node = like(maximum ? Kind::MaxPooling : Kind::AveragePooling, x);
  if (!windowed(node, x, window)) return {};
  return add(node);
}

Node NetworkBuilder::global_pooling(int x, bool maximum, bool keepdims) {
  if (shape(x).size() != 4) return {};
  const auto all = shape(x);
  const Node pooled = pooling(x, {.size = {all[1], all[2]}}, maximum);
  return !pooled || keepdims ? pooled : reshape(*pooled, {all[0], all[3]});
}

Node NetworkBuilder::padding(int x, const std::array<std::int64_t, 2>& before,
                             const std::array<std::int64_t, 2>& after) {
  if (shape(x).size() != 4) return {};
  NetworkNode node = like(Kind::Padding, x);
  node.before = before, node.after = after;
  for (std::size_t d = 0; d < 2; ++d) node.shape[d + 1] += before[d] + after[d];
  return add(node);
}

Node NetworkBuilder::reshape(int x, const Shape& shape) {
  NetworkNode node = like(Kind::Reshape, x);
  if (shape.rank() != 2 && shape.rank() != 4) return {};
  node.shape.assign(shape.begin(), shape.end());
  return add(node);
}

}  // namespace ktape::backend
