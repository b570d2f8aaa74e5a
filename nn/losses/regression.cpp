#include <ktape/nn/losses/loss_of.hpp>
#include <ktape/nn/losses/regression.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <numbers>

namespace ktape::nn {
namespace K = backend;

namespace losses {
namespace {

using K::abs, K::exp, K::log1p, K::tanh;
using kernels::functions::exp, kernels::functions::log1p, kernels::functions::tanh;
using op_helpers::like, op_helpers::select;

/// Returns f(y_pred - y_true), element by element and in one pass; `slope` is the derivative of f. Both are
/// generic lambdas.
template <class F, class D>
Tensor of_error(const char* op, const Tensor& y_true, const Tensor& y_pred, F f, D slope) {
  const auto [t, p] = like_predictions(op, y_true, y_pred);
  if (is_symbolic(t, p))
    return defer(
        op, op_helpers::broadcast_info(op, t, p),
        [op, f, slope](const Tensor& t, const Tensor& p) { return of_error(op, t, p, f, slope); }, t, p);
  const auto scaled = [slope](auto g, auto e) { return g * slope(e); };
  if (t.shape() != p.shape()) return op_helpers::unary_by_input(op, p - t, f, scaled);
  op_helpers::expect_floating(op, p);
  Tensor out = op_helpers::apply([f](auto p, auto t) { return f(p - t); }, p, t);
  if (recording(t, p))
    record(op, out, {t, p}, [t = t, p = p, slope](const Tensor& g, Grads& grads) {
      grads.to(0, [&] {
        return op_helpers::along([slope](auto g, auto p, auto t) { return -(g * slope(p - t)); }, g, p, t);
      });
      grads.to(1, [&] {
        return op_helpers::derivative([slope](auto g, auto p, auto t) { return g * slope(p - t); }, g, p, t);
      });
    });
  return out;
}

constexpr auto sign = [](auto e) {
  return select(e > 0, like(e, 1), select(e < 0, like(e, -1), like(e, 0)));
};

/// Returns x scaled to length 1 along the axis.
Tensor unit(const Tensor& x, int axis) { return x / K::clip(K::norm(x, axis, true), K::epsilon(), None); }

}  // namespace

Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred) {
  return K::mean(
      of_error(
          "mean_squared_error", y_true, y_pred, [](auto e) { return e * e; }, [](auto e) { return e * 2; }),
      -1);
}

Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred) {
  return K::mean(of_error(
                     "mean_absolute_error", y_true, y_pred, [](auto e) { return abs(e); }, sign),
                 -1);
}

Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = like_predictions("mean_absolute_percentage_error", y_true, y_pred);
  return 100 * K::mean(K::abs((t - p) / K::clip(K::abs(t), K::epsilon(), None)), -1);
}

Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = like_predictions("mean_squared_logarithmic_error", y_true, y_pred);
  const double least = K::epsilon();
  return mean_squared_error(K::log1p(K::clip(t, least, None)), K::log1p(K::clip(p, least, None)));
}

Tensor huber(const Tensor& y_true, const Tensor& y_pred, const HuberFunctionOptions& o) {
  const double d = o.delta;
  return K::mean(of_error(
                     "huber", y_true, y_pred,
                     [d](auto e) {
                       const auto size = abs(e);
                       return select(size <= d, e * e * 0.5, size * d - 0.5 * d * d);
                     },
                     [d](auto e) { return select(e > d, like(e, d), select(e < -d, like(e, -d), e)); }),
                 -1);
}

Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred) {
  return K::mean(of_error(
                     "log_cosh", y_true, y_pred,
                     [](auto e) {
                       const auto size = abs(e);
                       return size + log1p(exp(size * -2)) - std::numbers::ln2;
                     },
                     [](auto e) { return tanh(e); }),
                 -1);
}

Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                         const CosineSimilarityFunctionOptions& o) {
  const auto [t, p] = like_predictions("cosine_similarity", y_true, y_pred);
  return -K::sum(unit(t, o.axis) * unit(p, o.axis), o.axis);
}

}  // namespace losses

template <class F>
void fields(HuberOptions& o, F&& field) {
  field("delta", o.delta);
  field("reduction", o.reduction);
  field("name", o.name);
}
template <class F>
void fields(CosineSimilarityOptions& o, F&& field) {
  field("axis", o.axis);
  field("reduction", o.reduction);
  field("name", o.name);
}

MeanSquaredError::MeanSquaredError(const LossOptions& options)
    : Loss(loss_of("MeanSquaredError", options, losses::mean_squared_error)) {}
MeanAbsoluteError::MeanAbsoluteError(const LossOptions& options)
    : Loss(loss_of("MeanAbsoluteError", options, losses::mean_absolute_error)) {}
MeanAbsolutePercentageError::MeanAbsolutePercentageError(const LossOptions& options)
    : Loss(loss_of("MeanAbsolutePercentageError", options, losses::mean_absolute_percentage_error)) {}
MeanSquaredLogarithmicError::MeanSquaredLogarithmicError(const LossOptions& options)
    : Loss(loss_of("MeanSquaredLogarithmicError", options, losses::mean_squared_logarithmic_error)) {}
LogCosh::LogCosh(const LossOptions& options) : Loss(loss_of("LogCosh", options, losses::log_cosh)) {}

Huber::Huber(const HuberOptions& options)
    : Loss(loss_of("Huber", options, [](const Tensor& t, const Tensor& p, const HuberOptions& o) {
        return losses::huber(t, p, {.delta = o.delta});
      })) {}

CosineSimilarity::CosineSimilarity(const CosineSimilarityOptions& options)
    : Loss(loss_of("CosineSimilarity", options,
                   [](const Tensor& t, const Tensor& p, const CosineSimilarityOptions& o) {
                     return losses::cosine_similarity(t, p, {.axis = o.axis});
                   })) {}

void add_regression_losses(ClassRegistry& registry) {
  registry.add<MeanSquaredError, LossOptions>("MeanSquaredError", {"mse"});
  registry.add<MeanAbsoluteError, LossOptions>("MeanAbsoluteError", {"mae"});
  registry.add<MeanAbsolutePercentageError, LossOptions>("MeanAbsolutePercentageError", {"mape"});
  registry.add<MeanSquaredLogarithmicError, LossOptions>("MeanSquaredLogarithmicError", {"msle"});
  registry.add<LogCosh, LossOptions>("LogCosh");
  registry.add<Huber, HuberOptions>("Huber");
  registry.add<CosineSimilarity, CosineSimilarityOptions>("CosineSimilarity");
}

}  // namespace ktape::nn
