#include <ktape/nn/callbacks/tensorboard/internal/event_file.hpp>
#include <ktape/nn/callbacks/tensorboard/internal/protobuf.hpp>
#include <ktape/nn/data/formats/image_files.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/shape.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>

namespace ktape::nn {
namespace K = backend;
namespace {

// Field numbers of TensorFlow's event.proto, summary.proto and tensor.proto.
namespace event {
constexpr std::uint32_t wall_time = 1, step = 2, file_version = 3, summary = 5, source_metadata = 10;
constexpr std::uint32_t writer = 1;  // a field of source_metadata
}  // namespace event
namespace summary_value {
constexpr std::uint32_t in_summary = 1, tag = 1, tensor = 8, metadata = 9;
}
namespace metadata {
constexpr std::uint32_t plugin_data = 1, plugin_name = 1, content = 2;
}
namespace tensor_proto {
constexpr std::uint32_t dtype = 1, shape = 2, content = 4, string = 8;
constexpr std::uint32_t dimension = 2, size = 1;  // fields of shape
constexpr std::int64_t float32 = 1, float64 = 2, text = 7;
}  // namespace tensor_proto

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Returns a unique name: "events.out.tfevents.1700000000.host.1234.0.v2".
std::string file_name() {
  static std::atomic<int> files{0};
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host = {"localhost"};
  std::string name = host.data();
  std::replace(name.begin(), name.end(), '/', '_');
  const auto seconds = static_cast<std::int64_t>(wall_time());
  return "events.out.tfevents." + std::to_string(seconds) + '.' + name + '.' + std::to_string(getpid()) +
         '.' + std::to_string(files++) + ".v2";
}

std::string little_endian_bytes(std::uint64_t number, int count) {
  std::string bytes;
  for (int byte = 0; byte < count; ++byte) bytes += static_cast<char>(number >> 8 * byte);
  return bytes;
}

/// Rotates and offsets a checksum as TensorFlow does, because a CRC of data that contains CRCs is weak.
std::string masked_crc(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return little_endian_bytes(std::rotr(crc, 15) + 0xa282ead8u, 4);
}

Message shape_message(const Shape& shape) {
  Message message;
  for (const std::int64_t extent : shape)
    message.message(tensor_proto::dimension, Message().integer(tensor_proto::size, extent));
  return message;
}

Message tensor_message(const Tensor& tensor) {
  const auto bytes = static_cast<std::size_t>(tensor.size()) * tensor.dtype().size();
  return Message()
      .integer(tensor_proto::dtype,
               tensor.dtype() == DType::Float64 ? tensor_proto::float64 : tensor_proto::float32)
      .message(tensor_proto::shape, shape_message(tensor.shape()))
      .text(tensor_proto::content, {static_cast<const char*>(tensor.raw()), bytes});
}

Message text_message(const Shape& shape, const std::vector<std::string>& texts) {
  Message message;
  message.integer(tensor_proto::dtype, tensor_proto::text).message(tensor_proto::shape, shape_message(shape));
  for (const std::string& text : texts) message.text(tensor_proto::string, text);
  return message;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78u : 0u);
    }
    return table;
  }();
  std::uint32_t crc = ~0u;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255] ^ crc >> 8;
  return ~crc;
}

Tensor histogram_of(const Tensor& values) {
  constexpr std::int64_t ranges = 30;
  const Tensor numbers = K::cast(values, DType::Float64);
  std::vector<double> finite;
  for (std::int64_t i = 0; i < numbers.size(); ++i)
    if (const double x = numbers.pointer<double>()[i]; std::isfinite(x)) finite.push_back(x);
  if (finite.empty()) return Tensor::empty({0, 3}, DType::Float64);
  const auto [least, largest] = std::minmax_element(finite.begin(), finite.end());
  const double from = *least, to = *largest, width = to / ranges - from / ranges;
  const bool one = !(width > 0);
  const Tensor out = Tensor::empty({one ? 1 : ranges, 3}, DType::Float64);
  auto* rows = out.pointer<double>();
  const auto row = [&](std::int64_t i, double left, double right, double count) {
    std::copy_n(std::array{left, right, count}.begin(), 3, rows + 3 * i);
  };
  if (one) return row(0, from - 0.5, from + 0.5, static_cast<double>(finite.size())), out;
  for (std::int64_t i = 0; i < ranges; ++i)
    row(i, from + width * static_cast<double>(i),
        i + 1 == ranges ? to : from + width * static_cast<double>(i + 1), 0);
  for (const double x : finite) {
    const auto range = static_cast<std::int64_t>((x / width) - (from / width));
    rows[3 * std::clamp<std::int64_t>(range, 0, ranges - 1) + 2] += 1;
  }
  return out;
}

EventFile::EventFile(const std::string& folder) : file_("TensorBoard", folder + '/' + file_name()) {
  record(Message()
             .real(event::wall_time, wall_time())
             .text(event::file_version, "brain.Event:2")
             .message(event::source_metadata, Message().text(event::writer, "ktape"))
             .bytes());
}

void EventFile::record(const std::string& event) {
  const std::string length = little_endian_bytes(event.size(), 8);
  file_.append(length + masked_crc(length) + event + masked_crc(event));
}

void EventFile::summary(const std::string& tag, const std::string& plugin, const std::string& content,
                        const Message& tensor, std::int64_t step) {
  Message data;
  data.text(metadata::plugin_name, plugin);
  if (!content.empty()) data.text(metadata::content, content);
  const Message value = Message()
                            .text(summary_value::tag, tag)
                            .message(summary_value::metadata, Message().message(metadata::plugin_data, data))
                            .message(summary_value::tensor, tensor);
  record(Message()
             .real(event::wall_time, wall_time())
             .integer(event::step, step)
             .message(event::summary, Message().message(summary_value::in_summary, value))
             .bytes());
}

void EventFile::scalar(const std::string& tag, double value, std::int64_t step) {
  const Tensor number = Tensor::empty({}, DType::Float32);
  *number.pointer<float>() = static_cast<float>(value);
  summary(tag, "scalars", {}, tensor_message(number), step);
}

void EventFile::histogram(const std::string& tag, const Tensor& values, std::int64_t step) {
  summary(tag, "histograms", {}, tensor_message(histogram_of(values)), step);
}

void EventFile::images(const std::string& tag, const Tensor& images, std::int64_t step) {
  constexpr std::int64_t most = 3;
  const Shape& shape = images.shape();
  const std::int64_t count = std::min(shape[0], most), size = shape.count(1);
  const Tensor numbers = K::cast(images, DType::Float64);
  std::vector<std::string> texts{std::to_string(shape[2]), std::to_string(shape[1])};
  for (std::int64_t i = 0; i < count; ++i) {
    const Tensor pixels = Tensor::empty({shape[1], shape[2], shape[3]}, DType::UInt8);
    const double* from = numbers.pointer<double>() + i * size;
    std::transform(from, from + size, pixels.pointer<std::uint8_t>(), [](double x) {
      return static_cast<std::uint8_t>(x > 0 ? std::min(x * 255.5, 255.0) : 0);  // NaN is black
    });
    texts.push_back(data::encode_png(pixels));
  }
  summary(tag, "images", {}, text_message({std::ssize(texts)}, texts), step);
}

void EventFile::model(const std::string& tag, const std::string& json, std::int64_t step) {
  summary(tag, "graph_keras_model", "1", text_message({}, {json}), step);
}

}  // namespace ktape::nn
