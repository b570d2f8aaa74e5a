#pragma once
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <optional>

/// Internal: sources only.
namespace ktape::nn {

/// Returns the number of columns of the terminal on standard output; nothing if standard output is no terminal,
/// or a terminal that does not tell its size.
inline std::optional<std::size_t> terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return size.ws_col;
}

}  // namespace ktape::nn
