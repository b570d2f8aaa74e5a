#pragma once
#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace ktape::interactive {

/// Captures the process's standard output and standard error, from any library and thread. Output is
/// published as it comes during a cell; output between two cells is published with the next cell; output
/// before the first cell is dropped.
///
/// Both streams are pseudo-terminals, so that programs write as at the prompt: progress bars move, lines are
/// not held back.
class Streams {
 public:
  /// `publish(name, text)` receives "stdout" or "stderr" and whole UTF-8 characters. Calls come from any
  /// thread, never two at a time.
  using Publish = std::function<void(const char* name, const std::string& text)>;
  explicit Streams(Publish publish);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  void begin_cell();
  void end_cell();
  /// Calls f after all output so far is published, and publishes nothing else during the call.
  void after_text(const std::function<void()>& f);

 private:
  struct Stream {
    const char* name;
    int terminal = -1;
    std::string text = {};
  };
  void open(Stream& stream, int file);
  void watch();
  void read_all();
  void publish_text(bool all);

  Publish publish_;
  std::array<Stream, 2> streams_{{{"stdout"}, {"stderr"}}};
  int wake_[2] = {-1, -1};
  std::mutex mutex_;  // guards publishing and the members below
  bool any_cell_ = false, in_cell_ = false, ends_ = false;
  std::thread watcher_;
};

}  // namespace ktape::interactive
