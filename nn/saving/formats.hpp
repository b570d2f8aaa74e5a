#pragma once
#include <ktape/nn/saving/base/format.hpp>

namespace ktape::nn::saving {

/// Returns the format with the longest suffix at the end of the path. Throws ValueError, naming all suffixes,
/// for a path that ends in none. Internal: sources only.
const Format& format_of(const char* op, const std::string& path);

}  // namespace ktape::nn::saving
