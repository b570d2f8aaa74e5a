#pragma once

namespace ktape::interactive {

/// A cell `else B` after a cell `if (c) A`: the session runs the first as `if (c) A else note_untaken();` and the
/// second as `if (untaken()) B`.
constexpr const char* else_note = "\nelse ktape::interactive::note_untaken();";
constexpr const char* if_untaken = "if (ktape::interactive::untaken())";

void note_untaken();
/// Returns whether note_untaken() was called since the last call of untaken().
bool untaken();

}  // namespace ktape::interactive
