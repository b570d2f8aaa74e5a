#pragma once
#include <ktape/interactive/display.hpp>

#include <functional>

namespace ktape::interactive {

/// Takes the forms of a value that is shown; "text/plain" is always among them. `is_result`: it is what the
/// cell is worth.
using Notebook = std::function<void(const Forms&, bool is_result)>;
/// From now on values are shown there, not on std::cout.
void show_in(Notebook notebook);

}  // namespace ktape::interactive
