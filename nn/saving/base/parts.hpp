#pragma once
#include <ktape/nn/core/config.hpp>

#include <string>

/// Files that name others, which are in their folder. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the folder of a file, with its slash; empty for a name alone.
std::string folder_of(const std::string& path);

/// Returns a path without empty parts and "."; empty for a path that leads out of the folder.
std::string path_inside(const std::string& path);

/// Returns the value of a file of JSON. Throws IOError, naming the file and the place.
Value json_of(const char* op, const std::string& path);

}  // namespace ktape::nn::saving
