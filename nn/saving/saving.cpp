#include <ktape/nn/saving/format.hpp>
#include <ktape/nn/saving/keras_h5.hpp>
#include <ktape/nn/saving/keras_weights_h5.hpp>
#include <ktape/nn/saving/keras_zip.hpp>
#include <ktape/nn/saving/ktape_file.hpp>
#include <ktape/nn/saving/npz.hpp>
#include <ktape/nn/saving/safetensors_file.hpp>
#include <ktape/nn/saving/safetensors_index.hpp>
#include <ktape/nn/saving/tfjs.hpp>
#include <ktape/nn/serialization/model_config.hpp>
#include <ktape/ops/support/random_scope.hpp>

#include <filesystem>
#include <string_view>

namespace ktape::nn {
namespace saving {
namespace {

// A format joins here and in its own pair of files.
const std::vector<const Format*> formats = {
    &ktape_file, &npz,       &safetensors, &safetensors_index, &keras_weights_h5, &keras_h5,
    &keras_hdf5, &keras_zip, &tfjs};

template <class F>
void expect_supported(F* function, const char* op, const Format& format, const std::string& path) {
  if (!function)
    fail("[", op, "] the format ", format.suffix, " must hold what is asked for: received path='", path, "'");
}

void expect_writable(const char* op, const std::string& path, bool overwrite) {
  if (!overwrite && std::filesystem::exists(path))
    fail<IOError>("[", op, "] the file must not exist unless overwrite is set: received path='", path, "'");
}

}  // namespace

const Format& format_of(const char* op, const std::string& path) {
  const Format* found = nullptr;
  std::string suffixes;
  for (const Format* format : formats) {
    const std::string_view suffix = format->suffix;
    suffixes += (suffixes.empty() ? "" : ", ") + std::string(suffix);
    if (path.ends_with(suffix) && (!found || suffix.size() > std::string_view(found->suffix).size()))
      found = format;
  }
  if (!found)
    fail("[", op, "] the name of the file must end in one of ", suffixes, ": received path='", path, "'");
  return *found;
}

}  // namespace saving

void Model::save(const std::string& path, const SaveOptions& options) const {
  const saving::Format& format = saving::format_of("save", path);
  saving::expect_supported(format.save_model, "save", format, path);
  saving::expect_writable("save", path, options.overwrite);
  format.save_model(*this, path, options);
}

void Model::save_weights(const std::string& path, const SaveOptions& options) const {
  const saving::Format& format = saving::format_of("save_weights", path);
  saving::expect_supported(format.save_weights, "save_weights", format, path);
  saving::expect_writable("save_weights", path, options.overwrite);
  format.save_weights(*this, path);
}

void Model::load_weights(const std::string& path, const LoadWeightsOptions& options) const {
  const saving::Format& format = saving::format_of("load_weights", path);
  saving::expect_supported(format.load_weights, "load_weights", format, path);
  format.load_weights(*this, path, options);
}

namespace {

/// Puts the random numbers of K back to where they were: weights that are loaded are drawn first.
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
  return format.load_model(path, options);
}

Model model_from_json(const std::string& json, const CustomObjects& custom_objects) {
  const custom_object_scope scope(custom_objects);
  return model_from_config(from_json(json));
}

}  // namespace ktape::nn
