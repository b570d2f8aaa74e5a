#pragma once
#include <ktape/nn/callbacks/history.hpp>

/// Internal: sources only.
namespace ktape::nn {

/// The epochs that reported a number of this name: not all do, where validation_freq is more than 1. Throws
/// as History does for an unknown name.
const std::vector<int>& epochs_of(const History& history, const std::string& name);

}  // namespace ktape::nn
