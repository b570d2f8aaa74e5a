#pragma once
#include "run.hpp"

namespace golden_nn {

// Each adds what runs its kinds of cases.
void add_functions(Table& table);  ///< activations, initializers, regularizers, constraints

void add_losses(Table& table);

}  // namespace golden_nn
