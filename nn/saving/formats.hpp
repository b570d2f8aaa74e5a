#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Returns the format with the longest suffix at the end of the path. Throws ValueError, naming all suffixes,
/// for a path without a known suffix. Internal: sources only.
const Format& format_of(const char* op, const std::string& path);

}  // namespace ktape::nn::saving
