#pragma once
#include "../../close.hpp"
#include "../../reference/reference.hpp"
#include "arrays.hpp"

/// Helpers of the tests of kernels against tests/reference.

template <class T>
reference::Array as_reference(const Array<T>& x, const std::vector<i64>& shape) {
  reference::Array out(reference::Extents(shape.begin(), shape.end()));
  std::copy_n(x.data(), x.size(), out.begin());
  return out;
}

template <class T>
std::vector<double> as_list(const Array<T>& x) {
  return {x.data(), x.data() + x.size()};
}

/// Errors of a T that are relative to the result, or to `scale` where terms of that size cancel.
template <class T>
Tolerance rounding(double scale = 1) {
  return {.rtol = tolerance<T>(), .atol = scale * tolerance<T>()};
}
