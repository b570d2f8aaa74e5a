#pragma once
#include <ktape/interactive/session/magics.hpp>

namespace ktape::interactive {

/// Reads cells from the terminal until Ctrl-D or %restart, with line editing, completion and a history kept in a file.
void prompt(Shell& shell);

}  // namespace ktape::interactive
