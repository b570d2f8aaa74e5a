#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

#include "../data/files.hpp"

/// Files in the format of torch.save, which torch_files.py writes once. An empty folder where there is no Python.
inline const std::string& torch_files() {
  static const Files files;
  static const std::string folder = [] {
    const std::string command = "/usr/bin/python3 tests/nn/files/torch_files.py '" + files.folder() + "'";
    if (std::system("/usr/bin/python3 -c 0 >/dev/null 2>&1") != 0) return std::string();
    REQUIRE(std::system(command.c_str()) == 0);
    return files.folder();
  }();
  if (folder.empty()) MESSAGE("skipped: there is no python3");
  return folder;
}
