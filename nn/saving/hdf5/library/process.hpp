#pragma once
#include <ktape/nn/saving/hdf5/hdf5.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

/// Files are read in a process of its own: what is wrong in them makes libhdf5 crash, or not come back, in
/// many ways. What it finds there comes as a stream of bytes, none of which is trusted either. Internal:
/// sources only.
namespace ktape::nn::saving::hdf5 {

/// What comes next in the stream.
enum class Tag : char {
  Text = 'T',     ///< an attribute: its name and
  Texts = 'L',    ///< the same, of several
  Numbers = 'N',  ///< the same, an array
  Group = 'G',    ///< the attributes are over; members follow
  Member = 'M',   ///< a name and an object
  End = 'E',      ///< of the members
  Dataset = 'D',  ///< the attributes are over; an array
  Fault = 'F',    ///< the same of a dataset without numbers: why
  Error = 'X'     ///< the message of an error; nothing follows
};

/// The end of the stream that is written.
class Sender {
 public:
  explicit Sender(int pipe) : pipe_(pipe) {}
  void tag(Tag tag) { bytes(&tag, 1); }
  void number(std::uint64_t number) { bytes(&number, sizeof(number)); }
  void text(std::string_view text);
  /// An array with its bytes, or with the place in the file where they are.
  void array(DType dtype, const Shape& shape, const void* values);
  void array_at(DType dtype, const Shape& shape, std::uint64_t offset);
  void bytes(const void* bytes, std::size_t n);
  void flush();

 private:
  void form(DType dtype, const Shape& shape);
  void write(const char* bytes, std::size_t n);
  int pipe_;
  std::string waiting_;
};

/// A file: its name in messages, its size, what its compressed arrays may become, and what reads its bytes at
/// a place.
struct Source {
  const char* op;
  const std::string& name;
  std::uint64_t size, inflated;
  std::function<void(std::uint64_t offset, void* out, std::size_t n)> read;
};

/// The root of a file, as `work` sends it from a process of its own, whose time and memory are bounded by the
/// file's size. Throws IOError, naming the file, with the message of an error there, or when that process
/// ends.
Entry from_process(const Source& source, const std::function<void(Sender&)>& work);

/// Returns what `work` sends, after a `Tag::End`, from a process of its own: a file that libhdf5 cannot
/// close, on a full disk, crashes the program at its end. Throws IOError, naming the file, with the message
/// of an error there, or when that process ends.
std::string bytes_from_process(const char* op, const std::string& name,
                               const std::function<void(Sender&)>& work);

}  // namespace ktape::nn::saving::hdf5
