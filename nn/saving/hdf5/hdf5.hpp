#pragma once
#include <ktape/autograd/tensor.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// HDF5 files as trees of values. The component ktape/libktape_hdf5.so, below the folder of libktape.so, reads
/// and writes the files. The component is loaded for the first file, so that programs without HDF5 files run without
/// libhdf5. Internal: sources only.
namespace ktape::nn::saving::hdf5 {

using Attribute = std::variant<std::string, std::vector<std::string>, Tensor>;

/// A dataset or a group.
struct Entry {
  std::vector<std::pair<std::string, Attribute>> attributes;
  Tensor value;                                        ///< the numbers of a dataset
  std::string fault;                                   ///< the reason why a dataset has no value
  std::vector<std::pair<std::string, Entry>> members;  ///< the members of a group, with their names

  Entry() = default;
  explicit Entry(Tensor value) : value(std::move(value)) {}

  bool is_group() const { return !value.defined() && fault.empty(); }
  const Attribute* attribute(std::string_view name) const;
  void set_attribute(std::string name, Attribute value);
  /// Returns the entry at a path below this group, or null.
  const Entry* find(std::string_view path) const;
  /// Returns the number of elements of all datasets at and below the entry.
  std::int64_t elements() const;
  /// Returns the group at a path below this group, and creates the missing groups of the path.
  Entry& group(std::string_view path);
};

/// A file that was read.
struct File {
  const char* op;
  std::string name;  ///< the name of the file in messages
  Entry root;

  template <class... Parts>
  [[noreturn]] void fail(const char* rule, const Parts&... reason) const {
    ktape::fail<IOError>('[', op, "] ", rule, ": received ", name, " (", reason..., ')');
  }
  /// Returns the object at a path, from the root. Throws IOError, naming the path, for a path without an
  /// object.
  const Entry& at(const std::string& path) const;
  /// Returns the value of a dataset. Throws IOError, naming the path, for a group and for a dataset without
  /// numbers.
  const Tensor& tensor(const Entry& node, const std::string& path) const;
};

/// Returns the numbers of a tensor as bytes.
inline std::string_view bytes_of(const Tensor& x) {
  return {static_cast<const char*>(x.raw()), static_cast<std::size_t>(x.size()) * x.dtype().size()};
}

/// A gap in the bytes of a file that the bytes of a tensor fill.
struct Gap {
  std::uint64_t offset;
  const Tensor* tensor;
};

/// A file in memory: a list of pieces. Large pieces are the memory of the tensors in the file.
class Image {
 public:
  /// Makes an image of the mapped memory at `begin`. The bytes of tensors replace the gaps, which are in the
  /// order of their offsets.
  Image(void* begin, std::size_t size, const std::vector<Gap>& gaps);
  Image(Image&& other) noexcept = delete;
  ~Image();
  const std::vector<std::string_view>& pieces() const { return pieces_; }

 private:
  void* begin_;
  std::size_t size_;
  std::vector<Tensor> tensors_;
  std::vector<std::string_view> pieces_;
};

/// Reads a whole file, which is not trusted: the file must be a tree of groups, and of datasets with their
/// bytes in the file, plain or compressed by gzip; compressed bytes may inflate, in all, as far as
/// `data::arrays_inflation` allows, or to `expected` bytes. Throws IOError, "[op] ...: received file (object:
/// reason)", for other files: links other than the names of objects in the file itself, external and virtual
/// data, other filters, names that are not UTF-8, an object with two names.
File read_file(const char* op, const std::string& path, std::uint64_t expected = 0);
/// Reads an HDF5 file that is in memory.
File read_bytes(const char* op, const std::string& name, std::string_view bytes, std::uint64_t expected = 0);
/// Reads an HDF5 file that is a part of another file, such as an archive.
File read_part(const char* op, const std::string& name, const std::string& path, std::uint64_t begin,
               std::uint64_t size, std::uint64_t expected = 0);

/// Returns a tree as a file in memory. The tree must outlive the image. Throws IOError, naming the file, if
/// there is no memory for the image.
Image to_image(const char* op, const std::string& name, const Entry& root);

/// The functions of the component that links libhdf5. libktape.so accepts only a component of the same build.
class Library {
 public:
  virtual ~Library() = default;
  virtual Entry read_file(const char* op, const std::string& path, std::uint64_t expected) const = 0;
  virtual Entry read_bytes(const char* op, const std::string& name, std::string_view bytes,
                           std::uint64_t expected) const = 0;
  virtual Entry read_part(const char* op, const std::string& name, const std::string& path,
                          std::uint64_t begin, std::uint64_t size, std::uint64_t expected) const = 0;
  virtual Image to_image(const char* op, const std::string& name, const Entry& root) const = 0;
};

}  // namespace ktape::nn::saving::hdf5
