#include <ktape/nn/saving/base/parts.hpp>
#include <ktape/nn/saving/formats.hpp>
#include <ktape/nn/saving/keras/keras_shards.hpp>
#include <ktape/nn/saving/onnx/onnx_file.hpp>
#include <ktape/nn/saving/saving.hpp>
#include <ktape/nn/serialization/model_config.hpp>
#include <ktape/ops/random/random_scope.hpp>

#include <filesystem>
#include <string_view>

namespace ktape::nn {
namespace saving {
namespace {

template <class F>
void expect_supported(F* function, const char* op, const Format& format, const std::string& path) {
  if (!function)
    fail("[", op, "] the format ", format.suffix, " must support this call",
         &format == &onnx_file ? " (export_to writes .onnx, load_model reads)" : "", ": received path='",
         path, "'");
}

void expect_writable(const char* op, const std::string& path, bool overwrite) {
  if (!overwrite && std::filesystem::exists(path))
    fail<IOError>("[", op, "] the file must not exist unless overwrite is set: received path='", path, "'");
}

/// Saves the weights in files of at most `size` GB.
void save_in_shards(const Model& model, const std::string& path, const Format& format, double size) {
  if (&format != &keras_shards)
    fail("[save_weights] max_shard_size is for .weights.json: received path='", path, '\'');
  constexpr double gigabyte = 1 << 30;
  if (!(size > 0) || size > 1e9)
    fail("[save_weights] max_shard_size must be a number of GB above 0: received max_shard_size=", size);
  save_shards(model, path, static_cast<std::uint64_t>(size * gigabyte));
}

/// Throws for a version of Keras that does not read the format.
void expect_version(const std::string& path, const SaveOptions& options) {
  const int version = options.keras_version.value_or(3);
  if (version != 2 && version != 3)
    fail("[save] keras_version must be 2 or 3: received keras_version=", version);
  if (version == 2 && !path.ends_with(".h5") && !path.ends_with(".hdf5"))
    fail("[save] Keras 2.15 reads models from .h5 and .hdf5: received keras_version=2, path='", path, '\'');
}

}  // namespace

}  // namespace saving

void Model::save(const std::string& path, const SaveOptions& options) const {
  const saving::Format& format = saving::format_of("save", path);
  saving::expect_supported(format.save_model, "save", format, path);
  saving::expect_version(path, options);
  saving::expect_writable("save", path, options.overwrite);
  format.save_model(*this, path, options);
}

void Model::save_weights(const std::string& path, const SaveOptions& options) const {
  const saving::Format& format = saving::format_of("save_weights", path);
  saving::expect_supported(format.save_weights, "save_weights", format, path);
  saving::expect_writable("save_weights", path, options.overwrite);
  if (options.max_shard_size) return saving::save_in_shards(*this, path, format, *options.max_shard_size);
  format.save_weights(*this, path);
}

void Model::load_weights(const std::string& path, const LoadWeightsOptions& options) const {
  const saving::Format& format = saving::format_of("load_weights", path);
  saving::expect_supported(format.load_weights, "load_weights", format, path);
  saving::naming_file(path, [&] { format.load_weights(*this, path, options); });
}

namespace {

/// A scope that restores the state of K's random generator at its end, because making a model draws initial
/// weights.
class RandomStateScope {
 public:
  explicit RandomStateScope(bool restores) : restores_(restores) {}
  ~RandomStateScope() {
    if (restores_) backend::set_random_state(before_);
  }
  RandomStateScope(const RandomStateScope&) = delete;
  RandomStateScope& operator=(const RandomStateScope&) = delete;

 private:
  const bool restores_;
  const backend::RandomState before_ = backend::random_state();
};

}  // namespace

Model load_model(const std::string& path, const LoadOptions& options) {
  const saving::Format& format = saving::format_of("load_model", path);
  saving::expect_supported(format.load_model, "load_model", format, path);
  const custom_object_scope scope(options.custom_objects);
  const RandomStateScope random(!options.random_state);
  return saving::naming_file(path, [&] { return format.load_model(path, options); });
}

Model model_from_json(const std::string& json, const CustomObjects& custom_objects) {
  const custom_object_scope scope(custom_objects);
  return model_from_config(from_json(json));
}

}  // namespace ktape::nn
