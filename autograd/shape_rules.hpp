#pragma once
#include <ktape/autograd/node.hpp>

/// Rules for the shapes of results, in which extents may be unknown (None).
namespace ktape {

/// Returns the common shape of two operands under NumPy broadcasting. Where one extent is unknown, the result
/// has the other extent, or None if the other extent is 1. Throws ValueError with both shapes, under the
/// names of the operands, when the shapes do not broadcast.
///
///     std::cout << ktape::broadcast_shapes("add", {2, 1}, {3}) << " "
///               << ktape::broadcasts_to({3}, {2, 3});
Shape broadcast_shapes(const char* op, const Shape& x, const Shape& y, const char* x_name = "x",
                       const char* y_name = "y");

/// Returns whether a tensor of shape `from` broadcasts to shape `to` by NumPy's rules; true when unknown
/// extents leave this open.
bool broadcasts_to(const Shape& from, const Shape& to);

/// Returns whether two extents can be equal: the extents are equal, or one extent is unknown.
///
///     std::cout << ktape::compatible({None, 3}, {8, 3}) << " " << ktape::merged(None, 3)
///               << " " << ktape::where_known([](auto n) { return (n - 1) / 2; }, 7)
///               << " " << ktape::with_unknown({None, 3}, 1);
inline bool compatible(std::int64_t m, std::int64_t n) { return m == n || m == None || n == None; }
bool compatible(const Shape& a, const Shape& b);
/// Returns the known extent of two compatible extents; None when both are unknown.
inline std::int64_t merged(std::int64_t m, std::int64_t n) { return m == None ? n : m; }
/// Returns f(n...), or None where one of the extents is unknown.
template <class F, class... N>
std::int64_t where_known(F f, N... n) {
  return (... || (n == None)) ? std::int64_t{None} : static_cast<std::int64_t>(f(n...));
}
/// Returns the shape with `extent` in the place of each unknown extent.
Shape with_unknown(const Shape& shape, std::int64_t extent);

/// Returns the shape and dtype of a tensor.
inline OutputInfo info_of(const Tensor& x) { return {x.shape(), x.dtype()}; }

/// Returns the shape and dtype of a tensor that is one of two alternatives: extents that differ become None.
/// Throws ValueError for different ranks, TypeError for different dtypes.
///
///     ktape::OutputInfo a{{4, 3}, ktape::DType::Float32};
///     ktape::OutputInfo b{{5, 3}, ktape::DType::Float32};
///     std::cout << ktape::either("switch", a, b).shape;
OutputInfo either(const char* op, const OutputInfo& a, const OutputInfo& b);

}  // namespace ktape
