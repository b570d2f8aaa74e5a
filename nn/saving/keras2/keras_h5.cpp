#include <ktape/nn/core/loading.hpp>
#include <ktape/nn/files/atomic_file.hpp>
#include <ktape/nn/files/json_part.hpp>
#include <ktape/nn/saving/keras/keras_optimizer.hpp>
#include <ktape/nn/saving/keras/keras_state.hpp>
#include <ktape/nn/saving/keras2/keras2_weights.hpp>
#include <ktape/nn/saving/keras2/keras_h5.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>
#include <ktape/nn/serialization/keras_objects.hpp>
#include <ktape/nn/serialization/model_config.hpp>

namespace ktape::nn::saving {
namespace {

using hdf5::Entry;

void write(const char* op, const std::string& path, const Entry& root) {
  AtomicFile file(op, path);
  const hdf5::Image image = hdf5::to_image(op, path, root);
  for (const std::string_view piece : image.pieces()) file.write(piece);
  file.commit();
}

void save_weights(const Model& model, const std::string& path) {
  Entry root;
  add_keras2_weights(root, model);
  write("save_weights", path, root);
}

/// Returns the architecture as the version of Keras reads it that must read the file.
Value written_config(const Model& model, int keras_version) {
  if (keras_version == 2) return keras2(model_config(model));
  return with_keras3_operations(model_config(model).config());
}

void save_model(const Model& model, const std::string& path, const SaveOptions& options) {
  const int version = options.keras_version.value_or(3);
  Entry root;
  add_keras_version(root, version);
  const Value config = written_config(model, version), compiled = compile_config(model);
  const Value training = compiled.is_null() ? compiled : keras2_compile(compiled);
  if (version == 2) expect_keras2(config), expect_keras2(training);
  root.set_attribute("model_config", to_json(config));
  if (!training.is_null()) root.set_attribute("training_config", to_json(training));
  add_keras2_weights(root.group("model_weights"), model);
  if (!compiled.is_null() && options.include_optimizer)
    add_arrays(root.group("optimizer_weights"), keras2_optimizer_variables(model));
  write("save", path, root);
}

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  hdf5::File file = hdf5::read_file("load_weights", path, expected_bytes(model));
  if (is_keras2(file)) return load_keras2_weights(file, model, options);
  separate_names(file.root);
  if (!file.root.find("layers") && !file.root.find("_layer_checkpoint_dependencies"))
    file.fail("the file must be complete, as Keras writes it", "/: it has no attribute layer_names");
  assign_weights(model, path, keras_weights(file, model, options.by_name), options);
}

std::optional<Value> json_in(const hdf5::File& file, const std::string& attribute) {
  const hdf5::Attribute* found = file.root.attribute(attribute);
  if (!found) return {};
  const auto* text = std::get_if<std::string>(found);
  if (!text)
    file.fail("the file must be complete, as Keras writes it", "its attribute ", attribute, " is no text");
  return json_part(file.op, file.name, "attribute " + attribute, *text);
}

Model load_model(const std::string& path, const LoadOptions& options) {
  const hdf5::File file = hdf5::read_file("load_model", path);
  const std::optional<Value> config = json_in(file, "model_config");
  if (!config)
    file.fail("the file must be complete, as Keras writes it",
              "it has no attribute model_config: a file of weights alone is for load_weights");
  const weight_loading_scope loading(file.root.elements());
  const Model model = model_from_config(*config);
  load_keras2_weights(file, model, {});
  const std::optional<Value> training = options.compile ? json_in(file, "training_config") : std::nullopt;
  const Value compiled = canonical_compile(training.value_or(Value()));
  if (compiled.is_null()) return model;
  compile_from_config(model, compiled);
  if (const Entry* optimizer = file.root.find("optimizer_weights"))
    restore_optimizer(model, path, arrays_of(file, *optimizer, "/optimizer_weights"));
  return model;
}

}  // namespace

const Format keras_h5 = {".h5", save_model, load_model, save_weights, load_weights};
const Format keras_hdf5 = {".hdf5", save_model, load_model, save_weights, load_weights};

}  // namespace ktape::nn::saving
