#pragma once
#include <string>
#include <vector>

/// A reader of files that may come from anywhere.
struct Loader {
  const char* name;
  const char* file;                       ///< what its files are called in their folder
  void (*load)(const std::string& path);  ///< throws a ktape::Error, or nothing
  std::vector<std::string> (*seeds)(
      const std::string& path);  ///< contents that it takes; `path` may be written to
  std::vector<std::string> (*bombs)(const std::string& path) =
      nullptr;  ///< contents that would become hundreds of megabytes, which it refuses
};

const std::vector<Loader>& loaders();

/// Writes the content under the loader's name in the folder and loads it. An error is as good as a result.
void load_content(const Loader& loader, const std::string& folder, const std::string& content);
