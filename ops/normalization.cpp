#include <ktape/autograd/tape.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/kernels/apply.hpp>
#include <ktape/ops/normalization.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::backend {
namespace {

/// A statistic or parameter, one element for each position of the axes in `bits`, in a shape that broadcasts to x.
Tensor placed(const char* op, const char* name, const Tensor& parameter, const Tensor& x, unsigned bits) {
  Shape shape = x.shape();
  for (int i = 0; i < x.ndim(); ++i)
    if (!(bits >> i & 1)) shape[i] = 1;
  if (parameter.size() != shape.count())
    fail("[", op, "] ", name, " must have ", shape.count(), " elements for x of shape ", x.shape(), ": received ", name, "=",
         parameter.shape());
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
Tensor standardized(const char* op, const Tensor& x, const Tensor& mean_of, const Tensor& var_of, unsigned bits,
                    double epsilon) {
  const std::vector<int> axes = axes_in(bits);
  Tensor out;
  {
    NoGrad off;
    out = (x - mean_of) * (1.0 / sqrt(var_of + epsilon));
  }
  if (recording(x))
    record(op, out, {x}, [x, spread = var_of.detach(), axes, epsilon](const Tensor& g, const Tensor& y, Grads& grads) {
      grads.to(0, [&] {
        const Tensor scale = 1.0 / sqrt((recording() ? var(x, axes, true) : spread) + epsilon);
        return scale * (g - mean(g, axes, true) - y * mean(g * y, axes, true));
      });
    });
  return out;
}

}  // namespace

Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& beta, const Tensor& gamma,
                           const BatchNormalizationOptions& options) {
  constexpr const char* op = "batch_normalization";
  kernels::expect_floating(op, x);
  const bool by_axis = x.ndim() == 4;
  const unsigned channel = by_axis ? 1u << canonical_axis(op, options.axis, 4) : 0;
  const auto fit = [&](const char* name, const Tensor& parameter) {
    if (by_axis) return placed(op, name, parameter, x, channel);
    if (broadcast_shapes(op, x.shape(), parameter.shape()) != x.shape())
      fail("[", op, "] ", name, " must broadcast to x of shape ", x.shape(), ": received ", name, "=", parameter.shape());
    return parameter;
  };
  const Tensor centre = fit("mean", mean), spread = fit("var", var);
  const Tensor scale = gamma.defined() ? fit("gamma", gamma) : gamma, offset = beta.defined() ? fit("beta", beta) : beta;
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

Tensor layer_normalization(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                           const LayerNormalizationOptions& options) {
  constexpr const char* op = "layer_normalization";
  kernels::expect_floating(op, x);
  const unsigned bits = canonical_axes(op, options.axis, x.ndim());
  const Tensor scale = gamma.defined() ? placed(op, "gamma", gamma, x, bits) : gamma;
  const Tensor offset = beta.defined() ? placed(op, "beta", beta, x, bits) : beta;
  Tensor centre, spread;
  {
    NoGrad off;
    centre = mean(x, axes_in(bits), true), spread = var(x, axes_in(bits), true);
  }
  return scaled(standardized(op, x, centre, spread, bits, options.epsilon), scale, offset);
}

}  // namespace ktape::backend
