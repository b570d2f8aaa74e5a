#pragma once
#include <ktape/nn/files/bytes.hpp>

namespace ktape::data {

/// The bytes of a file in memory: pages are read from the file when something reads their bytes, and processes share
/// them. The bytes are never written, and at least 63 bytes after the last can be read, so that tensors may lie there
/// (`Tensor::borrowed`). A file that another program shortens in the meantime ends the program with SIGBUS. Internal:
/// sources only.
class MappedFile final : public ElementSource {
 public:
  /// Maps a file. Throws IOError, naming the file, if the system cannot.
  static Ref<MappedFile> map(const char* op, const RandomFile& file);
  ~MappedFile() override;
  void finish() override {}

  char* data() const { return data_; }

 private:
  MappedFile(char* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  char* data_;
  std::size_t bytes_;  ///< whole pages, and a page after them
};

}  // namespace ktape::data
