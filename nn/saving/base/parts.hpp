#pragma once
#include <ktape/nn/core/rethrow.hpp>
#include <ktape/ops/schema/config.hpp>

#include <string>

/// Helpers for files that name other files in their folder. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the folder of a file, with a slash at the end; empty for a path without a folder.
std::string folder_of(const std::string& path);

/// Returns a relative path without empty parts and "."; empty for a path that leads out of the folder.
std::string path_inside(const std::string& path);

/// Returns `path_inside(name)`, where the file `path` names another file of its folder. Returns an empty string if `name`
/// leads out of that folder, also by symbolic links. If `path` is itself a link, files in the folder of the file to which
/// it points are allowed, too: a cache of models may keep all files of a model there and show links to them.
std::string path_beside(const std::string& path, const std::string& name);

/// Returns f(); errors of the library that do not name the file, such as those of a layer whose config the file has,
/// get its name.
template <class F>
auto naming_file(const std::string& path, const F& f) {
  try {
    return f();
  } catch (const Error&) {
    rethrow_with([&](const Error& error) {
      const std::string text = error.what();
      return text.find(path) == std::string::npos ? text + " (in the file " + path + ')' : text;
    });
  }
}

/// Returns the value of a JSON file. Throws IOError, naming the file and the position.
Value json_of(const char* op, const std::string& path);

}  // namespace ktape::nn::saving
