#pragma once
#include <ktape/interactive/guard.hpp>

#include <vector>

namespace ktape::interactive {

/// An error as Jupyter shows it, in the colors of terminals.
struct Traceback {
  std::string name, message;
  std::vector<std::string> lines;
};

/// Of the cell's statement that ended it the traceback shows some lines. clang's own errors stand as they
/// are.
Traceback traceback_of(const Ending& ending, int count, const std::string& code);

}  // namespace ktape::interactive
