#pragma once
#include <ktape/nn/models/model.hpp>

#include <string>

namespace ktape::nn {

struct PlotOptions {
  bool show_shapes = false;
  bool show_dtype = false;
  bool show_layer_names = false;
  std::string rankdir = "TB";  ///< "TB": from top to bottom; "LR": from left to right
  bool expand_nested = false;  ///< whether the layers of inner models are shown, each model in a frame
  bool show_layer_activations = false;
  bool show_trainable = false;  ///< whether layers with weights show whether they are trained
};

/// Draws the graph of a model into a file: an SVG picture for a name that ends in ".svg", or a text for
/// Graphviz for ".dot" or ".gv". Throws ValueError for another suffix, an unknown rankdir and a model whose
/// graph is not known, IOError if the file cannot be written. Mirrors `keras.utils.plot_model`.
///
///     nn::Sequential model({nn::Dense(1, {.input_shape = {2}, .name = "scores"})});
///     nn::plot_model(model, "model.svg", {.show_shapes = true});
///     std::cout << nn::model_to_dot(model);
void plot_model(const Model& model, const std::string& to_file = "model.svg",
                const PlotOptions& options = {});

/// Returns the texts that `plot_model` writes.
///
///     nn::Sequential model({nn::Dense(1, {.input_shape = {2}})});
///     std::string picture = nn::model_to_svg(model, {.show_shapes = true});
///     std::cout << picture.substr(0, picture.find('>') + 1);
std::string model_to_dot(const Model& model, const PlotOptions& options = {});
std::string model_to_svg(const Model& model, const PlotOptions& options = {});

}  // namespace ktape::nn
