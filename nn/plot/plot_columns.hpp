#pragma once
#include <ktape/nn/plot/model_graph.hpp>

#include <vector>

namespace ktape::nn {

/// Returns the picture of `model_to_svg`, from top to bottom, in pieces of a limited height that can stand
/// side by side, so that a deep model fits on a page. No box is cut. Internal: sources only.
std::vector<std::string> model_to_svg_columns(const Model& model, double most,
                                              const PlotOptions& options = {});

}  // namespace ktape::nn
