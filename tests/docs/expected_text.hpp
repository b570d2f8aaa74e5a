#pragma once
#include <regex>
#include <sstream>
#include <string>
#include <vector>

/// The comparison of texts that programs print with texts of the guides. In an expected text, "..." stands for
/// any characters of a line, such as digits that depend on the machine, and a line of "..." for any lines.
namespace docs {

using Lines = std::vector<std::string>;

/// Returns the lines without blanks at their ends, and without empty lines at the end of the text.
inline Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(" \r") + 1);
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

inline bool line_matches(const std::string& expected, const std::string& received) {
  const std::size_t dots = expected.find("...");
  if (dots == std::string::npos) return expected == received;
  if (received.compare(0, dots, expected, 0, dots) != 0) return false;
  const std::string rest = expected.substr(dots + 3);
  for (std::size_t at = dots; at <= received.size(); ++at)
    if (line_matches(rest, received.substr(at))) return true;
  return false;
}

inline bool lines_match(const Lines& expected, std::size_t e, const Lines& received, std::size_t r) {
  if (e == expected.size()) return r == received.size();
  if (expected[e] == "...")
    return lines_match(expected, e + 1, received, r) ||
           (r < received.size() && lines_match(expected, e, received, r + 1));
  return r < received.size() && line_matches(expected[e], received[r]) &&
         lines_match(expected, e + 1, received, r + 1);
}

inline bool matches(const std::string& expected, const std::string& received) {
  return lines_match(lines_of(expected), 0, lines_of(received), 0);
}

/// Replaces numbers, each with its unit of time and the blanks that align the number, by "#".
inline std::string without_numbers(const std::string& text) {
  static const std::regex number(" *[0-9]+(\\.[0-9]*)?(e[-+]?[0-9]+)?(ns|us|ms|s|m)?\\b");
  return std::regex_replace(text, number, "#");
}

}  // namespace docs
