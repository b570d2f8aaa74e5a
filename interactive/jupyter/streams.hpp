#pragma once
#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace ktape::interactive {

/// Takes what the process, whoever in it, writes to its standard output and standard error, and hands it on
/// as it comes while a cell runs; what comes between two cells, with the next one. What comes before the
/// first is dropped.
///
/// Both are terminals, so that what is written is what would be at the prompt: bars move, lines come at once.
class Streams {
 public:
  /// `publish(name, text)`: of "stdout" or "stderr", whole UTF-8 characters. Called by any thread, one at a
  /// time.
  using Publish = std::function<void(const char* name, const std::string& text)>;
  explicit Streams(Publish publish);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  void begin_cell();
  void end_cell();
  /// Calls f after all that was written so far is published, and while nothing else is.
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
  std::mutex mutex_;  // for what follows and for publishing
  bool any_cell_ = false, in_cell_ = false, ends_ = false;
  std::thread watcher_;
};

}  // namespace ktape::interactive
