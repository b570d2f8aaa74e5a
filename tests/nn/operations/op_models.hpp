#pragma once
#include <ktape/ktape.hpp>

#include <functional>
#include <string>
#include <vector>

#include "../../ops/check.hpp"

/// Models with one op between their layers, for tests of saving and loading.
namespace op_models {

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace activations = ktape::nn::activations;
using ktape::All, ktape::Slice, ktape::Tensor, ktape::NewAxis;

struct Case {
  std::string operation;  ///< the function in the config
  std::function<Tensor(const Tensor& x, const Tensor& y)> op;
};

inline Tensor ids_of(const Tensor& x) { return K::cast(K::clip(K::abs(x) * 2.f, 0, 2), "int32"); }

/// Ops of one tensor x (batch, 3, 4), and of numbers.
inline std::vector<Case> unary_cases() {
  return {
      {"Absolute", [](const Tensor& x, auto&) { return K::abs(x); }},
      {"Negative", [](const Tensor& x, auto&) { return -x; }},
      {"Sqrt", [](const Tensor& x, auto&) { return K::sqrt(x); }},
      {"Square", [](const Tensor& x, auto&) { return K::square(x); }},
      {"Exp", [](const Tensor& x, auto&) { return K::exp(x); }},
      {"Expm1", [](const Tensor& x, auto&) { return K::expm1(x); }},
      {"Log", [](const Tensor& x, auto&) { return K::log(K::abs(x) + 1.f); }},
      {"Log1p", [](const Tensor& x, auto&) { return K::log1p(K::abs(x)); }},
      {"Round", [](const Tensor& x, auto&) { return K::round(x) + x; }},
      {"Sign", [](const Tensor& x, auto&) { return K::sign(x) * x; }},
      {"Sin", [](const Tensor& x, auto&) { return K::sin(x); }},
      {"Cos", [](const Tensor& x, auto&) { return K::cos(x); }},
      {"Tanh", [](const Tensor& x, auto&) { return K::tanh(x); }},
      {"Erf", [](const Tensor& x, auto&) { return K::erf(x); }},
      {"Add", [](const Tensor& x, auto&) { return 2.f + x; }},
      {"Subtract", [](const Tensor& x, auto&) { return 1.f - x; }},
      {"Subtract", [](const Tensor& x, auto&) { return x - 1.5f; }},
      {"Multiply", [](const Tensor& x, auto&) { return x * 3.f; }},
      {"Divide", [](const Tensor& x, auto&) { return 1.f / (K::abs(x) + 1.f); }},
      {"Divide", [](const Tensor& x, auto&) { return x / 4.f; }},
      {"Power", [](const Tensor& x, auto&) { return K::pow(x, 3); }},
      {"Clip", [](const Tensor& x, auto&) { return K::clip(x, -0.5, 0.5); }},
      {"Maximum", [](const Tensor& x, auto&) { return K::clip(x, 0, ktape::None); }},
      {"Maximum", [](const Tensor& x, auto&) { return K::maximum(x, 0.25f); }},
      {"Minimum", [](const Tensor& x, auto&) { return K::minimum(0.25f, x); }},
      {"Greater", [](const Tensor& x, auto&) { return K::cast(x > 0.f, "float32") * x; }},
      {"LessEqual", [](const Tensor& x, auto&) { return K::cast(0.5f <= x, "float32") * x; }},
      {"NotEqual", [](const Tensor& x, auto&) { return K::cast(K::not_equal(x, 0), "float32"); }},
      {"LogicalNot", [](const Tensor& x, auto&) { return K::cast(~(x > 0.f), "float32") * x; }},
      {"BitwiseNot", [](const Tensor& x, auto&) { return K::cast(~ids_of(x), "float32"); }},
      {"Isfinite", [](const Tensor& x, auto&) { return K::cast(K::is_finite(x), "float32") * x; }},
      {"Where", [](const Tensor& x, auto&) { return K::where(x > 0.f, x, -1.f); }},
      {"Where", [](const Tensor& x, auto&) { return x + K::where(x > 0.f, 1.f, 0.f); }},
      {"ZerosLike", [](const Tensor& x, auto&) { return K::zeros_like(x) + x; }},
      {"OnesLike", [](const Tensor& x, auto&) { return K::ones_like(x) * x; }},
      {"identity", [](const Tensor& x, auto&) { return K::identity(x); }},
      {"StopGradient", [](const Tensor& x, auto&) { return x * K::stop_gradient(x); }},
      {"Relu", [](const Tensor& x, auto&) { return K::relu(x); }},
      {"Relu6", [](const Tensor& x, auto&) { return K::relu(x, {.max_value = 6}); }},
      {"LeakyRelu", [](const Tensor& x, auto&) { return K::relu(x, {.alpha = 0.3}); }},
      {"relu", [](const Tensor& x, auto&) { return K::relu(x, {.max_value = 0.5, .threshold = 0.1}); }},
      {"Elu", [](const Tensor& x, auto&) { return K::elu(x, 0.7); }},
      {"Gelu", [](const Tensor& x, auto&) { return K::gelu(x, {.approximate = true}); }},
      {"Gelu", [](const Tensor& x, auto&) { return K::gelu(x); }},
      {"Sigmoid", [](const Tensor& x, auto&) { return K::sigmoid(x); }},
      {"HardSigmoid", [](const Tensor& x, auto&) { return activations::hard_sigmoid(x); }},
      {"hard_sigmoid", [](const Tensor& x, auto&) { return K::hard_sigmoid(x); }},
      {"HardSilu", [](const Tensor& x, auto&) { return activations::hard_silu(x); }},
      {"Silu", [](const Tensor& x, auto&) { return activations::silu(x); }},
      {"Celu", [](const Tensor& x, auto&) { return activations::celu(x, {.alpha = 0.5}); }},
      {"HardShrink", [](const Tensor& x, auto&) { return activations::hard_shrink(x, {.threshold = 0.3}); }},
      {"SoftShrink", [](const Tensor& x, auto&) { return activations::soft_shrink(x, {.threshold = 0.3}); }},
      {"Threshold", [](const Tensor& x,
                       auto&) { return activations::threshold(x, {.threshold = 0.2, .default_value = -1}); }},
      {"Squareplus", [](const Tensor& x, auto&) { return activations::squareplus(x, {.b = 2}); }},
      {"SparsePlus", [](const Tensor& x, auto&) { return activations::sparse_plus(x); }},
      {"SparseSigmoid", [](const Tensor& x, auto&) { return activations::sparse_sigmoid(x); }},
      {"Softplus", [](const Tensor& x, auto&) { return K::softplus(x); }},
      {"Softsign", [](const Tensor& x, auto&) { return K::softsign(x); }},
      {"Softmax", [](const Tensor& x, auto&) { return K::softmax(x, 1); }},
      {"LogSoftmax", [](const Tensor& x, auto&) { return K::log_softmax(x); }}};
}

/// Ops that change the shape, index or reduce.
inline std::vector<Case> shape_cases() {
  return {{"Sum",
           [](const Tensor& x, auto&) {
             return K::sum(x, {1, 2}, true);
           }},
          {"Mean", [](const Tensor& x, auto&) { return K::mean(x, -1); }},
          {"Max", [](const Tensor& x, auto&) { return K::max(x, 1); }},
          {"Min", [](const Tensor& x, auto&) { return K::min(x, 1, true); }},
          {"Prod", [](const Tensor& x, auto&) { return K::prod(x, -1); }},
          {"Var", [](const Tensor& x, auto&) { return K::var(x, 2); }},
          {"Std", [](const Tensor& x, auto&) { return K::std(x, 2); }},
          {"Norm", [](const Tensor& x, auto&) { return K::norm(x, 2); }},
          {"Logsumexp", [](const Tensor& x, auto&) { return K::logsumexp(x, 1); }},
          {"Any", [](const Tensor& x, auto&) { return K::cast(K::any(x > 0.f, -1), "float32"); }},
          {"All", [](const Tensor& x, auto&) { return K::cast(K::all(x > 0.f, -1, true), "float32"); }},
          {"Argmax", [](const Tensor& x, auto&) { return K::cast(K::argmax(x, 1), "float32"); }},
          {"Argmin", [](const Tensor& x, auto&) { return K::cast(K::argmin(x), "float32"); }},
          {"Cumsum", [](const Tensor& x, auto&) { return K::cumsum(x, 1); }},
          {"Cumprod", [](const Tensor& x, auto&) { return K::cumprod(x, 2); }},
          {"GetItem",
           [](const Tensor& x, auto&) {
             return x[{All, 0}];
           }},
          {"GetItem",
           [](const Tensor& x, auto&) {
             return x[{ktape::Ellipsis, Slice(ktape::None, ktape::None, -1), NewAxis}];
           }},
          {"Take",
           [](const Tensor& x, auto&) {
             return K::gather(x, K::constant({0, 0}, {.dtype = "int32"}));
           }},
          {"OneHot", [](const Tensor& x, auto&) { return K::one_hot(ids_of(x), 3); }},
          {"TopK", [](const Tensor& x, auto&) { return K::top_k(x, 2).values; }},
          {"Sort", [](const Tensor& x, auto&) { return K::sort(x, 1); }},
          {"sort", [](const Tensor& x, auto&) { return K::sort(x, 1, {.direction = "DESCENDING"}); }},
          {"Argsort", [](const Tensor& x, auto&) { return K::cast(K::argsort(x, 1), "float32"); }},
          {"Reshape",
           [](const Tensor& x, auto&) {
             return K::reshape(x, {-1, 6, 2});
           }},
          {"Reshape",
           [](const Tensor& x, auto&) {
             return K::reshape(x, {K::shape(x)[0], 4, 3});
           }},
          {"Transpose",
           [](const Tensor& x, auto&) {
             return K::permute_dimensions(x, {0, 2, 1});
           }},
          {"Ravel", [](const Tensor& x, auto&) { return K::flatten(x); }},
          {"batch_flatten", [](const Tensor& x, auto&) { return K::batch_flatten(x); }},
          {"ExpandDims", [](const Tensor& x, auto&) { return K::expand_dims(x, 1); }},
          {"Squeeze", [](const Tensor& x, auto&) { return K::squeeze(K::sum(x, 1, true), 1); }},
          {"Concatenate",
           [](const Tensor& x, auto&) {
             return K::concatenate({x, x * 2.f}, -1);
           }},
          {"Stack",
           [](const Tensor& x, auto&) {
             return K::stack({x, -x}, 1);
           }},
          {"Repeat", [](const Tensor& x, auto&) { return K::repeat_elements(x, 2, 1); }},
          {"repeat_vector",
           [](const Tensor& x, auto&) {
             return K::repeat(x[{All, 0}], 3);
           }},
          {"Tile",
           [](const Tensor& x, auto&) {
             return K::tile(x, {1, 2, 1});
           }},
          {"Flip",
           [](const Tensor& x, auto&) {
             return K::reverse(x, {1, 2});
           }},
          {"GetItem",
           [](const Tensor& x, auto&) {
             return K::slice(x, {0, 1, 1}, {-1, 2, 2});
           }},
          {"Split", [](const Tensor& x, auto&) { return K::split(x, 2, 2)[1]; }},
          {"Split",
           [](const Tensor& x, auto&) {
             const auto parts = K::split(x, {1, 3}, -1);
             return K::concatenate({parts[1], parts[0]});
           }},
          {"Unstack",
           [](const Tensor& x, auto&) {
             const auto rows = K::unstack(x, 1);
             return rows[0] * rows[2];
           }},
          {"Pad",
           [](const Tensor& x, auto&) {
             return K::pad(x, {{0, 0}, {1, 2}, {0, 1}}, {.constant_values = 0.5});
           }},
          {"Pad", [](const Tensor& x, auto&) {
             return K::pad(x, {{0, 0}, {1, 2}, {0, 1}}, {.mode = "reflect"});
           }}};
}

/// Ops of two tensors: x (batch, 3, 4) and y (batch, 3, 4).
inline std::vector<Case> binary_cases() {
  return {{"Add", [](const Tensor& x, const Tensor& y) { return x + y; }},
          {"Subtract", [](const Tensor& x, const Tensor& y) { return x - y; }},
          {"Multiply", [](const Tensor& x, const Tensor& y) { return x * y; }},
          {"Divide", [](const Tensor& x, const Tensor& y) { return x / (K::abs(y) + 1.f); }},
          {"Add",
           [](const Tensor& x, const Tensor&) {
             return x + K::constant({1., 2., 3., 4.});
           }},
          {"Power", [](const Tensor& x, const Tensor& y) { return K::pow(K::abs(x) + 1.f, y); }},
          {"Maximum", [](const Tensor& x, const Tensor& y) { return K::maximum(x, y); }},
          {"Minimum", [](const Tensor& x, const Tensor& y) { return K::minimum(x, y); }},
          {"Equal", [](const Tensor& x, const Tensor& y) { return K::cast(K::equal(x, y), "float32"); }},
          {"GreaterEqual", [](const Tensor& x, const Tensor& y) { return K::cast(x >= y, "float32"); }},
          {"Less", [](const Tensor& x, const Tensor& y) { return K::cast(x < y, "float32"); }},
          {"LogicalAnd",
           [](const Tensor& x, const Tensor& y) { return K::cast((x > 0.f) & (y > 0.f), "float32"); }},
          {"LogicalOr",
           [](const Tensor& x, const Tensor& y) { return K::cast((x > 0.f) | (y > 0.f), "float32"); }},
          {"LogicalXor",
           [](const Tensor& x, const Tensor& y) { return K::cast((x > 0.f) ^ (y > 0.f), "float32"); }},
          {"BitwiseAnd",
           [](const Tensor& x, const Tensor& y) { return K::cast(ids_of(x) & ids_of(y), "float32"); }},
          {"BitwiseOr",
           [](const Tensor& x, const Tensor& y) { return K::cast(ids_of(x) | ids_of(y), "float32"); }},
          {"BitwiseXor",
           [](const Tensor& x, const Tensor& y) { return K::cast(ids_of(x) ^ ids_of(y), "float32"); }},
          {"Where", [](const Tensor& x, const Tensor& y) { return K::where(x > y, x, y); }},
          {"Matmul",
           [](const Tensor& x, const Tensor& y) {
             return K::matmul(x, K::permute_dimensions(y, {0, 2, 1}));
           }},
          {"matmul", [](const Tensor& x, const Tensor& y) { return K::matmul(x, y, {.transpose_b = true}); }},
          {"Dot",
           [](const Tensor& x, const Tensor&) {
             return K::dot(x, K::ones({4, 2}));
           }},
          {"batch_dot",
           [](const Tensor& x, const Tensor& y) {
             return K::batch_dot(x, y, {2, 2});
           }},
          {"Einsum",
           [](const Tensor& x, const Tensor& y) {
             return K::einsum("bij,bkj->bik", {x, y});
           }},
          {"bias_add",
           [](const Tensor& x, const Tensor&) {
             return K::bias_add(x, K::constant({1., 2., 3., 4.}));
           }},
          {"Conv",
           [](const Tensor& x, const Tensor&) {
             return K::conv1d(x, K::ones({2, 4, 3}), {.strides = 2, .padding = "same"});
           }},
          {"DepthwiseConv",
           [](const Tensor& x, const Tensor&) {
             return K::depthwise_conv2d(K::expand_dims(x, -1), K::ones({2, 2, 1, 2}));
           }},
          {"MaxPool", [](const Tensor& x,
                         const Tensor&) { return K::pool2d(K::expand_dims(x, -1), 2, {.strides = 1}); }},
          {"AveragePool",
           [](const Tensor& x, const Tensor&) {
             return K::pool2d(K::expand_dims(x, -1), {2, 1}, {.padding = "same", .pool_mode = "avg"});
           }},
          {"InTopK",
           [](const Tensor& x, const Tensor&) {
             return K::cast(K::in_top_k(x[{All, 0}], K::argmax(x[{All, 1}]), 2), "float32");
           }},
          {"gather_nd", [](const Tensor& x, const Tensor&) {
             return K::gather_nd(x, ints({{0, 1}, {1, 2}}));
           }}};
}

/// Functions of keras.ops with kernels and numbers of their own.
inline std::vector<Case> keras3_cases() {
  namespace ops = ktape::ops;
  const auto number = [](const Tensor& condition) { return K::cast(condition, "float32"); };
  return {
      {"Celu", [](const Tensor& x, auto&) { return ops::celu(x, 0.5); }},
      {"HardShrink", [](const Tensor& x, auto&) { return ops::hard_shrink(x, 0.3); }},
      {"SoftShrink", [](const Tensor& x, auto&) { return ops::soft_shrink(x, 0.3); }},
      {"Threshold", [](const Tensor& x, auto&) { return ops::threshold(x, 0.25, -2); }},
      {"Squareplus", [](const Tensor& x, auto&) { return ops::squareplus(x, 3); }},
      {"Selu", [](const Tensor& x, auto&) { return ops::selu(x); }},
      {"LogSigmoid", [](const Tensor& x, auto&) { return ops::log_sigmoid(x); }},
      {"TanhShrink", [](const Tensor& x, auto&) { return ops::tanh_shrink(x); }},
      {"Round", [](const Tensor& x, auto&) { return ops::round(x, 1) + x; }},
      {"NanToNum", [](const Tensor& x, auto&) { return ops::nan_to_num(K::log(x), 3, ktape::None, -2); }},
      {"Sinc", [](const Tensor& x, auto&) { return ops::sinc(x); }},
      {"I0", [](const Tensor& x, auto&) { return ops::i0(x); }},
      {"Signbit", [=](const Tensor& x, auto&) { return number(ops::signbit(x)) * x; }},
      {"Isinf", [=](const Tensor& x, auto&) { return number(ops::isinf(1.f / K::relu(x))) * x; }},
      {"Isclose", [=](auto& x, auto& y) { return number(ops::isclose(x, y, {.rtol = 0.5})) * x; }},
      {"DivideNoNan", [](auto& x, auto& y) { return ops::divide_no_nan(x, K::relu(y)); }},
      {"Fmax", [](auto& x, auto& y) { return ops::fmax(x, y); }},
      {"Fmin", [](auto& x, auto& y) { return ops::fmin(x, y); }},
      {"Mod", [](auto& x, auto& y) { return ops::mod(x, y); }},
      {"Heaviside", [](auto& x, auto& y) { return ops::heaviside(x, y) * x; }},
      {"Logaddexp2", [](auto& x, auto& y) { return ops::logaddexp2(x, y); }},
      {"FloorDivide", [=](auto& x, auto& y) { return number(ops::floor_divide(ids_of(x), ids_of(y))) + x; }},
  };
}

inline std::vector<Case> all_cases() {
  std::vector<Case> all = unary_cases();
  for (const auto& cases : {shape_cases(), binary_cases(), keras3_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

/// A model that calls the op on the outputs of two layers.
inline nn::Model model_of(const Case& one) {
  const Tensor x = nn::Input({3, 4}, {.name = "x"}), y = nn::Input({3, 4}, {.name = "y"});
  const Tensor a = nn::Dense(4, {.kernel_initializer = "orthogonal", .name = "a"})(x);
  return nn::Model({x, y}, one.op(a, y * 2.f), {.name = "m"});
}

inline Tensor x_values() { return normal({2, 3, 4}, 5, "float32"); }
inline Tensor y_values() { return normal({2, 3, 4}, 6, "float32"); }

/// The gradient of the weighted sum of the model's output with respect to the kernel; empty if there is none.
inline std::vector<double> kernel_gradient(const nn::Model& model) {
  ktape::GradientTape tape;
  const Tensor y = model({x_values(), y_values()});
  const Tensor gradient = tape.gradient(K::sum(y * normal(y.shape(), 7, "float32")), model.weights()[0]);
  return gradient.defined() ? values(gradient) : std::vector<double>();
}

}  // namespace op_models
