#pragma once
#include <ktape/nn/training/history.hpp>

/// Internal: sources only.
namespace ktape::nn {

/// Returns the epochs whose logs contain a name: with a validation_freq above 1, the logs of some epochs lack
/// the "val_..." names. Throws ValueError for an unknown name, as History does.
const std::vector<int>& epochs_of(const History& history, const std::string& name);

}  // namespace ktape::nn
