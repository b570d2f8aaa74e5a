#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ktape::data {

/// As `load_npz`, for an archive of which so many bytes are expected, whatever it is compressed to. Internal:
/// sources only.
std::vector<std::pair<std::string, Tensor>> read_npz(const char* op, const std::string& path,
                                                     std::uint64_t expected);

}  // namespace ktape::data
