#include <ktape/ops/help/source_text.hpp>

#include <fstream>
#include <memory>
#include <regex>
#include <sstream>

namespace ktape::help_text {

std::string trimmed(std::string_view text) {
  const char* const spaces = " \t\r\n";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(spaces) - first + 1));
}

namespace {

bool is_comment(const std::string& line) { return trimmed(line).starts_with("//"); }

/// Returns the text of a comment line without its slashes.
std::string comment_text(const std::string& line) {
  const std::size_t begin = line.find("//");
  return begin == std::string::npos ? "" : trimmed(line.substr(line.find_first_not_of("/<", begin)));
}

void append(std::string& text, const std::string& more) {
  if (!more.empty()) text += (text.empty() ? "" : " ") + more;
}

/// Returns the end of a default value: the comma or semicolon outside of brackets and quotes.
std::size_t end_of_value(const std::string& text) {
  int open = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    if ((c == ',' || c == ';') && open == 0) return i;
    open += (c == '(' || c == '{' || c == '[' || c == '<') - (c == ')' || c == '}' || c == ']' || c == '>');
  }
  return text.size();
}

}  // namespace

std::vector<std::string> lines_around(const Place& place) {
  const std::unique_ptr<std::istream> text =
      place.cell.empty() ? std::unique_ptr<std::istream>(std::make_unique<std::ifstream>(place.file))
                         : std::make_unique<std::istringstream>(place.cell);
  std::vector<std::string> lines;
  for (std::string line; std::getline(*text, line);) lines.push_back(line);
  return lines;
}

std::pair<std::size_t, std::size_t> comment_above(const std::vector<std::string>& lines, std::size_t first) {
  std::size_t end = first;
  while (end > 0 && !trimmed(lines[end - 1]).empty() && !is_comment(lines[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_comment(lines[begin - 1])) --begin;
  return {begin, end};
}

FieldText field_text(const std::vector<std::string>& lines, std::size_t first, const std::string& name) {
  FieldText field;
  if (first >= lines.size()) return field;
  // The declaration may have several lines: a default or the comment may stand in the next lines.
  std::string code, comment;
  std::size_t last = first;
  for (;; ++last) {
    const std::size_t slashes = lines[last].find("///<");
    append(code, trimmed(lines[last].substr(0, slashes)));
    if (slashes != std::string::npos) append(comment, comment_text(lines[last].substr(slashes)));
    if (code.ends_with(';') || last + 1 == lines.size()) break;
  }
  while (last + 1 < lines.size() && trimmed(lines[last + 1]).starts_with("///<"))
    append(comment, comment_text(lines[++last]));
  for (std::size_t i = first; comment.empty() && i > 0 && trimmed(lines[i - 1]).starts_with("/// "); --i)
    field.comment = comment_text(lines[i - 1]) + (field.comment.empty() ? "" : " ") + field.comment;
  if (!comment.empty()) field.comment = comment;
  std::smatch match;
  if (std::regex_search(code, match, std::regex("\\b" + name + "\\s*=\\s*"))) {
    const std::string rest = match.suffix();
    field.value = trimmed(rest.substr(0, end_of_value(rest)));
  }
  return field;
}

}  // namespace ktape::help_text
