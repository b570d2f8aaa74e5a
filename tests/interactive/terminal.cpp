#include "terminal.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace {

std::string without_returns(const std::string& text) {
  std::string kept;
  for (const char c : text)
    if (c != '\r') kept += c;
  return kept;
}

}  // namespace

Terminal::Terminal(const std::vector<std::string>& command, const std::string& home, const std::string& kind,
                   unsigned short columns) {
  winsize size{};
  size.ws_row = 50;
  size.ws_col = columns;
  process_ = forkpty(&screen_, nullptr, nullptr, &size);
  if (process_ < 0) throw std::runtime_error("forkpty");
  if (process_ == 0) {
    setenv("HOME", home.c_str(), 1);
    setenv("KERAS_HOME", (home + "/none").c_str(), 1);
    setenv("TERM", kind.c_str(), 1);
    unsetenv("XDG_STATE_HOME");
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
}

Terminal::~Terminal() {
  close(screen_);
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
}

void Terminal::type(const std::string& keys) {
  if (write(screen_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
    throw std::runtime_error("write");
}

std::string Terminal::until(const std::string& text, double seconds) {
  return without_returns(raw_until(text, seconds));
}

std::string Terminal::raw_until(const std::string& text, double seconds) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    if (const std::size_t at = pending_.find(text); at != std::string::npos) {
      const std::string before = pending_.substr(0, at);
      pending_.erase(0, at + text.size());
      return before;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    pollfd screen{screen_, POLLIN, 0};
    char buffer[4096];
    const ssize_t size =
        left > 0 && poll(&screen, 1, static_cast<int>(left)) > 0 ? read(screen_, buffer, sizeof buffer) : 0;
    if (size <= 0) throw std::runtime_error("waited for '" + text + "' after: " + without_returns(pending_));
    pending_.append(buffer, static_cast<std::size_t>(size));
  }
}

std::string Terminal::line(const std::string& text) {
  type(text + '\n');
  until("\n");  // the echo
  std::string said = until(">>> ");
  if (said.ends_with('\n')) said.pop_back();
  return said;
}

int Terminal::wait() {
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::size_t Terminal::memory() const {
  std::ifstream file("/proc/" + std::to_string(process_) + "/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}
