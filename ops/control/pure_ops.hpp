#pragma once
#include <string_view>

namespace ktape::backend {

/// Returns whether the op's results depend on its arguments alone. False for ops that draw random numbers,
/// read the learning phase, print or change variables, and for ops that call functions of the user; also for
/// ops that are seldom repeated. Internal: sources only.
bool is_pure_op(std::string_view op);

}  // namespace ktape::backend
