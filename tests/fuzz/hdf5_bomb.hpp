#pragma once
#include <string>
#include <vector>

/// HDF5 files of compressed zeros, hundreds of megabytes of them: in one array, in several, and in a chunk
/// that says that it is small. `path` is written to.
std::vector<std::string> hdf5_bombs(const std::string& path);
