#pragma once
#include <ktape/nn/models/model.hpp>

#include <string>

namespace ktape::nn {

struct ExplainOptions {
  std::string svg = {};  ///< a file for a drawing of the steps; empty for none
};

/// Returns a table of the plan with which a model predicts: the steps, the ops that are fused in each, the
/// kernel, the estimated and the measured time, and the bytes of the memory between the steps. `predict`,
/// `predict_on_batch` and `evaluate` make a plan in the first call with inputs of one shape; before, and for a
/// model class of the user, the text says that there is none. Measuring runs the steps a few times on zeros; the
/// estimate is the time that the multiplications or the bytes of a step need at the rate of this machine. With
/// `svg`, writes a drawing of the steps. Throws ValueError for an undefined model, and IOError if the file cannot
/// be written. ktape's own: Keras has no such function.
///
///     model.predict_on_batch(image);
///     nn::explain(model, {.svg = "plan.svg"});
///
/// For example:
///
///     nn::Sequential model(
///         {nn::Dense(4, {.activation = "relu", .input_shape = {3}}), nn::Dense(1)});
///     model.predict_on_batch(K::ones({2, 3}));
///     model.predict_on_batch(K::ones({2, 3}));
///     std::cout << nn::explain(model, {.svg = "plan.svg"});
std::string explain(const Model& model, const ExplainOptions& options = {});

}  // namespace ktape::nn
