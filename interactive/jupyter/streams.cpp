#include <ktape/interactive/jupyter/streams.hpp>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <system_error>

namespace ktape::interactive {
namespace {

/// Blocks Ctrl-C during a scope that must not be left by a jump.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_;
};

/// Returns the length of the text up to its last whole UTF-8 character.
std::size_t whole_characters(const std::string& text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > back ? text.size() - back : text.size();
  }
  return text.size();
}

void flush() {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
}

}  // namespace

Streams::Streams(Publish publish) : publish_(std::move(publish)) {
  flush();
  open(streams_[0], STDOUT_FILENO);
  open(streams_[1], STDERR_FILENO);
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 16);
  if (pipe2(wake_, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const SignalsWait wait;  // the watcher's thread inherits the blocked signals
  watcher_ = std::thread([this] { watch(); });
}

Streams::~Streams() {
  flush();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  close(wake_[1]);
  watcher_.join();
}

void Streams::open(Stream& stream, int file) {
  termios raw{};
  cfmakeraw(&raw);
  winsize size{};
  size.ws_row = 50, size.ws_col = 100;
  int end = -1;
  if (openpty(&stream.terminal, &end, nullptr, &raw, &size) != 0)
    throw std::system_error(errno, std::generic_category(), "openpty");
  fcntl(stream.terminal, F_SETFL, O_NONBLOCK);
  fcntl(stream.terminal, F_SETFD, FD_CLOEXEC);
  dup2(end, file);
  close(end);
}

void Streams::begin_cell() {
  const SignalsWait wait;
  flush();
  const std::lock_guard lock(mutex_);
  read_all();
  // Output before the first cell is dropped.
  if (!any_cell_)
    for (Stream& stream : streams_) stream.text.clear();
  any_cell_ = in_cell_ = true;
}

void Streams::end_cell() {
  after_text([this] { in_cell_ = false; });
}

void Streams::after_text(const std::function<void()>& f) {
  const SignalsWait wait;
  flush();
  const std::lock_guard lock(mutex_);
  read_all();
  publish_text(true);
  f();
}

void Streams::watch() {
  for (;;) {
    pollfd files[] = {{streams_[0].terminal, POLLIN, 0}, {streams_[1].terminal, POLLIN, 0}, {wake_[0], 0, 0}};
    poll(files, std::size(files), -1);
    {
      const std::lock_guard lock(mutex_);
      if (ends_) return;
      read_all();
      if (in_cell_) publish_text(false);
    }
    // Output is collected, so that a loop of prints sends a few messages a second instead of thousands.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void Streams::read_all() {
  for (Stream& stream : streams_) {
    char buffer[4096];
    for (ssize_t size; (size = read(stream.terminal, buffer, sizeof buffer)) > 0;)
      stream.text.append(buffer, static_cast<std::size_t>(size));
  }
}

void Streams::publish_text(bool all) {
  for (Stream& stream : streams_) {
    const std::size_t size = all ? stream.text.size() : whole_characters(stream.text);
    if (size == 0) continue;
    publish_(stream.name, stream.text.substr(0, size));
    stream.text.erase(0, size);
  }
}

}  // namespace ktape::interactive
