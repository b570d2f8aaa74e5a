#pragma once
#include <nlohmann/json.hpp>

#include "case.hpp"

/// The parts of a case in JSON. Each function throws std::runtime_error for parts that the format does not define.
namespace golden {

using Json = nlohmann::ordered_json;

/// Reads numbers; NaN and infinities are strings.
std::vector<double> numbers(const Json& json);
Value value(const Json& json);
Array array(const Json& json);
/// Reads an object whose values are arrays.
Named named(const Json& json);

}  // namespace golden
