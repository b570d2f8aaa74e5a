#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/saving/hdf5/library/handles.hpp>
#include <ktape/nn/saving/hdf5/library/process.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ktape::nn::saving::hdf5 {

Session::Session() {
  static std::mutex mutex;
  lock_ = std::unique_lock(mutex);
  H5open();
  H5Eget_auto2(H5E_DEFAULT, &report_, &report_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLget_loading_state(&plugins_);
  H5PLset_loading_state(0);
}

Session::~Session() {
  H5Eclear2(H5E_DEFAULT);
  H5PLset_loading_state(plugins_);
  H5Eset_auto2(H5E_DEFAULT, report_, report_data_);
}

std::string last_error() {
  std::string text;
  const auto take = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    if (error->desc) *static_cast<std::string*>(out) = error->desc;
    return 1;  // stops after the first entry, where the error occurred
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
  return text.empty() ? "libhdf5 does not say why" : text;
}

namespace {

template <class... Parts>
[[noreturn]] void fail_on(const char* op, const char* rule, const std::string& name, const Parts&... reason) {
  ktape::fail<IOError>("[", op, "] ", rule, ": received ", name, " (", reason..., ')');
}

constexpr const char* readable = "the file must be an HDF5 file";
constexpr const char* writable = "the file must be writable";

/// Returns the properties for opening files: closing the file closes all its objects, and files are not
/// locked.
Handle access(bool early) {
  Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(list, H5F_CLOSE_STRONG);
  // A format that every HDF5 release reads, as h5py writes.
  if (early) H5Pset_libver_bounds(list, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(list, false, true);
#endif
  return list;
}

/// Lends the bytes of an image to the C library, which would copy them twice.
struct Loan {
  const void* bytes;

  static void* lend(std::size_t, H5FD_file_image_op_t, void* self) {
    return const_cast<void*>(static_cast<Loan*>(self)->bytes);
  }
  static void* copy(void* to, const void*, std::size_t, H5FD_file_image_op_t, void*) { return to; }
  static void* resize(void*, std::size_t, H5FD_file_image_op_t, void*) { return nullptr; }
  static herr_t release(void*, H5FD_file_image_op_t, void*) { return 0; }
  static void* same(void* self) { return self; }
  static herr_t keep(void*) { return 0; }
};

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

class Hdf5Library final : public Library {
 public:
  Entry read_file(const char* op, const std::string& path, std::uint64_t expected) const override {
    const data::RandomFile bytes(op, path);
    const Source source{op, path, bytes.size(), most_of(bytes.size(), expected),
                        [&](std::uint64_t offset, void* out, std::size_t n) { bytes.read(offset, out, n); }};
    const Session session;  // no other thread is in libhdf5 when the process forks
    return from_process(source, [&](Sender& out) {
      const Handle list = access(false);
      H5Pset_fapl_sec2(list);
      const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, list), H5Fclose);
      if (!file.valid()) fail_on(op, readable, path, last_error());
      send_root(source, file, out);
    });
  }

  Entry read_bytes(const char* op, const std::string& name, std::string_view bytes,
                   std::uint64_t expected) const override {
    const Source source{
        op, name, bytes.size(), most_of(bytes.size(), expected),
        [&](std::uint64_t offset, void* out, std::size_t n) { std::memcpy(out, bytes.data() + offset, n); }};
    const Session session;
    return from_process(source, [&](Sender& out) { send_bytes(source, bytes, out); });
  }

  Entry read_part(const char* op, const std::string& name, const std::string& path, std::uint64_t begin,
                  std::uint64_t size, std::uint64_t expected) const override {
    const data::RandomFile bytes(op, path);
    const Source source{
        op, name, size, most_of(size, expected),
        [&](std::uint64_t offset, void* out, std::size_t n) { bytes.read(begin + offset, out, n); }};
    const Session session;
    return from_process(source, [&](Sender& out) {
      // Mapped only in the child: if another program truncates the file, the read crashes only the child.
      const std::size_t before = begin % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
      const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
      const void* mapped = mmap(nullptr, before + size, PROT_READ, MAP_SHARED, file.number,
                                static_cast<off_t>(begin - before));
      if (mapped == MAP_FAILED) fail_on(op, readable, name, std::strerror(errno));
      send_bytes(source, {static_cast<const char*>(mapped) + before, static_cast<std::size_t>(size)}, out);
    });
  }

  Image to_image(const char* op, const std::string& name, const Entry& root) const override {
    const Descriptor memory{memfd_create("ktape-hdf5", MFD_CLOEXEC)};
    if (memory.number < 0) fail_on(op, writable, name, std::strerror(errno));
    const Session session;  // no other thread is in libhdf5 when the process forks
    const std::string sent = bytes_from_process(op, name, [&](Sender& out) {
      const Handle list = access(true);
      H5Pset_fapl_stdio(list);  // other drivers look for the file's path, and the file has none
      Gaps gaps;
      write(op, name, "/proc/self/fd/" + std::to_string(memory.number), list, root, gaps);
      out.tag(Tag::End);
      out.bytes(gaps.data(), gaps.size() * sizeof(Gap));
    });
    Gaps gaps(sent.size() / sizeof(Gap));
    std::copy(sent.begin(), sent.end(), reinterpret_cast<char*>(gaps.data()));
    std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.offset < b.offset; });
    struct stat info {};
    void* begin = fstat(memory.number, &info) != 0 ? MAP_FAILED
                                                   : mmap(nullptr, static_cast<std::size_t>(info.st_size),
                                                          PROT_READ, MAP_SHARED, memory.number, 0);
    if (begin == MAP_FAILED) fail_on(op, writable, name, std::strerror(errno));
    return {begin, static_cast<std::size_t>(info.st_size), gaps};
  }

 private:
  static std::uint64_t most_of(std::uint64_t size, std::uint64_t expected) {
    return data::most_inflated(size, data::arrays_inflation, expected);
  }

  static void send_bytes(const Source& source, std::string_view bytes, Sender& out) {
    const char* const op = source.op;
    const std::string& name = source.name;
    const Handle list = access(false);
    Loan loan{bytes.data()};
    H5FD_file_image_callbacks_t callbacks = {Loan::lend, Loan::copy, Loan::resize, Loan::release,
                                             Loan::same, Loan::keep, &loan};
    H5Pset_fapl_core(list, 1 << 20, false);
    H5Pset_file_image_callbacks(list, &callbacks);
    if (bytes.empty() || H5Pset_file_image(list, const_cast<char*>(bytes.data()), bytes.size()) < 0)
      fail_on(op, readable, name, bytes.empty() ? "it is empty" : last_error());
    const Handle file(H5Fopen("image", H5F_ACC_RDONLY, list), H5Fclose);
    if (!file.valid()) fail_on(op, readable, name, last_error());
    send_root(source, file, out);
  }

  static void write(const char* op, const std::string& name, const std::string& path, hid_t list,
                    const Entry& root, Gaps& gaps) {
    Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, list), H5Fclose);
    if (!file.valid()) fail_on(op, writable, name, last_error());
    write_root(op, name, file, root, gaps);
    if (!file.close()) fail_on(op, writable, name, last_error());
  }
};

}  // namespace

// --- Types -----------------------------------------------------------------------------------------------

namespace {

hid_t standard(DType dtype, bool in_memory) {
  switch (dtype.kind()) {
    case DType::UInt8:
      return in_memory ? H5T_NATIVE_UINT8 : H5T_STD_U8LE;
    case DType::Bool:
    case DType::Int8:
      return in_memory ? H5T_NATIVE_INT8 : H5T_STD_I8LE;
    case DType::Int16:
      return in_memory ? H5T_NATIVE_INT16 : H5T_STD_I16LE;
    case DType::Int32:
      return in_memory ? H5T_NATIVE_INT32 : H5T_STD_I32LE;
    case DType::Int64:
      return in_memory ? H5T_NATIVE_INT64 : H5T_STD_I64LE;
    case DType::Float64:
      return in_memory ? H5T_NATIVE_DOUBLE : H5T_IEEE_F64LE;
    default:
      return in_memory ? H5T_NATIVE_FLOAT : H5T_IEEE_F32LE;
  }
}

/// Returns the type of half precision numbers, in the byte order of another type.
Handle half(hid_t like) {
  Handle type(H5Tcopy(like), H5Tclose);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

/// Returns the type of booleans as h5py stores them.
Handle boolean(hid_t base) {
  Handle type(H5Tenum_create(base), H5Tclose);
  const signed char values[] = {0, 1};
  H5Tenum_insert(type, "FALSE", &values[0]);
  H5Tenum_insert(type, "TRUE", &values[1]);
  return type;
}

Handle type_of(DType dtype, bool in_memory) {
  const hid_t base = standard(dtype, in_memory);
  if (dtype == DType::Float16) return half(base);
  if (dtype == DType::BFloat16) return Handle(H5Tcreate(H5T_OPAQUE, 2), H5Tclose);  // HDF5 has no type for it
  if (dtype == DType::Bool) return boolean(base);
  return Handle(H5Tcopy(base), H5Tclose);
}

std::optional<DType> integer_of(hid_t type) {
  const std::size_t size = H5Tget_size(type);
  if (H5Tget_precision(type) != 8 * size || H5Tget_order(type) == H5T_ORDER_VAX) return {};
  const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  switch (size) {
    case 1:
      return is_signed ? DType::Int8 : DType::UInt8;
    case 2:
      return is_signed ? DType::Int16 : DType::Int32;
    case 4:
      return is_signed ? DType::Int32 : DType::Int64;
    case 8:
      return DType::Int64;
    default:
      return {};
  }
}

std::optional<DType> floating_of(hid_t type) {
  const auto is = [type](hid_t low, hid_t high) {
    return H5Tequal(type, low) > 0 || H5Tequal(type, high) > 0;
  };
  if (is(H5T_IEEE_F32LE, H5T_IEEE_F32BE)) return DType::Float32;
  if (is(H5T_IEEE_F64LE, H5T_IEEE_F64BE)) return DType::Float64;
  if (is(half(H5T_IEEE_F32LE), half(H5T_IEEE_F32BE))) return DType::Float16;
  return {};
}

}  // namespace

Handle stored_type(DType dtype) { return type_of(dtype, false); }
Handle memory_type(DType dtype) { return type_of(dtype, true); }

std::optional<DType> dtype_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return integer_of(type);
    case H5T_FLOAT:
      return floating_of(type);
    case H5T_ENUM: {
      if (H5Tequal(type, boolean(H5T_STD_I8LE)) > 0 || H5Tequal(type, boolean(H5T_STD_I8BE)) > 0)
        return DType::Bool;
      return {};
    }
    default:
      return {};
  }
}

}  // namespace ktape::nn::saving::hdf5

extern "C" const ktape::nn::saving::hdf5::Library* ktape_hdf5() {
  static const ktape::nn::saving::hdf5::Hdf5Library library;
  return &library;
}
