#pragma once
#include <ktape/nn/files/bytes.hpp>

#include <set>
#include <string_view>
#include <vector>

namespace ktape::nn::saving {
class AtomicFile;
}

/// Reading and writing of zip archives. Internal: sources only.
namespace ktape::data {

struct ZipEntry {
  std::string name;
  bool deflated;
  std::uint32_t checksum;
  std::uint64_t compressed, size;  ///< the size in the archive, and the size of the file
  std::uint64_t data;              ///< the offset of the entry's data
};

/// The files in an archive: stored, or compressed by deflate. The constructor checks the whole directory:
/// every name stays below a folder and occurs once, and no two entries share bytes of the file.
class ZipArchive {
 public:
  /// Throws IOError, naming the file, for a file that is not a zip archive, and, naming the entry, for an
  /// archive whose entries would together inflate further than `arrays_inflation` allows and to more than
  /// `expected` bytes.
  ZipArchive(const char* op, const std::string& path, std::uint64_t expected = 0);
  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// Returns the bytes of an entry; reading the last byte compares the checksum. The archive must outlive the
  /// source.
  std::unique_ptr<ByteSource> open(const ZipEntry& entry) const;
  /// Returns the text of an entry, which may inflate as far as `texts_inflation` allows. Throws IOError,
  /// naming the entry.
  std::string text(const ZipEntry& entry) const;

 private:
  template <class... Parts>
  [[noreturn]] void fail(const char* rule, const Parts&... reason) const;
  void read_directory();
  void read_entries(const std::string& directory, std::uint64_t begin, std::uint64_t count);
  void expect_inflation(std::uint64_t inflated, std::uint64_t stored, std::uint64_t most,
                        const ZipEntry& entry) const;
  ZipEntry entry_of(const char* record, const std::string& name, const char* extra, std::size_t extra_size,
                    std::uint64_t& header) const;
  void find_data(ZipEntry& entry, std::uint64_t header, std::uint64_t end) const;
  void check_name(const std::string& name) const;

  const char* op_;
  RandomFile file_;
  std::uint64_t expected_;
  std::vector<ZipEntry> entries_;
};

/// Writes an archive of stored files, of any size. Equal files give equal bytes: archives have no dates.
class ZipWriter {
 public:
  ZipWriter(const char* op, nn::saving::AtomicFile& file) : op_(op), file_(file) {}

  /// Appends a file whose content is given in pieces. Throws ValueError for a name that a ZipArchive refuses:
  /// a name that occurs twice, or a name that leaves the folder.
  void add(const std::string& name, const std::vector<std::string_view>& content);
  /// Appends the directory after the last file.
  void finish();

 private:
  const char* op_;
  nn::saving::AtomicFile& file_;
  std::string directory_;
  std::set<std::string> names_;
};

}  // namespace ktape::data
