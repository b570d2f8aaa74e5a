#pragma once
#include <string>
#include <vector>

/// A reader of files that are not trusted.
struct Loader {
  const char* name;
  const char* file;                                            ///< the name of its files in their folder
  void (*load)(const std::string& path);                       ///< loads a file; throws only a ktape::Error
  std::vector<std::string> (*seeds)(const std::string& path);  ///< valid contents; `path` may be written to
  std::vector<std::string> (*bombs)(const std::string& path) =
      nullptr;  ///< contents that would inflate to hundreds of megabytes, and are refused
};

const std::vector<Loader>& loaders();

/// Writes the content under the loader's name in the folder and loads it. A ktape::Error is an allowed
/// outcome.
void load_content(const Loader& loader, const std::string& folder, const std::string& content);
