#pragma once
#define H5_USE_110_API
#include <hdf5.h>
#include <ktape/nn/saving/hdf5/hdf5.hpp>

#include <mutex>
#include <optional>

/// Handles to libhdf5's objects, and errors. Internal: sources only.
namespace ktape::nn::saving::hdf5 {

/// An open object of the C library.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(other.id_), close_(other.close_) { other.id_ = -1; }
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { close(); }

  /// Closes the object. Returns whether closing succeeded.
  bool close() {
    const hid_t id = std::exchange(id_, -1);
    return id < 0 || close_(id) >= 0;
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// A session of libhdf5: while the object lives, the calling thread alone uses the C library, which prints no
/// errors and loads no plug-ins. Debian's build is not safe for several threads.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;

 private:
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t report_ = nullptr;
  void* report_data_ = nullptr;
  unsigned plugins_ = 0;
};

/// Returns libhdf5's message for its last error.
std::string last_error();

/// Return the HDF5 type for a dtype in a file, and in memory.
Handle stored_type(DType dtype);
Handle memory_type(DType dtype);
/// Returns the dtype for numbers of an HDF5 type, or the next wider dtype; none for other types.
std::optional<DType> dtype_of(hid_t type);

class Sender;
struct Source;
/// Sends the tree of a file.
void send_root(const Source& source, hid_t file, Sender& out);
using Gaps = std::vector<Gap>;
/// Writes a tree. For large tensors, only space is reserved, and `gaps` gets their places.
void write_root(const char* op, const std::string& name, hid_t file, const Entry& root, Gaps& gaps);

}  // namespace ktape::nn::saving::hdf5
