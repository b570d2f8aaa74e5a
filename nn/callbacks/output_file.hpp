#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ktape::nn {

/// A file that grows at its end, each time by something whole. Throws IOError, naming callback and file,
/// where that is not possible. Internal: sources only.
class OutputFile {
 public:
  /// Opens a file, or makes it; what is in it stays.
  OutputFile(const char* callback, const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::uint64_t size() const { return size_; }
  /// Cuts the file off behind so many bytes, at most those that it has.
  void cut(std::uint64_t size);
  /// Writes behind the end. Another program sees all of it from then on.
  void append(std::string_view bytes);

 private:
  [[noreturn]] void fail_with(int error) const;

  const char* callback_;
  std::string path_;
  std::uint64_t size_ = 0;
  int file_;
};

}  // namespace ktape::nn
