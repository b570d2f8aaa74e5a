#pragma once
#include <ktape/ops/schema/config.hpp>

/// Numbers and names as Python writes them. Internal: sources only.
namespace ktape::nn {

/// Returns `repr(value)`: the fewest digits that identify the number, "0.1", "2.0", "1e-05", "nan".
std::string python_repr(double value);

/// Returns `pattern.format(**values)` for integers and numbers: "{epoch:03d}-{val_loss:.2f}" with the format
/// specifications `[[fill]align][sign][0][width][,][.precision][type]` of the types d, f, e, g and %. Throws
/// ValueError, naming the callback and the known names, for an unknown name, and for a pattern that Python
/// refuses.
std::string python_format(const char* callback, const std::string& pattern, const Config& values);

}  // namespace ktape::nn
