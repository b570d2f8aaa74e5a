#include "hdf5_bomb.hpp"

// Returns no files, because libhdf5 is missing.
std::vector<std::string> hdf5_bombs(const std::string&) { return {}; }
