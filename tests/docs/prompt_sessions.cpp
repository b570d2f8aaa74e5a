// Types the sessions of a guide at the prompt, and compares what the prompt says with the guide.
//
//   prompt_sessions GUIDE.md PROMPT
//
// A session is a ```text block after the line `<!-- prompt -->`: lines that begin with ">>> " are typed, the others are expected.
#include "expected_text.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace {

struct Session {
  int line = 0;
  std::string typed, expected;
};

std::vector<Session> sessions_of(const std::string& path) {
  std::vector<Session> sessions;
  std::ifstream file(path);
  std::string line, before;
  bool within = false;
  for (int number = 1; std::getline(file, line); before = line, ++number) {
    if (line == "```text" && before == "<!-- prompt -->") sessions.push_back({number, "", ""}), within = true;
    else if (line == "```") within = false;
    else if (within && line.rfind(">>> ", 0) == 0) sessions.back().typed += line.substr(4) + "\n";
    else if (within) sessions.back().expected += line + "\n";
  }
  return sessions;
}

std::string answer(const std::string& prompt, const std::string& typed) {
  const char* const cells = "prompt_session.txt";
  std::ofstream(cells) << typed;
  FILE* const pipe = popen(("'" + prompt + "' <" + cells + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("the prompt cannot be started");
  std::string said;
  for (int c; (c = std::fgetc(pipe)) != EOF;) said += static_cast<char>(c);
  pclose(pipe);
  return said;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: prompt_sessions GUIDE.md PROMPT");
  const std::vector<Session> sessions = sessions_of(argv[1]);
  int failures = 0;
  for (const Session& session : sessions) {
    const std::string said = answer(argv[2], session.typed);
    if (docs::matches(session.expected, said)) continue;
    std::cout << argv[1] << ":" << session.line << ": the prompt says something else\nexpected:\n"
              << session.expected << "received:\n"
              << said << "\n";
    ++failures;
  }
  std::cout << sessions.size() << " sessions, " << failures << " failures\n";
  return sessions.empty() || failures > 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
