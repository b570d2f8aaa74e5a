#include <ktape/nn/losses/hinge.hpp>
#include <ktape/nn/losses/loss_of.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

namespace ktape::nn {
namespace K = backend;

namespace losses {
namespace {

/// Returns labels of 0 and 1 as -1 and 1, and other labels unchanged.
Tensor signed_labels(const Tensor& t) {
  const Tensor zero = K::equal(t, K::zeros_like(t)), one = K::equal(t, K::ones_like(t));
  const Tensor binary = K::all(K::as_dtype(zero, "int32") + K::as_dtype(one, "int32"));
  return K::where(binary, 2 * t - 1, t);
}

Tensor missing_margin(const char* loss, const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = like_predictions(loss, y_true, y_pred);
  return K::relu(1 - signed_labels(t) * p);
}

}  // namespace

Tensor hinge(const Tensor& y_true, const Tensor& y_pred) {
  return K::mean(missing_margin("hinge", y_true, y_pred), -1);
}

Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred) {
  return K::mean(K::square(missing_margin("squared_hinge", y_true, y_pred)), -1);
}

Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred) {
  const auto [t, p] = like_predictions("categorical_hinge", y_true, y_pred);
  return K::relu(1 + K::max((1 - t) * p, -1) - K::sum(t * p, -1));
}

}  // namespace losses

Hinge::Hinge(const LossOptions& options) : Loss(loss_of("Hinge", options, losses::hinge)) {}
SquaredHinge::SquaredHinge(const LossOptions& options)
    : Loss(loss_of("SquaredHinge", options, losses::squared_hinge)) {}
CategoricalHinge::CategoricalHinge(const LossOptions& options)
    : Loss(loss_of("CategoricalHinge", options, losses::categorical_hinge)) {}

void add_hinge_losses(ClassRegistry& registry) {
  registry.add<Hinge, LossOptions>("Hinge");
  registry.add<SquaredHinge, LossOptions>("SquaredHinge");
  registry.add<CategoricalHinge, LossOptions>("CategoricalHinge");
}

}  // namespace ktape::nn
