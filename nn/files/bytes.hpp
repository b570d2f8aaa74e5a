#pragma once
#include <ktape/autograd/tensor.hpp>

#include <memory>
#include <string>

/// Reading of files whose content is not trusted. Internal: sources only.
namespace ktape::data {

/// Returns a * b, or the largest number if the product overflows.
inline std::uint64_t saturated_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::uint64_t{0} : product;
}

/// The number of bytes above which a second thread pays: their copy from the page cache takes a tenth of a
/// millisecond.
inline constexpr std::int64_t bytes_for_a_thread = 1 << 18;

/// A limit to the inflation of compressed data: deflate makes up to 1032 bytes of one byte, so a small file
/// could fill all memory. Data may always inflate to `free` bytes, and beyond to `factor` times the stored
/// bytes.
struct Inflation {
  std::uint64_t free, factor;
};
inline constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
inline constexpr Inflation arrays_inflation{64 * megabyte, 32};   ///< for arrays and tables of numbers
inline constexpr Inflation images_inflation{64 * megabyte, 128};  ///< photographs compress to less than 1 %
inline constexpr Inflation texts_inflation{4 * megabyte, 32};  ///< for JSON, whose objects take more memory

/// Returns the largest number of bytes that deflate can store in `stored` bytes.
std::uint64_t most_deflated(std::uint64_t stored);
/// Returns the number of bytes to which `stored` compressed bytes may inflate under a limit; `expected`
/// bytes, such as the size of a model's weights, are always allowed.
std::uint64_t most_inflated(std::uint64_t stored, Inflation limit, std::uint64_t expected = 0);

/// Returns the number of bytes of a tensor; the largest number if the product of the extents, zeros left out,
/// overflows.
std::uint64_t tensor_bytes(const Shape& shape, DType dtype);
/// Returns the number of bytes of the elements of a tensor.
inline std::uint64_t tensor_bytes(const Tensor& tensor) {
  return tensor_bytes(tensor.shape(), tensor.dtype());
}

/// A source of bytes that are read in order. All errors are IOErrors that name the operation and the file.
class ByteSource {
 public:
  ByteSource(const char* op, std::string name) : op_(op), name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;

  /// Reads the next n bytes, fewer only at the end of the source. Returns the number of bytes read.
  virtual std::size_t read(void* out, std::size_t n) = 0;
  /// Returns the largest number of bytes that can follow.
  virtual std::uint64_t room() const = 0;
  /// Returns the number of bytes that are likely to follow.
  virtual std::uint64_t likely() const { return room(); }

  /// Reads the next n bytes. Throws if the source ends before.
  void read_exactly(void* out, std::size_t n, const char* what);
  /// Throws when fewer than `bytes` bytes can follow: a size that a file states must not make the library
  /// allocate memory that the file cannot fill.
  void expect_room(std::uint64_t bytes, const char* what) const;
  /// Throws when bytes follow.
  void expect_end(const char* what);
  /// Returns all bytes up to the end.
  std::string rest();
  /// Reads and discards all bytes up to the end.
  void skip_rest();
  /// Returns a tensor of the bytes that follow.
  Tensor read_tensor(const Shape& shape, DType dtype, bool swapped);

  const std::string& name() const { return name_; }
  template <class... Parts>
  [[noreturn]] void fail(const char* rule, const Parts&... reason) const {
    ktape::fail<IOError>('[', op_, "] ", rule, ": received ", name_, " (", reason..., ')');
  }

 protected:
  const char* op_;
  std::string name_;
};

/// A file that is read from the beginning, and decompressed, up to `arrays_inflation`, if the file is gzip. A
/// gzip file may have several members and end in zeros; other bytes after a member are an error. InputFile
/// and RandomFile read regular files only: devices and pipes may never end.
class InputFile final : public ByteSource {
 public:
  InputFile(const char* op, const std::string& path);
  ~InputFile() override;
  std::size_t read(void* out, std::size_t n) override;
  std::uint64_t room() const override;
  std::uint64_t likely() const override;

 private:
  /// The decompressor, and its buffer of compressed bytes.
  struct Gzip;
  std::size_t read_stored(void* out, std::size_t n) const;
  std::size_t read_inflated(void* out, std::size_t n);
  std::uint64_t most() const;

  std::uint64_t size_ = 0, read_ = 0;
  int file_;
  std::unique_ptr<Gzip> gzip_;  ///< null for a file that is not compressed
};

/// A file with random access.
class RandomFile {
 public:
  RandomFile(const char* op, const std::string& path);
  ~RandomFile();
  RandomFile(const RandomFile&) = delete;

  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  int descriptor() const { return file_; }
  /// Reads n bytes from the offset on. Throws IOError if the file ends before.
  void read(std::uint64_t offset, void* out, std::size_t n) const;

 private:
  const char* op_;
  std::string path_;
  std::uint64_t size_ = 0;
  int file_;
};

/// A part of a file.
class FileSection final : public ByteSource {
 public:
  /// Makes a section of `size` bytes from `begin` on. The file must outlive the section.
  FileSection(const char* op, const RandomFile& file, const std::string& what, std::uint64_t begin,
              std::uint64_t size)
      : ByteSource(op, file.path() + ", " + what), file_(file), at_(begin), left_(size) {}
  std::size_t read(void* out, std::size_t n) override;
  std::uint64_t room() const override { return left_; }

 private:
  const RandomFile& file_;
  std::uint64_t at_, left_;
};

/// Return the number that is stored at `bytes`, with the lowest byte first, or with the highest byte first.
template <class T>
T little_endian(const void* bytes) {
  T number = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    number = static_cast<T>(number << 8 | static_cast<const unsigned char*>(bytes)[i]);
  return number;
}
template <class T>
T big_endian(const void* bytes) {
  T number = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    number = static_cast<T>(number << 8 | static_cast<const unsigned char*>(bytes)[i]);
  return number;
}

}  // namespace ktape::data
