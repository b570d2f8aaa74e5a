#include <ktape/nn/core/loading.hpp>
#include <ktape/nn/saving/tfjs/tfjs.hpp>
#include <ktape/nn/saving/tfjs/tfjs_file.hpp>
#include <ktape/nn/saving/tfjs/tfjs_names.hpp>
#include <ktape/nn/serialization/keras_dialects.hpp>
#include <ktape/nn/serialization/model_config.hpp>

namespace ktape::nn::saving {
namespace {

Config json_of(const Value& topology) {
  return {{"format", "layers-model"},
          {"generatedBy", "ktape"},
          {"convertedBy", Value()},
          {"modelTopology", topology}};
}

void save_model(const Model& model, const std::string& path, const SaveOptions& options) {
  Config topology{
      {"keras_version", "2.15.0"}, {"backend", "tensorflow"}, {"model_config", keras2(model_config(model))}};
  const Value compile = options.include_optimizer ? compile_config(model) : Value();
  if (!compile.is_null()) topology.set("training_config", keras2_compile(compile));
  write_tfjs("save", path, json_of(topology), tfjs_weights(model));
}

void save_weights(const Model& model, const std::string& path) {
  write_tfjs("save_weights", path, json_of(Value()), tfjs_weights(model));
}

/// Returns the config of the model, with the compile config, which TensorFlow.js stores beside the config of
/// the model.
Config topology_of(const TfjsFile& file) {
  const Config& json = file.json();
  const Value format = json.get("format", "layers-model"), topology = json.get("modelTopology");
  if (format == Value("graph-model") || (topology.is_config() && topology.config().contains("node")))
    file.fail("it is a graph model, which has operations of TensorFlow in place of layers: ",
              "convert it by `python -m tf2onnx.convert --tfjs model.json --output model.onnx` for ",
              "nn::onnx::load, or the Keras model by `tensorflowjs_converter --input_format=keras`");
  if (format != Value("layers-model")) file.fail("its format must be layers-model: ", format);
  if (!topology.is_config()) file.fail("modelTopology must describe a model: ", topology);
  Config config = topology.config();
  if (json.contains("trainingConfig")) config.set("training_config", json.at("trainingConfig"));
  return config;
}

Model load_model(const std::string& path, const LoadOptions& options) {
  const TfjsFile file("load_model", path);
  const Config topology = topology_of(file);
  const Value compile = topology.get("training_config");
  const NamedTensors weights = file.weights();
  const weight_loading_scope loading(file.elements());
  const Model model = model_from_config(topology);
  assign_tfjs_weights(model, path, weights, {});
  const Value compiled = options.compile ? canonical_compile(compile) : Value();
  if (!compiled.is_null()) compile_from_config(model, compiled);
  return model;
}

void load_weights(const Model& model, const std::string& path, const LoadWeightsOptions& options) {
  assign_tfjs_weights(model, path, TfjsFile("load_weights", path).weights(), options);
}

}  // namespace

const Format tfjs = {"model.json", save_model, load_model, save_weights, load_weights};

}  // namespace ktape::nn::saving
