#pragma once
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>

namespace ktape::interactive {

/// Returns the width of the terminal that standard output writes to; `otherwise` without a terminal.
inline std::size_t columns_of_terminal(std::size_t otherwise) {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : otherwise;
}

}  // namespace ktape::interactive
