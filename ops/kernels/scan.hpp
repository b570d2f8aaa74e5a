#pragma once
#include <ktape/ops/kernels/parallel_rows.hpp>
#include <ktape/ops/kernels/reducers.hpp>
#include <ktape/ops/kernels/simd.hpp>

/// Running sums and products over the middle dimension of contiguous [outer, axis, inner] arrays.
namespace ktape::kernels {

/// `reverse` starts at the last element; `exclusive` leaves each element out of its own result.
struct ScanOptions {
  bool reverse = false;
  bool exclusive = false;
};

namespace detail {

/// v moved by S lanes, towards higher ones or, reversed, lower ones; `fill` moves in.
template <int S, bool Reverse, class V, std::size_t... L>
V moved(V v, V fill, std::index_sequence<L...>) {
  constexpr int n = sizeof...(L);
  if constexpr (Reverse) return __builtin_shufflevector(v, fill, (int(L) + S)...);
  else return __builtin_shufflevector(v, fill, (int(L) < S ? n + int(L) : int(L) - S)...);
}
template <int Lane, class V, std::size_t... L>
V broadcast_lane(V v, std::index_sequence<L...>) {
  return __builtin_shufflevector(v, v, (int(L) * 0 + Lane)...);
}

/// The running totals within one vector.
template <class Op, bool Reverse, int S, class V, class Lanes>
V scan_vector(V v, V identity, Lanes all) {
  if constexpr (S < int(Lanes::size())) {
    v = Op::combine(moved<S, Reverse>(v, identity, all), v);
    return scan_vector<Op, Reverse, 2 * S>(v, identity, all);
  } else {
    return v;
  }
}

/// A contiguous row. Only one combination a vector waits for the vector before.
template <class Op, bool Reverse, class T>
void scan_row(const T* in, T* out, std::int64_t n, bool exclusive, bool past_caches) {
  using A = compute_type<T>;
  constexpr int w = lanes<T>;
  constexpr auto all = std::make_index_sequence<w>();
  const auto identity = splat(Op::template identity<A>());
  auto carry = identity;
  const auto step = [&](std::int64_t i, std::int64_t m) {
    const auto v = m == w ? load(in + i) : load_partial(in + i, m, identity);
    const auto scanned = scan_vector<Op, Reverse, 1>(v, identity, all);
    const auto y = Op::combine(carry, exclusive ? moved<1, Reverse>(scanned, identity, all) : scanned);
    carry = Op::combine(carry, broadcast_lane<Reverse ? 0 : w - 1>(scanned, all));
    if (m < w) store_partial(out + i, y, m);
    else if (past_caches) stream(out + i, y);
    else store(out + i, y);
  };
  const auto past_boundary = [](const T* p) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % vector_bytes / sizeof(T));
  };
  if constexpr (Reverse) {
    std::int64_t i = n - (past_caches ? std::min(n, past_boundary(out + n)) : 0);
    if (i < n) step(i, n - i);
    for (; i >= w; i -= w) step(i - w, w);
    if (i > 0) step(0, i);
  } else {
    std::int64_t i = past_caches ? std::min(n, (w - past_boundary(out)) % w) : 0;
    if (i > 0) step(0, i);
    for (; i + w <= n; i += w) step(i, w);
    if (i < n) step(i, n - i);
  }
}

/// A row shorter than a vector.
template <class Op, bool Reverse, class T>
void scan_short_row(const T* in, T* out, std::int64_t n, bool exclusive) {
  auto carry = Op::template identity<compute_type<T>>();
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = Reverse ? n - 1 - k : k;
    const auto before = carry;
    carry = Op::combine(carry, element(in + i));
    out[i] = narrow<T>(exclusive ? before : carry);
  }
}

/// `width` <= capacity columns; `acc` holds their totals so far.
template <class Op, class T>
struct ScanColumns {
  using A = compute_type<T>;
  static constexpr std::int64_t capacity = 4096 / sizeof(A);
  alignas(64) A acc[capacity];

  void run(const T* in, T* out, std::int64_t rows, std::int64_t stride, std::int64_t width,
           ScanOptions options, bool past_caches) {
    std::fill(std::begin(acc), std::end(acc), Op::template identity<A>());
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int64_t row = (options.reverse ? rows - 1 - k : k) * stride;
      if (width < lanes<T>) narrow_row(in + row, out + row, width, options.exclusive);
      else wide_row(in + row, out + row, width, options.exclusive, past_caches);
    }
  }
  void narrow_row(const T* in, T* out, std::int64_t width, bool exclusive) {
    for (std::int64_t j = 0; j < width; ++j) {
      const A before = acc[j];
      acc[j] = Op::combine(before, element(in + j));
      out[j] = narrow<T>(exclusive ? before : acc[j]);
    }
  }
  void wide_row(const T* in, T* out, std::int64_t width, bool exclusive, bool past_caches) {
    constexpr int w = lanes<T>;
    for (std::int64_t j = 0; j < width; j += w) {
      const std::int64_t m = std::min<std::int64_t>(w, width - j);
      const auto before = load(acc + j);
      const auto after = Op::combine(before, m == w ? load(in + j) : load_partial(in + j, m, before));
      const auto y = exclusive ? before : after;
      store(acc + j, after);
      if (m < w) store_partial(out + j, y, m);
      else if (past_caches) stream(out + j, y);
      else store(out + j, y);
    }
  }
};

template <class Op, class T>
void scan(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
          ScanOptions options) {
  const bool large = std::is_same_v<T, compute_type<T>> &&
                     outer * axis * inner * std::int64_t(sizeof(T)) >= streaming_bytes;
  if (inner == 1 && axis < lanes<T>)
    return parallel_rows(outer, axis, [&](std::int64_t begin, std::int64_t end) {
      const auto row = options.reverse ? scan_short_row<Op, true, T> : scan_short_row<Op, false, T>;
      for (std::int64_t o = begin; o < end; ++o) row(in + o * axis, out + o * axis, axis, options.exclusive);
    });
  if (inner == 1)
    return parallel_rows(outer, axis, [&](std::int64_t begin, std::int64_t end) {
      const auto row = options.reverse ? scan_row<Op, true, T> : scan_row<Op, false, T>;
      for (std::int64_t o = begin; o < end; ++o)
        row(in + o * axis, out + o * axis, axis, options.exclusive, large);
      stream_fence();
    });
  constexpr std::int64_t capacity = ScanColumns<Op, T>::capacity;
  const std::int64_t blocks = (inner + capacity - 1) / capacity;
  const bool past_caches = large && streamable(out, inner * sizeof(T));
  parallel_rows(outer * blocks, axis * std::min(inner, capacity), [&](std::int64_t begin, std::int64_t end) {
    ScanColumns<Op, T> columns;
    for (; begin < end; ++begin) {
      const std::int64_t j = begin % blocks * capacity, start = begin / blocks * axis * inner + j;
      columns.run(in + start, out + start, axis, inner, std::min(capacity, inner - j), options, past_caches);
    }
    stream_fence();
  });
}

/// Integers are scanned as unsigned numbers, so that they wrap around.
template <class Op, class BoolOp, class T>
void scan_arithmetic(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                     ScanOptions options) {
  if constexpr (std::is_integral_v<T>) {
    using U = bits_of<T>;
    using Chosen = std::conditional_t<std::is_same_v<T, bool>, BoolOp, Op>;
    scan<Chosen>(reinterpret_cast<const U*>(in), reinterpret_cast<U*>(out), outer, axis, inner, options);
  } else {
    scan<Op>(in, out, outer, axis, inner, options);
  }
}

}  // namespace detail

/// out[o, k, j] = the sum, or product, of in[o, 0..k, j]. Integers wrap around; float16 is summed in float
/// and each result rounded; of bool they are any and all.
template <class T>
void cumsum(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
            ScanOptions options = {}) {
  detail::scan_arithmetic<detail::Sum, detail::Max>(in, out, outer, axis, inner, options);
}
template <class T>
void cumprod(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
             ScanOptions options = {}) {
  detail::scan_arithmetic<detail::Prod, detail::Prod>(in, out, outer, axis, inner, options);
}

}  // namespace ktape::kernels
