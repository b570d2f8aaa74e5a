#pragma once
#include <string>
#include <vector>

/// Returns whether the library was built with HDF5.
bool hdf5_is_built();

/// Returns HDF5 files with hundreds of megabytes of compressed zeros: in one array, in several, and in a
/// chunk that says that it is small. `path` is written to.
std::vector<std::string> hdf5_bombs(const std::string& path);
