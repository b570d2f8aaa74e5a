#pragma once
#include <ktape/ops/shape.hpp>

#include <vector>

/// Parameters and statistics of some axes of a tensor. Sets of axes are bits, bit 0 for axis 0.
namespace ktape::op_helpers {

inline std::vector<int> axes_in(unsigned bits) {
  std::vector<int> axes;
  for (int i = 0; bits >> i; ++i)
    if (bits >> i & 1) axes.push_back(i);
  return axes;
}

/// Returns the order of axes, for permute_dimensions, with the axes in `bits` last and the other axes first.
inline Shape moved_last(unsigned bits, int rank) {
  Shape pattern;
  for (const bool last : {false, true})
    for (int i = 0; i < rank; ++i)
      if ((bits >> i & 1) == last) pattern.push_back(i);
  return pattern;
}

/// Returns the inverse of a permutation pattern.
inline Shape inverse(const Shape& pattern) {
  Shape back = pattern;
  for (int d = 0; d < pattern.rank(); ++d) back[static_cast<int>(pattern[d])] = d;
  return back;
}

/// Returns the shape in which a statistic or parameter, one element for each position of the axes in `bits`,
/// broadcasts to x. Throws ValueError when the parameter has another number of elements.
inline Shape parameter_shape(const char* op, const char* name, const Tensor& parameter, const Tensor& x,
                             unsigned bits) {
  Shape shape = x.shape();
  for (int i = 0; i < x.ndim(); ++i)
    if (!(bits >> i & 1)) shape[i] = 1;
  if (!compatible(parameter.size(), shape.count()))
    fail("[", op, "] ", name, " must have ", shape.count(), " elements for x of shape ", x.shape(),
         ": received ", name, "=", parameter.shape());
  return shape;
}

/// Returns the parameter in the shape of `parameter_shape`.
inline Tensor broadcastable_parameter(const char* op, const char* name, const Tensor& parameter,
                                      const Tensor& x, unsigned bits) {
  return backend::reshape(parameter, parameter_shape(op, name, parameter, x, bits));
}

}  // namespace ktape::op_helpers
