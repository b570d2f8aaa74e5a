#pragma once
#include <ktape/autograd/tensor.hpp>
#include <ktape/nn/callbacks/output_file.hpp>

#include <vector>

namespace ktape::nn {

class Message;

/// A file of events for TensorBoard: records of TensorFlow's kind, each with its length and checksums, of
/// summaries as TensorFlow 2 writes them. Each is there when the call returns. Internal: sources only.
class EventFile {
 public:
  /// A new file in a folder, which is made. Throws IOError where that is not possible.
  explicit EventFile(const std::string& folder);

  void scalar(const std::string& tag, double value, std::int64_t step);
  /// The elements of a tensor, counted in 30 ranges of one width.
  void histogram(const std::string& tag, const Tensor& values, std::int64_t step);
  /// Images (count, height, width, channels) of numbers from 0 to 1, of which the first three are shown.
  void images(const std::string& tag, const Tensor& images, std::int64_t step);
  /// The architecture of a model, as Keras's JSON.
  void model(const std::string& tag, const std::string& json, std::int64_t step);

 private:
  void summary(const std::string& tag, const std::string& plugin, const std::string& content,
               const Message& tensor, std::int64_t step);
  void record(const std::string& event);

  OutputFile file_;
};

/// Left edge, right edge and count of ranges, (ranges, 3), float64: 30 from the least to the largest finite
/// number; one around the number, where there is but one, and none for no numbers.
Tensor histogram_of(const Tensor& values);
/// The remainder with the polynomial of Castagnoli, 0x1edc6f41.
std::uint32_t crc32c(std::string_view bytes);

}  // namespace ktape::nn
