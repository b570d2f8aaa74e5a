#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>

namespace ktape::nn {

struct LossScaleOptimizerOptions {
  Optimizer inner_optimizer = {};            ///< required: the optimizer that changes the variables
  double initial_scale = 32768;              ///< the factor of the loss at first: 2^15
  std::int64_t dynamic_growth_steps = 2000;  ///< the number of steps after which the factor doubles
  std::string name = {};
};

/// An optimizer around another optimizer, for training in float16: small gradients would be 0 in float16, so
/// `scale_loss` multiplies the loss by a factor, and `apply` divides the gradients by the factor. The factor
/// follows the gradients:
///
///   - If a gradient has an infinite element or a NaN, the step is skipped (nothing but the factor changes),
///     and the factor is halved.
///   - After `dynamic_growth_steps` steps in a row without such a gradient, the factor is doubled.
///
/// `compile` wraps the optimizer of a model under the policy "mixed_float16" in a LossScaleOptimizer; see
/// `auto_scale_loss`. In a training loop of the program:
///
///     nn::LossScaleOptimizer optimizer(nn::Adam(0.01));
///     optimizer.apply(K::gradients(optimizer.scale_loss(loss), weights), weights);
///
/// Clipping, weight decay, accumulation, averages and the learning rate are those of the inner optimizer,
/// whose loss_scale_factor has no effect, and see gradients without the factor. `iterations` counts the steps
/// that were not skipped. Throws ValueError for a scale that is not positive or not finite, fewer than 1 step,
/// and an inner optimizer that is None or a LossScaleOptimizer. Mirrors `keras.optimizers.LossScaleOptimizer`.
///
///     Variable w = K::variable({1.f, -2.f});
///     nn::LossScaleOptimizer optimizer(nn::SGD(0.1), {.initial_scale = 1024});
///     const Tensor loss = optimizer.scale_loss(K::sum(w * w));
///     optimizer.apply(K::gradients(loss, {w}), {w});
///     std::cout << w.value() << "\n";
///     optimizer.apply({K::constant({INFINITY, 0.f})}, {w});  // skipped
///     std::cout << w.value() << "\nscale: " << optimizer.dynamic_scale().item();
class LossScaleOptimizer : public Optimizer {
 public:
  explicit LossScaleOptimizer(const LossScaleOptimizerOptions& options);
  template <class = void>
  explicit LossScaleOptimizer(const Optimizer& inner_optimizer, const LossScaleOptimizerOptions& options = {})
      : LossScaleOptimizer(internal::with("LossScaleOptimizer", "inner_optimizer", options,
                                          &LossScaleOptimizerOptions::inner_optimizer, inner_optimizer)) {}

  Optimizer inner_optimizer() const;
  /// Returns the factor of the loss, a float32 scalar.
  Variable dynamic_scale() const;
  /// Returns the number of steps since the last change of the factor, an int32 scalar.
  Variable step_counter() const;
};

/// Returns the inner optimizer of a LossScaleOptimizer, and another optimizer as it is. Internal: sources only.
Optimizer without_loss_scale(const Optimizer& optimizer);

}  // namespace ktape::nn
