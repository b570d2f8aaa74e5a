#pragma once
#include "run.hpp"

namespace golden_nn {

// Each adds what runs its kinds of cases.
void add_functions(Table& table);  ///< activations, initializers, regularizers, constraints

void add_layers(Table& table);
void add_losses(Table& table);
void add_metrics(Table& table);
void add_optimizers(Table& table);  ///< and schedules
void add_utilities(Table& table);   ///< functions of ktape::data

/// Whether the matrix of the last axis and the others is orthogonal, times `gain`.
void check_orthogonal(Run& run, const Tensor& value, double gain);

}  // namespace golden_nn
