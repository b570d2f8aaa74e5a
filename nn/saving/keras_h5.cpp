#include <ktape/nn/saving/atomic_file.hpp>
#include <ktape/nn/saving/keras2_weights.hpp>
#include <ktape/nn/saving/keras_h5.hpp>
#include <ktape/nn/saving/keras_state.hpp>

namespace ktape::nn::saving {
namespace {

using hdf5::Entry;

void write(const char* op, const std::string& path, const Entry& root) {
  AtomicFile file(op, path);
  hdf5::write_file(op, path, file.temporary(), root);
  file.commit();
}

void save_weights(const Model& model, const std::string& path) {
  Entry root;
  add_keras2_weights(root, model);
  write("save_weights", path, root);
}

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  hdf5::File file = hdf5::read_file("load_weights", path);
  if (is_keras2(file)) return load_keras2_weights(file, model, options);
  separate_names(file.root);
  if (!file.root.find("layers") && !file.root.find("_layer_checkpoint_dependencies"))
    file.fail("what a Keras model has must be in the file", "/: it has no attribute layer_names");
  assign_weights(model, path, keras_weights(file, model, options.by_name), options);
}

}  // namespace

const Format keras_h5 = {".h5", nullptr, nullptr, save_weights, load_weights};
const Format keras_hdf5 = {".hdf5", nullptr, nullptr, save_weights, load_weights};

}  // namespace ktape::nn::saving
