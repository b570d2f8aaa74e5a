#pragma once
#include <cstring>
#include <map>

#include "../../data/files.hpp"
#include "../scripted.hpp"

/// A reader of event files that shares no code with the writer.

/// Computes the checksum bit by bit, as defined.
inline std::uint32_t slow_crc(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const unsigned char c : bytes) {
    crc ^= c;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) ? (crc >> 1) ^ 0x82f63b78 : crc >> 1;
  }
  return ~crc;
}

template <class T>
T number(const std::string& bytes, std::size_t at = 0) {
  T out;
  REQUIRE(at + sizeof(T) <= bytes.size());
  std::memcpy(&out, bytes.data() + at, sizeof(T));
  return out;
}

/// Returns the records of a file, whose checksums are right.
inline std::vector<std::string> records(const std::string& file) {
  const auto masked = [](const std::string& bytes) {
    const std::uint32_t crc = slow_crc(bytes);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
  };
  std::vector<std::string> out;
  for (std::size_t at = 0; at < file.size();) {
    const auto length = number<std::uint64_t>(file, at);
    REQUIRE(number<std::uint32_t>(file, at + 8) == masked(file.substr(at, 8)));
    REQUIRE(length <= file.size() - at - 16);
    out.push_back(file.substr(at + 12, length));
    REQUIRE(number<std::uint32_t>(file, at + 12 + length) == masked(out.back()));
    at += 16 + length;
  }
  return out;
}

/// The fields of a message by their numbers: bytes, of which numbers have 8.
using Fields = std::multimap<std::uint64_t, std::string>;
inline Fields fields(const std::string& message) {
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      REQUIRE(at < message.size());
      REQUIRE(shift < 64);
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  Fields out;
  while (at < message.size()) {
    const std::uint64_t key = varint();
    REQUIRE((key % 8 == 0 || key % 8 == 1 || key % 8 == 2));
    if (key % 8 == 0) {
      out.emplace(key / 8, little(varint()));
      continue;
    }
    const std::uint64_t length = key % 8 == 1 ? 8 : varint();
    REQUIRE(length <= message.size() - at);
    out.emplace(key / 8, message.substr(at, length));
    at += length;
  }
  return out;
}
inline std::string field(const std::string& message, std::uint64_t number) {
  const Fields all = fields(message);
  const auto found = all.find(number);
  return found == all.end() ? "" : found->second;
}
inline std::int64_t integer(const std::string& message, std::uint64_t field_number) {
  const std::string bytes = field(message, field_number);
  return bytes.empty() ? 0 : number<std::int64_t>(bytes);
}

struct Summary {
  std::string tag, plugin;
  std::int64_t step = 0, dtype = 0;
  ktape::Shape shape = {};
  std::string content = {};
  std::vector<std::string> texts = {};
};

inline std::string event_file(const std::string& folder) {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CHECK(found.empty());
    found = entry.path().string();
    CHECK(entry.path().filename().string().starts_with("events.out.tfevents."));
  }
  return found;
}

inline std::vector<Summary> summaries(const std::string& file) {
  std::vector<Summary> out;
  const std::vector<std::string> events = records(content(file));
  REQUIRE(!events.empty());
  CHECK(field(events[0], 3) == "brain.Event:2");
  double last = 0;
  for (const std::string& event : events) {
    const auto time = number<double>(field(event, 1));
    CHECK(time >= last);
    CHECK(time > 1.6e9);
    last = time;
    if (field(event, 5).empty()) continue;
    const std::string value = field(field(event, 5), 1), tensor = field(value, 8),
                      data = field(field(value, 9), 1);
    Summary summary{field(value, 1), field(data, 1), integer(event, 2), integer(tensor, 1)};
    for (const auto& [number, dimension] : fields(field(tensor, 2)))
      summary.shape.push_back(integer(dimension, 1));
    summary.content = field(tensor, 4);
    for (const auto& [number, text] : fields(tensor))
      if (number == 8) summary.texts.push_back(text);
    out.push_back(std::move(summary));
  }
  return out;
}

/// Returns "tag step value" for each scalar.
inline std::vector<std::string> scalars(const std::string& folder) {
  std::vector<std::string> out;
  for (const Summary& summary : summaries(event_file(folder))) {
    if (summary.plugin != "scalars") continue;
    CHECK(summary.dtype == 1);
    CHECK(summary.shape.rank() == 0);
    std::ostringstream text;
    text << summary.tag << ' ' << summary.step << ' ' << number<float>(summary.content);
    out.push_back(text.str());
  }
  return out;
}
