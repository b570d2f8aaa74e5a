#pragma once
#include <ktape/interactive/crash_guard/crash_guard.hpp>

#include <vector>

namespace ktape::interactive {

/// An error in Jupyter's form, with terminal colors.
struct Traceback {
  std::string name, message;
  std::vector<std::string> lines;
};

/// Returns an error with the lines around the failing statement. Messages of clang stay as they are.
Traceback traceback_of(const Ending& ending, int count, const std::string& code);

}  // namespace ktape::interactive
