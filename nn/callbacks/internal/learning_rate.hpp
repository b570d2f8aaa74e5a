#pragma once
#include <ktape/nn/models/model.hpp>
#include <ktape/nn/optimizers/optimizer.hpp>

namespace ktape::nn {

/// Returns the learning rate of the model's optimizer. Internal: sources only.
inline double rate_of(const Model& model) { return model.optimizer().learning_rate().item<double>(); }
/// Sets the learning rate of the model's optimizer. Throws TypeError when the rate follows a schedule.
inline void set_rate(const Model& model, double rate) { model.optimizer().impl().set_learning_rate(rate); }

}  // namespace ktape::nn
