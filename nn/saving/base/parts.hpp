#pragma once
#include <ktape/nn/core/config.hpp>

#include <string>

/// Helpers for files that name other files in their folder. Internal: sources only.
namespace ktape::nn::saving {

/// Returns the folder of a file, with a slash at the end; empty for a path without a folder.
std::string folder_of(const std::string& path);

/// Returns a relative path without empty parts and "."; empty for a path that leads out of the folder.
std::string path_inside(const std::string& path);

/// Returns `path_inside(name)` for a file that `path` names; empty, too, where symbolic links lead out of the folder
/// of `path`. If `path` itself is a link, the folder of the file behind the link is allowed: caches of models store
/// all files of a model in such a folder.
std::string path_beside(const std::string& path, const std::string& name);

/// Returns f(); errors of the library that do not name the file, such as those of a layer whose config the file has,
/// get its name.
template <class F>
auto naming_file(const std::string& path, const F& f) {
  const auto add_name = [&]<class E>(const E& error) {
    const std::string text = error.what();
    if (text.find(path) == std::string::npos) fail<E>(text, " (in the file ", path, ')');
  };
  try {
    return f();
  } catch (const ValueError& error) {
    add_name(error);
    throw;
  } catch (const TypeError& error) {
    add_name(error);
    throw;
  } catch (const IOError& error) {
    add_name(error);
    throw;
  }
}

/// Returns the value of a JSON file. Throws IOError, naming the file and the position.
Value json_of(const char* op, const std::string& path);

}  // namespace ktape::nn::saving
