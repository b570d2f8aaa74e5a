#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/files/folders.hpp>
#include <ktape/nn/files/output_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ktape::nn {

OutputFile::OutputFile(const char* callback, const std::string& path) : callback_(callback), path_(path) {
  make_folder_of(callback, path);
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail_with(errno);
  struct stat status {};
  if (fstat(file_, &status) == 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

OutputFile::~OutputFile() { close(file_); }

void OutputFile::cut(std::uint64_t size) {
  if (size >= size_) return;
  if (ftruncate(file_, static_cast<off_t>(size)) != 0) fail_with(errno);
  size_ = size;
}

void OutputFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with(errno);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    size_ += static_cast<std::uint64_t>(count);
  }
}

void OutputFile::fail_with(int error) const {
  fail<IOError>("[", callback_, "] the file must be writable: received '", path_, "' (", std::strerror(error),
                ')');
}

}  // namespace ktape::nn
