#pragma once
#include "run.hpp"

namespace golden_nn {

// Each adds what runs its kinds of cases.
void add_functions(Table& table);  ///< activations, initializers, regularizers, constraints

void add_losses(Table& table);
void add_metrics(Table& table);
void add_optimizers(Table& table);  ///< and schedules

}  // namespace golden_nn
