#include <ktape/nn/files/mapped_file.hpp>

#include <sys/mman.h>
#include <unistd.h>

namespace ktape::data {

Ref<MappedFile> MappedFile::map(const char* op, const RandomFile& file) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto size = static_cast<std::size_t>(file.size());
  const std::size_t bytes = (size + page - 1) / page * page + page;
  void* const room = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  const bool reserved = room != MAP_FAILED;
  const bool mapped = reserved && (size == 0 || mmap(room, size, PROT_READ, MAP_PRIVATE | MAP_FIXED,
                                                     file.descriptor(), 0) != MAP_FAILED);
  if (!mapped) {
    if (reserved) munmap(room, bytes);
    fail<IOError>("[", op, "] the system must be able to map the file into memory: received ", file.path());
  }
  return Ref<MappedFile>::adopt(new MappedFile(static_cast<char*>(room), bytes));
}

MappedFile::~MappedFile() { munmap(data_, bytes_); }

}  // namespace ktape::data
