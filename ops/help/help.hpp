#pragma once
#include <string>
#include <utility>

namespace ktape::backend {

/// The text of `help`, a string that the prompt prints instead of quoting it.
struct HelpText : std::string {
  explicit HelpText(std::string text) : std::string(std::move(text)) {}
};

/// Returns what the installed headers say about a function, a class or a struct: its comment, its declarations, a
/// table of its options, and the text about its family. `?conv2d` in the prompt shows the same text. A name
/// without a namespace is looked for in K first, then in nn, ops, data and plot. The text is read from the headers, which the
/// package libktape-dev has; KTAPE_HEADERS may name another folder that has ktape/ktape.hpp.
///
/// Throws ValueError for an unknown name, and IOError if there are no headers. Python's `help`.
///
///     std::cout << K::help("relu").substr(0, 31);
HelpText help(const std::string& name);

}  // namespace ktape::backend
