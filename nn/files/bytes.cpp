#include <ktape/autograd/base/parallel.hpp>
#include <ktape/nn/files/bytes.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace ktape::data {
namespace {

/// Returns the kind of a file that is not read ("a directory", "a device", ...), or null for a regular file.
const char* other_kind(mode_t mode) {
  return S_ISREG(mode)                      ? nullptr
         : S_ISDIR(mode)                    ? "a directory"
         : S_ISCHR(mode) || S_ISBLK(mode)   ? "a device"
         : S_ISFIFO(mode) || S_ISSOCK(mode) ? "a pipe"
                                            : "of another kind";
}

/// Opens a regular file and sets `size` to its size.
int opened(const char* op, const std::string& path, std::uint64_t& size) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;  // a pipe would wait for a writer
  const int file = path.find('\0') == std::string::npos ? open(path.c_str(), flags) : (errno = ENOENT, -1);
  struct stat status {};
  const int error = file < 0 || fstat(file, &status) != 0 ? errno : 0;
  const char* const kind = error ? nullptr : other_kind(status.st_mode);
  if (file >= 0 && (error || kind)) close(file);
  if (kind) fail<IOError>("[", op, "] the file must be a regular one: received ", path, " (", kind, ')');
  if (error)
    fail<IOError>("[", op, "] the file must be readable: received ", path, " (", std::strerror(error), ')');
  size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

void swap_bytes(char* bytes, std::size_t count, std::size_t element) {
  for (std::size_t i = 0; element > 1 && i < count; ++i, bytes += element)
    std::reverse(bytes, bytes + element);
}

}  // namespace

std::uint64_t most_deflated(std::uint64_t stored) { return saturated_product(stored, 1032); }

std::uint64_t most_inflated(std::uint64_t stored, Inflation limit, std::uint64_t expected) {
  return std::min(most_deflated(stored),
                  std::max({limit.free, saturated_product(stored, limit.factor), expected}));
}

std::uint64_t tensor_bytes(const Shape& shape, DType dtype) {
  bool empty = false;
  std::uint64_t bytes = dtype.size();
  for (const std::int64_t extent : shape) {
    if (extent == 0) empty = true;
    else bytes = saturated_product(bytes, static_cast<std::uint64_t>(extent));
  }
  if (bytes >> 63) return ~std::uint64_t{0};
  return empty ? 0 : bytes;
}

void ByteSource::read_exactly(void* out, std::size_t n, const char* what) {
  const std::size_t count = read(out, n);
  if (count != n) fail("the file must be complete", what, ": ", count, " of ", n, " bytes are present");
}

void ByteSource::expect_room(std::uint64_t bytes, const char* what) const {
  if (bytes > room()) fail("the file must be complete", what, ": ", bytes, " bytes cannot follow");
}

void ByteSource::expect_end(const char* what) {
  char more;
  if (read(&more, 1) != 0) fail("the file must end with its data", "bytes follow ", what);
}

std::string ByteSource::rest() {
  std::string text;
  for (std::uint64_t step = likely() + 1;;
       step = std::max<std::uint64_t>(std::min<std::uint64_t>(text.size(), room() + 1), 1 << 16)) {
    const std::size_t size = text.size();
    text.resize(size + step);
    const std::size_t count = read(text.data() + size, step);
    text.resize(size + count);
    if (count < step) return text;
  }
}

void ByteSource::skip_rest() {
  std::vector<char> chunk(std::size_t{1} << 18);
  while (read(chunk.data(), chunk.size()) == chunk.size()) {
  }
}

Tensor ByteSource::read_tensor(const Shape& shape, DType dtype, bool swapped) {
  const std::uint64_t bytes = tensor_bytes(shape, dtype);
  if (bytes >> 63) fail("the array must fit into memory", "shape ", shape);
  expect_room(bytes, "data");
  const Tensor out = Tensor::empty(shape, dtype);
  read_exactly(out.raw(), bytes, "data");
  if (swapped) swap_bytes(static_cast<char*>(out.raw()), static_cast<std::size_t>(out.size()), dtype.size());
  if (dtype == DType::Bool) {  // any byte other than 0 is true
    auto* bits = static_cast<unsigned char*>(out.raw());
    for (std::int64_t i = 0; i < out.size(); ++i) bits[i] = bits[i] != 0;
  }
  return out;
}

// --- InputFile --------------------------------------------------------------------------------------------

struct InputFile::Gzip {
  Gzip() : stored(std::size_t{1} << 18) { failed = inflateInit2(&stream, 15 + 16) != Z_OK; }  // 16: only gzip
  ~Gzip() { inflateEnd(&stream); }
  Gzip(const Gzip&) = delete;

  z_stream stream{};
  std::vector<unsigned char> stored;
  bool failed, between_members = true;
};

InputFile::InputFile(const char* op, const std::string& path)
    : ByteSource(op, path), file_(opened(op, path, size_)) {
  unsigned char magic[2] = {};
  if (pread(file_, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b)
    gzip_ = std::make_unique<Gzip>();
  if (!gzip_ || !gzip_->failed) return;
  close(file_);
  fail("the file must be readable", "out of memory");
}

InputFile::~InputFile() { close(file_); }

std::size_t InputFile::read_stored(void* out, std::size_t n) const {
  std::size_t done = 0;
  while (done < n) {
    const ssize_t count =
        ::read(file_, static_cast<char*>(out) + done, std::min<std::size_t>(n - done, 1 << 30));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("the file must be complete and readable", std::strerror(errno));
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::size_t InputFile::read_inflated(void* out, std::size_t n) {
  constexpr const char* rule = "the file must be complete and readable";
  z_stream& stream = gzip_->stream;
  stream.next_out = static_cast<unsigned char*>(out);
  stream.avail_out = static_cast<unsigned>(n);
  while (stream.avail_out > 0) {
    if (stream.avail_in == 0) {
      stream.next_in = gzip_->stored.data();
      stream.avail_in = static_cast<unsigned>(read_stored(gzip_->stored.data(), gzip_->stored.size()));
      if (stream.avail_in == 0 && !gzip_->between_members) fail(rule, "unexpected end of file");
      if (stream.avail_in == 0) break;
    }
    if (gzip_->between_members && *stream.next_in == 0) {  // padding at the end
      ++stream.next_in, --stream.avail_in;
      continue;
    }
    gzip_->between_members = false;
    const int code = inflate(&stream, Z_NO_FLUSH);
    if (code == Z_STREAM_END) gzip_->between_members = inflateReset(&stream) == Z_OK;
    else if (code != Z_OK) fail(rule, stream.msg ? stream.msg : "damaged data");
  }
  return n - stream.avail_out;
}

std::size_t InputFile::read(void* out, std::size_t n) {
  std::size_t done = 0;
  while (done < n) {
    const std::size_t step = std::min<std::size_t>(n - done, 1 << 30);
    char* const at = static_cast<char*>(out) + done;
    const std::size_t count = gzip_ ? read_inflated(at, step) : read_stored(at, step);
    done += count;
    read_ += count;
    if (gzip_ && read_ > most())
      fail("compressed data must not inflate beyond the limit", "more than ", most(), " bytes of ", size_);
    if (count < step) break;
  }
  return done;
}

std::uint64_t InputFile::most() const { return gzip_ ? most_inflated(size_, arrays_inflation) : size_; }

std::uint64_t InputFile::room() const { return most() > read_ ? most() - read_ : 0; }

std::uint64_t InputFile::likely() const {
  constexpr std::uint64_t usual_inflation = 4;
  return std::min(room(), saturated_product(size_, gzip_ ? usual_inflation : 1));
}

// --- RandomFile -------------------------------------------------------------------------------------------

RandomFile::RandomFile(const char* op, const std::string& path)
    : op_(op), path_(path), file_(opened(op, path, size_)) {}
RandomFile::~RandomFile() { close(file_); }

void RandomFile::read(std::uint64_t offset, void* out, std::size_t n) const {
  if (offset > size_ || n > size_ - offset)
    fail<IOError>("[", op_, "] the file must be complete: received ", path_, " (", n, " bytes at ", offset,
                  " are beyond its end)");
  parallel_for(static_cast<std::int64_t>(n), bytes_for_a_thread, [&](std::int64_t at, std::int64_t end) {
    while (at < end) {
      const ssize_t count = pread(file_, static_cast<char*>(out) + at, static_cast<std::size_t>(end - at),
                                  static_cast<off_t>(offset) + at);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0)
        fail<IOError>("[", op_, "] the file must be complete and readable: received ", path_, " (",
                      count < 0 ? std::strerror(errno) : "unexpected end of file", ')');
      at += count;
    }
  });
}

std::size_t FileSection::read(void* out, std::size_t n) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(n, left_));
  file_.read(at_, out, count);
  at_ += count, left_ -= count;
  return count;
}

}  // namespace ktape::data
