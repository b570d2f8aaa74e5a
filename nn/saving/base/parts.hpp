#pragma once
#include <ktape/nn/core/config.hpp>

#include <string>

/// Helpers for files that name other files in their folder. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the folder of a file, with a slash at the end; empty for a path without a folder.
std::string folder_of(const std::string& path);

/// Returns a relative path without empty parts and "."; empty for a path that leads out of the folder.
std::string path_inside(const std::string& path);

/// Returns the value of a JSON file. Throws IOError, naming the file and the position.
Value json_of(const char* op, const std::string& path);

}  // namespace ktape::nn::saving
