#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/hiding.hpp>
#include <ktape/ops/kernels/normalization/layer_norm.hpp>
#include <ktape/ops/nn/internal/axis_parameters.hpp>
#include <ktape/ops/nn/normalization.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/shape.hpp>

#include <numeric>

namespace ktape::backend {

template <class F>
void fields(LayerNormalizationOptions& options, F&& field) {
  field("axis", options.axis);
  field("epsilon", options.epsilon);
}
namespace {

using op_helpers::all_finite, op_helpers::chained, op_helpers::narrowed, op_helpers::widened;

/// Layer normalization over the last axes: the forward and the backward pass each read a row once.
class RowNormalization {
 public:
  RowNormalization(const Tensor& x, const Tensor& gamma, const Tensor& beta, unsigned bits, double epsilon)
      : x_(x),
        gamma_(gamma),
        beta_(beta),
        axes_(op_helpers::axes_in(bits)),
        epsilon_(epsilon),
        n_(x.shape().count(x.ndim() - static_cast<int>(axes_.size()))),
        rows_(n_ == 0 ? 0 : x.size() / n_),
        moments_(Tensor::empty({rows_, 3}, x.dtype() == DType::Float64 ? DType::Float64 : DType::Float32)) {}

  Tensor forward() const {
    const Tensor x = widened(x_), gamma = widened(gamma_), beta = widened(beta_),
                 out = Tensor::empty(x.shape(), x.dtype());
    dispatch_native_floating(x.dtype(), [&]<class T>() {
      kernels::layer_norm(x.pointer<T>(), data<T>(gamma), data<T>(beta), out.pointer<T>(), moments<T>(),
                          rows_, n_, epsilon_);
    });
    return narrowed(out, x_.dtype());
  }

  /// Inputs are x, then gamma and beta where they are defined.
  void backward(const Tensor& g, Grads& grads) const {
    const int of_gamma = gamma_.defined() ? 1 : 0, of_beta = beta_.defined() ? of_gamma + 1 : 0;
    if (recording() || (of_gamma && !all_finite(gamma_, gamma_.size())))
      return composed_backward(g, grads, of_gamma, of_beta);
    const Tensor x = widened(x_), gamma = widened(gamma_), slopes = widened(g);
    const auto wanted = [&](int input, bool exists, const Tensor& like) {
      return exists && grads.wants(input) ? Tensor::empty(like.shape(), x.dtype()) : Tensor();
    };
    const Tensor dx = wanted(0, true, x_), dgamma = wanted(of_gamma, of_gamma, gamma_),
                 dbeta = wanted(of_beta, of_beta, beta_);
    dispatch_native_floating(x.dtype(), [&]<class T>() {
      kernels::layer_norm_backward(x.pointer<T>(), data<T>(gamma), slopes.pointer<T>(), moments<T>(),
                                   data<T>(dx), data<T>(dgamma), data<T>(dbeta), rows_, n_);
    });
    grads.add(0, narrowed(dx, x_.dtype()));
    if (of_gamma) grads.add(of_gamma, narrowed(dgamma, x_.dtype()));
    if (of_beta) grads.add(of_beta, narrowed(dbeta, x_.dtype()));
  }

 private:
  void composed_backward(const Tensor& g, Grads& grads, int of_gamma, int of_beta) const {
    const Tensor scale = 1.0 / sqrt(var(x_, axes_, true) + epsilon_),
                 y = (x_ - mean(x_, axes_, true)) * scale;
    grads.to(0, [&] {
      const Tensor h = gamma_.defined() ? chained(g, gamma_) : g;
      const Tensor along = mean(chained(h, y), axes_, true);
      return chained(h - mean(h, axes_, true) - chained(along, y), scale);
    });
    if (of_gamma) grads.to(of_gamma, [&] { return sum_to(chained(g, y), gamma_.shape()); });
    if (of_beta) grads.to(of_beta, [&] { return sum_to(g, beta_.shape()); });
  }
  template <class T>
  static T* data(const Tensor& t) {
    return t.defined() ? t.pointer<T>() : nullptr;
  }
  template <class T>
  kernels::RowScaling<T>* moments() const {
    return static_cast<kernels::RowScaling<T>*>(moments_.raw());
  }

  Tensor x_, gamma_, beta_;
  std::vector<int> axes_;
  double epsilon_;
  std::int64_t n_, rows_;
  Tensor moments_;
};

Tensor normalized_rows(const Tensor& x, const Tensor& gamma, const Tensor& beta, unsigned bits,
                       double epsilon) {
  std::vector<Tensor> inputs{x};
  for (const Tensor& parameter : {gamma, beta})
    if (parameter.defined()) inputs.push_back(parameter);
  RowNormalization rows(x, gamma, beta, bits, epsilon);
  Tensor out = rows.forward();
  if (recording(std::span<const Tensor>(inputs)))
    record("layer_normalization", out, std::span<const Tensor>(inputs),
           [rows = std::move(rows)](const Tensor& g, Grads& grads) { rows.backward(g, grads); });
  return out;
}

/// Returns whether the axes are the last axes, which form contiguous rows.
bool are_last(unsigned bits, int rank) {
  const unsigned all = (1u << rank) - 1;
  return ((~bits & all) & ((~bits & all) + 1)) == 0;
}

}  // namespace

Tensor layer_normalization(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options) {
  expect_defined("layer_normalization", "x", x);
  constexpr const char* op = "layer_normalization";
  op_helpers::expect_floating(op, x);
  const unsigned bits = canonical_axes(op, options.axis, x.ndim());
  const auto expect_place = [&](const char* name, const Tensor& parameter) {
    if (!parameter.defined()) return;
    op_helpers::expect_same_dtype(op, x, parameter);
    op_helpers::parameter_shape(op, name, parameter, x, bits);
  };
  expect_place("gamma", gamma), expect_place("beta", beta);
  if (is_symbolic(x, gamma, beta))
    return defer_described(op, {x.shape(), x.dtype()}, layer_normalization, x, gamma, beta, options);
  const Tensor scale =
      gamma.defined() ? op_helpers::broadcastable_parameter(op, "gamma", gamma, x, bits) : gamma;
  const Tensor offset =
      beta.defined() ? op_helpers::broadcastable_parameter(op, "beta", beta, x, bits) : beta;
  if (are_last(bits, x.ndim())) return normalized_rows(x, scale, offset, bits, options.epsilon);
  const Shape pattern = op_helpers::moved_last(bits, x.ndim());
  std::vector<int> axes(op_helpers::axes_in(bits).size());
  std::iota(axes.begin(), axes.end(), x.ndim() - static_cast<int>(axes.size()));
  const Tensor out =
      layer_normalization(permute_dimensions(x, pattern), scale, offset, {axes, options.epsilon});
  return permute_dimensions(out, op_helpers::inverse(pattern));
}

}  // namespace ktape::backend
