#pragma once
#include <ktape/interactive/display/display.hpp>

#include <functional>

namespace ktape::interactive {

/// Receives the MIME bundle of a shown value, always with "text/plain". `is_result` is true for the result of
/// the cell.
using Notebook = std::function<void(const MimeBundle&, bool is_result)>;
/// Shows values in the notebook instead of on std::cout from now on.
void show_in(Notebook notebook);

}  // namespace ktape::interactive
