#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ktape::data {

/// Reads a .npz file as `load_npz` does, but allows the archive to inflate to `expected` bytes in any case.
/// Internal: sources only.
std::vector<std::pair<std::string, Tensor>> read_npz(const char* op, const std::string& path,
                                                     std::uint64_t expected);

}  // namespace ktape::data
