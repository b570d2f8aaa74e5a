#include <ktape/nn/saving/formats.hpp>
#include <ktape/nn/saving/keras/keras_shards.hpp>
#include <ktape/nn/saving/keras/keras_zip.hpp>
#include <ktape/nn/saving/keras2/keras_h5.hpp>
#include <ktape/nn/saving/keras2/keras_weights_h5.hpp>
#include <ktape/nn/saving/ktape/ktape_file.hpp>
#include <ktape/nn/saving/npz/npz.hpp>
#include <ktape/nn/saving/onnx/onnx_file.hpp>
#include <ktape/nn/saving/safetensors/safetensors_file.hpp>
#include <ktape/nn/saving/safetensors/safetensors_index.hpp>
#include <ktape/nn/saving/tfjs/tfjs.hpp>

#include <string_view>
#include <vector>

namespace ktape::nn::saving {
namespace {

// A new format needs a folder in nn/saving and a line in this list.
const std::vector<const Format*> formats = {&ktape_file,       &npz,      &safetensors, &safetensors_index,
                                            &keras_weights_h5, &keras_h5, &keras_hdf5,  &keras_zip,
                                            &keras_shards,     &tfjs,     &onnx_file};

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

}  // namespace ktape::nn::saving
