#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

#include <vector>

/// The gradient of max and min: the places of the extreme elements of [outer, axis, inner] arrays along the
/// middle dimension.
namespace ktape::kernels {
namespace detail {

/// Calls f(o, j, width) for blocks of columns, so that few outer rows keep all threads busy, too.
template <class F>
void for_blocks_of_columns(AxisShape shape, const F& f) {
  constexpr std::int64_t most = 512;
  const std::int64_t blocks = (shape.inner + most - 1) / most;
  parallel_rows(shape.outer * blocks, shape.axis * std::min(shape.inner, most),
                [&](std::int64_t begin, std::int64_t end) {
                  for (; begin < end; ++begin) {
                    const std::int64_t j = begin % blocks * most;
                    f(begin / blocks, j, std::min(most, shape.inner - j));
                  }
                });
}

}  // namespace detail

/// dx = (1 where x equals y, else 0) / (number of k with x[o, k, j] == y[o, j]) * g, in this order: NaN,
/// which equals nothing, divides 0 by 0, and the gradient of a group whose result is NaN is NaN. It is 0 where g is 0.
template <class T>
void share_by_ties(const T* x, const T* y, const T* g, T* dx, AxisShape shape) {
  using A = compute_type<T>;
  const auto share = [](A part, A total, A slope) { return slope == 0 ? A(0) : part / total * slope; };
  if (shape.inner == 1)
    return parallel_rows(shape.outer, shape.axis * 2, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) {
        const T* row = x + o * shape.axis;
        const A wanted = element(y + o);
        bits_of<A> count = 0;
        for (std::int64_t k = 0; k < shape.axis; ++k) count += element(row + k) == wanted;
        const A total = static_cast<A>(count), slope = element(g + o);
        const T own = static_cast<T>(share(1, total, slope)), none = static_cast<T>(share(0, total, slope));
        for (std::int64_t k = 0; k < shape.axis; ++k)
          dx[o * shape.axis + k] = element(row + k) == wanted ? own : none;
      }
    });
  detail::for_blocks_of_columns(shape, [=](std::int64_t o, std::int64_t j, std::int64_t width) {
    A counts[512] = {}, shares[512], rests[512];
    const T *from = x + o * shape.axis * shape.inner + j, *wanted = y + o * shape.inner + j;
    for (std::int64_t k = 0; k < shape.axis; ++k)
      for (std::int64_t i = 0; i < width; ++i)
        counts[i] += element(from + k * shape.inner + i) == element(wanted + i) ? A(1) : A(0);
    for (std::int64_t i = 0; i < width; ++i) {
      const A slope = element(g + o * shape.inner + j + i);
      shares[i] = share(1, counts[i], slope), rests[i] = share(0, counts[i], slope);
    }
    T* to = dx + o * shape.axis * shape.inner + j;
    for (std::int64_t k = 0; k < shape.axis; ++k)
      for (std::int64_t i = 0; i < width; ++i)
        to[k * shape.inner + i] =
            static_cast<T>(element(from + k * shape.inner + i) == element(wanted + i) ? shares[i] : rests[i]);
  });
}

}  // namespace ktape::kernels
