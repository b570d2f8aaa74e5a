#pragma once
#include "case.hpp"

/// Each adds the functions of one family to the table, see the source file of that name.
namespace golden_ops {

void add_numpy_elementwise(Table& table);
void add_numpy_reductions(Table& table);
void add_indexing(Table& table);
void add_numpy_shape(Table& table);
void add_linalg(Table& table);
void add_nn(Table& table);
void add_math(Table& table);
void add_fft(Table& table);
void add_core(Table& table);
void add_random(Table& table);
void add_image(Table& table);

inline Table all_families() {
  Table table;
  for (const auto add : {add_numpy_elementwise, add_numpy_reductions, add_indexing, add_numpy_shape,
                         add_linalg, add_nn, add_math, add_fft, add_core, add_random, add_image})
    add(table);
  return table;
}

}  // namespace golden_ops
