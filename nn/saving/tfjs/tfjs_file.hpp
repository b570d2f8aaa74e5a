#pragma once
#include <ktape/nn/files/bytes.hpp>
#include <ktape/nn/saving/base/weights.hpp>
#include <ktape/ops/schema/config.hpp>

/// The files of a TensorFlow.js model: model.json lists the weights, whose bytes stand in this order in the
/// shards (files beside model.json). Internal: sources only.
namespace ktape::nn::saving {

/// A TensorFlow.js model for reading. The constructor checks the whole list of weights: shards are in the
/// folder or below, are listed once and have the length of their weights.
class TfjsFile {
 public:
  /// Opens a model.json. Throws IOError, naming the file and the position.
  TfjsFile(const char* op, const std::string& path);

  /// Returns the content of model.json.
  const Config& json() const { return json_; }
  /// Returns the number of elements of all weights of the model, which is at most the number of bytes of the
  /// shards.
  std::int64_t elements() const;
  /// Returns the weights of the model, without the weights of an optimizer. Weights that were quantized as
  /// uint8 or uint16 become number * scale + min.
  NamedTensors weights() const;

  /// Throws IOError: the file must be a TensorFlow.js model.
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    ktape::fail<IOError>("[", op_, "] the file must be a TensorFlow.js model: received ", path_, " (",
                         reason..., ')');
  }

 private:
  struct Weight {
    std::string name;
    Shape shape;
    DType dtype = DType::Float32, stored = DType::Float32;  ///< `stored`: of the numbers in the file
    bool quantized = false, of_optimizer = false;
    double scale = 1, min = 0;
  };
  struct Group {
    std::vector<std::string> shards;  ///< the paths of the files
    std::vector<Weight> weights;
    std::uint64_t bytes = 0;  ///< the number of bytes of the weights
  };

  void read_group(const Value& group, const std::string& what);
  void check_names() const;
  void check_lengths() const;
  std::string shard_of(const std::string& path, const std::string& what) const;
  Weight weight_of(const Config& config, const std::string& what) const;
  void read_quantization(const Config& config, const std::string& what, Weight& weight) const;

  const char* op_;
  std::string path_;
  Config json_;
  std::vector<Group> groups_;
};

/// Writes a model: `json` with the description of the weights added, and weight files ("shards") of up to 4
/// MB, group1-shard1of2.bin, group1-shard2of2.bin ("mnist-group1-..." beside mnist-model.json). A missing
/// folder is created. Weights become float32, int32 or bool, the dtypes of TensorFlow.js.
///
/// At every moment, also when the program is killed, model.json and the shards that it names belong together:
/// the new shards get other names than the old shards, group2 after group1, and are on the disk before the
/// new model.json replaces the old file; then the old shards are removed. Throws IOError, naming the file, if
/// writing fails, and ValueError, naming the weight, for integers beyond int32; the old model does not change
/// then.
void write_tfjs(const char* op, const std::string& path, const Config& json, const NamedTensors& weights);

}  // namespace ktape::nn::saving
