#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/saving/keras/keras_state.hpp>
#include <ktape/nn/saving/keras2/keras2_weights.hpp>
#include <ktape/nn/saving/keras2/keras_weights_h5.hpp>

namespace ktape::nn::saving {
namespace {

void save_weights(const Model& model, const std::string& path) {
  const hdf5::Entry root = keras_state(model, false);
  AtomicFile file("save_weights", path);
  const hdf5::Image image = hdf5::to_image("save_weights", path, root);
  for (const std::string_view piece : image.pieces()) file.write(piece);
  file.commit();
}

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  hdf5::File file = hdf5::read_file("load_weights", path, expected_bytes(model));
  // Keras 2 wrote its own layout under this name, too.
  if (is_keras2(file)) return load_keras2_weights(file, model, options);
  separate_names(file.root);
  assign_weights(model, path, keras_weights(file, model, options.by_name), options);
}

}  // namespace

const Format keras_weights_h5 = {".weights.h5", nullptr, nullptr, save_weights, load_weights};

}  // namespace ktape::nn::saving
