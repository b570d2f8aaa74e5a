#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ktape::data {

/// As `load_npz`, for an archive that may inflate to `expected` bytes whatever its compressed size. Internal:
/// sources only.
std::vector<std::pair<std::string, Tensor>> read_npz(const char* op, const std::string& path,
                                                     std::uint64_t expected);

}  // namespace ktape::data
