#include <ktape/interactive/clang/input_validator.hpp>
#include <ktape/interactive/display/help.hpp>

#include <fstream>
#include <set>
#include <sstream>

namespace ktape::interactive {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Returns the range of the comment above line `first` (from 0); a comment may cover several declarations.
std::pair<std::size_t, std::size_t> comment_above(const std::vector<std::string>& lines, std::size_t first) {
  const auto is_comment = [&](std::size_t i) { return trimmed(lines[i]).starts_with("//"); };
  std::size_t end = first;
  while (end > 0 && !trimmed(lines[end - 1]).empty() && !is_comment(end - 1)) --end;
  std::size_t begin = end;
  while (begin > 0 && is_comment(begin - 1)) --begin;
  return {begin, end};
}

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

std::string describe(Interpreter& interpreter, const std::string& name) {
  std::ostringstream out;
  bool any = false;
  for (const Interpreter::Name& known : interpreter.names())
    if (known.name == name) {
      out << known.kind << ' ' << known.name << (known.type.empty() ? "" : "  ") << known.type << '\n';
      any = true;
    }
  std::set<std::pair<std::string, std::size_t>> commented;
  for (const Interpreter::Place& place : interpreter.find(name)) {
    const std::vector<std::string> lines = lines_of(place.file);
    if (place.line == 0 || place.line > lines.size()) continue;
    const auto [begin, end] = comment_above(lines, place.line - 1);
    if (commented.insert({place.file, begin}).second) {
      out << (any ? "\n" : "") << short_path(place.file) << ':' << place.line << '\n';
      for (std::size_t i = begin; i < end; ++i) out << trimmed(lines[i]) << '\n';
    }
    const std::size_t last = std::min<std::size_t>(lines.size(), std::max(place.line, place.last_line));
    for (std::size_t i = place.line - 1; i < last; ++i) out << lines[i] << '\n';
    any = true;
  }
  return out.str();
}

}  // namespace ktape::interactive
