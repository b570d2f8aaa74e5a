#include <ktape/nn/core/text.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/files/crc32.hpp>
#include <ktape/nn/files/zip.hpp>

#include <zlib.h>

#include <algorithm>
#include <set>

namespace ktape::data {
namespace {

// The first bytes of each kind of record. Numbers in records have the lowest byte first.
constexpr std::uint32_t local_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50;
constexpr std::uint32_t end64_mark = 0x06064b50, locator64_mark = 0x07064b50;
constexpr std::size_t local_size = 30, entry_size = 46, end_size = 22, end64_size = 56, locator64_size = 20;
constexpr std::uint32_t elsewhere = 0xffffffff;  ///< the number is in the extra field of large files

std::uint16_t u16(const char* bytes) { return little_endian<std::uint16_t>(bytes); }
std::uint32_t u32(const char* bytes) { return little_endian<std::uint32_t>(bytes); }
std::uint64_t u64(const char* bytes) { return little_endian<std::uint64_t>(bytes); }

/// Returns whether a name is the path of a file below the folder to which an archive is unpacked.
bool is_inside_folder(const std::string& name) {
  bool inside =
      !name.empty() && name[0] != '/' && name.find_first_of(std::string("\\\0", 2)) == std::string::npos;
  for (std::size_t at = 0; inside && at < name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    inside = name.compare(at, end - at, "..") != 0;
    at = end + 1;
  }
  return inside;
}

/// The bytes of an entry.
class ZipSource : public ByteSource {
 public:
  ZipSource(const char* op, const RandomFile& file, const ZipEntry& entry)
      : ByteSource(op, file.path() + ", entry " + entry.name), file_(file), entry_(entry) {}
  std::uint64_t room() const override { return entry_.size - done_; }

  std::size_t read(void* out, std::size_t n) override {
    constexpr std::size_t most = 1 << 18;  // parts that the checksum still finds in the caches
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(n, room()));
    auto* bytes = static_cast<unsigned char*>(out);
    for (std::size_t left = count; left > 0;) {
      const std::size_t step = std::min(left, most);
      get(bytes, step);
      checksum_ = crc32(checksum_, bytes, step);
      bytes += step, done_ += step, left -= step;
    }
    if (done_ == entry_.size && count > 0 && checksum_ != entry_.checksum)
      fail("the archive must be intact", "the checksum does not fit");
    return count;
  }

 protected:
  /// Reads n bytes; the directory guarantees that the file has them.
  virtual void get(unsigned char* out, std::size_t n) = 0;

  const RandomFile& file_;
  const ZipEntry entry_;
  std::uint64_t done_ = 0;

 private:
  std::uint32_t checksum_ = 0;
};

class StoredSource final : public ZipSource {
 public:
  using ZipSource::ZipSource;

 private:
  void get(unsigned char* out, std::size_t n) override { file_.read(entry_.data + done_, out, n); }
};

class DeflatedSource final : public ZipSource {
 public:
  DeflatedSource(const char* op, const RandomFile& file, const ZipEntry& entry) : ZipSource(op, file, entry) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~DeflatedSource() override { inflateEnd(&stream_); }

 private:
  void get(unsigned char* out, std::size_t n) override {
    while (n > 0) {
      fill();
      const auto step = static_cast<unsigned>(std::min<std::size_t>(n, 1 << 30));
      stream_.next_out = out;
      stream_.avail_out = step;
      const int code = inflate(&stream_, Z_NO_FLUSH);
      const std::size_t made = step - stream_.avail_out;
      out += made;
      n -= made;
      if (code == Z_MEM_ERROR) throw std::bad_alloc();
      const bool stuck = made == 0 && stream_.avail_in == 0 && taken_ == entry_.compressed;
      if ((code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) ||
          (n > 0 && (stuck || code == Z_STREAM_END)))
        fail("the archive must be intact", stream_.msg ? stream_.msg : "the compressed data end too early");
    }
  }

  /// Reads more compressed bytes if none are left.
  void fill() {
    if (stream_.avail_in > 0) return;
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(sizeof(buffer_), entry_.compressed - taken_));
    file_.read(entry_.data + taken_, buffer_, count);
    taken_ += count;
    stream_.next_in = buffer_;
    stream_.avail_in = static_cast<unsigned>(count);
  }

  z_stream stream_{};
  std::uint64_t taken_ = 0;
  unsigned char buffer_[1 << 16];
};

}  // namespace

template <class... Parts>
void ZipArchive::fail(const char* rule, const Parts&... reason) const {
  ktape::fail<IOError>('[', op_, "] ", rule, ": received ", file_.path(), " (", reason..., ')');
}

ZipArchive::ZipArchive(const char* op, const std::string& path, std::uint64_t expected)
    : op_(op), file_(op, path), expected_(expected) {
  read_directory();
}

std::unique_ptr<ByteSource> ZipArchive::open(const ZipEntry& entry) const {
  if (entry.deflated) return std::make_unique<DeflatedSource>(op_, file_, entry);
  return std::make_unique<StoredSource>(op_, file_, entry);
}

std::string ZipArchive::text(const ZipEntry& entry) const {
  if (entry.deflated)
    expect_inflation(entry.size, entry.compressed, most_inflated(entry.compressed, texts_inflation), entry);
  return open(entry)->rest();
}

/// Throws when an entry inflates `stored` bytes to more than `most`.
void ZipArchive::expect_inflation(std::uint64_t inflated, std::uint64_t stored, std::uint64_t most,
                                  const ZipEntry& entry) const {
  if (inflated > most)
    fail("compressed data must not inflate beyond the limit", "entry ", nn::printable(entry.name), ": to ",
         inflated, " bytes, more than ", most, " of ", stored);
}

/// Finds the directory by the record at the file's end.
void ZipArchive::read_directory() {
  constexpr const char* rule = "the file must be a zip archive";
  const std::uint64_t size = file_.size();
  if (size < end_size) fail(rule, "too short");
  std::string tail(static_cast<std::size_t>(std::min<std::uint64_t>(size, end_size + 0xffff)), '\0');
  file_.read(size - tail.size(), tail.data(), tail.size());
  std::size_t at = tail.size() - end_size;
  const auto is_end = [&] {
    return u32(&tail[at]) == end_mark && u16(&tail[at + 20]) == tail.size() - at - end_size;
  };
  while (!is_end())
    if (at-- == 0) fail(rule, "it has no directory at its end");
  std::uint64_t end = size - tail.size() + at;
  std::uint64_t count = u16(&tail[at + 10]), bytes = u32(&tail[at + 12]), begin = u32(&tail[at + 16]);
  if (u16(&tail[at + 4]) != 0 && u16(&tail[at + 4]) != 0xffff) fail(rule, "it is a part of several");
  // PyTorch writes the record of large archives into small ones, too.
  char locator[locator64_size] = {};
  if (end >= locator64_size) file_.read(end - locator64_size, locator, locator64_size);
  if (u32(locator) == locator64_mark) {
    char record[end64_size];
    end = u64(locator + 8);
    file_.read(end, record, end64_size);
    if (u32(record) != end64_mark) fail(rule, "its directory is missing");
    count = u64(record + 32), bytes = u64(record + 40), begin = u64(record + 48);
  }
  if (begin > end || bytes != end - begin) fail(rule, "its directory is not before its end");
  std::string directory(static_cast<std::size_t>(bytes), '\0');
  file_.read(begin, directory.data(), directory.size());
  read_entries(directory, begin, count);
}

void ZipArchive::read_entries(const std::string& directory, std::uint64_t begin, std::uint64_t count) {
  constexpr const char* rule = "the archive's directory must be intact";
  std::set<std::string> names;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;  // begin and end of each entry with its header
  const std::uint64_t most = most_inflated(file_.size(), arrays_inflation, expected_);
  std::uint64_t inflated = 0;
  const char* at = directory.data();
  std::size_t left = directory.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (left < entry_size || u32(at) != entry_mark) fail(rule, "entry ", i, " is missing");
    const std::size_t name_size = u16(at + 28), extra_size = u16(at + 30), comment_size = u16(at + 32);
    const std::size_t whole = entry_size + name_size + extra_size + comment_size;
    if (left < whole) fail(rule, "entry ", i, " is cut off");
    const std::string name(at + entry_size, name_size);
    check_name(name);
    if (!names.insert(name).second) fail(rule, "the name ", name, " is repeated");
    std::uint64_t header = 0;
    ZipEntry entry = entry_of(at, name, at + entry_size + name_size, extra_size, header);
    find_data(entry, header, begin);
    if (entry.deflated) expect_inflation(inflated += entry.size, file_.size(), most, entry);
    places.emplace_back(header, entry.data + entry.compressed);
    if (name.back() != '/') entries_.push_back(entry);
    at += whole;
    left -= whole;
  }
  if (left > 0) fail(rule, "bytes follow its last entry");
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i)
    if (places[i].first < places[i - 1].second) fail(rule, "entries overlap at ", places[i].first);
}

void ZipArchive::check_name(const std::string& name) const {
  if (!is_inside_folder(name))
    fail("names in an archive must stay below its folder", "entry '", nn::printable(name), "'");
}

/// Returns the directory's record of an entry, with the offset of the entry's header.
ZipEntry ZipArchive::entry_of(const char* record, const std::string& name, const char* extra,
                              std::size_t extra_size, std::uint64_t& header) const {
  const std::uint16_t flags = u16(record + 8), method = u16(record + 10);
  if (flags & 1) fail("the archive must not be encrypted", "entry ", name);
  if (method != 0 && method != 8)
    fail("entries must be stored or compressed by deflate", "entry ", name, " has the method ", method);
  ZipEntry entry{name, method == 8, u32(record + 16), u32(record + 20), u32(record + 24), 0};
  header = u32(record + 42);
  for (std::size_t at = 0; at + 4 <= extra_size;) {
    const std::size_t size = u16(extra + at + 2);
    if (size > extra_size - at - 4) break;
    if (u16(extra + at) == 1) {
      std::size_t field = at + 4;
      for (std::uint64_t* number : {&entry.size, &entry.compressed, &header})
        if (*number == elsewhere && field + 8 <= at + 4 + size) {
          *number = u64(extra + field);
          field += 8;
        }
    }
    at += 4 + size;
  }
  const std::uint64_t most = entry.deflated ? most_deflated(entry.compressed) : entry.compressed;
  if (entry.size > most || (!entry.deflated && entry.size != most))
    fail("entries must be as large as their data can be", "entry ", name, ": ", entry.size, " bytes of ",
         entry.compressed);
  return entry;
}

/// Finds the begin of an entry's data, after the entry's header; header and data must end before the
/// directory.
void ZipArchive::find_data(ZipEntry& entry, std::uint64_t header, std::uint64_t end) const {
  constexpr const char* rule = "the archive must be intact";
  char local[local_size];
  if (header > end || end - header < local_size) fail(rule, "the header of ", entry.name, " is missing");
  file_.read(header, local, local_size);
  const std::size_t name_size = u16(local + 26), extra_size = u16(local + 28);
  if (u32(local) != local_mark || u16(local + 8) != (entry.deflated ? 8 : 0) ||
      name_size != entry.name.size() || end - header - local_size < name_size + extra_size)
    fail(rule, "the header of ", entry.name, " does not fit the directory");
  std::string name(name_size, '\0');
  file_.read(header + local_size, name.data(), name_size);
  if (name != entry.name) fail(rule, "the header of ", entry.name, " has another name");
  entry.data = header + local_size + name_size + extra_size;
  if (entry.compressed > end - entry.data) fail(rule, "the data of ", entry.name, " are cut off");
}

// --- ZipWriter --------------------------------------------------------------------------------------------

namespace {

/// Returns a number as the bytes of a record.
template <class T>
std::string field(T number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(number >> 8 * i);
  return bytes;
}
std::string f16(std::size_t number) { return field(static_cast<std::uint16_t>(number)); }
std::string f32(std::uint64_t number) { return field(static_cast<std::uint32_t>(number)); }

std::uint64_t capped(std::uint64_t number) { return std::min<std::uint64_t>(number, elsewhere); }

/// Returns the extra field with the numbers that are too large for 32 bits.
std::string large(std::initializer_list<std::uint64_t> numbers) {
  std::string fields;
  for (const std::uint64_t number : numbers)
    if (number >= elsewhere) fields += field(number);
  return fields.empty() ? "" : f16(1) + f16(fields.size()) + fields;
}

}  // namespace

void ZipWriter::add(const std::string& name, const std::vector<std::string_view>& content) {
  constexpr std::uint16_t version = 45, stored = 0, utf8 = 1 << 11, first_day = 1 << 5 | 1;  // Jan 1, 1980
  if (!is_inside_folder(name) || name.size() > 0xffff || !names_.insert(name).second)
    ktape::fail("[", op_,
                "] names in an archive must be different, and stay below its folder: received name='",
                nn::printable(name), "'");
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;
  for (const std::string_view piece : content) {
    size += piece.size();
    checksum = crc32(checksum, piece.data(), piece.size());
  }
  const std::uint64_t header = file_.size();
  const std::string common = f16(version) + f16(utf8) + f16(stored) + f16(0) + f16(first_day) +
                             f32(checksum) + f32(capped(size)) + f32(capped(size)) + f16(name.size());
  const std::string local_extra = large({size, size}), extra = large({size, size, header});
  file_.write(f32(local_mark) + common + f16(local_extra.size()) + name + local_extra);
  for (const std::string_view piece : content) file_.write(piece);
  directory_ += f32(entry_mark) + f16(version) + common + f16(extra.size()) + std::string(10, '\0') +
                f32(capped(header)) + name + extra;
}

void ZipWriter::finish() {
  constexpr std::uint16_t version = 45;
  const std::uint64_t begin = file_.size(), end = begin + directory_.size();
  const std::uint64_t files = names_.size();
  const bool many = files >= 0xffff;
  std::string last;
  if (many || end >= elsewhere) {
    last += f32(end64_mark) + field(std::uint64_t{end64_size - 12}) + f16(version) + f16(version) + f32(0) +
            f32(0) + field(files) + field(files) + field(std::uint64_t{directory_.size()}) + field(begin);
    last += f32(locator64_mark) + f32(0) + field(end) + f32(1);
  }
  const std::string count = f16(many ? 0xffff : files);
  last +=
      f32(end_mark) + f32(0) + count + count + f32(capped(directory_.size())) + f32(capped(begin)) + f16(0);
  file_.write(directory_ + last);
}

}  // namespace ktape::data
