#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/ops/kernels/engine/engine.hpp>

#include <algorithm>
#include <limits>
#include <xtensor-blas/xlinalg.hpp>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

/// The engine "xtensor": each kernel of kernel_calls.h as its formula in xtensor and BLAS, without threads
/// and intrinsics. The faster engines are tested against this engine.
namespace ktape::kernels {
namespace {

/// Returns the memory of a caller as an array of these extents, without a copy.
template <class T, std::size_t N>
auto array(const void* data, const std::int64_t (&extents)[N]) {
  std::array<std::size_t, N> shape;
  std::copy(std::begin(extents), std::end(extents), shape.begin());
  const std::size_t size = xt::compute_size(shape);
  return xt::adapt(static_cast<T*>(const_cast<void*>(data)), size, xt::no_ownership(), shape);
}

/// Returns the array in double, the type of all computations but products.
template <class T, std::size_t N>
xt::xtensor<double, N> read(const void* data, const std::int64_t (&extents)[N]) {
  return xt::cast<double>(array<T>(data, extents));
}
template <class T, std::size_t N>
void write(void* data, const std::int64_t (&extents)[N], const auto& values) {
  array<T>(data, extents) = xt::cast<T>(values);
}

/// Calls f with the arguments' element type and returns 1: the call is done.
template <class Arguments, class F>
std::int32_t computed(const Arguments& call, const F& f) {
  dispatch_native_floating(call.dtype == KTAPE_FLOAT64 ? DType::Float64 : DType::Float32, f);
  return 1;
}

// --- Products ---------------------------------------------------------------------------------------------

template <class T>
using Matrix = xt::xtensor<T, 2>;

template <class T>
Matrix<T> read_matrix(const void* data, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                      bool transposed) {
  if (transposed) return xt::transpose(read_matrix<T>(data, columns, rows, stride, false));
  const auto memory =
      array<T>(data, {rows, std::max(stride, columns)});  // the memory ends with the columns of the last row
  return xt::view(memory, xt::all(), xt::range(0, columns));
}

std::int32_t matmul(const void* arguments) {
  const auto& call = *static_cast<const ktape_matmul*>(arguments);
  return computed(call, [&]<class T>() {
    const auto a = read_matrix<T>(call.a, call.rows, call.inner, call.a_stride, call.a_transposed);
    const auto b = read_matrix<T>(call.b, call.inner, call.columns, call.b_stride, call.b_transposed);
    auto c = array<T>(call.c, {call.rows, call.columns});
    if (call.accumulate) c += xt::linalg::dot(a, b);
    else c = xt::linalg::dot(a, b);
  });
}

// --- Windows ----------------------------------------------------------------------------------------------

/// The results, along one axis, for which cell k of the window lies inside the input, and the input cells
/// that they read there.
struct Overlap {
  std::int64_t first, end;  // results
  std::int64_t cell, step;  // the cell of the first result, and the distance of the cells
  bool empty() const { return first >= end; }
  auto results() const { return xt::range(first, end); }
  auto cells() const { return xt::range(cell, cell + (end - first - 1) * step + 1, step); }
};

Overlap overlap(std::int64_t k, std::int64_t input, std::int64_t output, std::int64_t stride,
                std::int64_t padding) {
  const std::int64_t outside = std::max<std::int64_t>(0, padding - k), last = input - 1 + padding - k;
  const std::int64_t first = (outside + stride - 1) / stride;
  return {first, last < 0 ? 0 : std::min(output, last / stride + 1), first * stride + k - padding, stride};
}

/// Calls f(position, results, cells) for each position in a window. `results(y, channels)` views the results
/// for which the position lies inside the input, `cells(x, channels)` the input cells that they read there;
/// arrays are (batch, spatial..., channels).
template <class Call, class F>
void for_window(const Call& call, const std::int64_t (&dilation)[3], const F& f) {
  std::array<std::int64_t, 3> k;
  for (k[0] = 0; k[0] < call.window[0]; ++k[0])
    for (k[1] = 0; k[1] < call.window[1]; ++k[1])
      for (k[2] = 0; k[2] < call.window[2]; ++k[2]) {
        std::array<Overlap, 3> at;
        for (int d = 0; d < 3; ++d)
          at[d] =
              overlap(k[d] * dilation[d], call.input[d], call.output[d], call.strides[d], call.padding[d]);
        if (std::any_of(at.begin(), at.end(), [](const Overlap& axis) { return axis.empty(); })) continue;
        f(
            k,
            [&](auto& y, auto channels) {
              return xt::view(y, xt::all(), at[0].results(), at[1].results(), at[2].results(),
                              std::move(channels));
            },
            [&](auto& x, auto channels) {
              return xt::view(x, xt::all(), at[0].cells(), at[1].cells(), at[2].cells(), std::move(channels));
            });
      }
}

// --- Convolution ------------------------------------------------------------------------------------------

/// Returns the channels of a view as columns.
template <class T, class View>
Matrix<T> rows_of(const View& view) {
  const std::size_t channels = view.shape(4);
  const xt::xtensor<T, 5> dense = view;
  return xt::reshape_view(dense, std::array<std::size_t, 2>{dense.size() / channels, channels});
}

template <class T, class View>
void add_rows(View view, const Matrix<T>& rows) {
  view += xt::reshape_view(rows, view.shape());
}

/// The passes of a convolution: y, the gradient of x, or the gradient of the kernel. Each is a sum over the
/// window of products of two of the matrices (cells x input channels), (input x output channels) and (results
/// x output channels).
enum class Sum { Forward, BackwardData, BackwardKernel };

template <Sum sum, class T>
void convolve(const ktape_convolution& c) {
  const auto& [i0, i1, i2] = c.input;
  const auto& [o0, o1, o2] = c.output;
  const std::int64_t inputs = c.input_channels / c.groups, outputs = c.output_channels / c.groups;
  auto x = array<T>(c.x, {c.batch, i0, i1, i2, c.input_channels});
  auto y = array<T>(c.y, {c.batch, o0, o1, o2, c.output_channels});
  auto kernel = array<T>(c.kernel, {c.window[0], c.window[1], c.window[2], inputs, c.output_channels});
  (sum == Sum::Forward ? y : sum == Sum::BackwardData ? x : kernel).fill(T(0));

  for_window(c, c.dilation, [&](const auto& k, const auto& results, const auto& cells) {
    for (std::int64_t group = 0; group < c.groups; ++group) {
      const auto of_group = [&](auto channels) {
        return xt::range(group * channels, (group + 1) * channels);
      };
      const auto from = cells(x, of_group(inputs));
      const auto to = results(y, of_group(outputs));
      auto weights = xt::view(kernel, k[0], k[1], k[2], xt::all(), of_group(outputs));
      const Matrix<T> w = weights;
      if constexpr (sum == Sum::Forward) add_rows<T>(to, xt::linalg::dot(rows_of<T>(from), w));
      if constexpr (sum == Sum::BackwardData)
        add_rows<T>(from, xt::linalg::dot(rows_of<T>(to), xt::transpose(w)));
      if constexpr (sum == Sum::BackwardKernel) {
        const Matrix<T> rows = rows_of<T>(from);
        weights = xt::linalg::dot(xt::transpose(rows), rows_of<T>(to));
      }
    }
  });
}

template <Sum sum>
std::int32_t convolution(const void* arguments) {
  const auto& call = *static_cast<const ktape_convolution*>(arguments);
  return computed(call, [&]<class T>() { convolve<sum, T>(call); });
}

// --- Pooling ----------------------------------------------------------------------------------------------

using Grid = xt::xtensor<double, 5>;
constexpr std::int64_t dense[3] = {1, 1, 1};

/// Returns how many cells each window has.
Grid window_sizes(const ktape_pooling& call, const Grid& y) {
  Grid sizes = xt::zeros_like(y);
  for_window(call, dense,
             [&](const auto&, const auto& results, const auto&) { results(sizes, xt::all()) += 1.; });
  return sizes;
}

double position(const ktape_pooling& call, const std::array<std::int64_t, 3>& k) {
  return static_cast<double>((k[0] * call.window[1] + k[1]) * call.window[2] + k[2]);
}

Grid averages(const ktape_pooling& call, const Grid& x, const Grid& like) {
  Grid sums = xt::zeros_like(like);
  for_window(call, dense, [&](const auto&, const auto& results, const auto& cells) {
    results(sums, xt::all()) += cells(x, xt::all());
  });
  return sums / window_sizes(call, like);
}

/// Returns the largest cells, and their positions in the windows: -1 before a window's first cell.
std::pair<Grid, Grid> maxima(const ktape_pooling& call, const Grid& x, const Grid& like) {
  Grid largest = xt::zeros_like(like), index = largest - 1.;
  for_window(call, dense, [&](const auto& k, const auto& results, const auto& cells) {
    auto best = results(largest, xt::all()), at = results(index, xt::all());
    const Grid cell = cells(x, xt::all());
    const Grid better = xt::cast<double>(at < 0. || cell > best || (xt::isnan(cell) && !xt::isnan(best)));
    best = Grid(xt::where(better > 0., cell, best));
    at = Grid(xt::where(better > 0., position(call, k), at));
  });
  return {largest, index};
}

/// Calls f with the type of positions in a window.
template <class F>
void with_index_type(const ktape_pooling& call, const F& f) {
  if (call.window[0] * call.window[1] * call.window[2] <= 256) f.template operator()<std::uint8_t>();
  else f.template operator()<std::int32_t>();
}

std::int32_t pooling(const void* arguments) {
  const auto& call = *static_cast<const ktape_pooling*>(arguments);
  const std::int64_t cells[] = {call.batch, call.input[0], call.input[1], call.input[2], call.channels},
                     windows[] = {call.batch, call.output[0], call.output[1], call.output[2], call.channels};
  return computed(call, [&]<class T>() {
    const Grid x = read<T>(call.x, cells), y = read<T>(call.y, windows);
    if (call.average) return write<T>(call.y, windows, averages(call, x, y));
    const auto [largest, index] = maxima(call, x, y);
    write<T>(call.y, windows, largest);
    if (call.index) with_index_type(call, [&, &i = index]<class I>() { write<I>(call.index, windows, i); });
  });
}

std::int32_t pooling_backward(const void* arguments) {
  const auto& call = *static_cast<const ktape_pooling*>(arguments);
  const std::int64_t cells[] = {call.batch, call.input[0], call.input[1], call.input[2], call.channels},
                     windows[] = {call.batch, call.output[0], call.output[1], call.output[2], call.channels};
  return computed(call, [&]<class T>() {
    const Grid dy = read<T>(call.y, windows);
    Grid dx = xt::zeros<double>(read<T>(call.x, cells).shape()), index, share = dy;
    if (call.average) share = dy / window_sizes(call, dy);
    else with_index_type(call, [&]<class I>() { index = read<I>(call.index, windows); });
    for_window(call, dense, [&](const auto& k, const auto& results, const auto& of_window) {
      auto to = of_window(dx, xt::all());
      if (call.average) to += results(share, xt::all());
      else
        to += xt::where(xt::equal(results(index, xt::all()), position(call, k)), results(dy, xt::all()), 0.);
    });
    write<T>(call.x, cells, dx);
  });
}

// --- Softmax ----------------------------------------------------------------------------------------------

/// An array, also for reductions that are part of an expression: xtensor 0.24 steps wrongly through
/// unevaluated reductions that keep their dimensions.
using Cube = xt::xtensor<double, 3>;

std::int32_t softmax(const void* arguments) {
  const auto& call = *static_cast<const ktape_softmax*>(arguments);
  const std::int64_t shape[] = {call.outer, call.axis, call.inner};
  return computed(call, [&]<class T>() {
    const Cube x = read<T>(call.x, shape), largest = xt::amax(x, {1}, xt::keep_dims);
    const Cube weights = xt::exp(x - largest), sums = xt::sum(weights, {1}, xt::keep_dims);
    write<T>(call.y, shape, weights / sums);
  });
}

/// Returns g * slope, and 0 where g is 0, whatever the slope is.
Cube chained(const Cube& g, const Cube& slope) { return xt::where(xt::equal(g, 0.0), 0.0, g * slope); }

std::int32_t softmax_backward(const void* arguments) {
  const auto& call = *static_cast<const ktape_softmax*>(arguments);
  const std::int64_t shape[] = {call.outer, call.axis, call.inner};
  return computed(call, [&]<class T>() {
    const Cube y = read<T>(call.y, shape), dy = read<T>(call.dy, shape);
    const Cube dot = xt::sum(chained(dy, y), {1}, xt::keep_dims), rest = dy - dot;
    write<T>(call.dx, shape, chained(rest, y));
  });
}

// --- Batch normalization ----------------------------------------------------------------------------------

/// Returns a number for each channel.
template <class T>
Cube per_channel(const ktape_batch_normalization& call, const void* numbers) {
  using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;
  return read<Number>(numbers, {1, call.channels, 1});
}

std::int32_t batch_moments(const void* arguments) {
  const auto& call = *static_cast<const ktape_batch_normalization*>(arguments);
  return computed(call, [&]<class T>() {
    const Cube x = read<T>(call.x, {call.outer, call.channels, call.inner});
    const double count = static_cast<double>(call.outer * call.inner);
    const Cube mean = xt::sum(x, {0, 2}, xt::keep_dims) / count, squares = xt::square(x - mean);
    array<double>(call.first, {call.channels}) = xt::sum(x, {0, 2}) / count;
    array<double>(call.second, {call.channels}) = xt::sum(squares, {0, 2}) / count;
  });
}

std::int32_t batch_slopes(const void* arguments) {
  const auto& call = *static_cast<const ktape_batch_normalization*>(arguments);
  const std::int64_t shape[] = {call.outer, call.channels, call.inner};
  return computed(call, [&]<class T>() {
    const Cube g = read<T>(call.g, shape), x = read<T>(call.x, shape);
    const Cube products = chained(g, x - per_channel<T>(call, call.centre));
    array<double>(call.first, {call.channels}) = xt::sum(g, {0, 2});
    array<double>(call.second, {call.channels}) = xt::sum(products, {0, 2});
  });
}

std::int32_t batch_affine(const void* arguments) {
  const auto& call = *static_cast<const ktape_batch_normalization*>(arguments);
  const std::int64_t shape[] = {call.outer, call.channels, call.inner};
  return computed(call, [&]<class T>() {
    Cube y = xt::zeros<double>({call.outer, call.channels, call.inner});
    if (call.g) y += read<T>(call.g, shape) * per_channel<T>(call, call.scale);
    if (call.x)
      y += (read<T>(call.x, shape) - per_channel<T>(call, call.centre)) * per_channel<T>(call, call.slope) +
           per_channel<T>(call, call.offset);
    write<T>(call.y, shape, y);
  });
}

}  // namespace

const Kernels& xtensor_kernels() {
  static const Kernels kernels{matmul,
                               convolution<Sum::Forward>,
                               convolution<Sum::BackwardData>,
                               convolution<Sum::BackwardKernel>,
                               pooling,
                               pooling_backward,
                               softmax,
                               softmax_backward,
                               batch_moments,
                               batch_slopes,
                               batch_affine};
  return kernels;
}

}  // namespace ktape::kernels
