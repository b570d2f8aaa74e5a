#pragma once
#include <ktape/autograd/node.hpp>

/// Rules for the shapes of results, in which extents may be unknown (None).
namespace ktape {

/// The common shape of two operands under NumPy broadcasting. Throws ValueError with both shapes, under the
/// operands' names, when there is none. Where one extent is unknown, the other decides unless it is 1.
Shape broadcast_shapes(const char* op, const Shape& x, const Shape& y, const char* x_name = "x",
                       const char* y_name = "y");

/// Whether NumPy's broadcasting makes a tensor of the shape `from` one of the shape `to`, as far as is known.
bool broadcasts_to(const Shape& from, const Shape& to);

/// Whether the extents can turn out to be one: they are equal, or one of them is unknown.
inline bool compatible(std::int64_t m, std::int64_t n) { return m == n || m == None || n == None; }
bool compatible(const Shape& a, const Shape& b);
/// The better known one of two compatible extents.
inline std::int64_t merged(std::int64_t m, std::int64_t n) { return m == None ? n : m; }
/// f(n...), and None where one of the extents is unknown.
template <class F, class... N>
std::int64_t where_known(F f, N... n) {
  return (... || (n == None)) ? std::int64_t{None} : static_cast<std::int64_t>(f(n...));
}
/// The shape with another extent in the place of each unknown one.
Shape with_unknown(const Shape& shape, std::int64_t extent);

/// The shape and dtype of a tensor.
inline OutputInfo info_of(const Tensor& x) { return {x.shape(), x.dtype()}; }

/// Returns the shape and dtype of a tensor that is one of two alternatives: extents that differ are unknown.
/// Throws ValueError for different ranks, TypeError for different dtypes.
OutputInfo either(const char* op, const OutputInfo& a, const OutputInfo& b);

}  // namespace ktape
