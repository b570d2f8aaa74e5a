#pragma once
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/reduce/moments.hpp>
#include <ktape/ops/kernels/reduce/sum_terms.hpp>
#include <ktape/ops/kernels/simd/chained.hpp>
#include <ktape/ops/kernels/simd/load_numbers.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <array>
#include <vector>

/// Batch normalization of contiguous [outer, channels, inner] arrays: statistics of the channels, and maps
/// with coefficients for each channel. Each element is read or written once.
namespace ktape::kernels {

struct ChannelLayout {
  std::int64_t outer, channels, inner;
  std::int64_t group() const { return outer * inner; }
};

/// The sums of g and of g * (x - centre) over a group.
struct Slopes {
  double g = 0, gx = 0;
  void merge(const Slopes& other) { g += other.g, gx += other.gx; }
};

namespace detail {

/// Sums the two vectors that terms(r, j, m) returns over the rows r, for V vectors of m columns from column j
/// on, and stores the sums from sums[0][j] and sums[1][j] on.
template <class A, int V, class M, class F>
void add_columns(std::int64_t rows, std::int64_t j, M m, const F& terms, double* const (&sums)[2]) {
  constexpr int chains = 4 / V;  // independent chains of additions, which overlap
  Vec<A> s[4] = {}, t[4] = {};
  const auto add = [&](std::int64_t r, int chain) {
    for (int v = 0; v < V; ++v) {
      const auto [a, b] = terms(r, j + v * lanes<A>, m);
      s[chain * V + v] += a, t[chain * V + v] += b;
    }
  };
  std::int64_t r = 0;
  for (; r + chains <= rows; r += chains)
    for (int chain = 0; chain < chains; ++chain) add(r + chain, chain);
  for (; r < rows; ++r) add(r, 0);
  for (int k = V; k < 4; ++k) s[k % V] += s[k], t[k % V] += t[k];
  for (int v = 0; v < V; ++v)
    for (std::int64_t i = 0; i < m; ++i)
      sums[0][j + v * lanes<A> + i] = s[v][i], sums[1][j + v * lanes<A> + i] = t[v][i];
}

template <class A, class F>
void sum_columns(std::int64_t rows, std::int64_t n, const F& terms, double* const (&sums)[2]) {
  for_vector_groups<A, 4>(
      n, [&](std::int64_t j, auto vectors, auto m) { add_columns<A, vectors()>(rows, j, m, terms, sums); });
}

/// Returns a result for each channel, merged from partial results. If `inner` is 1, `rows(first, count, sums,
/// part)` merges `count` rows from row `first` on into part[channels]; `sums` are two work arrays of a double
/// for each channel. Otherwise `run(offset, c)` returns the partial result of the `inner` elements of channel
/// c at an offset. The division into parts is fixed, so that results do not depend on the number of threads.
template <class R, class Rows, class Run>
std::vector<R> over_groups(const ChannelLayout& layout, const Rows& rows, const Run& run) {
  const auto [outer, n, inner] = layout;
  const bool in_rows = inner == 1;
  const std::int64_t parts = in_rows ? std::clamp<std::int64_t>(outer / 128, 1, 32) : outer;
  std::vector<R> partial(static_cast<std::size_t>(parts * n));
  if (in_rows)
    parallel_rows(parts, outer / parts * n, [&, n = n, outer = outer](std::int64_t begin, std::int64_t end) {
      const std::int64_t block = std::clamp<std::int64_t>(8192 / std::max<std::int64_t>(n, 1), 8, 256);
      Workspace<double> space(2 * padded<double>(n));
      double* const sums[] = {space.take(n), space.take(n)};
      for (std::int64_t part = begin; part < end; ++part)
        for (std::int64_t r = outer * part / parts, last = outer * (part + 1) / parts; r < last; r += block)
          rows(r, std::min(block, last - r), sums, partial.data() + part * n);
    });
  else
    parallel_rows(parts * n, inner, [&, n = n, inner = inner](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin) partial[static_cast<std::size_t>(begin)] = run(begin * inner, begin % n);
    });
  std::vector<R> results(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < partial.size(); ++i) results[i % results.size()].merge(partial[i]);
  return results;
}

/// out = value(coefficient)(offset, m) by vectors, where `coefficient(p)` is p[c] of each lane's channel c. A
/// large result that is computed from `several` arrays is written with non-temporal stores, so that the
/// arrays stay in the caches.
template <class T, class F>
void map_channels(const ChannelLayout& layout, T* out, bool several, const F& value) {
  using A = computed_type<T>;
  if (layout.group() * layout.channels == 0) return;
  const bool in_rows = layout.inner == 1;
  const std::int64_t rows = in_rows ? layout.outer : layout.outer * layout.channels,
                     n = in_rows ? layout.channels : layout.inner;
  const std::int64_t step = n * std::int64_t(sizeof(T)),
                     block = in_rows ? 32 : 1;  // rows that share their coefficients
  const bool non_temporal =
      several && std::is_same_v<T, A> && rows * step >= streaming_bytes && streamable(out, step);
  parallel_rows(rows, 4 * n, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; begin += block)
      for_vector_groups<A, 4>(n, [&](std::int64_t j, auto vectors, std::int64_t m) {
        const auto at = [&](int v) {
          return value([&](const A* p) {
            return in_rows ? load_numbers(p + j + v * lanes<A>, m) : splat(p[begin % layout.channels]);
          });
        };
        const auto first = at(0), second = at(1 % vectors), third = at(2 % vectors), fourth = at(3 % vectors);
        const auto put = [&](std::int64_t to, const auto& map) {
          if constexpr (std::is_same_v<T, A>)
            if (non_temporal) return stream(out + to, map(to, m));
          store_numbers(out + to, map(to, m), m);
        };
        for (std::int64_t r = begin; r < std::min(end, begin + block); ++r) {
          const std::int64_t to = r * n + j;
          put(to, first);
          if constexpr (vectors == 4)
            put(to + lanes<A>, second), put(to + 2 * lanes<A>, third), put(to + 3 * lanes<A>, fourth);
        }
      });
    stream_fence();
  });
}

}  // namespace detail

/// Computes the moments of each channel. Sums are computed of differences from an element of the block, so
/// that the variance of numbers far from 0 keeps its digits.
template <class T>
std::vector<Moments> channel_moments(const ChannelLayout& layout, const T* x) {
  using A = computed_type<T>;
  using Pair = std::pair<Vec<A>, Vec<A>>;
  const std::int64_t n = layout.channels, inner = layout.inner;
  const auto rows = [=](std::int64_t first, std::int64_t count, double* const(&sums)[2], Moments* out) {
    const T* p = x + first * n;
    detail::sum_columns<A>(
        count, n,
        [=](std::int64_t r, std::int64_t j, std::int64_t m) {
          const Vec<A> d = load_numbers(p + r * n + j, m) - load_numbers(p + j, m);
          return Pair(d, d * d);
        },
        sums);
    for (std::int64_t c = 0; c < n; ++c) {
      const double rest = sums[0][c] / double(count);
      out[c].merge({double(count), double(p[c]) + rest, std::max(sums[1][c] - rest * sums[0][c], 0.0)});
    }
  };
  const auto run = [=](std::int64_t offset, std::int64_t) {
    Moments all;
    for (std::int64_t begin = 0; begin < inner; begin += 1024) {
      const std::int64_t count = std::min<std::int64_t>(1024, inner - begin);
      const T* p = x + offset + begin;
      const A origin = *p;
      const auto difference = [=](std::int64_t i, std::int64_t m) {
        return load_numbers(p + i, m, splat(origin)) - splat(origin);
      };
      const double sum = detail::sum_terms<A>(count, difference), rest = sum / double(count);
      const double squares = detail::sum_terms<A>(count, [&](std::int64_t i, std::int64_t m) {
        const Vec<A> d = difference(i, m);
        return Vec<A>(d * d);
      });
      all.merge({double(count), double(origin) + rest, std::max(squares - rest * sum, 0.0)});
    }
    return all;
  };
  return detail::over_groups<Moments>(layout, rows, run);
}

/// Returns the sums of g and g * (x - centre[c]) of each channel c.
template <class T>
std::vector<Slopes> channel_slopes(const ChannelLayout& layout, const T* g, const T* x,
                                   const computed_type<T>* centre) {
  using A = computed_type<T>;
  using Pair = std::pair<Vec<A>, Vec<A>>;
  const std::int64_t n = layout.channels, inner = layout.inner;
  const auto rows = [=](std::int64_t first, std::int64_t count, double* const(&sums)[2], Slopes* out) {
    const T *p = x + first * n, *slope = g + first * n;
    detail::sum_columns<A>(
        count, n,
        [=](std::int64_t r, std::int64_t j, std::int64_t m) {
          const Vec<A> s = load_numbers(slope + r * n + j, m);
          return Pair(s, chained<A>(s, load_numbers(p + r * n + j, m) - load_numbers(centre + j, m)));
        },
        sums);
    for (std::int64_t c = 0; c < n; ++c) out[c].merge({sums[0][c], sums[1][c]});
  };
  const auto run = [=](std::int64_t offset, std::int64_t c) {
    const auto slope = [=](std::int64_t i, std::int64_t m) { return load_numbers(g + offset + i, m); };
    const auto product = [=, by = splat(centre[c])](std::int64_t i, std::int64_t m) {
      return chained<A>(slope(i, m), load_numbers(x + offset + i, m) - by);
    };
    return Slopes{detail::sum_terms<A>(inner, slope), detail::sum_terms<A>(inner, product)};
  };
  return detail::over_groups<Slopes>(layout, rows, run);
}

/// out = (x - centre[c]) * scale[c] + offset[c] for elements of channel c.
template <class T, class A = computed_type<T>>
void channel_affine(const ChannelLayout& layout, const T* x, const A* centre, const A* scale, const A* offset,
                    T* out) {
  detail::map_channels(layout, out, false, [=](const auto& of) {
    return [x, from = of(centre), by = of(scale), plus = of(offset)](std::int64_t at, std::int64_t m) {
      return Vec<A>((load_numbers(x + at, m) - from) * by + plus);
    };
  });
}

/// out = g * scale[c] + (x - centre[c]) * slope[c] + offset[c].
template <class T, class A = computed_type<T>>
void channel_affine(const ChannelLayout& layout, const T* g, const T* x, const A* centre, const A* scale,
                    const A* slope, const A* offset, T* out) {
  detail::map_channels(layout, out, true, [=](const auto& of) {
    return [=, from = of(centre), by = of(scale), slopes = of(slope), plus = of(offset)](std::int64_t at,
                                                                                         std::int64_t m) {
      return Vec<A>(load_numbers(g + at, m) * by + (load_numbers(x + at, m) - from) * slopes + plus);
    };
  });
}

/// out = g * scale[c].
template <class T, class A = computed_type<T>>
void channel_scale(const ChannelLayout& layout, const T* g, const A* scale, T* out) {
  detail::map_channels(layout, out, false, [=](const auto& of) {
    return
        [g, by = of(scale)](std::int64_t at, std::int64_t m) { return Vec<A>(load_numbers(g + at, m) * by); };
  });
}

}  // namespace ktape::kernels
