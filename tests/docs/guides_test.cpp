// Runs the programs of a guide, each in a process of its own, and compares what they print with the guide.
//
//   guides GUIDE EXAMPLES     runs all programs of docs/guides/GUIDE.md; EXAMPLES is the folder that they find as "examples"
//   guides GUIDE --line LINE  runs the program of that line
//
// The programs of a guide share an empty folder, and so can read what an earlier program wrote. Programs of several processes are
// started by the mpirun that KTAPE_MPIRUN names.
#include "guides.hpp"
#include "expected_text.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace docs {
namespace {

constexpr char mark = '\x1e';

std::vector<Program>& programs() {
  static std::vector<Program> list;
  return list;
}

bool agrees(const Part& part, const std::string& received) {
  if (part.numbers_vary) return matches(without_numbers(part.text), without_numbers(received));
  return matches(part.text, received);
}

/// Replaces this process by the program.
[[noreturn]] void execute(const std::string& self, const Program& program) {
  std::vector<std::string> words{self, program.guide, "--line", std::to_string(program.line)};
  if (program.processes > 1) {
    const char* const mpirun = std::getenv("KTAPE_MPIRUN");
    const std::vector<std::string> before{mpirun ? mpirun : "mpirun", "-n",
                                          std::to_string(program.processes)};
    words.insert(words.begin(), before.begin(), before.end());
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

/// Runs a program in a process of its own and returns what the process prints.
std::string output_of(const std::string& self, const Program& program, int& status) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]), close(ends[1]);
    execute(self, program);
  }
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<std::size_t>(n));
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
    if (agrees(program.parts[i], text)) continue;
    std::cout << path << program.parts[i].line << ": the program prints another text\nexpected:\n"
              << program.parts[i].text << "received:\n"
              << text << "\n";
    ++failures;
  }
  if (status != 0)
    std::cout << path << program.line << ": the program ends with status " << status << "\n", ++failures;
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

Program::Program(std::string guide, int line, int processes, int (*run)(), std::vector<Part> parts)
    : guide(std::move(guide)), line(line), processes(processes), run(run), parts(std::move(parts)) {
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
