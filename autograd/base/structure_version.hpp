#pragma once
#include <cstdint>

namespace ktape {

/// Returns the number of changes so far of the weights, the sublayers and the `trainable` of any layer or
/// variable. A list of weights stays right as long as the number is the same. Internal: for layers and Trainer.
std::uint64_t structure_version();
/// Counts a change. Internal: for layers and variables.
void count_structure_change();

}  // namespace ktape
