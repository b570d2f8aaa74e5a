#pragma once
#include <ktape/nn/core/config.hpp>

#include <any>
#include <optional>
#include <vector>

/// Arguments of recorded ops as values of a config. Internal: sources only.
namespace ktape::nn {

/// Returns the values of a recorded argument: none for the name of an op, several for a struct of options. Returns
/// nothing for an argument that has no form in configs.
std::optional<std::vector<Value>> recorded_values(const std::any& argument);

}  // namespace ktape::nn
