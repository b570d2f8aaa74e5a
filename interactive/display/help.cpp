#include <ktape/interactive/display/help.hpp>
#include <ktape/ops/help/description.hpp>

#include <sstream>

namespace ktape::interactive {
namespace {

const std::string before_prose = "/// ";

/// Returns whether a line of a comment is prose, and not an example, a list or a table.
bool is_prose(std::string_view line) {
  return line.starts_with(before_prose) && line.size() > before_prose.size() &&
         std::string_view(" -|").find(line[before_prose.size()]) == std::string_view::npos;
}

}  // namespace

std::string filled(const std::string& text, std::size_t columns) {
  std::istringstream lines(text);
  std::string out, rest;  // rest: words carried over from the line before
  const auto put = [&](std::string line, bool may_go_on) {
    const std::size_t whole = line.size();
    for (std::size_t end; line.size() > columns; line = before_prose + line.substr(end + 1)) {
      end = line.rfind(' ', columns);
      if (end == std::string::npos || end < before_prose.size()) break;
      out += line.substr(0, end) + '\n';
    }
    rest = may_go_on && whole > columns ? line : "";
    if (rest.empty()) out += line + '\n';
  };
  for (std::string line; std::getline(lines, line);) {
    const bool prose = is_prose(line);
    if (!rest.empty() && !prose) put(rest, false);
    if (prose) put(rest.empty() ? line : rest + line.substr(before_prose.size() - 1), true);
    else out += line + '\n';
  }
  if (!rest.empty()) put(rest, false);
  return out;
}

std::string describe(Interpreter& interpreter, const std::string& name, std::size_t columns) {
  std::string out;
  for (const Interpreter::Name& known : interpreter.names())
    if (known.name == name)
      out += known.kind + ' ' + known.name + (known.type.empty() ? "" : "  ") + known.type + '\n';
  const auto find = [&](const std::string& other) { return interpreter.find(other); };
  return out +
         help_text::description(name, interpreter.find(name), interpreter.options_of(name), find, columns);
}

}  // namespace ktape::interactive
