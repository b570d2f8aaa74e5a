#pragma once
#include <ktape/nn/training/history.hpp>

/// Internal: sources only.
namespace ktape::nn {

/// Returns the epochs whose logs have this name: with a validation_freq above 1, not all have "val_..."
/// names. Throws ValueError for an unknown name, as History does.
const std::vector<int>& epochs_of(const History& history, const std::string& name);

}  // namespace ktape::nn
