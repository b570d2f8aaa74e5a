#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/files/output_file.hpp>

#include <vector>

namespace ktape::nn {

class Message;

/// A file of events for TensorBoard: TensorFlow's records (length, checksums, data) of TensorFlow 2's
/// summaries. A record is in the file when the call returns. Internal: sources only.
class EventFile {
 public:
  /// Creates a file in a folder, which is created too. Throws IOError if that fails.
  explicit EventFile(const std::string& folder);

  void scalar(const std::string& tag, double value, std::int64_t step);
  /// Writes a histogram of a tensor's elements in 30 ranges of equal width.
  void histogram(const std::string& tag, const Tensor& values, std::int64_t step);
  /// Writes the first three of images (count, height, width, channels) with values from 0 to 1.
  void images(const std::string& tag, const Tensor& images, std::int64_t step);
  /// Writes the architecture of a model as Keras's JSON.
  void model(const std::string& tag, const std::string& json, std::int64_t step);

 private:
  void summary(const std::string& tag, const std::string& plugin, const std::string& content,
               const Message& tensor, std::int64_t step);
  void record(const std::string& event);

  OutputFile file_;
};

/// Returns a histogram, (ranges, 3), float64: left edge, right edge and count of 30 ranges from the smallest
/// to the largest finite element. Equal elements give a single range around their value, an empty tensor no
/// range.
Tensor histogram_of(const Tensor& values);
/// Returns the CRC-32 with Castagnoli's polynomial 0x1edc6f41.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace ktape::nn
