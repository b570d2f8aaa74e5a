#pragma once
#include <zlib.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// Compressed files as bytes, valid, damaged and hostile, for tests of readers.

/// Returns a number as the bytes of a file.
template <class T>
std::string little(T number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> 8 * i);
  return bytes;
}
template <class T>
std::string big(T number) {
  const std::string bytes = little(number);
  return {bytes.rbegin(), bytes.rend()};
}

/// Returns bytes compressed by deflate: raw, or as a gzip file; or without the end of the stream, so that
/// more may follow.
inline std::string deflated(std::string_view bytes, bool gzip = false, bool open = false) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, gzip ? 31 : -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string out(bytes.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, open ? Z_FULL_FLUSH : Z_FINISH) != (open ? Z_OK : Z_STREAM_END))
    throw std::runtime_error("deflate");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A few bytes that inflate to many.
struct Bomb {
  std::string data;  ///< compressed by deflate
  std::uint32_t size = 0, checksum = 0;
};

/// Returns megabytes of a repeated text of 2^n characters, after another text.
inline Bomb bomb(std::size_t megabytes, std::string_view text, std::string_view before = "") {
  const auto checksum_of = [](std::string_view bytes) {
    return crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
  };
  std::string block;
  while (block.size() < 1 << 20) block += text;
  const std::string again = deflated(block, false, true);
  uLong checksum = checksum_of(before);
  Bomb out{before.empty() ? "" : deflated(before, false, true)};
  for (std::size_t i = 0; i < megabytes; ++i) {
    out.data += again;
    checksum = crc32_combine(checksum, checksum_of(block), static_cast<z_off_t>(block.size()));
  }
  out.data += std::string("\3\0", 2);  // the last block, an empty one
  out.size = static_cast<std::uint32_t>(before.size() + megabytes * block.size());
  out.checksum = static_cast<std::uint32_t>(checksum);
  return out;
}

inline std::string gzip(const Bomb& bomb) {
  return std::string("\x1f\x8b\x08\0\0\0\0\0\0\3", 10) + bomb.data + little(bomb.checksum) +
         little(bomb.size);
}

/// Returns a gray PNG image of zeros, side x side pixels.
inline std::string png_bomb(std::uint32_t side) {
  const auto chunk = [](const std::string& kind, const std::string& data) {
    const std::string both = kind + data;
    return big(static_cast<std::uint32_t>(data.size())) + both +
           big(static_cast<std::uint32_t>(
               crc32(0, reinterpret_cast<const Bytef*>(both.data()), static_cast<uInt>(both.size()))));
  };
  const std::size_t megabytes = (std::size_t{side} * (side + 1) >> 20) + 1;
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", big(side) + big(side) + std::string("\x08\0\0\0\0", 5)) +
         chunk("IDAT", "\x78\xda" + bomb(megabytes, std::string(1, '\0')).data + std::string(4, '\0')) +
         chunk("IEND", "");
}

/// The record of a file in an archive.
struct Packed {
  std::string name, content;
  bool deflate = false;
  std::optional<std::uint32_t> size = {}, checksum = {}, offset = {};
  std::uint16_t flags = 0, method = deflate ? 8 : 0;
  std::string local_name = name;
};

inline Packed packed(const std::string& name, const Bomb& bomb) {
  return {.name = name, .content = bomb.data, .size = bomb.size, .checksum = bomb.checksum, .method = 8};
}

inline std::string zip(const std::vector<Packed>& files, const std::string& comment = "") {
  std::string bytes, directory;
  for (const Packed& file : files) {
    const std::string data = file.deflate ? deflated(file.content) : file.content;
    const auto checksum = static_cast<std::uint32_t>(crc32(
        0, reinterpret_cast<const Bytef*>(file.content.data()), static_cast<uInt>(file.content.size())));
    const std::string numbers = little(file.method) + little(0) + little(file.checksum.value_or(checksum)) +
                                little(static_cast<std::uint32_t>(data.size())) +
                                little(file.size.value_or(static_cast<std::uint32_t>(file.content.size()))) +
                                little(static_cast<std::uint16_t>(file.name.size())) +
                                little(std::uint16_t{0});
    directory += "PK\x01\x02" + little(std::uint16_t{20}) + little(std::uint16_t{20}) + little(file.flags) +
                 numbers + std::string(10, '\0') +
                 little(file.offset.value_or(static_cast<std::uint32_t>(bytes.size()))) + file.name;
    bytes += "PK\x03\x04" + little(std::uint16_t{20}) + little(file.flags) + numbers + file.local_name + data;
  }
  const auto count = little(static_cast<std::uint16_t>(files.size()));
  return bytes + directory + "PK\x05\x06" + std::string(4, '\0') + count + count +
         little(static_cast<std::uint32_t>(directory.size())) +
         little(static_cast<std::uint32_t>(bytes.size())) +
         little(static_cast<std::uint16_t>(comment.size())) + comment;
}

/// Returns a .npy file of numbers.
inline std::string npy(const std::string& header, const std::string& numbers) {
  return "\x93NUMPY" + std::string("\x01\0", 2) + little(static_cast<std::uint16_t>(header.size())) + header +
         numbers;
}
inline std::string npy_array(const char* descr, const std::string& shape, const std::string& numbers,
                             const char* fortran = "False") {
  return npy(
      std::string("{'descr': '") + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n",
      numbers);
}
