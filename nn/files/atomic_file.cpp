#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/files/atomic_file.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace ktape::nn::saving {

AtomicFile::AtomicFile(const char* op, std::string path) : op_(op), path_(std::move(path)) {
  resolve();
  sweep();
  create();
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* reason) const {
  ktape::fail<IOError>("[", op_, "] the file must be writable: received ", path_, " (", reason, ')');
}

/// Finds the file to replace (the target of a symbolic link) and its permissions.
void AtomicFile::resolve() {
  if (path_.empty() || path_.find('\0') != std::string::npos) fail(std::strerror(ENOENT));
  target_ = path_;
  if (char* real = realpath(path_.c_str(), nullptr)) {
    target_ = real;
    std::free(real);
  }
  const std::size_t slash = target_.rfind('/');
  folder_ = slash == std::string::npos ? "./" : target_.substr(0, slash + 1);
  if (target_.back() == '/') fail(std::strerror(EISDIR));
  struct stat old {};
  if (stat(target_.c_str(), &old) != 0) {
    if (errno != ENOENT) fail(std::strerror(errno));
    return;
  }
  if (S_ISDIR(old.st_mode)) fail(std::strerror(EISDIR));
  if (!S_ISREG(old.st_mode)) fail("it is not a regular file");
  if (faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) fail(std::strerror(errno));
  mode_ = static_cast<int>(old.st_mode & 0777);
}

namespace {

/// Returns the process that made a temporary file; 0 for the name of another file.
pid_t writer_of(const char* name) {
  int process = 0, length = 0;
  unsigned number = 0;
  const int fields = std::sscanf(name, ".ktape-%d-%u%n", &process, &number, &length);
  return fields == 2 && name[length] == '\0' ? process : 0;
}

/// Returns whether no process holds the lock of a temporary file, also on other machines that share the
/// folder.
bool abandoned(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  const bool unlocked = flock(file, LOCK_EX | LOCK_NB) == 0;
  close(file);
  return unlocked;
}

}  // namespace

/// Removes the temporary files of processes that no longer exist.
void AtomicFile::sweep() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(folder_.c_str()), closedir);
  if (!folder) return;
  while (const dirent* entry = readdir(folder.get())) {
    const pid_t writer = writer_of(entry->d_name);
    const std::string path = folder_ + entry->d_name;
    if (writer > 0 && kill(writer, 0) != 0 && errno == ESRCH && abandoned(path)) unlink(path.c_str());
  }
}

void AtomicFile::create() {
  static std::atomic<unsigned> number = 0;
  const std::string name = folder_ + ".ktape-" + std::to_string(getpid()) + '-';
  do {
    temporary_ = name + std::to_string(number++);
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_ >= 0 ? mode_ : 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) {
    const int error = errno;
    temporary_.clear();
    fail(std::strerror(error));
  }
  flock(file_, LOCK_EX | LOCK_NB);  // may fail: some file systems have no locks
  if (mode_ >= 0) fchmod(file_, static_cast<mode_t>(mode_));
}

void AtomicFile::write(const void* bytes, std::size_t n) {
  for (std::size_t done = 0; done < n;) {
    const ssize_t count = ::write(file_, static_cast<const char*>(bytes) + done, n - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(count < 0 ? std::strerror(errno) : "nothing can be written");
    done += static_cast<std::size_t>(count);
  }
  size_ += n;
}

void AtomicFile::commit() {
  if (fsync(file_) != 0) fail(std::strerror(errno));
  if (close(std::exchange(file_, -1)) != 0) fail(std::strerror(errno));
  if (rename(temporary_.c_str(), target_.c_str()) != 0) fail(std::strerror(errno));
  temporary_.clear();
  // The new name is stored in the folder, which must be synced, too. Some file systems cannot sync a folder.
  const int folder = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = folder < 0 || fsync(folder) != 0 ? errno : 0;
  if (folder >= 0) close(folder);
  if (error != 0 && error != EINVAL && error != EACCES) fail(std::strerror(error));
}

}  // namespace ktape::nn::saving
