#include <ktape/interactive/jupyter/traceback.hpp>

#include <algorithm>
#include <sstream>

namespace ktape::interactive {
namespace {

constexpr const char *red = "\033[0;31m", *green = "\033[0;32m", *plain = "\033[0m";

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns the failing line, marked with an arrow, between its neighbors.
void add_lines(const std::vector<std::string>& code, std::size_t line, std::vector<std::string>& out) {
  if (line == 0 || line > code.size()) return;
  for (std::size_t i = std::max<std::size_t>(line, 3) - 2; i <= std::min(line + 2, code.size()); ++i) {
    const std::string number = std::to_string(i);
    const std::string margin = (i == line ? "----> " : "      ") + number + ' ';
    out.push_back((i == line ? green + margin + plain : margin) + code[i - 1]);
  }
}

}  // namespace

Traceback traceback_of(const Ending& ending, int count, const std::string& code) {
  if (ending.kind == Ending::Rejected)
    return {"CompileError", "the cell does not compile", lines_of(ending.message)};
  Traceback traceback{"", ending.message, {}};
  if (ending.kind == Ending::Interrupted) traceback.name = "Interrupted";
  else if (ending.kind == Ending::Crashed) traceback.name = "Crash";
  else if (const std::size_t colon = ending.message.find(": "); colon != std::string::npos) {
    traceback.name = ending.message.substr(0, colon);
    traceback.message = ending.message.substr(colon + 2);
  } else {
    traceback.name = ending.message;
    traceback.message.clear();
  }
  if (ending.line > 0) {
    traceback.lines.push_back("In [" + std::to_string(count) + "], line " + std::to_string(ending.line) +
                              ':');
    add_lines(lines_of(code), ending.line, traceback.lines);
    traceback.lines.emplace_back();
  }
  traceback.lines.push_back(red + traceback.name + plain +
                            (traceback.message.empty() ? "" : ": " + traceback.message));
  return traceback;
}

}  // namespace ktape::interactive
