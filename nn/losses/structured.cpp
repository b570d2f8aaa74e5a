#include <ktape/nn/losses/loss_of.hpp>
#include <ktape/nn/losses/structured.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/class_numbers.hpp>
#include <ktape/ops/nn/ctc_batch.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <limits>

namespace ktape::nn {
namespace K = backend;

namespace losses {
namespace {

/// Returns log(sum(exp(x))) of each row over the elements whose mask is not 0.
Tensor masked_logsumexp(const Tensor& x, const Tensor& mask) {
  const Tensor none = K::full({}, -std::numeric_limits<double>::infinity(), x.dtype());
  return K::logsumexp(K::where(mask, x, none), 1);
}

}  // namespace

Tensor dice(const Tensor& y_true, const Tensor& y_pred, const Axes& axis) {
  const auto [t, p] = like_predictions("dice", y_true, y_pred);
  return 1 - 2 * K::sum(t * p, axis) / (K::sum(t, axis) + K::sum(p, axis) + K::epsilon());
}

Tensor tversky(const Tensor& y_true, const Tensor& y_pred, const TverskyFunctionOptions& o) {
  const auto [t, p] = like_predictions("tversky", y_true, y_pred);
  const Tensor both = K::sum(t * p, o.axis);
  const Tensor missed = K::sum(t * (1 - p), o.axis), wrong = K::sum((1 - t) * p, o.axis);
  return 1 - both / (both + o.alpha * wrong + o.beta * missed + K::epsilon());
}

Tensor circle(const Tensor& y_true, const Tensor& y_pred, const CircleFunctionOptions& o) {
  if (y_pred.ndim() != 2)
    fail("[circle] y_pred must have shape (samples, size): received y_pred=", y_pred.shape());
  const Tensor distance = K::relu(1 - K::matmul(y_pred, y_pred, {.transpose_b = true}));
  const Tensor column = K::reshape(K::class_numbers("circle", "target", y_true), {-1, 1});
  const Tensor same = K::as_dtype(K::equal(column, K::transpose(column)), "int32");
  // Pairs of samples of one class, without pairs of a sample with itself.
  const Tensor itself =
      K::as_dtype(K::equal(K::cumsum(K::ones_like(same), 0), K::cumsum(K::ones_like(same), 1)), "int32");
  const Tensor near = o.remove_diagonal ? same * (1 - itself) : same, far = 1 - same;
  const auto of = [&](const Tensor& mask) { return K::as_dtype(mask, distance.dtype()); };
  const Tensor pull = K::relu((o.margin + distance) * of(near)) * (distance - o.margin);
  const Tensor push = K::relu((1 + o.margin - distance) * of(far)) * (1 - o.margin - distance);
  return K::softplus(masked_logsumexp(o.gamma * pull, near) + masked_logsumexp(o.gamma * push, far));
}

Tensor ctc(const Tensor& y_true, const Tensor& y_pred) {
  if (y_true.ndim() != 2)
    fail("[ctc] y_true must have shape (samples, length): received y_true=", y_true.shape());
  if (y_pred.ndim() != 3)
    fail("[ctc] y_pred must have shape (samples, steps, classes): received y_pred=", y_pred.shape());
  // K's functions expect the blank as the last class.
  const std::vector<Tensor> classes = K::split(K::softmax(y_pred), {1, y_pred.shape()[2] - 1}, -1);
  const Tensor labels = K::class_numbers("ctc", "target", y_true);
  const Tensor length = K::sum(K::as_dtype(K::as_dtype(labels, "bool"), "int64"), -1, true);
  const Tensor steps = y_pred.shape()[1] * K::ones_like(length);
  const double least = std::numeric_limits<float>::min();
  return K::squeeze(K::ctc::cost(labels - 1, K::concatenate({classes[1], classes[0]}), steps, length, least),
                    -1);
}

}  // namespace losses

template <class F>
void fields(DiceOptions& o, F&& field) {
  field("reduction", o.reduction);
  field("name", o.name);
  field("axis", o.axis);
}
template <class F>
void fields(TverskyOptions& o, F&& field) {
  field("alpha", o.alpha);
  field("beta", o.beta);
  field("reduction", o.reduction);
  field("name", o.name);
  field("axis", o.axis);
}
template <class F>
void fields(CircleOptions& o, F&& field) {
  field("gamma", o.gamma);
  field("margin", o.margin);
  field("remove_diagonal", o.remove_diagonal);
  field("reduction", o.reduction);
  field("name", o.name);
}

Dice::Dice(const DiceOptions& options)
    : Loss(loss_of("Dice", options, [](const Tensor& t, const Tensor& p, const DiceOptions& o) {
        return losses::dice(t, p, o.axis);
      })) {}

Tversky::Tversky(const TverskyOptions& options)
    : Loss(loss_of("Tversky", options, [](const Tensor& t, const Tensor& p, const TverskyOptions& o) {
        return losses::tversky(t, p, {.alpha = o.alpha, .beta = o.beta, .axis = o.axis});
      })) {}

Circle::Circle(const CircleOptions& options)
    : Loss(loss_of("Circle", options,
                   [](const Tensor& t, const Tensor& p, const CircleOptions& o) -> LossValues {
                     const Tensor values = losses::circle(
                         t, p, {.remove_diagonal = o.remove_diagonal, .gamma = o.gamma, .margin = o.margin});
                     return {values, values > 0};
                   })) {}

CTC::CTC(const LossOptions& options) : Loss(loss_of("CTC", options, losses::ctc)) {}

void add_structured_losses(ClassRegistry& registry) {
  registry.add<Dice, DiceOptions>("Dice");
  registry.add<Tversky, TverskyOptions>("Tversky");
  registry.add<Circle, CircleOptions>("Circle");
  registry.add<CTC, LossOptions>("CTC");
}

}  // namespace ktape::nn
