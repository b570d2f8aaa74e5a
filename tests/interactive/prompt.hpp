#pragma once
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "terminal.hpp"

/// A prompt with a new home folder.
class Prompt : public Terminal {
 public:
  explicit Prompt(const std::string& home = fresh_home())
      : Terminal({KTAPE_PROMPT}, home), greeting(until(">>> ")) {}
  static std::string fresh_home() {
    namespace fs = std::filesystem;
    const fs::path home = fs::temp_directory_path() / "ktape_prompt_test";
    fs::remove_all(home);
    fs::create_directories(home);
    return home.string();
  }
  const std::string greeting;
};

/// A typed line and the expected output: the whole output or, for an error, its beginning.
struct Line {
  const char* typed;
  const char* says;
};

inline bool begins(const std::string& said, const std::string& expected) {
  return said.substr(0, expected.size()) == expected;
}
