#pragma once
#include <ktape/autograd/variable.hpp>

#include <cstdint>

namespace ktape::backend {

struct AdamOptions {
  double learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
};

/// Makes one step of Adam in a single pass, in place; `step` counts from 1:
///
///   m = beta_1 m + (1 - beta_1) g
///   v = beta_2 v + (1 - beta_2) g^2
///   x = x - learning_rate sqrt(1 - beta_2^step) / (1 - beta_1^step) m / (sqrt(v) + epsilon)
///
/// The gradient g, m and v have the shape and the floating dtype of x. The step is never deferred; for a
/// deferred update use update, update_add and update_sub. Throws ValueError for another shape, a variable
/// that is two of x, m and v, a step below 1, betas outside [0, 1), and inside K::symbolic; TypeError for
/// another dtype. No variable changes when the function throws. Computes the update of Keras's Adam
/// optimizer.
///
///     Variable w = K::variable({1.f}), m = K::variable({0.f}), v = K::variable({0.f});
///     K::adam_update(w, K::constant({2.}), m, v, 1, {.learning_rate = 0.1});
///     std::cout << w;
void adam_update(Assignable x, const Tensor& gradient, Assignable m, Assignable v, std::int64_t step,
                 const AdamOptions& options = {});

}  // namespace ktape::backend
