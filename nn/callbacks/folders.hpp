#pragma once
#include <string>

namespace ktape::nn {

/// Makes a folder, and those that it is in, unless they are there. Throws IOError, naming the callback, where
/// that is not possible. Internal: sources only.
void make_folder(const char* callback, const std::string& path);
/// The same for the folder that a file is to be in.
void make_folder_of(const char* callback, const std::string& path);

}  // namespace ktape::nn
