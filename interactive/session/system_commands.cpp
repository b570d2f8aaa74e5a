#include <ktape/interactive/session/system_commands.hpp>

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

namespace ktape::interactive {
namespace {

volatile sig_atomic_t child = 0;

void forward(int signal) {
  if (child > 0) kill(child, signal);
}

/// Sends Ctrl-C to the child during a scope.
class InterruptsOfChild {
 public:
  InterruptsOfChild() {
    struct sigaction action {};
    action.sa_handler = forward;
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptsOfChild() {
    child = 0;
    sigaction(SIGINT, &before_, nullptr);
  }
  InterruptsOfChild(const InterruptsOfChild&) = delete;
  InterruptsOfChild& operator=(const InterruptsOfChild&) = delete;

 private:
  struct sigaction before_;
};

/// Starts the system's shell with the default handling of Ctrl-C. Returns an error number.
int start(const std::string& command) {
  sigset_t none, interrupt;
  sigemptyset(&none);
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &interrupt);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string shell = "sh", option = "-c", text = command;
  char* const words[] = {shell.data(), option.data(), text.data(), nullptr};
  pid_t process = 0;
  const int error = posix_spawn(&process, "/bin/sh", nullptr, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) child = process;
  return error;
}

}  // namespace

Ending run_system_command(const std::string& command) {
  if (command.empty()) return {Ending::Threw, "ValueError: [!] a command must be given: received nothing"};
  std::cout.flush();
  std::fflush(stdout);
  const InterruptsOfChild forwarding;
  if (const int error = start(command))
    return {Ending::Threw, std::string("IOError: [!] ") + std::strerror(error)};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) return {Ending::Interrupted, "interrupted"};
  if (status == 0) return {};
  return {Ending::Threw,
          "the command ended with status " +
              std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status))};
}

Ending change_folder(const std::string& path) {
  const char* const home = std::getenv("HOME");
  std::filesystem::path folder = path;
  if (home && (path.empty() || path == "~")) folder = home;
  else if (home && path.starts_with("~/")) folder = std::filesystem::path(home) / path.substr(2);
  std::error_code error;
  std::filesystem::current_path(folder, error);
  if (error) return {Ending::Threw, "IOError: [%cd] " + folder.string() + ": " + error.message()};
  std::cout << std::filesystem::current_path().string() << std::endl;
  return {};
}

Ending load_library(const std::string& path) {
  if (path.empty()) return {Ending::Threw, "ValueError: [%lib] a library must be named: received nothing"};
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) return {};
  return {Ending::Threw, std::string("IOError: [%lib] ") + dlerror()};
}

}  // namespace ktape::interactive
