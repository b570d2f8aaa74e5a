#pragma once
#include <ktape/ops/control/branch.hpp>

#include <optional>

/// Choices by the learning phase: `learning_phase()`, unless `training` is given. Only the chosen side is
/// run, and gradients flow through the chosen side alone. With symbolic tensors, where the phase is not known
/// yet, both sides are traced; ValueError is thrown for different ranks, TypeError for two dtypes.
namespace ktape::backend {

/// Returns x in training, alt otherwise. `K.in_train_phase`.
Tensor in_train_phase(const Branch& x, const Branch& alt, std::optional<bool> training = {});
/// Returns x in testing, alt otherwise. `K.in_test_phase`.
Tensor in_test_phase(const Branch& x, const Branch& alt, std::optional<bool> training = {});

}  // namespace ktape::backend
