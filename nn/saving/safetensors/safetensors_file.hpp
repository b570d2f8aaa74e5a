#pragma once
#include <ktape/nn/files/mapped_file.hpp>
#include <ktape/nn/saving/base/format.hpp>
#include <ktape/nn/saving/base/weights.hpp>

/// The .safetensors format: the length of a header in 8 bytes, the header (JSON: for each tensor dtype, shape
/// and place, and a dictionary of texts), the tensors' bytes. Internal: sources only.
namespace ktape::nn::saving {

/// Weights as a .safetensors file, under "layer/weight".
extern const Format safetensors;

using Metadata = std::vector<std::pair<std::string, std::string>>;

/// Writes the tensors with `op` in messages. Throws the errors of `save_safetensors`.
void write_safetensors(const char* op, const std::string& path, const NamedTensors& tensors,
                       const Metadata& metadata);

/// A file open for reading. The whole header is checked when the file is opened.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    const char* dtype = nullptr;  ///< the format's name of the dtype, such as "F32"
    Shape shape;
    std::uint64_t begin = 0, end = 0;  ///< offsets of the tensor's bytes, from the end of the header
  };

  /// Opens a file and checks its header. With `memory_map`, tensors lie in the mapped file; those whose dtype needs a
  /// check or another alignment are read. Throws IOError, naming the file and the position.
  SafetensorsFile(const char* op, const std::string& path, bool memory_map = false);

  const std::vector<Entry>& entries() const { return entries_; }
  const Metadata& metadata() const { return metadata_; }
  Tensor read(const Entry& entry) const;
  NamedTensors read_all() const;

 private:
  void check_names() const;
  void check_places() const;

  const char* op_;
  data::RandomFile file_;
  Ref<data::MappedFile> mapped_;
  std::uint64_t begin_ = 0;  ///< the offset of the data in the file
  std::vector<Entry> entries_;
  Metadata metadata_;
};

}  // namespace ktape::nn::saving
