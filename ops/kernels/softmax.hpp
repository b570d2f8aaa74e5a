#pragma once
#include <ktape/ops/kernels/exp.hpp>
#include <ktape/ops/kernels/parallel_rows.hpp>
#include <ktape/ops/kernels/runs.hpp>

#include <cmath>
#include <limits>
#include <memory>

/// Softmax and its relatives over the middle dimension of contiguous [outer, axis, inner] arrays of float16,
/// float or double, computed in float or double from differences to the largest element, with sums exact to
/// about 1e-7.
namespace ktape::kernels {
namespace detail {

template <class A>
Vec<A> larger(Vec<A> a, Vec<A> b) {
  return a > b ? a : b;
}
template <class A>
A largest_lane(Vec<A> v) {
  return fold_lanes<A>(v, [](auto a, auto b) { return a > b ? a : b; });
}
template <class A>
A sum_of_lanes(Vec<A> v) {
  return fold_lanes<A>(v, [](auto a, auto b) { return a + b; });
}

/// Space for n elements and the rest of a vector, on the stack when they are few.
template <class A>
class Scratch {
 public:
  explicit Scratch(std::int64_t n) {
    const std::int64_t padded = n + lanes<A> + 64 / sizeof(A);
    if (padded > few) heap_.reset(new A[padded]);
    std::size_t room = padded * sizeof(A);
    void* start = heap_ ? heap_.get() : local_;
    data_ = static_cast<A*>(std::align(64, n * sizeof(A), start, room));
  }
  A* data() { return data_; }

 private:
  static constexpr std::int64_t few = 1024;
  alignas(64) A local_[few];
  std::unique_ptr<A[]> heap_;
  A* data_;
};

template <class T, class A = compute_type<T>>
A row_max(const T* x, std::int64_t n) {
  constexpr int w = lanes<T>;
  const auto lowest = splat(-std::numeric_limits<A>::infinity());
  auto a = lowest, b = lowest, c = lowest, d = lowest;
  std::int64_t i = 0;
  for (; i + 4 * w <= n; i += 4 * w) {
    a = larger<A>(a, load(x + i)), b = larger<A>(b, load(x + i + w));
    c = larger<A>(c, load(x + i + 2 * w)), d = larger<A>(d, load(x + i + 3 * w));
  }
  for (; i + w <= n; i += w) a = larger<A>(a, load(x + i));
  if (i < n) b = larger<A>(b, load_partial(x + i, n - i, lowest));
  return largest_lane<A>(larger<A>(larger<A>(a, b), larger<A>(c, d)));
}

/// The sum over i < n of term(vectors at i); `term(i, m)` gives m valid lanes, the others 0. Blocks are added
/// in double.
template <class A, class F>
double sum_terms(std::int64_t n, const F& term) {
  constexpr int w = lanes<A>;
  constexpr std::int64_t block = 4096;
  double total = 0;
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = std::min(n, begin + block);
    Vec<A> a{}, b{};
    std::int64_t i = begin;
    for (; i + 2 * w <= end; i += 2 * w) a += term(i, w), b += term(i + w, w);
    for (; i + w <= end; i += w) a += term(i, w);
    if (i < end) b += term(i, end - i);
    total += sum_of_lanes<A>(a + b);
  }
  return total;
}

template <class T>
Vec<compute_type<T>> load_some(const T* p, std::int64_t m, compute_type<T> fill = 0) {
  return m == lanes<T> ? load(p) : load_partial(p, m, splat(fill));
}

/// Asks for the row after this one, when caches hold it, so that memory works while the processor computes.
template <class T>
void prefetch_next_row(const T* x, std::int64_t n, std::int64_t i) {
  if (n <= 32768) __builtin_prefetch(x + n + i, 0, 2);
}

/// The sum of exp(x - shift); the terms are kept in `terms`, which is padded to whole vectors, unless it is
/// null.
template <class T, class A>
double exp_sum(const T* x, std::int64_t n, A shift, A* terms) {
  return sum_terms<A>(n, [=, by = splat(shift)](std::int64_t i, std::int64_t m) {
    prefetch_next_row(x, n, i);
    const Vec<A> e = exp_of<A>(load_some(x + i, m, -std::numeric_limits<A>::infinity()) - by);
    if (terms) store(terms + i, e);
    return e;
  });
}

/// Largest elements and sums of exp(x - largest) of the columns of a [rows, width] tile, width a multiple of
/// the vectors. The terms replace the tile when they are to be kept.
template <class A>
void column_sums(A* tile, std::int64_t rows, std::int64_t width, A* largest, A* sums, bool keep,
                 bool finite) {
  for (std::int64_t j = 0; j < width; j += lanes<A>) {
    auto shift = splat(-std::numeric_limits<A>::infinity());
    for (std::int64_t k = 0; k < rows; ++k) shift = larger<A>(load(tile + k * width + j), shift);
    if (finite) shift = shift - shift == 0 ? shift : Vec<A>{};
    Vec<A> sum{};
    for (std::int64_t begin = 0; begin < rows; begin += 256) {
      Vec<A> part{};
      for (std::int64_t k = begin; k < std::min(rows, begin + 256); ++k) {
        const Vec<A> e = exp_of<A>(load(tile + k * width + j) - shift);
        if (keep) store(tile + k * width + j, e);
        part += e;
      }
      sum += part;
    }
    store(largest + j, shift), store(sums + j, sum);
  }
}

/// Calls f(o, j, width) for blocks of columns so narrow that a block stays in the caches.
template <class A, class F>
void for_column_blocks(std::int64_t outer, std::int64_t axis, std::int64_t inner, const F& f) {
  const std::int64_t width = std::clamp<std::int64_t>(65536 / (axis * lanes<A>), 4, 8) * lanes<A>;
  const std::int64_t blocks = (inner + width - 1) / width;
  parallel_rows(outer * blocks, axis * std::min(inner, width) * 4, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) {
      const std::int64_t j = begin % blocks * width;
      f(begin / blocks, j, std::min(width, inner - j));
    }
  });
}

/// Calls f(k, j, m) for all rows k and the vectors j of m <= lanes columns of a block.
template <class A, class F>
void for_vectors(std::int64_t rows, std::int64_t width, const F& f) {
  for (std::int64_t k = 0; k < rows; ++k)
    for (std::int64_t j = 0; j < width; j += lanes<A>) f(k, j, std::min<std::int64_t>(lanes<A>, width - j));
}
template <class T, class V>
void store_some(T* p, V v, std::int64_t m) {
  m == lanes<T> ? store(p, v) : store_partial(p, v, m);
}

/// A block of columns of in as a tile of whole vectors.
template <class A>
struct ColumnTile {
  static constexpr std::int64_t most = 8 * lanes<A>;
  alignas(64) A largest[most], sums[most];
  std::int64_t padded;
  Scratch<A> tile;

  template <class T>
  ColumnTile(const T* in, std::int64_t rows, std::int64_t stride, std::int64_t width, bool keep, bool finite)
      : padded((width + lanes<A> - 1) / lanes<A> * lanes<A>), tile(rows * padded) {
    for_vectors<A>(rows, width, [&](std::int64_t k, std::int64_t j, std::int64_t m) {
      store(tile.data() + k * padded + j, load_some(in + k * stride + j, m));
    });
    column_sums(tile.data(), rows, padded, largest, sums, keep, finite);
  }
  Vec<A> at(std::int64_t k, std::int64_t j) { return load(tile.data() + k * padded + j); }
};

/// A result that is computed from x, or from kept = exp(x - largest), and from the row's sum of these.
struct SoftmaxRule {
  static constexpr bool keeps_terms = true;
  static double factor(double sum) { return 1 / sum; }
  template <class V> static V value(V kept, V, V factor) { return kept * factor; }
};
struct LogSoftmaxRule {
  static constexpr bool keeps_terms = false;
  static double factor(double sum) { return std::log(sum); }
  template <class V> static V value(V x, V largest, V log_sum) { return x - largest - log_sum; }
};

template <class Rule, class T>
void softmax_rows(const T* in, T* out, std::int64_t rows, std::int64_t n) {
  using A = compute_type<T>;
  const bool past_caches = std::is_same_v<T, A> && rows * n * std::int64_t(sizeof(T)) >= streaming_bytes;
  parallel_rows(rows, n * 4, [&](std::int64_t begin, std::int64_t end) {
    Scratch<A> scratch(Rule::keeps_terms ? n : 0);
    A* terms = Rule::keeps_terms ? scratch.data() : nullptr;
    for (std::int64_t r = begin; r < end; ++r) {
      const T* x = in + r * n;
      const A largest = row_max(x, n);
      const auto factor = splat(static_cast<A>(Rule::factor(exp_sum(x, n, largest, terms))));
      write_run(out + r * n, n, past_caches, [&, shift = splat(largest)](std::int64_t i, std::int64_t m) {
        return Rule::value(Rule::keeps_terms ? load(terms + i) : load_some(x + i, m), shift, factor);
      });
    }
    stream_fence();
  });
}

template <class Rule, class T>
void softmax_columns(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  using A = compute_type<T>;
  for_column_blocks<A>(outer, axis, inner, [&](std::int64_t o, std::int64_t column, std::int64_t width) {
    const std::int64_t start = o * axis * inner + column;
    ColumnTile<A> block(in + start, axis, inner, width, Rule::keeps_terms, false);
    for (std::int64_t j = 0; j < width; ++j) block.sums[j] = static_cast<A>(Rule::factor(block.sums[j]));
    for_vectors<A>(axis, width, [&](std::int64_t k, std::int64_t j, std::int64_t m) {
      const Vec<A> y = Rule::value(block.at(k, j), load(block.largest + j), load(block.sums + j));
      store_some(out + start + k * inner + j, y, m);
    });
  });
}

template <class Rule, class T>
void softmax_like(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  if (outer * axis * inner == 0) return;
  if (inner == 1) softmax_rows<Rule>(in, out, outer, axis);
  else softmax_columns<Rule>(in, out, outer, axis, inner);
}

}  // namespace detail

/// out = exp(in - m) / sum(exp(in - m)) with m = max(in), along the axis. A row that holds NaN or +infinity,
/// or only -infinity, becomes NaN, as in TensorFlow.
template <class T>
void softmax(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  detail::softmax_like<detail::SoftmaxRule>(in, out, outer, axis, inner);
}

/// out = in - m - log(sum(exp(in - m))), the logarithm of softmax.
template <class T>
void log_softmax(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  detail::softmax_like<detail::LogSoftmaxRule>(in, out, outer, axis, inner);
}

/// out[outer, inner] = m + log(sum(exp(in - m))) with m = max(in), or 0 where that is not finite: of nothing,
/// or only -infinity, it is -infinity; with a +infinity it is that.
template <class T>
void logsumexp(const T* in, T* out, std::int64_t outer, std::int64_t axis, std::int64_t inner) {
  using A = compute_type<T>;
  if (axis == 0) return void(std::fill_n(out, outer * inner, narrow<T>(-std::numeric_limits<A>::infinity())));
  if (inner == 1)
    return parallel_rows(outer, axis * 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const T* x = in + r * axis;
        const A largest = detail::row_max(x, axis), shift = std::isfinite(largest) ? largest : 0;
        out[r] = narrow<T>(std::log(detail::exp_sum<T, A>(x, axis, shift, nullptr)) + shift);
      }
    });
  detail::for_column_blocks<A>(outer, axis, inner, [&](std::int64_t o, std::int64_t column, auto width) {
    detail::ColumnTile<A> block(in + o * axis * inner + column, axis, inner, width, false, true);
    for (std::int64_t j = 0; j < width; ++j)
      out[o * inner + column + j] = narrow<T>(std::log(block.sums[j]) + block.largest[j]);
  });
}

}  // namespace ktape::kernels
