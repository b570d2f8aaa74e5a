#pragma once
#include <ktape/ops/kernels/copy/row_tile.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/reduce/operations.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

#include <vector>

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

/// The total so far. Of many floating numbers it is kept in two parts: the last few apart from the rest,
/// which they join. What rounding takes from that sum stays with the next few.
template <class Op, class A, bool Many = true>
struct RunningTotal {
  static constexpr bool split = Many && std::is_same_v<Op, Sum> && std::is_floating_point_v<A>;
  static constexpr std::int64_t together = 32;  // so many make the last few
  Vec<A> rest, few = splat(Op::template identity<A>());

  Vec<A> with(Vec<A> more) const {
    if constexpr (split) return rest + (few + more);
    else return Op::combine(few, more);
  }
  void add(Vec<A> more) { few = Op::combine(few, more); }
  void join() {
    if constexpr (split) {
      const Vec<A> sum = rest + few, added = sum - rest, lost = (rest - (sum - added)) + (few - added);
      rest = sum, few = lost == lost ? lost : Vec<A>{};  // infinities lose nothing
    }
  }
};

/// A contiguous row. Only one combination a vector waits for the vector before.
template <class Op, bool Reverse, bool Long, class T>
void scan_row(const T* in, T* out, std::int64_t n, bool exclusive, bool past_caches) {
  using A = compute_type<T>;
  constexpr int w = lanes<T>;
  constexpr auto all = std::make_index_sequence<w>();
  const auto identity = splat(Op::template identity<A>());
  const auto step = [=](std::int64_t i, std::int64_t m, RunningTotal<Op, A, Long> carry) {
    const auto v = m == w ? load(in + i) : load_partial(in + i, m, identity);
    const auto scanned = scan_vector<Op, Reverse, 1>(v, identity, all);
    const auto y = carry.with(exclusive ? moved<1, Reverse>(scanned, identity, all) : scanned);
    if (m < w) store_partial(out + i, y, m);
    else if (past_caches) stream(out + i, y);
    else store(out + i, y);
    carry.add(broadcast_lane < Reverse ? 0 : w - 1 > (scanned, all));
    return carry;
  };
  const auto past_boundary = [](const T* p) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % (w * sizeof(T)) / sizeof(T));
  };
  RunningTotal<Op, A, Long> carry{identity};
  constexpr auto together = RunningTotal<Op, A>::together;
  if constexpr (Reverse) {
    std::int64_t i = n - (past_caches ? std::min(n, past_boundary(out + n)) : 0);
    if (i < n) carry = step(i, n - i, carry);
    for (std::int64_t left = i / w; left > 0; left -= together, carry.join())
      for (std::int64_t k = std::min(left, together); k > 0; --k, i -= w) carry = step(i - w, w, carry);
    if (i > 0) step(0, i, carry);
  } else {
    std::int64_t i = past_caches ? std::min(n, (w - past_boundary(out)) % w) : 0;
    if (i > 0) carry = step(0, i, carry);
    for (std::int64_t left = (n - i) / w; left > 0; left -= together, carry.join())
      for (std::int64_t k = std::min(left, together); k > 0; --k, i += w) carry = step(i, w, carry);
    if (i < n) step(i, n - i, carry);
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

/// Short rows of `axis` x `inner` elements, in lanes of their own.
template <class Op, class T>
void scan_short_rows(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                     ScanOptions options, bool past_caches) {
  using A = compute_type<T>;
  const std::int64_t n = axis * inner;
  for_row_tiles<A>(outer, n, 1, [&](std::int64_t r, std::int64_t rows) {
    RowTile<A> tile(n);
    tile.load(in + r * n, rows, r + rows < outer && in != out);
    const std::int64_t width = inner * tile.rows, step = options.reverse ? -width : width;
    for (std::int64_t j = 0; j < width; j += lanes<A>) {
      auto carry = splat(Op::template identity<A>());
      A* at = tile.data() + (options.reverse ? (axis - 1) * width : 0) + j;
      for (std::int64_t k = 0; k < axis; ++k, at += step) {
        const auto before = carry;
        carry = Op::combine(carry, load(at));
        store(at, options.exclusive ? before : carry);
      }
    }
    tile.store(out + r * n, rows, past_caches);
  });
}

/// An array of fewer columns than lanes as a run of vectors: its rows lie side by side in them.
template <class Op, bool Reverse, bool Long, class T>
class NarrowScan {
  using A = compute_type<T>;
  using Total = RunningTotal<Op, A, Long>;
  using Index = Vec<std::make_signed_t<bits_of<A>>>;
  static constexpr int w = lanes<T>;

 public:
  explicit NarrowScan(std::int64_t columns) : columns_(static_cast<int>(columns)) {
    for (int l = 0; l < w; ++l)
      next_[l] = Reverse ? (w * columns_ + l - w) % columns_ : w - columns_ + l % columns_;
    for (int s = columns_; s < w; s *= 2, ++shifts_)
      for (int l = 0; l < w; ++l) shift_[shifts_][l] = Reverse ? l + s : l < s ? w + l : l - s;
  }

  /// Scans `rows` rows to out, unless that is null. `totals` has those of the columns before, then after.
  void run(const T* in, T* out, std::int64_t rows, Total& totals, bool exclusive, bool past_caches) const {
    const std::int64_t n = rows * columns_, whole = n / w * w;
    const bool streams = past_caches && streamable(out, 0);
    const auto identity = splat(Op::template identity<A>());
    const auto column = [this](std::int64_t i) { return (i % columns_ + columns_) % columns_; };
    const std::int64_t first = Reverse ? (n > whole ? whole : n - w) : 0;
    Total carry{};
    for (int l = 0; l < w; ++l)
      carry.rest[l] = totals.rest[column(first + l)], carry.few[l] = totals.few[column(first + l)];
    const auto step = [=, this](std::int64_t i, std::int64_t m, Total carry) {
      auto scanned = m == w ? load(in + i) : load_partial(in + i, m, identity);
      for (int s = 0; s < shifts_; ++s) scanned = Op::combine(pick(scanned, identity, shift_[s]), scanned);
      if (out) {
        const auto shown = carry.with(exclusive ? pick(scanned, identity, shift_[0]) : scanned);
        if (m < w) store_partial(out + i, shown, m);
        else if (streams) stream(out + i, shown);
        else store(out + i, shown);
      }
      carry.add(scanned);
      carry.few = pick(carry.few, carry.few, next_);
      if constexpr (Total::split) carry.rest = pick(carry.rest, carry.rest, next_);
      return carry;
    };
    if (Reverse && whole < n) carry = step(whole, n - whole, carry);
    for (std::int64_t i = 0; i < whole; carry.join())
      for (const std::int64_t end = std::min(whole, i + Total::together * w); i < end; i += w)
        carry = step(Reverse ? whole - w - i : i, w, carry);
    if (!Reverse && whole < n) carry = step(whole, n - whole, carry);
    // The lanes are now those of the vector that would follow.
    const std::int64_t next = Reverse ? -w : (n + w - 1) / w * w;
    for (int l = 0; l < columns_; ++l)
      totals.rest[column(next + l)] = carry.rest[l], totals.few[column(next + l)] = carry.few[l];
  }

 private:
  /// The lanes of a and b behind it that `from` names.
  static Vec<A> pick(Vec<A> a, Vec<A> b, Index from) {
#if defined(__clang__)
    Vec<A> out;
    for (int l = 0; l < w; ++l) out[l] = from[l] < w ? a[from[l]] : b[from[l] - w];
    return out;
#else
    return __builtin_shuffle(a, b, from);
#endif
  }
  int columns_, shifts_ = 0;
  Index shift_[6], next_;
};

/// `width` <= capacity columns and their totals so far.
template <class Op, class T>
struct ScanColumns {
  using A = compute_type<T>;
  static constexpr std::int64_t capacity = 4096 / sizeof(A);
  alignas(64) A rest[capacity], few[capacity];

  void run(const T* in, T* out, std::int64_t rows, std::int64_t stride, std::int64_t width,
           ScanOptions options, bool past_caches) {
    constexpr auto together = RunningTotal<Op, A>::together;
    for (A* totals : {rest, few}) std::fill_n(totals, capacity, Op::template identity<A>());
    const std::int64_t distance = prefetch_distance<T>(stride),
                       ahead = options.reverse ? -distance : distance;
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int64_t row = (options.reverse ? rows - 1 - k : k) * stride;
      wide_row(in + row, out + row, width, ahead, options.exclusive, past_caches);
      if (RunningTotal<Op, A>::split && k % together == together - 1) join(width);
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
                bool past_caches) {
    constexpr int w = lanes<T>;
    for (std::int64_t j = 0; j < width; j += w) {
      const std::int64_t m = std::min<std::int64_t>(w, width - j);
      __builtin_prefetch(in + j + ahead, 0, 2);
      const auto before = load(few + j);
      const auto after = Op::combine(before, m == w ? load(in + j) : load_partial(in + j, m, before));
      const auto y = Op::combine(load(rest + j), exclusive ? before : after);
      store(few + j, after);
      if (m < w) store_partial(out + j, y, m);
      else if (past_caches) stream(out + j, y);
      else store(out + j, y);
    }
  }
};

/// Elements of rows whose running sums would lose digits, were they not kept in two parts.
inline constexpr std::int64_t long_row = 8192;

/// Long columns: pieces that stay in the caches are added up first, then scanned from where they start.
template <class Op, bool Reverse, class T>
void scan_pieces(const T* in, T* out, std::int64_t axis, std::int64_t inner, bool exclusive,
                 bool past_caches) {
  constexpr bool split = RunningTotal<Op, compute_type<T>>::split;
  using Total = RunningTotal<Op, compute_type<T>, split>;
  constexpr std::int64_t together = 4, bytes = 1 << 19;
  const auto nothing = splat(Op::template identity<compute_type<T>>());
  const NarrowScan<Op, Reverse, split, T> narrow(inner);
  const std::int64_t rows = std::max<std::int64_t>(1, bytes / (inner * sizeof(T)) / 64) * 64;
  const std::int64_t pieces = (axis + rows - 1) / rows;
  Total totals[together + 1] = {{nothing, nothing}};
  for (std::int64_t first = 0; first < pieces; first += together) {
    const std::int64_t count = std::min(together, pieces - first);
    const auto run = [&](T* to, std::int64_t p, Total& at) {
      const std::int64_t row = (Reverse ? pieces - 1 - first - p : first + p) * rows;
      narrow.run(in + row * inner, to ? to + row * inner : nullptr, std::min(rows, axis - row), at, exclusive,
                 past_caches);
    };
    parallel_rows(count, rows * inner, [&](std::int64_t p, std::int64_t end) {
      for (; p < end; ++p) {
        totals[p + 1] = {nothing, nothing};
        run(nullptr, p, totals[p + 1]);
      }
    });
    for (std::int64_t p = 0; p < count; ++p) {
      Total sum = totals[p];
      sum.add(totals[p + 1].few);
      sum.join();
      if constexpr (split) sum.add(totals[p + 1].rest);
      sum.join();
      totals[p + 1] = sum;
    }
    parallel_rows(count, rows * inner, [&](std::int64_t p, std::int64_t end) {
      for (; p < end; ++p) {
        Total start = totals[p];
        run(out, p, start);
      }
      stream_fence();
    });
    totals[0] = totals[count];
  }
}

template <class Op, bool Reverse, bool Long, class T>
void scan_narrow_rows(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                      bool exclusive, bool past_caches) {
  const auto nothing = splat(Op::template identity<compute_type<T>>());
  const NarrowScan<Op, Reverse, Long, T> narrow(inner);
  parallel_rows(outer, axis * inner, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t o = begin; o < end; ++o) {
      RunningTotal<Op, compute_type<T>, Long> totals{nothing, nothing};
      narrow.run(in + o * axis * inner, out + o * axis * inner, axis, totals, exclusive, past_caches);
    }
    stream_fence();
  });
}

/// Fewer columns than lanes.
template <class Op, bool Reverse, class T>
void scan_narrow(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                 bool exclusive, bool past_caches) {
  const std::int64_t n = axis * inner;
  if (outer < 8 && n >= 1 << 18) {
    for (std::int64_t o = 0; o < outer; ++o)
      scan_pieces<Op, Reverse>(in + o * n, out + o * n, axis, inner, exclusive, past_caches);
    return;
  }
  if constexpr (RunningTotal<Op, compute_type<T>>::split)
    if (n >= long_row)
      return scan_narrow_rows<Op, Reverse, true>(in, out, outer, axis, inner, exclusive, past_caches);
  scan_narrow_rows<Op, Reverse, false>(in, out, outer, axis, inner, exclusive, past_caches);
}

template <class Op, bool Reverse, class T>
auto row_scan(std::int64_t axis) {
  if constexpr (RunningTotal<Op, compute_type<T>>::split)
    if (axis >= long_row) return scan_row<Op, Reverse, true, T>;
  return scan_row<Op, Reverse, false, T>;
}

/// Rows: the last axis is scanned.
template <class Op, class T>
void scan_rows(const T* in, T* out, std::int64_t outer, std::int64_t axis, ScanOptions options, bool large) {
  parallel_rows(outer, axis, [&](std::int64_t begin, std::int64_t end) {
    const auto row = options.reverse ? row_scan<Op, true, T>(axis) : row_scan<Op, false, T>(axis);
    const auto short_row = options.reverse ? scan_short_row<Op, true, T> : scan_short_row<Op, false, T>;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t o = options.reverse ? end - 1 - (i - begin) : i;  // memory in one direction
      if (axis < lanes<T>) short_row(in + o * axis, out + o * axis, axis, options.exclusive);
      else row(in + o * axis, out + o * axis, axis, options.exclusive, large);
    }
    stream_fence();
  });
}

template <class Op, class T>
void scan_columns(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
                  ScanOptions options, bool large) {
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

template <class Op, class T>
void scan(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner,
          ScanOptions options) {
  using A = compute_type<T>;
  const std::int64_t n = axis * inner;
  if (outer * n == 0) return;
  const bool large = outer * n * std::int64_t(sizeof(T)) >= streaming_bytes;
  if constexpr (sizeof(A) >= 4)
    if (n <= RowTile<A>::most && outer > 1)
      return scan_short_rows<Op>(in, out, outer, axis, inner, options, large && std::is_same_v<T, A>);
  if (inner > 1 && inner < lanes<T>)
    return (options.reverse ? scan_narrow<Op, true, T> : scan_narrow<Op, false, T>)(in, out, outer, axis,
                                                                                    inner, options.exclusive,
                                                                                    large);
  if (inner == 1) return scan_rows<Op>(in, out, outer, axis, options, large);
  scan_columns<Op>(in, out, outer, axis, inner, options, large);
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
