#pragma once
#include <ktape/ops/kernels/axis_shape.hpp>
#include <ktape/ops/kernels/copy/row_tile.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/reduce/operations.hpp>
#include <ktape/ops/kernels/reduce/scaled_product.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

#include <functional>
#include <vector>

/// Running sums and products over the middle dimension of contiguous [outer, axis, inner] arrays.
namespace ktape::kernels {

/// `reverse` starts at the last element; `exclusive` leaves element i out of result i.
struct ScanOptions {
  bool reverse = false;
  bool exclusive = false;
};

namespace detail {

/// Returns v shifted by S lanes towards higher lanes, with Reverse towards lower lanes; the free lanes come
/// from `fill`.
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

/// Returns the running totals within a vector.
template <class Op, bool Reverse, int S, class V, class Lanes>
V scan_vector(V v, V identity, Lanes all) {
  if constexpr (S < int(Lanes::size())) {
    v = Op::combine(moved<S, Reverse>(v, identity, all), v);
    return scan_vector<Op, Reverse, 2 * S>(v, identity, all);
  } else {
    return v;
  }
}

/// The running total. For many floating numbers, the total has two parts: the sum of the last few numbers and
/// the sum of all others. `join` adds `few` to `rest` and leaves the rounding error in `few`.
template <class Op, class A, bool Many = true>
struct RunningTotal {
  static constexpr bool split = Many && std::is_same_v<Op, Sum> && std::is_floating_point_v<A>;
  static constexpr std::int64_t block = 32;  // the largest number of vectors whose sum is `few`
  Vec<A> rest, few = splat(Op::template identity<A>());

  Vec<A> with(Vec<A> more) const {
    if constexpr (split) return rest + (few + more);
    else return Op::combine(few, more);
  }
  void add(Vec<A> more) { few = Op::combine(few, more); }
  void join() {
    if constexpr (split) {
      const Vec<A> sum = rest + few, added = sum - rest, lost = (rest - (sum - added)) + (few - added);
      rest = sum, few = lost == lost ? lost : Vec<A>{};  // NaN: the sum is infinite
    }
  }
};

/// Whether results that are NaN are computed once more: parts of a product can overflow beside a factor 0.
template <class Op, class A>
inline constexpr bool mends_nan = std::is_same_v<Op, Prod>&& std::is_floating_point_v<A>;

/// Computes the running products of n elements, a stride apart, such that no part overflows.
template <class T>
void mend_running_products(const T* in, T* out, std::int64_t n, std::int64_t stride, ScanOptions options) {
  if (in == out) return;
  ScaledProduct<T> product;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t at = (options.reverse ? n - 1 - k : k) * stride;
    if (options.exclusive) out[at] = product.value();
    product.multiply(in[at]);
    if (!options.exclusive) out[at] = product.value();
  }
}

/// Scans a contiguous row. For each vector, only one operation depends on the previous vector. Returns whether a result is a NaN
/// to be mended.
template <class Op, bool Reverse, bool Long, class T>
bool scan_row(const T* in, T* out, std::int64_t n, bool exclusive, bool non_temporal) {
  using A = compute_type<T>;
  constexpr int w = lanes<T>, last = Reverse ? 0 : w - 1;
  constexpr auto all = std::make_index_sequence<w>();
  const auto identity = splat(Op::template identity<A>());
  auto none = Vec<A>{} != Vec<A>{};
  const auto step = [=, &none](std::int64_t i, std::int64_t m, RunningTotal<Op, A, Long> carry) {
    const auto v = load_partial(in + i, m, identity);
    const auto scanned = scan_vector<Op, Reverse, 1>(v, identity, all);
    const auto y = carry.with(exclusive ? moved<1, Reverse>(scanned, identity, all) : scanned);
    if constexpr (mends_nan<Op, A>) none |= y != y;
    if (m < w) store_partial(out + i, y, m);
    else if (non_temporal) stream(out + i, y);
    else store(out + i, y);
    carry.add(broadcast_lane<last>(scanned, all));
    return carry;
  };
  const auto past_alignment = [](const T* p) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % (w * sizeof(T)) / sizeof(T));
  };
  RunningTotal<Op, A, Long> carry{identity};
  constexpr auto block = RunningTotal<Op, A>::block;
  if constexpr (Reverse) {
    std::int64_t i = n - (non_temporal ? std::min(n, past_alignment(out + n)) : 0);
    if (i < n) carry = step(i, n - i, carry);
    for (std::int64_t left = i / w; left > 0; left -= block, carry.join())
      for (std::int64_t k = std::min(left, block); k > 0; --k, i -= w) carry = step(i - w, w, carry);
    if (i > 0) step(0, i, carry);
  } else {
    std::int64_t i = non_temporal ? std::min(n, (w - past_alignment(out)) % w) : 0;
    if (i > 0) carry = step(0, i, carry);
    for (std::int64_t left = (n - i) / w; left > 0; left -= block, carry.join())
      for (std::int64_t k = std::min(left, block); k > 0; --k, i += w) carry = step(i, w, carry);
    if (i < n) step(i, n - i, carry);
  }
  return mends_nan<Op, A> && fold_lanes<bits_of<A>>(none, std::bit_or<>()) != 0;
}

/// Scans a row that is shorter than a vector.
template <class Op, bool Reverse, class T>
bool scan_short_row(const T* in, T* out, std::int64_t n, bool exclusive) {
  auto carry = Op::template identity<compute_type<T>>();
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = Reverse ? n - 1 - k : k;
    const auto before = carry;
    carry = Op::combine(carry, element(in + i));
    out[i] = static_cast<T>(exclusive ? before : carry);
  }
  return mends_nan<Op, compute_type<T>> && carry != carry;
}

/// Scans short rows of `axis` x `inner` elements, each in a lane.
template <class Op, class T>
void scan_short_rows(const T* in, T* out, AxisShape shape, ScanOptions options, bool non_temporal) {
  using A = compute_type<T>;
  const std::int64_t n = shape.axis * shape.inner;
  for_row_tiles<A>(shape.outer, n, 1, [&](std::int64_t r, std::int64_t rows) {
    RowTile<A> tile(n, rows);
    tile.load(in + r * n, rows, r + rows < shape.outer && in != out);
    const std::int64_t width = shape.inner * tile.rows, step = options.reverse ? -width : width;
    auto none = Vec<A>{} != Vec<A>{};
    for (std::int64_t j = 0; j < width; j += lanes<A>) {
      auto carry = splat(Op::template identity<A>());
      A* at = tile.data() + (options.reverse ? (shape.axis - 1) * width : 0) + j;
      for (std::int64_t k = 0; k < shape.axis; ++k, at += step) {
        const auto before = carry;
        carry = Op::combine(carry, load(at));
        store(at, options.exclusive ? before : carry);
      }
      none |= carry != carry;
    }
    tile.store(out + r * n, rows, non_temporal);
    if constexpr (mends_nan<Op, A>)
      if (fold_lanes<bits_of<A>>(none, std::bit_or<>()) != 0)
        for (std::int64_t i = r * shape.inner; i < (r + rows) * shape.inner; ++i) {
          const std::int64_t start = i / shape.inner * n + i % shape.inner;
          mend_running_products(in + start, out + start, shape.axis, shape.inner, options);
        }
  });
}

/// `width` <= capacity columns and their totals so far.
template <class Op, class T>
struct ScanColumns {
  using A = compute_type<T>;
  static constexpr std::int64_t capacity = 4096 / sizeof(A);
  alignas(64) A rest[capacity], few[capacity];

  void run(const T* in, T* out, std::int64_t rows, std::int64_t stride, std::int64_t width,
           ScanOptions options, bool non_temporal) {
    constexpr auto block = RunningTotal<Op, A>::block;
    for (A* totals : {rest, few}) std::fill_n(totals, capacity, Op::template identity<A>());
    const std::int64_t distance = prefetch_distance<T>(stride),
                       ahead = options.reverse ? -distance : distance;
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int64_t row = (options.reverse ? rows - 1 - k : k) * stride;
      wide_row(in + row, out + row, width, ahead, options.exclusive, non_temporal);
      if (RunningTotal<Op, A>::split && k % block == block - 1) join(width);
    }
  }
  void join(std::int64_t width) {
    for (std::int64_t j = 0; j < width; j += lanes<T>) {
      RunningTotal<Op, A> total{load(rest + j), load(few + j)};
      total.join();
      store(rest + j, total.rest), store(few + j, total.few);
    }
  }
  void wide_row(const T* in, T* out, std::int64_t width, std::int64_t ahead, bool exclusive,
                bool non_temporal) {
    constexpr int w = lanes<T>;
    for (std::int64_t j = 0; j < width; j += w) {
      const std::int64_t m = std::min<std::int64_t>(w, width - j);
      __builtin_prefetch(in + j + ahead, 0, 2);
      const auto before = load(few + j);
      const auto after = Op::combine(before, load_partial(in + j, m, before));
      const auto y = Op::combine(load(rest + j), exclusive ? before : after);
      store(few + j, after);
      if (m < w) store_partial(out + j, y, m);
      else if (non_temporal) stream(out + j, y);
      else store(out + j, y);
    }
  }
};

/// The length from which running sums of a row are kept in two parts, because they would lose digits
/// otherwise.
inline constexpr std::int64_t long_row = 8192;

template <class Op, bool Reverse, class T>
auto row_scan(std::int64_t axis) {
  if constexpr (RunningTotal<Op, compute_type<T>>::split)
    if (axis >= long_row) return scan_row<Op, Reverse, true, T>;
  return scan_row<Op, Reverse, false, T>;
}

/// Scans along the last axis.
template <class Op, class T>
void scan_rows(const T* in, T* out, std::int64_t outer, std::int64_t axis, ScanOptions options, bool large) {
  parallel_rows(outer, axis, [&](std::int64_t begin, std::int64_t end) {
    const auto row = options.reverse ? row_scan<Op, true, T>(axis) : row_scan<Op, false, T>(axis);
    const auto short_row = options.reverse ? scan_short_row<Op, true, T> : scan_short_row<Op, false, T>;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t o = options.reverse ? end - 1 - (i - begin) : i;  // in the order of the memory
      const T* const from = in + o * axis;
      T* const to = out + o * axis;
      const bool none = axis < lanes<T> ? short_row(from, to, axis, options.exclusive)
                                        : row(from, to, axis, options.exclusive, large);
      if constexpr (mends_nan<Op, compute_type<T>>)
        if (none) mend_running_products(from, to, axis, 1, options);
    }
    stream_fence();
  });
}

template <class Op, class T>
void scan_columns(const T* in, T* out, AxisShape shape, ScanOptions options, bool large) {
  constexpr std::int64_t capacity = ScanColumns<Op, T>::capacity;
  const std::int64_t blocks = (shape.inner + capacity - 1) / capacity;
  const bool non_temporal = large && streamable(out, shape.inner * sizeof(T));
  parallel_rows(shape.outer * blocks, shape.axis * std::min(shape.inner, capacity),
                [&](std::int64_t begin, std::int64_t end) {
                  ScanColumns<Op, T> columns;
                  for (; begin < end; ++begin) {
                    const std::int64_t j = begin % blocks * capacity,
                                       start = begin / blocks * shape.axis * shape.inner + j;
                    const std::int64_t width = std::min(capacity, shape.inner - j);
                    columns.run(in + start, out + start, shape.axis, shape.inner, width, options,
                                non_temporal);
                    if constexpr (mends_nan<Op, compute_type<T>>)
                      for (std::int64_t i = start; i < start + width; ++i)
                        if (const T total = columns.few[i - start]; total != total)
                          mend_running_products(in + i, out + i, shape.axis, shape.inner, options);
                  }
                  stream_fence();
                });
}

template <class Op, class T>
void scan(const T* in, T* out, AxisShape shape, ScanOptions options) {
  using A = compute_type<T>;
  const std::int64_t n = shape.axis * shape.inner;
  if (shape.outer * n == 0) return;
  const bool large = shape.outer * n * std::int64_t(sizeof(T)) >= streaming_bytes;
  if constexpr (sizeof(A) >= 4)
    if (n <= RowTile<A>::most && shape.outer > 1)
      return scan_short_rows<Op>(in, out, shape, options, large && std::is_same_v<T, A>);
  if (shape.inner == 1) return scan_rows<Op>(in, out, shape.outer, shape.axis, options, large);
  scan_columns<Op>(in, out, shape, options, large);
}

/// Integers are scanned as unsigned numbers, so that they wrap around.
template <class Op, class BoolOp, class T>
void scan_arithmetic(const T* in, T* out, AxisShape shape, ScanOptions options) {
  if constexpr (std::is_integral_v<T>) {
    using U = bits_of<T>;
    using Chosen = std::conditional_t<std::is_same_v<T, bool>, BoolOp, Op>;
    scan<Chosen>(reinterpret_cast<const U*>(in), reinterpret_cast<U*>(out), shape, options);
  } else {
    scan<Op>(in, out, shape, options);
  }
}

}  // namespace detail

/// out[o, k, j] = the sum, or product, of in[o, 0..k, j]. Integers wrap around; for bool, the results are any and all.
template <class T>
void cumsum(const T* in, T* out, AxisShape shape, ScanOptions options = {}) {
  detail::scan_arithmetic<detail::Sum, detail::Max>(in, out, shape, options);
}
template <class T>
void cumprod(const T* in, T* out, AxisShape shape, ScanOptions options = {}) {
  detail::scan_arithmetic<detail::Prod, detail::Prod>(in, out, shape, options);
}

}  // namespace ktape::kernels
