#pragma once
#include <ktape/nn/saving/hdf5/hdf5.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

/// A child process reads HDF5 files, because damaged files make libhdf5 crash or hang in many ways. The child
/// sends the entries as a stream of bytes, which the library does not trust either. Internal: sources only.
namespace ktape::nn::saving::hdf5 {

/// The kind of the next item of the stream.
enum class Tag : char {
  Text = 'T',     ///< an attribute with a text
  Texts = 'L',    ///< an attribute with several texts
  Numbers = 'N',  ///< an attribute with an array of numbers
  Group = 'G',    ///< the end of the attributes; members follow
  Member = 'M',   ///< a member of a group: its name, then the object
  End = 'E',      ///< the end of a group's members
  Dataset = 'D',  ///< the end of the attributes; an array follows
  Fault = 'F',    ///< a dataset without numbers, with the reason
  Error = 'X'     ///< the message of an error; nothing follows
};

/// The writing end of the stream.
class Sender {
 public:
  explicit Sender(int pipe) : pipe_(pipe) {}
  void tag(Tag tag) { bytes(&tag, 1); }
  void number(std::uint64_t number) { bytes(&number, sizeof(number)); }
  void text(std::string_view text);
  /// Sends an array with its bytes (`array`), or with their offset in the file (`array_at`).
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

/// A file: its name in messages, its size, the bytes that its compressed arrays may inflate to, and a
/// function that reads bytes at an offset.
struct Source {
  const char* op;
  const std::string& name;
  std::uint64_t size, inflated;
  std::function<void(std::uint64_t offset, void* out, std::size_t n)> read;
};

/// Runs `work` in a child process, whose time and memory are bounded by the file's size, and returns the root
/// that the child sends. Throws IOError, naming the file, with the message of an error of the child, or when
/// the child ends early.
Entry from_process(const Source& source, const std::function<void(Sender&)>& work);

/// Runs `work` in a child process and returns the bytes that the child sends after a `Tag::End`. Files are
/// written in a child because a file that libhdf5 cannot close, on a full disk, crashes the program at its
/// end. Throws IOError, naming the file, with the message of an error of the child, or when the child ends
/// early.
std::string bytes_from_process(const char* op, const std::string& name,
                               const std::function<void(Sender&)>& work);

}  // namespace ktape::nn::saving::hdf5
