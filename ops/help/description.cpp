#include <ktape/ops/help/description.hpp>

#include <algorithm>
#include <set>

namespace ktape::help_text {
namespace {

std::string short_path(const std::string& path) {
  const std::size_t at = path.rfind("/include/");
  return at == std::string::npos ? path : path.substr(at + 9);
}

/// Returns the comment of a header about its classes: the lines before the namespace.
std::string family_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (line.starts_with("namespace")) return text;
    text = line.starts_with("///") ? text + line + '\n' : std::string();
  }
  return {};
}

/// Returns whether a line brings a name from another namespace, where the name is declared.
bool is_using_declaration(const std::string& line) {
  return line.starts_with("using ") && line.find('=') == std::string::npos;
}

/// Appends the comment and the declaration at a place.
void add_declaration(const Place& place, const std::vector<std::string>& lines,
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

std::string description(const std::string& name, const std::vector<Place>& places,
                        const std::vector<OptionStruct>& options, const FindPlaces& find,
                        std::size_t columns) {
  std::string out, family;
  std::set<std::pair<std::string, std::size_t>> commented;
  for (const Place& place : places) {
    const std::vector<std::string> lines = lines_around(place);
    if (place.line > lines.size()) continue;
    if (places.size() > 1 && is_using_declaration(lines[place.line - 1])) continue;
    add_declaration(place, lines, commented, out);
    if (place.is_class && place.cell.empty()) family = family_text(lines);
  }
  for (const OptionStruct& one : options) out += '\n' + options_table(find, name, one, columns);
  return family.empty() ? out : out + "\nThis family of classes:\n" + family;
}

}  // namespace ktape::help_text
