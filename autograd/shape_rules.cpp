#include <ktape/autograd/shape_rules.hpp>

#include <algorithm>

namespace ktape {

Shape broadcast_shapes(const char* op, const Shape& x, const Shape& y, const char* x_name,
                       const char* y_name) {
  if (x == y) return x;
  const Shape& longer = x.rank() >= y.rank() ? x : y;
  const Shape& shorter = x.rank() >= y.rank() ? y : x;
  Shape out = longer;
  const int shift = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    const std::int64_t m = longer[i + shift], n = shorter[i];
    if (!compatible(m, n) && m != 1 && n != 1)
      fail("[", op, "] shapes must broadcast: received ", x_name, '=', x, ", ", y_name, '=', y);
    out[i + shift] = m == 1 || (m == None && n != 1) ? n : m;
  }
  return out;
}

bool broadcasts_to(const Shape& from, const Shape& to) {
  const int extra = to.rank() - from.rank();
  if (extra < 0) return false;
  for (int i = 0; i < from.rank(); ++i)
    if (from[i] != 1 && !compatible(from[i], to[extra + i])) return false;
  return true;
}

bool compatible(const Shape& a, const Shape& b) {
  bool fit = a.rank() == b.rank();
  for (int i = 0; fit && i < a.rank(); ++i) fit = compatible(a[i], b[i]);
  return fit;
}

Shape with_unknown(const Shape& shape, std::int64_t extent) {
  Shape out = shape;
  std::replace(out.begin(), out.end(), std::int64_t{None}, extent);
  return out;
}

OutputInfo either(const char* op, const OutputInfo& a, const OutputInfo& b) {
  if (a.dtype != b.dtype)
    fail<TypeError>("[", op, "] both results must have one dtype: received ", a.dtype, " and ", b.dtype);
  if (a.shape.rank() != b.shape.rank())
    fail("[", op, "] both results must have one rank: received ", a.shape, " and ", b.shape);
  OutputInfo out = a;
  for (int d = 0; d < a.shape.rank(); ++d)
    if (a.shape[d] != b.shape[d]) out.shape[d] = None;
  return out;
}

}  // namespace ktape
