#pragma once
#include "run.hpp"

namespace golden_nn {

// Add the runners of some kinds of cases to the table.
void add_functions(Table& table);  ///< activations, initializers, regularizers, constraints

void add_layers(Table& table);
void add_losses(Table& table);
void add_metrics(Table& table);
void add_optimizers(Table& table);  ///< and schedules
void add_utilities(Table& table);   ///< functions of ktape::data

/// Checks that the matrix of the last axis and the other axes is orthogonal, times `gain`.
void check_orthogonal(Run& run, const Tensor& value, double gain);

}  // namespace golden_nn
