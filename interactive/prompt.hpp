#pragma once
#include <ktape/interactive/shell.hpp>

namespace ktape::interactive {

/// Reads cells from the terminal, with editing, a history that is kept and completion, until Ctrl-D.
void prompt(Shell& shell);

}  // namespace ktape::interactive
