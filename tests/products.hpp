#pragma once
#include <ktape/ops/kernels/engine/engine.hpp>

#include <algorithm>

/// Returns whether products come from oneDNN. Their bits do not depend on the number of threads; those of OpenBLAS do.
inline bool products_keep_bits() {
  const auto engines = ktape::kernels::built_in_engines();
  return std::find(engines.begin(), engines.end(), "onednn") != engines.end();
}
