#pragma once
#include <ktape/nn/models/model.hpp>

#include <string>

namespace ktape::nn {

/// Returns a table of the plan with which a model predicts: the steps, the ops that are fused in each, the
/// kernel, the measured time, and the bytes of the memory between the steps. `predict`, `predict_on_batch` and
/// `evaluate` make a plan in the second call with inputs of one shape; before, and for a model class of the
/// user, the text says that there is none. Networks of fewer than 2^25 multiplications a batch are not compiled
/// unless the environment variable KTAPE_COMPILE is 1. Measuring runs the steps a few times on zeros. ktape's own: Keras
/// has no such function.
///
///     model.predict_on_batch(image);
///     model.predict_on_batch(image);
///     std::cout << nn::explain(model);
std::string explain(const Model& model);

}  // namespace ktape::nn
