#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/saving/hdf5/library/process.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace ktape::nn::saving::hdf5 {

// --- The sending side -------------------------------------------------------------------------------------

void Sender::bytes(const void* bytes, std::size_t n) {
  waiting_.append(static_cast<const char*>(bytes), n);
  if (waiting_.size() >= 1 << 16) flush();
}

void Sender::flush() {
  write(waiting_.data(), waiting_.size());
  waiting_.clear();
}

void Sender::write(const char* bytes, std::size_t n) {
  while (n > 0) {
    const ssize_t count = ::write(pipe_, bytes, n);
    if (count < 0 && errno != EINTR) _exit(1);  // the parent has ended
    if (count > 0) bytes += count, n -= static_cast<std::size_t>(count);
  }
}

void Sender::text(std::string_view text) {
  number(text.size());
  bytes(text.data(), text.size());
}

void Sender::form(DType dtype, const Shape& shape) {
  number(dtype.kind());
  number(shape.size());
  for (const std::int64_t extent : shape) number(static_cast<std::uint64_t>(extent));
}

namespace {

constexpr std::uint64_t here = ~std::uint64_t{0};  ///< in place of an offset: the values follow in the stream

std::uint64_t bytes_of(DType dtype, const Shape& shape) {
  std::uint64_t bytes = dtype.size();
  for (const std::int64_t extent : shape)
    bytes = data::saturated_product(bytes, static_cast<std::uint64_t>(extent));
  return bytes;
}

}  // namespace

void Sender::array(DType dtype, const Shape& shape, const void* values) {
  form(dtype, shape);
  number(here);
  flush();
  write(static_cast<const char*>(values), bytes_of(dtype, shape));
}

void Sender::array_at(DType dtype, const Shape& shape, std::uint64_t offset) {
  form(dtype, shape);
  number(offset);
}

// --- The receiving side -----------------------------------------------------------------------------------

namespace {

template <class... Parts>
[[noreturn]] void damaged(const Source& source, const Parts&... reason) {
  fail<IOError>("[", source.op, "] the file must be intact: received ", source.name, " (", reason..., ')');
}

class Receiver {
 public:
  Receiver(const Source& source, int pipe)
      : source_(source), pipe_(pipe), room_(source.size + source.inflated) {}

  Entry object(int depth = 0) {
    Entry entry;
    for (;;) switch (const Tag next = tag(); next) {
        case Tag::Text:
        case Tag::Texts:
        case Tag::Numbers: {
          std::string name = text();
          entry.set_attribute(std::move(name), attribute(next));
          break;
        }
        case Tag::Group:
          members(entry, depth);
          return entry;
        case Tag::Dataset:
          entry.value = array();
          return entry;
        case Tag::Fault:
          entry.fault = text();
          return entry;
        default:
          damaged(source_, "libhdf5 cannot read it");
      }
  }

 private:
  void members(Entry& group, int depth) {
    if (depth > 1000) damaged(source_, "libhdf5 cannot read it");
    Tag next = tag();
    for (; next == Tag::Member; next = tag()) {
      std::string name = text();
      group.members.emplace_back(std::move(name), object(depth + 1));
    }
    if (next != Tag::End) damaged(source_, "libhdf5 cannot read it");
  }

  Attribute attribute(Tag kind) {
    if (kind == Tag::Text) return text();
    if (kind == Tag::Numbers) return array();
    std::vector<std::string> texts;
    for (std::uint64_t left = number(); left > 0; --left) texts.push_back(text());
    return texts;
  }

  Tensor array() {
    const std::uint64_t kind = number(), rank = number();
    if (kind > DType::BFloat16 || rank > Shape::max_rank) damaged(source_, "libhdf5 cannot read it");
    Shape shape;
    for (std::uint64_t axis = 0; axis < rank; ++axis) {
      const std::uint64_t extent = number();
      if (extent >> 62) damaged(source_, "libhdf5 cannot read it");
      shape.push_back(static_cast<std::int64_t>(extent));
    }
    const DType dtype = static_cast<DType::Kind>(kind);
    const std::uint64_t offset = number(), bytes = bytes_of(dtype, shape);
    const std::uint64_t most = offset == here ? room_ : offset < source_.size ? source_.size - offset : 0;
    if (bytes > most) damaged(source_, bytes, " bytes where there are ", most);
    const Tensor value = Tensor::empty(shape, dtype);
    if (offset != here && bytes > 0) source_.read(offset, value.raw(), bytes);
    else if (offset == here) read(value.raw(), bytes);
    return value;
  }

  Tag tag() {
    Tag tag{};
    read(&tag, 1);
    if (tag == Tag::Error) throw IOError(text());
    return tag;
  }
  std::uint64_t number() {
    std::uint64_t number = 0;
    read(&number, sizeof(number));
    return number;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > room_ + 4096) damaged(source_, "libhdf5 cannot read it");
    std::string text;
    while (text.size() < size) {
      const std::size_t old = text.size();
      text.resize(std::min<std::uint64_t>(size, old + (1 << 20)));
      read(text.data() + old, text.size() - old);
    }
    return text;
  }

  void read(void* out, std::size_t n) {
    for (auto* bytes = static_cast<char*>(out); n > 0;) {
      if (next_ == end_) fill();
      const std::size_t count = std::min(n, end_ - next_);
      std::memcpy(bytes, buffer_ + next_, count);
      bytes += count, next_ += count, n -= count;
    }
  }
  void fill() {
    ssize_t count = 0;
    do count = ::read(pipe_, buffer_, sizeof(buffer_));
    while (count < 0 && errno == EINTR);
    if (count <= 0) damaged(source_, "libhdf5 crashes or does not come back");
    next_ = 0, end_ = static_cast<std::size_t>(count);
  }

  const Source& source_;
  const int pipe_;
  const std::uint64_t room_;
  std::size_t next_ = 0, end_ = 0;
  char buffer_[1 << 16];
};

// --- The process ------------------------------------------------------------------------------------------

/// A child process, which ends with the scope of the object.
struct Child {
  const pid_t process;
  const int pipe;
  Child(pid_t process, int pipe) : process(process), pipe(pipe) {}
  Child(const Child&) = delete;
  ~Child() {
    close(pipe);
    kill(process, SIGKILL);
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
};

void limit(int what, rlim_t most) {
  rlimit now{};
  getrlimit(what, &now);
  now.rlim_cur = std::min(now.rlim_max, most);
  setrlimit(what, &now);
}

/// Lets a crash end the process without a message.
void reset_signals_and_stderr() {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPROF, SIGTERM, SIGINT})
    signal(number, SIG_DFL);
  for (const int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (const int nowhere = open("/dev/null", O_RDWR); nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
}

/// Limits the time and the memory of the process to the needs of a file of this size.
void confine(const Source& source) {
  const std::uint64_t milliseconds = 500 + (source.size + source.inflated) / 5000;  // processor time
  const itimerval time{
      {}, {static_cast<time_t>(milliseconds / 1000), static_cast<suseconds_t>(milliseconds % 1000 * 1000)}};
  setitimer(ITIMER_PROF, &time, nullptr);
  std::uint64_t pages = 0, skipped = 0;
  std::ifstream statm("/proc/self/statm");
  for (int field = 0; field < 5; ++field) statm >> skipped;
  if (statm >> pages)
    limit(RLIMIT_DATA, pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + 512 * data::megabyte +
                           16 * source.size + 2 * source.inflated);
}

[[noreturn]] void run(int pipe, const std::function<void(Sender&)>& work) {
  reset_signals_and_stderr();
  Sender sender(pipe);
  try {
    work(sender);
  } catch (const std::exception& error) {
    sender.tag(Tag::Error);
    sender.text(error.what());
  }
  sender.flush();
  _exit(0);
}

Child start(const char* op, const std::string& name, const std::function<void(Sender&)>& work) {
  const auto fail_for = [&](int error) {
    fail<IOError>("[", op, "] HDF5 files are read and written in a child process: received ", name, " (",
                  std::strerror(error), ')');
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_for(errno);
  const pid_t process = fork();
  if (process == 0) run(ends[1], work);
  const int error = errno;
  close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    fail_for(error);
  }
  return {process, ends[0]};
}

}  // namespace

Entry from_process(const Source& source, const std::function<void(Sender&)>& work) {
  const Child child = start(source.op, source.name, [&](Sender& out) {
    confine(source);
    work(out);
  });
  return Receiver(source, child.pipe).object();
}

std::string bytes_from_process(const char* op, const std::string& name,
                               const std::function<void(Sender&)>& work) {
  const Child child = start(op, name, work);
  std::string sent;
  char buffer[1 << 12];
  for (ssize_t count = 1; count != 0;) {
    count = ::read(child.pipe, buffer, sizeof(buffer));
    if (count < 0 && errno != EINTR) break;
    if (count > 0) sent.append(buffer, static_cast<std::size_t>(count));
  }
  const Tag tag = sent.empty() ? Tag::Fault : static_cast<Tag>(sent[0]);
  if (tag == Tag::Error) throw IOError(sent.substr(1 + sizeof(std::uint64_t)));
  if (tag != Tag::End)
    fail<IOError>("[", op, "] the file must be writable: received ", name, " (libhdf5 crashes)");
  return sent.substr(1);
}

}  // namespace ktape::nn::saving::hdf5
