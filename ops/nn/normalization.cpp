#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/kernels/normalization/batch_norm.hpp>
#include <ktape/ops/nn/internal/axis_parameters.hpp>
#include <ktape/ops/nn/normalization.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/engine.hpp>

#include <limits>
#include <optional>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>

namespace ktape::backend {

template <class F>
void fields(BatchNormalizationOptions& options, F&& field) {
  field("axis", options.axis);
  field("epsilon", options.epsilon);
}
template <class F>
void fields(NormalizationOptions& options, F&& field) {
  field("epsilon", options.epsilon);
}
namespace {

using kernels::ChannelLayout;
using op_helpers::chained, op_helpers::widened;

/// An array of a number for each channel.
template <class A>
using Channels = xt::xtensor<A, 1>;
using Doubles = Channels<double>;

/// Returns the elements of a tensor, or `otherwise` for each channel if the tensor is undefined.
Doubles numbers(const Tensor& t, std::int64_t channels, double otherwise) {
  Doubles out(Doubles::shape_type{static_cast<std::size_t>(channels)}, otherwise);
  if (t.defined()) convert(out.data(), DType::Float64, t.raw(), t.dtype(), channels);
  return out;
}

Tensor tensor_of(const Doubles& numbers, const Shape& shape, DType dtype) {
  Tensor out = Tensor::empty(shape, dtype);
  convert(out.raw(), dtype, numbers.data(), DType::Float64, out.size());
  return out;
}

/// Returns the dtype of statistics of x: float32 if x has 16 bits and a parameter is float32, otherwise the
/// dtype of x.
template <class... Parameters>
DType statistics_dtype(const Tensor& x, const Parameters&... parameters) {
  const bool wide = (... || (parameters.defined() && parameters.dtype() == DType::Float32));
  return wide ? DType(DType::Float32) : x.dtype();
}

/// Throws TypeError unless a parameter has the dtype of x, or is float32 for x of 16 bits.
void expect_parameter_dtype(const char* op, const Tensor& x, const Tensor& parameter) {
  if (x.dtype().size() != 2 || parameter.dtype() != DType::Float32)
    op_helpers::expect_same_dtype(op, x, parameter);
}

/// Computes (x - mean) / sqrt(var + epsilon) * gamma + beta for x of shape (outer, channels, inner). The
/// other tensors have shape (1, channels, 1); gamma and beta may be undefined.
class ChannelNormalization {
 public:
  /// Sets the statistics to NaN when mean and var are undefined.
  ChannelNormalization(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& gamma,
                       const Tensor& beta, double epsilon)
      : x_(x),
        gamma_(gamma),
        beta_(beta),
        layout_{x.shape()[0], x.shape()[1], x.shape()[2]},
        epsilon_(epsilon),
        mean_(numbers(mean, channels(), std::numeric_limits<double>::quiet_NaN())),
        variance_(numbers(var, channels(), std::numeric_limits<double>::quiet_NaN())) {}

 protected:
  Tensor normalized() const {
    const Tensor out = Tensor::empty_like(x_);
    const Doubles scale = scales(), beta = numbers(beta_, channels(), 0);
    with_centre([&]<class A>(const Channels<A>& centre) {
      const Channels<A> factor = xt::cast<A>(scale), offset = beta - (mean_ - centre) * scale;
      affine<A>(&x_, nullptr, centre.data(), nullptr, factor.data(), offset.data(), out);
    });
    return out;
  }

  /// Computes, for each channel, the sum of g and the sum of g times the normalized elements.
  void sum_slopes(const Tensor& g, Doubles& sums, Doubles& products) const {
    sums = products = xt::zeros<double>(mean_.shape());
    if (!g.defined()) return;
    with_centre([&]<class A>(const Channels<A>& centre) {
      ktape_batch_normalization call = arguments();
      call.centre = centre.data(), call.first = sums.data(), call.second = products.data();
      run(kernels::Kernel::BatchSlopes, call, &x_, &g, nullptr);
      xt::noalias(products) = (products - (mean_ - centre) * sums) / deviation_;
    });
  }

  ktape_batch_normalization arguments() const {
    ktape_batch_normalization call{};
    call.outer = layout_.outer, call.channels = layout_.channels, call.inner = layout_.inner;
    return call;
  }

  /// Computes out = g * scale[c] + (x - centre[c]) * slope[c] + offset[c]; null arguments are left out.
  template <class A>
  void affine(const Tensor* x, const Tensor* g, const A* centre, const A* scale, const A* slope,
              const A* offset, const Tensor& out) const {
    ktape_batch_normalization call = arguments();
    call.centre = centre, call.scale = scale, call.slope = slope, call.offset = offset;
    run(kernels::Kernel::BatchAffine, call, x, g, &out);
  }

  /// Runs a kernel on x, g and out, which may be null. Half precision that the engine does not take is converted to
  /// float32 and back.
  void run(kernels::Kernel kernel, ktape_batch_normalization call, const Tensor* x, const Tensor* g,
           const Tensor* out) const {
    const auto run_on = [&](const Tensor& x, const Tensor& g, const Tensor& out, DType dtype) {
      const auto raw = [](const Tensor& t) { return t.defined() ? t.raw() : nullptr; };
      call.dtype = kernels::engine_dtype(dtype);
      call.x = raw(x), call.g = raw(g), call.y = raw(out);
      return op_helpers::engine().run(kernel, &call);
    };
    const auto given = [](const Tensor* t) { return t ? *t : Tensor(); };
    const DType dtype = x_.dtype();
    if (dtype != DType::Float16 && run_on(given(x), given(g), given(out), dtype)) return;
    const Tensor wide = out ? Tensor::empty(out->shape(), op_helpers::compute_dtype(dtype)) : Tensor();
    run_on(widened(given(x)), widened(given(g)), wide, op_helpers::compute_dtype(dtype));
    if (out) convert(out->raw(), out->dtype(), wide.raw(), wide.dtype(), out->size());
  }

  /// Calls `f.operator()<A>(centre)` with the means in A, the compute type of x.
  template <class F>
  void with_centre(const F& f) const {
    dispatch_native_floating(op_helpers::compute_dtype(x_.dtype()),
                             [&]<class A>() { f.template operator()<A>(Channels<A>(mean_)); });
  }
  Doubles scales() const {
    Doubles out = numbers(gamma_, channels(), 1);
    out /= deviation_;
    return out;
  }
  /// Returns whether gradients of 0 stay 0 in the kernels, which multiply them by numbers of their channel.
  bool finite_coefficients() const {
    return layout_.group() == 0 ||
           (xt::all(xt::isfinite(mean_ + deviation_)) && xt::all(xt::isfinite(scales())));
  }
  /// Returns the gradient of the normalized elements.
  Tensor by_gamma(const Tensor& g) const { return gamma_.defined() ? chained(g, like_x(gamma_)) : g; }
  std::int64_t channels() const { return layout_.channels; }
  Shape parameter_shape() const { return {1, channels(), 1}; }
  Tensor parameter(const Doubles& of_channels, DType dtype) const {
    return tensor_of(of_channels, parameter_shape(), dtype);
  }
  Tensor per_channel(const Tensor& t, DType dtype) const {
    return as_dtype(sum_to(t, parameter_shape()), dtype);
  }
  /// Returns a parameter in the dtype of x.
  Tensor like_x(const Tensor& t) const { return t.defined() ? as_dtype(t, x_.dtype()) : t; }

  Tensor x_, gamma_, beta_;
  ChannelLayout layout_;
  double epsilon_;
  Doubles mean_, variance_, deviation_;  // deviation: sqrt(variance + epsilon)
};

/// Normalization with given statistics. Inputs on the tape: x, mean, var, gamma and beta where they are
/// defined.
class GivenStatistics : ChannelNormalization {
 public:
  GivenStatistics(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& gamma,
                  const Tensor& beta, double epsilon)
      : ChannelNormalization(x, mean, var, gamma, beta, epsilon), centre_(mean), spread_(var) {
    xt::noalias(deviation_) = xt::sqrt(variance_ + epsilon);
  }
  Tensor forward() const { return normalized(); }
  std::vector<Tensor> inputs() const {
    std::vector<Tensor> all{x_, centre_, spread_};
    if (gamma_.defined()) all.push_back(gamma_);
    if (beta_.defined()) all.push_back(beta_);
    return all;
  }

  void backward(const Tensor& g, Grads& grads) const {
    if (recording() || !finite_coefficients()) return composed_backward(g, grads);
    const Doubles scale = scales();
    grads.to(0, [&] {
      const Tensor dx = Tensor::empty_like(x_);
      with_centre([&]<class A>(const Channels<A>&) {
        const Channels<A> factor = xt::cast<A>(scale);
        affine<A>(nullptr, &g, nullptr, factor.data(), nullptr, nullptr, dx);
      });
      return dx;
    });
    if (!(grads.wants(1) || grads.wants(2) || (gamma_.defined() && grads.wants(3)) ||
          (beta_.defined() && grads.wants(beta_at()))))
      return;
    Doubles sums, products;
    sum_slopes(g, sums, products);
    grads.to(1, [&] { return parameter(-scale * sums, centre_.dtype()); });
    grads.to(2, [&] { return parameter(-0.5 * scale * products / deviation_, spread_.dtype()); });
    if (gamma_.defined()) grads.to(3, [&] { return parameter(products, gamma_.dtype()); });
    if (beta_.defined()) grads.to(beta_at(), [&] { return parameter(sums, beta_.dtype()); });
  }

 private:
  int beta_at() const { return gamma_.defined() ? 4 : 3; }
  void composed_backward(const Tensor& g, Grads& grads) const {
    const Tensor factor = 1.0 / sqrt(like_x(spread_) + epsilon_), h = by_gamma(g),
                 y = (x_ - like_x(centre_)) * factor;
    grads.to(0, [&] { return chained(h, factor); });
    grads.to(1, [&] { return per_channel(-chained(h, factor), centre_.dtype()); });
    grads.to(2, [&] { return per_channel(chained(h, y * square(factor) * -0.5), spread_.dtype()); });
    if (gamma_.defined()) grads.to(3, [&] { return per_channel(chained(g, y), gamma_.dtype()); });
    if (beta_.defined()) grads.to(beta_at(), [&] { return per_channel(g, beta_.dtype()); });
  }
  Tensor centre_, spread_;
};

/// Normalization with the statistics of x. Inputs on the tape: x, and gamma and beta if they are defined.
/// Outputs: the normalized x, and mean and variance if they carry gradients.
class OwnStatistics : ChannelNormalization {
 public:
  OwnStatistics(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon)
      : ChannelNormalization(x, {}, {}, gamma, beta, epsilon) {
    if (layout_.group() > 0) {
      ktape_batch_normalization call = arguments();
      call.first = mean_.data(), call.second = variance_.data();
      run(kernels::Kernel::BatchMoments, call, &x, nullptr, nullptr);
    }
    xt::noalias(deviation_) = xt::sqrt(variance_ + epsilon);
  }
  NormalizedBatch forward() const {
    const DType dtype = statistics_dtype(x_, gamma_, beta_);
    return {normalized(), parameter(mean_, dtype), parameter(variance_, dtype)};
  }
  std::vector<Tensor> inputs() const {
    std::vector<Tensor> all{x_};
    if (gamma_.defined()) all.push_back(gamma_);
    if (beta_.defined()) all.push_back(beta_);
    return all;
  }

  void backward(const Tensor& g, const Tensor& of_mean, const Tensor& of_variance, Grads& grads) const {
    if (recording() || !finite_coefficients()) return composed_backward(g, of_mean, of_variance, grads);
    Doubles sums, products;
    sum_slopes(g, sums, products);
    grads.to(0, [&] { return input_gradient(g, of_mean, of_variance, sums, products); });
    if (gamma_.defined())
      grads.to(1, [&] { return g.defined() ? parameter(products, gamma_.dtype()) : Tensor(); });
    if (beta_.defined())
      grads.to(beta_at(), [&] { return g.defined() ? parameter(sums, beta_.dtype()) : Tensor(); });
  }

 private:
  int beta_at() const { return gamma_.defined() ? 2 : 1; }

  /// Returns g * scale + (x - mean) * slope + offset.
  Tensor input_gradient(const Tensor& g, const Tensor& of_mean, const Tensor& of_variance,
                        const Doubles& sums, const Doubles& products) const {
    const double n = static_cast<double>(layout_.group());
    const Doubles scale = scales(), dmean = numbers(of_mean, channels(), 0),
                  dvariance = numbers(of_variance, channels(), 0);
    const Doubles slope = (2 * dvariance - scale * products / deviation_) / n;
    const Tensor dx = Tensor::empty_like(x_);
    with_centre([&]<class A>(const Channels<A>& centre) {
      const Channels<A> a = xt::cast<A>(scale), p = xt::cast<A>(slope),
                        q = (dmean - scale * sums) / n - slope * (mean_ - centre);
      affine<A>(&x_, g.defined() ? &g : nullptr, centre.data(), a.data(), p.data(), q.data(), dx);
    });
    return dx;
  }

  void composed_backward(const Tensor& g, const Tensor& of_mean, const Tensor& of_variance,
                         Grads& grads) const {
    const Axes group{0, 2};
    const double n = static_cast<double>(layout_.group());
    const Tensor centred = x_ - mean(x_, group, true), factor = 1.0 / sqrt(var(x_, group, true) + epsilon_),
                 y = centred * factor;
    if (of_mean.defined()) grads.to(0, [&] { return broadcast_to(like_x(of_mean) / n, x_.shape()); });
    if (of_variance.defined()) grads.to(0, [&] { return chained(like_x(of_variance) * (2 / n), centred); });
    if (!g.defined()) return;
    grads.to(0, [&] {
      const Tensor h = by_gamma(g), along = mean(chained(h, y), group, true);
      return chained(h - mean(h, group, true) - chained(along, y), factor);
    });
    if (gamma_.defined()) grads.to(1, [&] { return per_channel(chained(g, y), gamma_.dtype()); });
    if (beta_.defined()) grads.to(beta_at(), [&] { return per_channel(g, beta_.dtype()); });
  }
};

/// Returns the shape as (outer, axes in `bits`, inner); nothing if the axes in `bits` are not neighbours.
std::optional<Shape> three_axes(const Shape& shape, unsigned bits) {
  const std::vector<int> axes = op_helpers::axes_in(bits);
  if (axes.empty()) return Shape{1, 1, shape.count()};
  const int first = axes.front(), last = axes.back() + 1;
  if (last - first != static_cast<int>(axes.size())) return std::nullopt;
  return Shape{shape.count(0, first), shape.count(first, last), shape.count(last)};
}

Tensor as_shape(const Tensor& t, const Shape& shape) { return t.defined() ? reshape(t, shape) : t; }

/// Computes batch normalization by other ops, for statistics that broadcast in any way.
Tensor composed(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& beta,
                const Tensor& gamma, double epsilon) {
  const Tensor factor = 1.0 / sqrt(var + epsilon);
  const Tensor y = (x - mean) * (gamma.defined() ? factor * gamma : factor);
  return beta.defined() ? y + beta : y;
}

/// Computes batch normalization by other ops, in the dtype of the statistics.
Tensor composed_wide(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& beta,
                     const Tensor& gamma, double epsilon) {
  const DType wide = statistics_dtype(x, gamma, beta, mean, var);
  const auto in_wide = [&](const Tensor& t) { return t.defined() ? as_dtype(t, wide) : t; };
  return as_dtype(composed(in_wide(x), in_wide(mean), in_wide(var), in_wide(beta), in_wide(gamma), epsilon),
                  x.dtype());
}

/// Returns the axes along which a parameter has more than one element.
unsigned own_axes(const Tensor& parameter, int rank) {
  unsigned bits = 0;
  for (int i = std::max(0, parameter.ndim() - rank); i < parameter.ndim(); ++i)
    if (parameter.shape()[i] != 1) bits |= 1u << (rank - parameter.ndim() + i);
  return bits;
}

}  // namespace

Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& beta,
                           const Tensor& gamma, const BatchNormalizationOptions& options) {
  expect_defined("batch_normalization", "x, mean, var", x, mean, var);
  constexpr const char* op = "batch_normalization";
  op_helpers::expect_floating(op, x);
  const bool by_axis = x.ndim() == 4;
  const unsigned channel = by_axis ? 1u << canonical_axis(op, options.axis, 4) : own_axes(mean, x.ndim());
  const auto expect_place = [&](const char* name, const Tensor& parameter) {
    if (!parameter.defined()) return;
    expect_parameter_dtype(op, x, parameter);
    if (by_axis) op_helpers::parameter_shape(op, name, parameter, x, channel);
    else if (!broadcasts_to(parameter.shape(), x.shape()))
      fail("[", op, "] ", name, " must broadcast to x of shape ", x.shape(), ": received ", name, "=",
           parameter.shape());
  };
  expect_place("mean", mean), expect_place("var", var);
  expect_place("gamma", gamma), expect_place("beta", beta);
  if (is_symbolic(x, mean, var, beta, gamma))
    return defer_described(op, {x.shape(), x.dtype()}, batch_normalization, x, mean, var, beta, gamma,
                           options);
  bool alike = true;
  const auto fit = [&](const char* name, const Tensor& parameter) {
    if (!parameter.defined() || by_axis)
      return by_axis && parameter.defined()
                 ? op_helpers::broadcastable_parameter(op, name, parameter, x, channel)
                 : parameter;
    alike = alike && own_axes(parameter, x.ndim()) == channel;
    return parameter;
  };
  const Tensor centre = fit("mean", mean), spread = fit("var", var), scale = fit("gamma", gamma),
               offset = fit("beta", beta);
  const std::optional<Shape> shape = three_axes(x.shape(), channel);
  if (!alike || !shape) return composed_wide(x, centre, spread, offset, scale, options.epsilon);
  const Shape parameter{1, (*shape)[1], 1};
  const GivenStatistics given(reshape(x, *shape), reshape(centre, parameter), reshape(spread, parameter),
                              as_shape(scale, parameter), as_shape(offset, parameter), options.epsilon);
  const Tensor out = given.forward();
  if (const auto inputs = given.inputs(); recording(std::span(inputs)))
    record(op, out, std::span(inputs), [given](const Tensor& g, Grads& grads) { given.backward(g, grads); });
  return reshape(out, x.shape());
}

NormalizedBatch normalize_batch_in_training(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                            const Axes& reduction_axes, const NormalizationOptions& options) {
  expect_defined("normalize_batch_in_training", "x", x);
  constexpr const char* op = "normalize_batch_in_training";
  op_helpers::expect_floating(op, x);
  const unsigned bits = canonical_axes(op, reduction_axes, x.ndim()), others = ~bits & ((1u << x.ndim()) - 1);
  Shape shape;
  for (int axis : op_helpers::axes_in(others)) shape.push_back(x.shape()[axis]);
  const auto expect_place = [&](const char* name, const Tensor& p) {
    if (!p.defined()) return;
    expect_parameter_dtype(op, x, p);
    op_helpers::parameter_shape(op, name, p, x, others);
  };
  expect_place("gamma", gamma), expect_place("beta", beta);
  if (is_symbolic(x, gamma, beta)) {
    const auto later = [](const auto&... a) {
      NormalizedBatch batch = normalize_batch_in_training(a...);
      return std::vector{batch.normalized, batch.mean, batch.variance};
    };
    const OutputInfo statistics{shape, statistics_dtype(x, gamma, beta)};
    const std::vector<Tensor> results =
        defer_described(op, std::vector{OutputInfo{x.shape(), x.dtype()}, statistics, statistics}, later, x,
                        gamma, beta, reduction_axes, options);
    return {results[0], results[1], results[2]};
  }
  const Shape parameter{1, shape.count(), 1};
  const Tensor scale = as_shape(gamma, parameter), offset = as_shape(beta, parameter);
  const std::optional<Shape> three = three_axes(x.shape(), others);
  const Shape pattern = op_helpers::moved_last(others, x.ndim());
  const Tensor ordered = three ? x : permute_dimensions(x, pattern);
  const OwnStatistics own(
      reshape(ordered, three.value_or(Shape{x.shape().count() / std::max<std::int64_t>(parameter.count(), 1),
                                            parameter.count(), 1})),
      scale, offset, options.epsilon);
  NormalizedBatch out = own.forward();
  const bool fused = x.ndim() == 4 && reduction_axes.list() == std::vector{0, 1, 2};
  if (const auto inputs = own.inputs(); recording(std::span(inputs))) {
    const Tensor outs[] = {out.normalized, out.mean, out.variance};
    record(op, std::span(outs, fused ? 1 : 3), std::span(inputs), [own, fused](Grads& grads) {
      own.backward(grads.output(0), fused ? Tensor() : grads.output(1), fused ? Tensor() : grads.output(2),
                   grads);
    });
  }
  out.normalized = reshape(out.normalized, ordered.shape());
  if (!three) out.normalized = permute_dimensions(out.normalized, op_helpers::inverse(pattern));
  out.mean = reshape(out.mean, shape);
  out.variance = reshape(out.variance, shape);
  if (fused) {
    const double n = static_cast<double>(x.shape().count(0, 3));
    out.variance = out.variance * (n / std::max(1.0, n - 1));
  }
  return out;
}

}  // namespace ktape::backend

namespace ktape::nn {

Operations normalization_operations() {
  static constexpr Operation rows[] = {
      {"batch_normalization", "", "x, mean, var, beta=null, gamma=null; axis, epsilon",
       calls<backend::batch_normalization>},
      {"normalize_batch_in_training", "", "x, gamma=null, beta=null; reduction_axes, epsilon",
       calls<backend::normalize_batch_in_training>},
  };
  return rows;
}

}  // namespace ktape::nn
