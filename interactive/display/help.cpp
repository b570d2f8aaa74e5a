#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/display/help.hpp>
#include <ktape/interactive/display/option_texts.hpp>
#include <ktape/interactive/display/source_text.hpp>

#include <set>
#include <sstream>

namespace ktape::interactive {
namespace {

std::string short_path(const std::string& path) {
  const std::size_t at = path.rfind("/include/");
  return at == std::string::npos ? path : path.substr(at + 9);
}

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

namespace {

/// Returns the comment of a header about its classes: the lines before the namespace.
std::string family_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (line.starts_with("namespace")) return text;
    text = line.starts_with("///") ? text + line + '\n' : std::string();
  }
  return {};
}

/// Appends the comment and the declaration at a place.
void add_declaration(const Interpreter::Place& place, const std::vector<std::string>& lines,
                     std::set<std::pair<std::string, std::size_t>>& commented, std::string& out) {
  const auto [begin, end] = comment_above(lines, place.line - 1);
  if (commented.insert({place.file, begin}).second) {
    if (place.cell.empty())
      out += (out.empty() ? "" : "\n") + short_path(place.file) + ':' + std::to_string(place.line) + '\n';
    for (std::size_t i = begin; i < end; ++i) out += trimmed(lines[i]) + '\n';
  }
  const std::size_t last = std::min<std::size_t>(lines.size(), std::max(place.line, place.last_line));
  for (std::size_t i = place.line - 1; i < last; ++i) out += lines[i] + '\n';
}

}  // namespace

std::string describe(Interpreter& interpreter, const std::string& name, std::size_t columns) {
  std::string out;
  for (const Interpreter::Name& known : interpreter.names())
    if (known.name == name)
      out += known.kind + ' ' + known.name + (known.type.empty() ? "" : "  ") + known.type + '\n';
  std::set<std::pair<std::string, std::size_t>> commented;
  std::string family;
  for (const Interpreter::Place& place : interpreter.find(name)) {
    const std::vector<std::string> lines = lines_around(place);
    if (place.line > lines.size()) continue;
    add_declaration(place, lines, commented, out);
    if (place.is_class && place.cell.empty()) family = family_text(lines);
  }
  for (const Interpreter::OptionStruct& options : interpreter.options_of(name))
    out += '\n' + options_table(interpreter, name, options, columns);
  return family.empty() ? out : out + "\nThis family of classes:\n" + family;
}

}  // namespace ktape::interactive
