#pragma once
#include <string>

namespace ktape::nn {

/// Creates a folder and its parents unless they exist. Throws IOError, naming the callback, if that fails.
/// Internal: sources only.
void make_folder(const char* callback, const std::string& path);
/// Creates the folder of a file, as `make_folder` does.
void make_folder_of(const char* callback, const std::string& path);

}  // namespace ktape::nn
