#include <ktape/autograd/tape.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/kernels/apply.hpp>
#include <ktape/ops/kernels/layer_norm.hpp>
#include <ktape/ops/normalization.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::backend {
namespace {

/// A statistic or parameter, one element for each position of the axes in `bits`, in a shape that broadcasts
/// to x.
Tensor placed(const char* op, const char* name, const Tensor& parameter, const Tensor& x, unsigned bits) {
  Shape shape = x.shape();
  for (int i = 0; i < x.ndim(); ++i)
    if (!(bits >> i & 1)) shape[i] = 1;
  if (parameter.size() != shape.count())
    fail("[", op, "] ", name, " must have ", shape.count(), " elements for x of shape ", x.shape(),
         ": received ", name, "=", parameter.shape());
  return reshape(parameter, shape);
}

Tensor scaled(Tensor y, const Tensor& gamma, const Tensor& beta) {
  if (gamma.defined()) y = y * gamma;
  return beta.defined() ? y + beta : y;
}

std::vector<int> axes_in(unsigned bits) {
  std::vector<int> axes;
  for (int i = 0; bits >> i; ++i)
    if (bits >> i & 1) axes.push_back(i);
  return axes;
}

/// (x - mean) / sqrt(var + epsilon) over the axes.
Tensor standardized(const char* op, const Tensor& x, const Tensor& mean_of, const Tensor& var_of,
                    unsigned bits, double epsilon) {
  const std::vector<int> axes = axes_in(bits);
  Tensor out;
  {
    NoGrad off;
    out = (x - mean_of) * (1.0 / sqrt(var_of + epsilon));
  }
  if (recording(x))
    record(op, out, {x},
           [x, spread = var_of.detach(), axes, epsilon](const Tensor& g, const Tensor& y, Grads& grads) {
             grads.to(0, [&] {
               const Tensor scale = 1.0 / sqrt((recording() ? var(x, axes, true) : spread) + epsilon);
               return scale * (g - mean(g, axes, true) - y * mean(g * y, axes, true));
             });
           });
  return out;
}

}  // namespace

Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& beta,
                           const Tensor& gamma, const BatchNormalizationOptions& options) {
  constexpr const char* op = "batch_normalization";
  kernels::expect_floating(op, x);
  const bool by_axis = x.ndim() == 4;
  const unsigned channel = by_axis ? 1u << canonical_axis(op, options.axis, 4) : 0;
  const auto fit = [&](const char* name, const Tensor& parameter) {
    if (by_axis) return placed(op, name, parameter, x, channel);
    if (broadcast_shapes(op, x.shape(), parameter.shape()) != x.shape())
      fail("[", op, "] ", name, " must broadcast to x of shape ", x.shape(), ": received ", name, "=",
           parameter.shape());
    return parameter;
  };
  const Tensor centre = fit("mean", mean), spread = fit("var", var);
  const Tensor scale = gamma.defined() ? fit("gamma", gamma) : gamma,
               offset = beta.defined() ? fit("beta", beta) : beta;
  const Tensor factor = 1.0 / sqrt(spread + options.epsilon);
  return scaled((x - centre) * (scale.defined() ? factor * scale : factor), Tensor(), offset);
}

NormalizedBatch normalize_batch_in_training(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                            const Axes& reduction_axes, const NormalizationOptions& options) {
  constexpr const char* op = "normalize_batch_in_training";
  kernels::expect_floating(op, x);
  const unsigned bits = canonical_axes(op, reduction_axes, x.ndim()), others = ~bits & ((1u << x.ndim()) - 1);
  const Tensor scale = gamma.defined() ? placed(op, "gamma", gamma, x, others) : gamma;
  const Tensor offset = beta.defined() ? placed(op, "beta", beta, x, others) : beta;
  const Tensor centre = mean(x, axes_in(bits), true), spread = var(x, axes_in(bits), true);
  Shape shape;
  for (int axis : axes_in(others)) shape.push_back(x.shape()[axis]);
  NormalizedBatch out;
  out.normalized = scaled(standardized(op, x, centre, spread, bits, options.epsilon), scale, offset);
  out.mean = reshape(centre, shape);
  out.variance = reshape(spread, shape);
  if (x.ndim() == 4 && reduction_axes.list() == std::vector{0, 1, 2}) {
    const double n = static_cast<double>(x.shape().count(0, 3));
    out.mean = out.mean.detach();
    out.variance = out.variance.detach() * (n / std::max(1.0, n - 1));
  }
  return out;
}

namespace {

/// Layer normalization of the last axes, in one pass each way.
class RowNormalization {
 public:
  RowNormalization(const Tensor& x, const Tensor& gamma, const Tensor& beta, unsigned bits, double epsilon)
      : x_(x),
        gamma_(gamma),
        beta_(beta),
        axes_(axes_in(bits)),
        epsilon_(epsilon),
        n_(x.shape().count(axes_.front())),
        rows_(n_ == 0 ? 0 : x.size() / n_),
        moments_(Tensor::empty({rows_, 3}, x.dtype() == DType::Float64 ? DType::Float64 : DType::Float32)) {}

  Tensor forward() const {
    Tensor out = Tensor::empty(x_.shape(), x_.dtype());
    dispatch_floating(x_.dtype(), [&]<class T>() {
      kernels::layer_norm(x_.pointer<T>(), data<T>(gamma_), data<T>(beta_), out.pointer<T>(), moments<T>(),
                          rows_, n_, epsilon_);
    });
    return out;
  }

  /// Inputs are x, then gamma and beta where they are defined.
  void backward(const Tensor& g, Grads& grads) const {
    const int of_gamma = gamma_.defined() ? 1 : 0, of_beta = beta_.defined() ? of_gamma + 1 : 0;
    if (recording()) return composed_backward(g, grads, of_gamma, of_beta);
    const auto wanted = [&](int input, bool exists, const Tensor& like) {
      return exists && grads.wants(input) ? Tensor::empty(like.shape(), like.dtype()) : Tensor();
    };
    const Tensor dx = wanted(0, true, x_), dgamma = wanted(of_gamma, of_gamma, gamma_),
                 dbeta = wanted(of_beta, of_beta, beta_);
    dispatch_floating(x_.dtype(), [&]<class T>() {
      kernels::layer_norm_backward(x_.pointer<T>(), data<T>(gamma_), g.pointer<T>(), moments<T>(),
                                   data<T>(dx), data<T>(dgamma), data<T>(dbeta), rows_, n_);
    });
    grads.add(0, dx);
    if (of_gamma) grads.add(of_gamma, dgamma);
    if (of_beta) grads.add(of_beta, dbeta);
  }

 private:
  void composed_backward(const Tensor& g, Grads& grads, int of_gamma, int of_beta) const {
    const Tensor scale = 1.0 / sqrt(var(x_, axes_, true) + epsilon_),
                 y = (x_ - mean(x_, axes_, true)) * scale;
    grads.to(0, [&] {
      const Tensor h = gamma_.defined() ? g * gamma_ : g;
      return scale * (h - mean(h, axes_, true) - y * mean(h * y, axes_, true));
    });
    if (of_gamma) grads.to(of_gamma, [&] { return sum_to(g * y, gamma_.shape()); });
    if (of_beta) grads.to(of_beta, [&] { return sum_to(g, beta_.shape()); });
  }
  template <class T>
  static T* data(const Tensor& t) {
    return t.defined() ? t.pointer<T>() : nullptr;
  }
  template <class T>
  kernels::RowMoments<kernels::compute_type<T>>* moments() const {
    return static_cast<kernels::RowMoments<kernels::compute_type<T>>*>(moments_.raw());
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

/// Whether the axes are the last ones: those of a contiguous row.
bool are_last(unsigned bits, int rank) {
  const unsigned all = (1u << rank) - 1;
  return bits != 0 && ((~bits & all) & ((~bits & all) + 1)) == 0;
}

}  // namespace

Tensor layer_normalization(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options) {
  constexpr const char* op = "layer_normalization";
  kernels::expect_floating(op, x);
  const unsigned bits = canonical_axes(op, options.axis, x.ndim());
  for (const Tensor& parameter : {gamma, beta})
    if (parameter.defined()) kernels::expect_same_dtype(op, x, parameter);
  const Tensor scale = gamma.defined() ? placed(op, "gamma", gamma, x, bits) : gamma;
  const Tensor offset = beta.defined() ? placed(op, "beta", beta, x, bits) : beta;
  if (are_last(bits, x.ndim())) return normalized_rows(x, scale, offset, bits, options.epsilon);
  Tensor centre, spread;
  {
    NoGrad off;
    centre = mean(x, axes_in(bits), true), spread = var(x, axes_in(bits), true);
  }
  return scaled(standardized(op, x, centre, spread, bits, options.epsilon), scale, offset);
}

}  // namespace ktape::backend
