#pragma once
#include <ktape/autograd/indexing.hpp>
#include <ktape/ops/internal/slicing.hpp>

/// The elements that an index `x[{...}]` selects. Internal: sources only.
namespace ktape::op_helpers {

/// A window (not along unknown extents), and the shape of the result, which lacks the axes with a single position.
struct Selection {
  Window window;
  Shape shape;
};

/// Returns the selection from a tensor of the shape. Throws the errors of `K::index`, naming the op.
Selection select(const char* op, const Shape& shape, std::vector<Index> entries);

/// Returns the row-major places of the elements that are true, as int64.
Tensor places_of_true(const Tensor& mask);

}  // namespace ktape::op_helpers
