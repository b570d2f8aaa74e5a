#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The text of headers around declarations. Internal: sources only.
namespace ktape::help_text {

/// The place of a declaration in a file, or in a cell of a session.
struct Place {
  std::string file;
  unsigned line = 0, last_line = 0;
  std::string cell = {};  ///< the text of the cell that holds the place, if no file does
  bool is_class = false;
};

/// A struct such as ConvOptions.
struct OptionStruct {
  std::string name;
  std::vector<std::string> arguments = {};  ///< the parameters before the struct, as many as there can be
  std::vector<std::pair<std::string, Place>> fields = {};
};

/// Returns the text without white space at both ends.
std::string trimmed(std::string_view text);

/// Returns the lines of the file, or of the cell, that holds a place.
std::vector<std::string> lines_around(const Place& place);

/// Returns the range of the comment above line `first` (from 0); a comment may cover several declarations.
std::pair<std::size_t, std::size_t> comment_above(const std::vector<std::string>& lines, std::size_t first);

/// A field of a struct, as its header writes it.
struct FieldText {
  std::string value = {};    ///< the default, such as `"valid"`; empty without a default
  std::string comment = {};  ///< the comment of the field; empty without a comment
};

/// Returns the text of the field whose declaration is at line `first` (from 0).
FieldText field_text(const std::vector<std::string>& lines, std::size_t first, const std::string& name);

}  // namespace ktape::help_text
