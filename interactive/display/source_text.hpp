#pragma once
#include <ktape/interactive/clang/interpreter.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ktape::interactive {

/// Returns the lines of the file, or of the cell, that holds a place.
std::vector<std::string> lines_around(const Interpreter::Place& place);

/// Returns the range of the comment above line `first` (from 0); a comment may cover several declarations.
std::pair<std::size_t, std::size_t> comment_above(const std::vector<std::string>& lines, std::size_t first);

/// A field of a struct, as its header writes it.
struct FieldText {
  std::string value = {};    ///< the default, such as `"valid"`; empty without a default
  std::string comment = {};  ///< the comment of the field; empty without a comment
};

/// Returns the text of the field whose declaration is at line `first` (from 0).
FieldText field_text(const std::vector<std::string>& lines, std::size_t first, const std::string& name);

}  // namespace ktape::interactive
