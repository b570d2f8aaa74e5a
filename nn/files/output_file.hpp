#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ktape::nn {

/// A file to which a callback appends complete records. Functions throw IOError, naming callback and file,
/// for errors of the system. Internal: sources only.
class OutputFile {
 public:
  /// Opens or creates a file, and keeps its content.
  OutputFile(const char* callback, const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::uint64_t size() const { return size_; }
  /// Truncates the file to `size` bytes; a shorter file does not change.
  void cut(std::uint64_t size);
  /// Appends bytes; after the call other programs see all of them.
  void append(std::string_view bytes);

 private:
  [[noreturn]] void fail_with(int error) const;

  const char* callback_;
  std::string path_;
  std::uint64_t size_ = 0;
  int file_;
};

}  // namespace ktape::nn
