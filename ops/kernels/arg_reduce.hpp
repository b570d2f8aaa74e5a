#pragma once
#include <ktape/ops/kernels/reduce.hpp>

/// Positions of the largest and smallest elements over the middle dimension of contiguous [outer, axis,
/// inner] arrays.
namespace ktape::kernels {
namespace detail {

/// Whether a is to be preferred to b, which comes before it: a first NaN wins.
template <class Op, class A>
bool better(A a, A b) {
  if constexpr (std::is_same_v<Op, Max>) return bool(int(a > b) | (int(a != a) & int(b == b)));
  else return bool(int(a < b) | (int(a != a) & int(b == b)));
}

template <class A>
struct Found {
  A value;
  std::int64_t index;
};

/// Finds the best block of a row, by vectors, then the place in it.
template <class Op, class T, class A = compute_type<T>>
Found<A> find_in_row(const T* p, std::int64_t n) {
  constexpr std::int64_t block = 256;
  Found<A> best{reduce_block<Op>(p, std::min(n, block)), 0};
  for (std::int64_t i = block; i < n; i += block) {
    const A value = reduce_block<Op>(p + i, std::min(n - i, block));
    if (better<Op>(value, best.value)) best = {value, i};
  }
  const auto same = [&](A x) { return x == best.value || (x != x && best.value != best.value); };
  while (!same(element(p + best.index))) ++best.index;
  return best;
}

/// `width` <= capacity columns, row by row; positions are 32-bit numbers within a stretch of rows.
template <class Op, class T>
struct FindInColumns {
  using A = compute_type<T>;
  static constexpr std::int64_t capacity = 1024, stretch = std::int64_t{1} << 30;
  A best[capacity];
  std::int32_t index[capacity];

  void run(const T* in, std::int64_t* out, std::int64_t rows, std::int64_t stride, std::int64_t width) {
    for (std::int64_t j = 0; j < width; ++j) best[j] = element(in + j), out[j] = 0;
    for (std::int64_t first = 0; first < rows; first += stretch) {
      std::fill_n(index, width, -1);
      const std::int64_t n = std::min(stretch, rows - first);
      for (std::int64_t k = 0; k < n; ++k)
        row(in + (first + k) * stride, static_cast<std::int32_t>(k), width);
      for (std::int64_t j = 0; j < width; ++j)
        if (index[j] >= 0) out[j] = first + index[j];
    }
  }
  void row(const T* in, std::int32_t k, std::int64_t width) {
#pragma omp simd
    for (std::int64_t j = 0; j < width; ++j) {
      const A value = element(in + j), old = best[j];
      const bool found = better<Op>(value, old);
      best[j] = found ? value : old;
      index[j] = found ? k : index[j];
    }
  }
};

template <class Op, class T>
void find_in_rows(const T* in, std::int64_t* out, std::int64_t outer, std::int64_t axis) {
  using A = compute_type<T>;
  constexpr std::int64_t segment = 65536;
  const std::int64_t segments = (axis + segment - 1) / segment;
  if (segments == 1 || outer >= 16)
    return parallel_rows(outer, axis, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o) out[o] = find_in_row<Op>(in + o * axis, axis).index;
    });
  std::vector<Found<A>> found(outer * segments);
  parallel_rows(outer * segments, segment, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t start = task % segments * segment;
      found[task] = find_in_row<Op>(in + task / segments * axis + start, std::min(segment, axis - start));
      found[task].index += start;
    }
  });
  for (std::int64_t o = 0; o < outer; ++o) {
    Found<A> best = found[o * segments];
    for (std::int64_t s = 1; s < segments; ++s)
      if (better<Op>(found[o * segments + s].value, best.value)) best = found[o * segments + s];
    out[o] = best.index;
  }
}

template <class Op, class T>
void find(const T* in, std::int64_t* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  if (outer * inner == 0) return;
  if (inner == 1) return find_in_rows<Op>(in, out, outer, axis);
  constexpr std::int64_t capacity = FindInColumns<Op, T>::capacity;
  const std::int64_t blocks = (inner + capacity - 1) / capacity;
  parallel_rows(outer * blocks, axis * std::min(inner, capacity), [&](std::int64_t begin, std::int64_t end) {
    FindInColumns<Op, T> columns;
    for (; begin < end; ++begin) {
      const std::int64_t o = begin / blocks, j = begin % blocks * capacity;
      columns.run(in + o * axis * inner + j, out + o * inner + j, axis, inner, std::min(capacity, inner - j));
    }
  });
}

}  // namespace detail

/// out[o, j] = the position of the first largest, or first smallest, of in[o, :, j]; of the first NaN where
/// there is one, as in NumPy. The axis must not be empty.
template <class T>
void argmax(const T* in, std::int64_t* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  detail::find<detail::Max>(in, out, outer, axis, inner);
}
template <class T>
void argmin(const T* in, std::int64_t* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  detail::find<detail::Min>(in, out, outer, axis, inner);
}

}  // namespace ktape::kernels
