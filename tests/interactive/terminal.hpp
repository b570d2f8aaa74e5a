#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

/// A program in a pseudo-terminal: keys in, screen out.
class Terminal {
 public:
  /// Starts the command with its home folder in a terminal of this kind, as TERM names it.
  explicit Terminal(const std::vector<std::string>& command, const std::string& home,
                    const std::string& kind = "dumb", unsigned short columns = 200);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys);
  /// Returns the output up to `text`. Throws when `text` does not appear in time.
  std::string until(const std::string& text, double seconds = 30);
  /// Returns the output up to `text` with the carriage returns that `until` leaves out.
  std::string raw_until(const std::string& text, double seconds = 30);
  /// Types a line and returns the output of the program before its next prompt.
  std::string line(const std::string& text);
  /// Waits for the end of the program and returns the exit status.
  int wait();
  /// Returns the bytes of memory that the program holds.
  std::size_t memory() const;

 private:
  int screen_ = -1;
  pid_t process_ = -1;
  std::string pending_;
};
