#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Files that are written completely or not at all. Internal: sources only.
namespace ktape::nn::saving {

/// A file that is being written. The bytes go to a temporary file in the folder of the file; `commit` renames
/// the temporary file. At any moment the path has the complete old file or the complete new file. The target
/// of a symbolic link is replaced, not the link; permissions do not change.
///
/// All errors (a missing folder, no permission, a full disk, the name of a folder) are IOErrors, "[op] the
/// file must be writable: received path (reason)", and the old file does not change. A program that is killed
/// leaves its temporary file, ".ktape-PID-N", which the next AtomicFile in the folder removes.
class AtomicFile {
 public:
  AtomicFile(const char* op, std::string path);
  /// Removes the temporary file unless it was committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends bytes.
  void write(const void* bytes, std::size_t n);
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  /// Returns the number of bytes that were appended.
  std::uint64_t size() const { return size_; }
  /// Syncs the written bytes to the disk and renames the temporary file to the file's path.
  void commit();

  /// Returns the path of the temporary file.
  const std::string& temporary() const { return temporary_; }

 private:
  [[noreturn]] void fail(const char* reason) const;
  void resolve();
  void sweep() const;
  void create();

  const char* op_;
  const std::string path_;
  std::string target_, folder_, temporary_;
  int file_ = -1, mode_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace ktape::nn::saving
