#include <ktape/ops/kernels/convolution/convolution.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/parallel/thread_sums.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <vector>

namespace ktape::kernels {
namespace {

/// Returns the height of a register tile (positions, or taps) whose width is `vectors` vectors of filters:
/// sums fill the registers that the factors leave.
constexpr int tile_height(int vectors) { return vector_bytes == 64 ? (vectors == 1 ? 16 : 13) : 5; }

/// Returns whether tiles of height eight leave fewer of n positions over than tiles of height `most`:
/// positions that fill no tile are slower.
constexpr bool eight_fit_better(std::int64_t n, int most) { return most > 8 && n % 8 < n % most; }

/// The distances in memory of neighbouring positions and of neighbouring lines.
struct Steps {
  std::int64_t position, line;
};

/// A few neighbouring lines of positions, or parts of long lines: the addresses in the input and in the
/// result.
template <class T>
struct Band {
  const T* x;
  T* y;
  std::int64_t lines, positions;
  Steps from, to;
};

/// The kernel as a row of filters for each input element of a window; `taps` are the offsets of the elements
/// from the position.
template <class T>
struct Kernel {
  const T* rows;
  std::int64_t filters;
  std::vector<std::int64_t> taps;
};

/// A convolution in bands. The offsets of the elements of a window do not depend on the position: bands of a
/// padded input read a copy that contains the zeros of the padding.
template <class T>
class Bands {
 public:
  explicit Bands(const ktape_convolution& c)
      : c(c),
        kernel{static_cast<const T*>(c.kernel), c.output_channels, {}},
        rows_(reach(1, most_lines())),
        columns_(reach(2, most_positions())) {
    for (int d = 0; d < 3; ++d) inside_ = inside_ && c.padding[d] == 0 && reach(d, c.output[d]) <= c.input[d];
    if (inside_) rows_ = c.input[1], columns_ = c.input[2];
    const std::int64_t plane =
        (inside_ ? c.dilation[0] : 1) * rows_;  // a copy holds only the planes of one window
    for (std::int64_t kd = 0; kd < c.window[0]; ++kd)
      for (std::int64_t kh = 0; kh < c.window[1]; ++kh)
        for (std::int64_t kw = 0; kw < c.window[2]; ++kw)
          for (std::int64_t i = 0; i < c.input_channels; ++i)
            kernel.taps.push_back((kd * plane + kh * c.dilation[1]) * line() +
                                  kw * c.dilation[2] * c.input_channels + i);
  }

  const ktape_convolution& c;
  Kernel<T> kernel;
  std::int64_t result_line() const { return c.output[2] * c.output_channels; }
  std::int64_t count() const { return c.batch * c.output[0] * line_blocks() * position_blocks(); }

  /// Calls f(band) for bands begin..end.
  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, const F& f) const {
    const std::int64_t copied = inside_ ? 0 : c.window[0] * rows_ * line();
    Workspace<T> space(copied);
    T* const copy = space.take(copied);
    for (; begin < end; ++begin) {
      const std::int64_t w = begin % position_blocks() * most_positions(),
                         h = begin / position_blocks() % line_blocks() * most_lines(),
                         plane = begin / position_blocks() / line_blocks();
      const T* const x = inside_ ? source(plane, 0, h * c.strides[1], w * c.strides[2]) : copy;
      if (!inside_) read(plane, h, w, copy);
      T* const y = static_cast<T*>(c.y) + (plane * c.output[1] + h) * result_line() + w * c.output_channels;
      f(Band<T>{x,
                y,
                std::min(most_lines(), c.output[1] - h),
                std::min(most_positions(), c.output[2] - w),
                {c.strides[2] * c.input_channels, c.strides[1] * line()},
                {c.output_channels, result_line()}});
    }
  }

 private:
  std::int64_t most_lines() const { return std::min<std::int64_t>(8, c.output[1]); }
  std::int64_t most_positions() const { return std::min<std::int64_t>(512, c.output[2]); }
  std::int64_t line_blocks() const { return (c.output[1] + most_lines() - 1) / most_lines(); }
  std::int64_t position_blocks() const { return (c.output[2] + most_positions() - 1) / most_positions(); }
  std::int64_t line() const { return columns_ * c.input_channels; }
  std::int64_t reach(int d, std::int64_t positions) const {
    return (positions - 1) * c.strides[d] + (c.window[d] - 1) * c.dilation[d] + 1;
  }

  /// Returns the address of the input element at a row and a column, in the plane that `plane` of the result
  /// reads at depth `kd` of the window.
  const T* source(std::int64_t plane, std::int64_t kd, std::int64_t row, std::int64_t column) const {
    const std::int64_t n = plane / c.output[0],
                       d = plane % c.output[0] * c.strides[0] + kd * c.dilation[0] - c.padding[0];
    return static_cast<const T*>(c.x) +
           (((n * c.input[0] + d) * c.input[1] + row) * c.input[2] + column) * c.input_channels;
  }

  void read(std::int64_t plane, std::int64_t h, std::int64_t w, T* to) const {
    const std::int64_t d = plane % c.output[0], channels = c.input_channels;
    const std::int64_t at = w * c.strides[2] - c.padding[2],
                       begin = std::clamp<std::int64_t>(-at, 0, columns_),
                       end = std::clamp(c.input[2] - at, begin, columns_);
    for (std::int64_t kd = 0; kd < c.window[0]; ++kd)
      for (std::int64_t row = 0; row < rows_; ++row, to += line()) {
        const std::int64_t id = d * c.strides[0] + kd * c.dilation[0] - c.padding[0],
                           ih = h * c.strides[1] + row - c.padding[1];
        const bool inside = id >= 0 && id < c.input[0] && ih >= 0 && ih < c.input[1] && begin < end;
        if (!inside) {
          std::fill_n(to, line(), T(0));
          continue;
        }
        const T* const from = source(plane, kd, ih, at + begin);
        std::fill_n(to, begin * channels, T(0));
        std::copy_n(from, (end - begin) * channels, to + begin * channels);
        std::fill(to + end * channels, to + line(), T(0));
      }
  }

  std::int64_t rows_, columns_;  // the extents of the part of a plane that a band reads
  bool inside_ = true;           // nothing is padded
};

/// V vectors of filters from filter `first` on, or a single vector with `valid` lanes.
template <class T, int V, bool whole>
struct Filters {
  static constexpr int vectors = V;
  std::int64_t first, valid;
  Vec<T> get(const T* row, int v) const {
    if constexpr (whole) return load(row + first + v * lanes<T>);
    else return load_partial(row + first, valid, Vec<T>{});
  }
  void put(T* row, int v, Vec<T> x) const {
    if constexpr (whole) store(row + first + v * lanes<T>, x);
    else store_partial(row + first, x, valid);
  }
};

template <class T, class F>
void for_filters(std::int64_t count, const F& f) {
  constexpr std::int64_t w = lanes<T>;
  std::int64_t at = 0;
  for (; at + 2 * w <= count; at += 2 * w) f(Filters<T, 2, true>{at, w});
  for (; at + w <= count; at += w) f(Filters<T, 1, true>{at, w});
  if (at < count) f(Filters<T, 1, false>{at, count - at});
}

/// Computes the results of a band from position `first` of each line on: P positions at a time, the rest with
/// a smaller P. Not inlined, so that the loop has all registers.
template <int P, class T, class Some>
[[gnu::noinline]] void filter_band(const Kernel<T>& kernel, const Band<T>& band, const Some& some,
                                   std::int64_t first) {
  const auto [step, line_step] = band.from;
  const auto [result, result_line] = band.to;
  const std::int64_t blocks = (band.positions - first) / P;
  const bool prefetches = kernel.taps.size() >= 16;  // prefetching later results is too costly for fewer taps
  for (std::int64_t line = 0; line < band.lines; ++line) {
    const T* x = band.x + line * line_step + first * step;
    T* y = band.y + line * result_line + first * result;
    for (std::int64_t block = 0; block < blocks; ++block, x += P * step, y += P * result) {
      Vec<T> sums[P][Some::vectors] = {};
      if (prefetches)
        for (int i = 0; i < P; ++i)
          for (int v = 0; v < Some::vectors; ++v)
            __builtin_prefetch(y + (P + i) * result + some.first + v * lanes<T>, 1);
      const T* row = kernel.rows;
      for (const std::int64_t tap : kernel.taps) {
        const T* input = x + tap;
        Vec<T> weights[Some::vectors];
        for (int v = 0; v < Some::vectors; ++v) weights[v] = some.get(row, v);
#pragma GCC unroll 16
        for (int i = 0; i < P; ++i, input += step)
          for (int v = 0; v < Some::vectors; ++v) sums[i][v] += *input * weights[v];
        row += kernel.filters;
      }
#pragma GCC unroll 16
      for (int i = 0; i < P; ++i)
        for (int v = 0; v < Some::vectors; ++v) some.put(y + i * result, v, sums[i][v]);
    }
  }
  first += blocks * P;
  if constexpr (P > 1)
    if (first < band.positions) filter_band<P / 2>(kernel, band, some, first);
}

/// Computes the results of a band.
template <class T>
void filter_band(const Kernel<T>& kernel, const Band<T>& band) {
  for_filters<T>(kernel.filters, [&](const auto& some) {
    constexpr int most = tile_height(std::remove_cvref_t<decltype(some)>::vectors);
    if (eight_fit_better(band.positions, most)) filter_band<8>(kernel, band, some, 0);
    else filter_band<most>(kernel, band, some, 0);
  });
}

/// Adds a band's part of the kernel's gradient from tap `first` on: R taps at a time, the rest with a smaller
/// R.
template <int R, class T, class Some>
[[gnu::noinline]] void add_band(const Kernel<T>& kernel, const Band<T>& band, const Some& some,
                                std::size_t first, T* sums_of_all) {
  const auto [step, line_step] = band.from;
  const auto [result, result_line] = band.to;
  for (; first + R <= kernel.taps.size(); first += R) {
    Vec<T> sums[R][Some::vectors] = {};
    std::int64_t taps[R];
    for (int r = 0; r < R; ++r) taps[r] = kernel.taps[first + r];
    for (std::int64_t line = 0; line < band.lines; ++line) {
      const T *x = band.x + line * line_step, *y = band.y + line * result_line;
      for (std::int64_t i = 0; i < band.positions; ++i, x += step, y += result)
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r)
          for (int v = 0; v < Some::vectors; ++v) sums[r][v] += x[taps[r]] * some.get(y, v);
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < Some::vectors; ++v) {
        T* const row = sums_of_all + (first + r) * kernel.filters;
        some.put(row, v, some.get(row, v) + sums[r][v]);
      }
  }
  if constexpr (R > 1)
    if (first < kernel.taps.size()) add_band<R / 2>(kernel, band, some, first, sums_of_all);
}

}  // namespace

bool is_strided_pointwise(const ktape_convolution& c) {
  const auto volume = [](const std::int64_t(&extents)[3]) { return extents[0] * extents[1] * extents[2]; };
  return c.groups == 1 && volume(c.window) == 1 && volume(c.strides) > 1 && c.input_channels <= 32 &&
         std::ranges::all_of(c.padding, [](std::int64_t zeros) { return zeros == 0; });
}

bool suits_direct_convolution(const ktape_convolution& c) {
  return c.groups == 1 && (c.input_channels <= 4 || is_strided_pointwise(c));
}

template <class T>
void direct_convolution(const ktape_convolution& c) {
  const Bands<T> bands(c);
  const std::int64_t work = bands.result_line() * static_cast<std::int64_t>(bands.kernel.taps.size());
  parallel_rows(bands.count(), work, [&](std::int64_t begin, std::int64_t end) {
    bands.for_each(begin, end, [&](const Band<T>& band) { filter_band(bands.kernel, band); });
  });
}

template <class T>
void direct_convolution_backward_kernel(const ktape_convolution& c) {
  const Bands<T> bands(c);
  const auto taps = static_cast<std::int64_t>(bands.kernel.taps.size());
  thread_sums(bands.count(), taps * bands.result_line(), taps * c.output_channels, static_cast<T*>(c.kernel),
              [&](std::int64_t begin, std::int64_t end, T* sums) {
                bands.for_each(begin, end, [&](const Band<T>& band) {
                  for_filters<T>(c.output_channels, [&](const auto& some) {
                    constexpr int most = std::min(9, tile_height(2));
                    if (eight_fit_better(taps, most)) add_band<8>(bands.kernel, band, some, 0, sums);
                    else add_band<most>(bands.kernel, band, some, 0, sums);
                  });
                });
              });
}

template void direct_convolution<float>(const ktape_convolution&);
template void direct_convolution<double>(const ktape_convolution&);
template void direct_convolution_backward_kernel<float>(const ktape_convolution&);
template void direct_convolution_backward_kernel<double>(const ktape_convolution&);

}  // namespace ktape::kernels
