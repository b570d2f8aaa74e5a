// Runs the programs of a guide, each in a process of its own, and compares what they print with the guide.
//
//   guides GUIDE EXAMPLES     runs all programs of docs/guides/GUIDE.md; EXAMPLES is the folder that they find as "examples"
//   guides GUIDE --line LINE  runs the program of that line
//
// In an expected text, "..." stands for any characters of a line, such as digits that depend on the machine, and a line of "..."
// for any lines. Where numbers vary, only the text around numbers and units of time is compared. The programs of a guide share an empty folder, and so can read what an earlier program wrote.
#include "guides.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>
#include <sstream>

namespace docs {
namespace {

constexpr char mark = '\x1e';

std::vector<Program>& programs() {
  static std::vector<Program> list;
  return list;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(" \r") + 1);
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

bool line_matches(const std::string& expected, const std::string& received) {
  const std::size_t dots = expected.find("...");
  if (dots == std::string::npos) return expected == received;
  if (received.compare(0, dots, expected, 0, dots) != 0) return false;
  const std::string rest = expected.substr(dots + 3);
  for (std::size_t at = dots; at <= received.size(); ++at)
    if (line_matches(rest, received.substr(at))) return true;
  return false;
}

using Lines = std::vector<std::string>;

bool matches(const Lines& expected, std::size_t e, const Lines& received, std::size_t r) {
  if (e == expected.size()) return r == received.size();
  if (expected[e] == "...")
    return matches(expected, e + 1, received, r) || (r < received.size() && matches(expected, e, received, r + 1));
  return r < received.size() && line_matches(expected[e], received[r]) && matches(expected, e + 1, received, r + 1);
}

std::string without_numbers(const std::string& text) {
  static const std::regex number("[0-9]+(\\.[0-9]*)?(e[-+]?[0-9]+)?(ns|us|ms|s|m)?\\b");
  return std::regex_replace(text, number, "#");
}

bool matches(const Part& part, const std::string& received) {
  if (!part.numbers_vary) return matches(lines_of(part.text), 0, lines_of(received), 0);
  return matches(lines_of(without_numbers(part.text)), 0, lines_of(without_numbers(received)), 0);
}

/// Runs a program in a process of its own and returns what the process prints.
std::string output_of(const std::string& self, const Program& program, int& status) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]), close(ends[1]);
    const std::string line = std::to_string(program.line);
    execl(self.c_str(), self.c_str(), program.guide.c_str(), "--line", line.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) output.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  waitpid(child, &status, 0);
  return output;
}

std::vector<std::string> parts_of(const std::string& output) {
  std::vector<std::string> parts{""};
  for (const char c : output) {
    if (c == mark) parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

/// Compares a program with its guide, and returns the number of differences, which are printed.
int check(const std::string& self, const Program& program) {
  int status = 0, failures = 0;
  const auto received = parts_of(output_of(self, program, status));
  const std::string path = "docs/guides/" + program.guide + ".md:";
  for (std::size_t i = 0; i < program.parts.size(); ++i) {
    const std::string text = i < received.size() ? received[i] : "";
    if (matches(program.parts[i], text)) continue;
    std::cout << path << program.parts[i].line << ": the program prints another text\nexpected:\n"
              << program.parts[i].text << "received:\n" << text << "\n";
    ++failures;
  }
  if (status != 0) std::cout << path << program.line << ": the program ends with status " << status << "\n", ++failures;
  return failures;
}

int run(const std::string& guide, int line) {
  for (const Program& program : programs())
    if (program.guide == guide && program.line == line) return program.run();
  throw std::runtime_error("there is no such program");
}

int check_all(const std::string& guide, const std::string& examples) {
  namespace fs = std::filesystem;
  const std::string self = fs::read_symlink("/proc/self/exe");
  const fs::path folder = fs::current_path() / ("guide_" + guide);
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::current_path(folder);
  fs::create_symlink(examples, "examples");
  int count = 0, failures = 0;
  for (const Program& program : programs()) {
    if (program.guide != guide) continue;
    ++count;
    failures += check(self, program);
  }
  std::cout << guide << ": " << count << " programs, " << failures << " failures" << std::endl;
  return count == 0 || failures > 0;
}

}  // namespace

Program::Program(std::string guide, int line, int (*run)(), std::vector<Part> parts)
    : guide(std::move(guide)), line(line), run(run), parts(std::move(parts)) {
  programs().push_back(*this);
}

void end_part() {
  std::fflush(stdout);
  std::cout << mark << std::flush;
}

}  // namespace docs

int main(int argc, char** argv) try {
  if (argc == 4 && std::string(argv[2]) == "--line") return docs::run(argv[1], std::stoi(argv[3]));
  if (argc == 3) return docs::check_all(argv[1], argv[2]);
  std::cerr << "usage: guides GUIDE EXAMPLES\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << "guides: " << error.what() << "\n";
  return 1;
}
