#pragma once
#include "case.hpp"

namespace golden_ops {

/// Runs the case in the dtype, on tensors, on variables (for gradients) and on placeholders. Returns one line for each
/// thing that is not as expected.
std::vector<std::string> check_case(const Case& c, const Table& table, DType floatx);

}  // namespace golden_ops
