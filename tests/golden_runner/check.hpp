#pragma once
#include "call.hpp"

namespace golden {

/// Runs the case in float64 and float32, as constants and recorded, and forward in float16 where that makes
/// sense. Returns one line for each difference.
std::vector<std::string> check_case(const Case& c, const Table& table);

}  // namespace golden
