#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/nn/activations.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <algorithm>
#include <cmath>

namespace ktape::ops {

namespace K = backend;

namespace {

using K::abs, K::exp, K::sqrt, K::tanh;
using kernels::functions::exp, kernels::functions::expm1, kernels::functions::tanh;
using op_helpers::floating, op_helpers::like, op_helpers::select, op_helpers::unary_by_input;

using kernels::functions::logistic;
Tensor logistic(const Tensor& a) { return K::sigmoid(a); }

/// (x - tanh(x)) / x^3 as a polynomial of x^2 for |x| < 1.2, of which floats need fewer terms.
template <class A>
constexpr double tanh_rest[] = {-8.52933191e-6, 8.24564728e-5, -3.91371434e-4, 1.28402594e-3, -3.49412425e-3,
                                8.8279216e-3,   -0.0218620052, 0.05396743516,  -0.1333332981, 0.3333333331};
template <>
constexpr double tanh_rest<double>[] = {
    2.82375693660507136e-10,  -4.55963358650383808e-9,   3.55867117106154322e-8,  -1.81424833332342451e-7,
    6.93478059592677096e-7,   -2.17771899300833726e-6,   6.03475492464017789e-6,  -0.0000156034281867361141,
    0.0000390905011556186932, -0.0000968282909424389092, 0.000239098103268853566, -0.000590019124080132014,
    0.0014558327520646155,    -0.00359212780983343553,   0.00886323550892526262,  -0.0218694885349669168,
    0.0539682539682182848,    -0.133333333333332907,     0.333333333333333332};

/// Returns a - tanh(a), which cancels for small a.
template <class A>
xsimd::batch<A> less_tanh(const xsimd::batch<A>& a) {
  const xsimd::batch<A> z = a * a;
  xsimd::batch<A> sum(0);
  for (const double c : tanh_rest<A>) sum = sum * z + static_cast<A>(c);
  return xsimd::select(xsimd::abs(a) < xsimd::batch<A>(A(1.2)), a * z * sum, a - tanh(a));
}

/// The slope of selu for x > 0, and the limit of the slope at 0 from below.
constexpr double selu_scale = 1.0507009873554805, selu_low_scale = selu_scale * 1.6732632423543772;

}  // namespace

Tensor relu(const Tensor& x) {
  expect_defined("relu", "x", x);
  return K::relu(x.dtype().is_bool() ? K::cast(x, DType::Int32) : x);
}
Tensor relu6(const Tensor& x) { return K::relu(floating("relu6", x), {.max_value = 6.0}); }
Tensor leaky_relu(const Tensor& x, double negative_slope) {
  return K::relu(floating("leaky_relu", x), {.alpha = negative_slope});
}
Tensor elu(const Tensor& x, double alpha) { return K::elu(floating("elu", x), alpha); }
Tensor selu(const Tensor& x) {
  return unary_by_input(
      "selu", floating("selu", x),
      [](auto a) { return select(a > 0, a * selu_scale, expm1(a) * selu_low_scale); },
      [](auto g, auto a) {
        return select(a > 0, g * selu_scale, g * selu_low_scale * exp(select(a > 0, like(a, 0), a)));
      });
}
Tensor gelu(const Tensor& x, bool approximate) {
  return K::gelu(floating("gelu", x), {.approximate = approximate});
}

Tensor glu(const Tensor& given, int axis) {
  const CalledOp called("glu");
  const std::vector<Tensor> halves = K::split(floating("glu", given), 2, axis);
  return halves[0] * K::sigmoid(halves[1]);
}

Tensor sigmoid(const Tensor& x) { return K::sigmoid(floating("sigmoid", x)); }
Tensor log_sigmoid(const Tensor& x) {
  return unary_by_input(
      "log_sigmoid", floating("log_sigmoid", x),
      [](auto a) {
        return select(a < 0, a, like(a, 0)) - kernels::functions::log1p_of_fraction(exp(-abs(a)));
      },
      [](auto g, auto a) { return g * logistic(-a); });
}
Tensor swish(const Tensor& x) {
  const CalledOp called("swish");
  return silu(x);
}
Tensor hard_swish(const Tensor& x) {
  const CalledOp called("hard_swish");
  return hard_silu(x);
}
Tensor hard_tanh(const Tensor& x) { return K::clip(floating("hard_tanh", x), -1, 1); }
Tensor tanh_shrink(const Tensor& x) {
  return unary_by_input(
      "tanh_shrink", floating("tanh_shrink", x), [](auto a) { return less_tanh(a); },
      [](auto g, auto a) {
        const auto t = tanh(a);
        return g * (t * t);
      });
}
Tensor softplus(const Tensor& x) { return K::softplus(floating("softplus", x)); }
Tensor softsign(const Tensor& x) { return K::softsign(floating("softsign", x)); }

Tensor softmax(const Tensor& given, const Axes& axis) {
  const CalledOp called("softmax");
  const Tensor x = floating("softmax", given);
  if (!axis.all() && axis.list().size() == 1) return K::softmax(x, axis.list()[0]);
  return K::exp(log_softmax(x, axis));
}
Tensor log_softmax(const Tensor& given, const Axes& axis) {
  const CalledOp called("log_softmax");
  const Tensor x = floating("log_softmax", given);
  if (!axis.all() && axis.list().size() == 1) return K::log_softmax(x, axis.list()[0]);
  const Tensor shifted = x - K::stop_gradient(K::max(x, axis, true));
  return shifted - K::logsumexp(shifted, axis, true);
}

Tensor celu(const Tensor& given, double alpha) {
  if (alpha == 0) fail("[celu] alpha must not be 0: received alpha=0");
  const Tensor x = floating("celu", given);
  if (is_symbolic(x)) return defer_described("celu", info_of(x), celu, x, alpha);
  return unary_by_input(
      "celu", x, [c = alpha](auto a) { return select(a > 0, a, expm1(a / c) * c); },
      [c = alpha](auto g, auto a) { return select(a > 0, g, g * exp(select(a > 0, like(a, 0), a) / c)); });
}

Tensor silu(const Tensor& x) {
  return unary_by_input(
      "silu", floating("silu", x), [](auto a) { return a * logistic(a); },
      [](auto g, auto a) {
        const auto s = logistic(a);
        return g * (s * (1 + a * logistic(-a)));
      });
}

Tensor hard_sigmoid(const Tensor& x) {
  return unary_by_input(
      "hard_sigmoid", floating("hard_sigmoid", x),
      [](auto a) { return select(a < -3, like(a, 0), select(a > 3, like(a, 1), (a + 3) / 6)); },
      [](auto g, auto a) { return select(a <= -3, like(g, 0), select(a >= 3, like(g, 0), g * (1 / 6.))); });
}

Tensor hard_silu(const Tensor& x) {
  return unary_by_input(
      "hard_silu", floating("hard_silu", x),
      [](auto a) { return select(a < -3, like(a, 0), select(a > 3, a, a * ((a + 3) / 6))); },
      [](auto g, auto a) { return select(a <= -3, like(g, 0), select(a >= 3, g, g * (a / 3 + 0.5))); });
}

Tensor hard_shrink(const Tensor& given, double threshold) {
  const Tensor x = floating("hard_shrink", given);
  if (is_symbolic(x)) return defer_described("hard_shrink", info_of(x), hard_shrink, x, threshold);
  return unary_by_input(
      "hard_shrink", x, [t = threshold](auto a) { return select(a > t, a, select(a < -t, a, like(a, 0))); },
      [t = threshold](auto g, auto a) { return select(a > t, g, select(a < -t, g, like(g, 0))); });
}

Tensor soft_shrink(const Tensor& given, double threshold) {
  const Tensor x = floating("soft_shrink", given);
  if (is_symbolic(x)) return defer_described("soft_shrink", info_of(x), soft_shrink, x, threshold);
  return unary_by_input(
      "soft_shrink", x,
      [t = threshold](auto a) { return select(a > t, a - t, select(a < -t, a + t, like(a, 0))); },
      [t = threshold](auto g, auto a) { return select(a > t, g, select(a < -t, g, like(g, 0))); });
}

Tensor threshold(const Tensor& given, double threshold, double default_value) {
  const Tensor x = floating("threshold", given);
  if (is_symbolic(x))
    return defer_described("threshold", info_of(x), ops::threshold, x, threshold, default_value);
  return unary_by_input(
      "threshold", x, [t = threshold, v = default_value](auto a) { return select(a > t, a, like(a, v)); },
      [t = threshold](auto g, auto a) { return select(a > t, g, like(g, 0)); });
}

namespace {

/// Returns the number above which squares do not feel b.
template <class B>
B far_from(const B& a, double b) {
  return like(a, std::sqrt(std::fabs(b)) * 0x1p28);
}
Tensor far_from(const Tensor& a, double b) {
  const double digits = a.dtype().is_half() ? 64 : 0x1p28;
  return like(a, std::min(std::sqrt(std::fabs(b)) * digits, op_helpers::largest_number(a.dtype())));
}

/// Returns sqrt(a^2 + b) / 2, without a^2 where it could overflow and b has no influence.
constexpr auto half_root = [](const auto& a, double b) {
  const auto half = abs(a) * 0.5;
  const auto far = half > far_from(half, b);
  const auto near = select(far, like(half, 0), half);
  return select(far, half, sqrt(near * near + b / 4));
};

/// Returns a / 2 + root; for negative a as the quotient of b / 4 and root - a / 2, which does not cancel.
constexpr auto squareplus_of = [](const auto& a, const auto& root, double b) {
  const auto large = abs(a) * 0.5 + root;
  return select(a < 0, (b / 4) / select(large == 0, like(large, 1), large), large);
};

}  // namespace

Tensor squareplus(const Tensor& given, double b) {
  const Tensor x = floating("squareplus", given);
  if (is_symbolic(x)) return defer_described("squareplus", info_of(x), squareplus, x, b);
  return unary_by_input(
      "squareplus", x, [b](auto a) { return squareplus_of(a, half_root(a, b), b); },
      [b](auto g, auto a) {
        const auto root = half_root(a, b);
        return g * (squareplus_of(a, root, b) / (root + root));
      });
}

Tensor sparsemax(const Tensor& given, int axis) {
  const CalledOp called("sparsemax");
  const Tensor x = floating("sparsemax", given);
  const Tensor z = x - K::stop_gradient(K::max(x, axis, true));
  const Tensor sorted = K::sort(z, axis, {.direction = "DESCENDING"});
  const Tensor rank = K::cumsum(K::ones_like(sorted), axis);
  const Tensor inside = K::cast(1 + rank * sorted > K::cumsum(sorted, axis), x.dtype());
  const Tensor level = (K::sum(inside * sorted, axis, true) - 1) / K::sum(inside, axis, true);
  return K::relu(z - level);
}

Tensor sparse_plus(const Tensor& x) {
  return unary_by_input(
      "sparse_plus", floating("sparse_plus", x),
      [](auto a) {
        const auto half = (a + 1) * 0.5;
        return select(a <= -1, like(a, 0), select(a >= 1, a, half * half));
      },
      [](auto g, auto a) { return select(a <= -1, like(g, 0), select(a >= 1, g, g * ((a + 1) * 0.5))); });
}

Tensor sparse_sigmoid(const Tensor& x) {
  return unary_by_input(
      "sparse_sigmoid", floating("sparse_sigmoid", x),
      [](auto a) { return select(a <= -1, like(a, 0), select(a >= 1, like(a, 1), (a + 1) * 0.5)); },
      [](auto g, auto a) { return select(a <= -1, like(g, 0), select(a >= 1, like(g, 0), g * 0.5)); });
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations activation_operations() {
  static constexpr Operation rows[] = {
      {"Relu", "nn", "x;", calls<ops::relu>, "-"},
      {"Relu6", "nn", "x;", calls<ops::relu6>, "-"},
      {"LeakyRelu", "nn", "x; negative_slope=0.2", calls<ops::leaky_relu>, "-"},
      {"Elu", "nn", "x; alpha=1.0", calls<ops::elu>},
      {"Celu", "nn", "x; alpha=1.0", calls<ops::celu>},
      {"Selu", "nn", "x;", calls<ops::selu>},
      {"Gelu", "nn", "x; approximate=true", calls<ops::gelu>},
      {"Glu", "nn", "x; axis=-1", calls<ops::glu>},
      {"Silu", "nn", "x;", calls<ops::silu>},
      {"Sigmoid", "nn", "x;", calls<ops::sigmoid>},
      {"HardSigmoid", "nn", "x;", calls<ops::hard_sigmoid>},
      {"HardSilu", "nn", "x;", calls<ops::hard_silu>},
      {"HardTanh", "nn", "x;", calls<ops::hard_tanh>},
      {"HardShrink", "nn", "x; threshold=0.5", calls<ops::hard_shrink>},
      {"SoftShrink", "nn", "x; threshold=0.5", calls<ops::soft_shrink>},
      {"Threshold", "nn", "x; threshold, default_value", calls<ops::threshold>},
      {"TanhShrink", "nn", "x;", calls<ops::tanh_shrink>},
      {"LogSigmoid", "nn", "x;", calls<ops::log_sigmoid>},
      {"Softplus", "nn", "x;", calls<ops::softplus>},
      {"Softsign", "nn", "x;", calls<ops::softsign>},
      {"SparsePlus", "nn", "x;", calls<ops::sparse_plus>},
      {"SparseSigmoid", "nn", "x;", calls<ops::sparse_sigmoid>},
      {"Squareplus", "nn", "x; b=4", calls<ops::squareplus>},
      {"Softmax", "nn", "x; axis=-1", calls<ops::softmax>},
      {"LogSoftmax", "nn", "x; axis=-1", calls<ops::log_softmax>},
      {"Sparsemax", "nn", "x; axis=-1", calls<ops::sparsemax>},
  };
  return rows;
}

}  // namespace ktape::nn
