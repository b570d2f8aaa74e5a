#pragma once
#include <ktape/ops/branch.hpp>

#include <optional>

/// Choosing by the learning phase: `learning_phase()`, unless `training` is given. Only the side that is
/// taken is run, and gradients flow through it alone. Both sides are looked at where the phase is not known
/// yet, with symbolic tensors: then ValueError is thrown for different ranks, TypeError for two dtypes.
namespace ktape::backend {

/// x in training, alt otherwise. `K.in_train_phase`.
Tensor in_train_phase(const Branch& x, const Branch& alt, std::optional<bool> training = {});
/// x in testing, alt otherwise. `K.in_test_phase`.
Tensor in_test_phase(const Branch& x, const Branch& alt, std::optional<bool> training = {});

}  // namespace ktape::backend
