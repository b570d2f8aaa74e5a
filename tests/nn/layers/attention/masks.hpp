#pragma once
#include <ktape/ktape.hpp>

#include "../../../close.hpp"
#include "../../../ops/check.hpp"

/// Helpers for tests of attention with masks.

/// Returns softmax(scores) over the keys with mask 1; keys with mask 0 get 0.
inline ktape::Tensor masked_softmax(const ktape::Tensor& scores, const ktape::Tensor& mask) {
  namespace K = ktape::backend;
  const ktape::Tensor kept = K::exp(scores) * K::cast(mask, scores.dtype());
  return kept / K::sum(kept, -1, true);
}

inline ktape::Tensor lower_triangle(std::int64_t n) {
  const ktape::Tensor steps = ktape::backend::arange(n);
  return ktape::backend::expand_dims(steps) >= steps;
}

inline ktape::Tensor bools(const std::vector<double>& bits, const ktape::Shape& shape) {
  return ktape::backend::constant(bits, {.dtype = "bool", .shape = shape});
}
