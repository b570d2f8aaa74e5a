#pragma once
#include <ktape/ops/help/source_text.hpp>

/// The parts of a declaration, found in its text. Internal: sources only.
namespace ktape::help_text {

/// Returns a line of code without its comment.
std::string without_comment(const std::string& line);

/// Returns the name that a declaration at the level of namespaces declares; empty if the code declares none.
std::string declared_name(const std::string& code);

/// Returns the parts of a text between separators that are outside of brackets, angles and quotes.
std::vector<std::string> split_outside(const std::string& text, char separator);

/// A parameter of a function.
struct Parameter {
  std::string type, name;
};

/// Returns the parameters in the parentheses that open at `open`.
std::vector<Parameter> parameters(const std::string& code, std::size_t open);

/// Returns the fields of a struct whose lines are given, each with its line (from 0).
std::vector<std::pair<std::string, std::size_t>> fields_of(const std::vector<std::string>& lines,
                                                           std::size_t first, std::size_t last);

}  // namespace ktape::help_text
