#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/suggestion.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/images/resampling.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace ktape::op_helpers {
namespace {

using kernels::compute_type;

// --- Along one axis ----------------------------------------------------------------------------------------

/// A function that gives the weight of a pixel by its distance; 0 from the radius on.
struct Kernel {
  const char* name;
  double radius;
  double (*weight)(double);
};

double cubic(double t, double b, double c) {
  const double near = ((12 - 9 * b - 6 * c) * t * t * t + (-18 + 12 * b + 6 * c) * t * t + 6 - 2 * b) / 6;
  const double far =
      ((-b - 6 * c) * t * t * t + (6 * b + 30 * c) * t * t + (-12 * b - 48 * c) * t + 8 * b + 24 * c) / 6;
  return t < 1 ? near : far;
}

double sinc(double t) { return t == 0 ? 1 : std::sin(std::numbers::pi * t) / (std::numbers::pi * t); }

constexpr Kernel kernel_table[] = {
    {"bilinear", 1, [](double t) { return 1 - t; }},
    {"bicubic", 2, [](double t) { return cubic(t, 0, 0.5); }},
    {"mitchellcubic", 2, [](double t) { return cubic(t, 1. / 3, 1. / 3); }},
    {"gaussian", 1.5, [](double t) { return std::exp(-2 * t * t); }},
    {"lanczos3", 3, [](double t) { return sinc(t) * sinc(t / 3); }},
    {"lanczos5", 5, [](double t) { return sinc(t) * sinc(t / 5); }},
};

const Kernel* kernel_of(const std::string& interpolation) {
  for (const Kernel& kernel : kernel_table)
    if (interpolation == kernel.name) return &kernel;
  return nullptr;
}

/// Weighted sums of `from` pixels for each of `to` pixels: the terms of pixel i are the entries from begin[i]
/// to begin[i + 1].
struct Plan {
  std::int64_t from = 0, to = 0;
  std::vector<std::int64_t> begin{0}, place = {};
  std::vector<double> weight = {};

  void add(std::int64_t at, double w) {
    if (w == 0) return;
    place.push_back(at);
    weight.push_back(w);
  }
  void end_place() { begin.push_back(static_cast<std::int64_t>(place.size())); }
};

void add_weighted(Plan& plan, const Kernel& kernel, double middle, double width) {
  const double reach = kernel.radius * width;
  const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(middle - reach - 0.5)));
  const auto last = std::min(plan.from - 1, static_cast<std::int64_t>(std::floor(middle + reach - 0.5)));
  const auto begin = static_cast<std::ptrdiff_t>(plan.weight.size());
  double sum = 0;
  for (std::int64_t j = first; j <= last; ++j) {
    const double t = std::fabs(static_cast<double>(j) + 0.5 - middle) / width;
    const double weight = t < kernel.radius ? kernel.weight(t) : 0;
    plan.add(j, weight);
    sum += weight;
  }
  std::for_each(plan.weight.begin() + begin, plan.weight.end(), [sum](double& weight) { weight /= sum; });
}

/// Adds pixel i as the mean of the input from i * from / to on. Positions are counted in units of 1 / to.
void add_area(Plan& plan, std::int64_t i) {
  const std::int64_t start = i * plan.from, stop = start + plan.from;
  for (std::int64_t j = start / plan.to; j * plan.to < stop; ++j) {
    const std::int64_t covered = std::min(stop, (j + 1) * plan.to) - std::max(start, j * plan.to);
    plan.add(j, static_cast<double>(covered) / static_cast<double>(plan.from));
  }
}

Plan plan_of(std::int64_t from, std::int64_t to, const std::string& interpolation, bool antialias) {
  Plan plan{from, to};
  plan.begin.reserve(static_cast<std::size_t>(to) + 1);
  plan.place.reserve(2 * static_cast<std::size_t>(to)), plan.weight.reserve(2 * static_cast<std::size_t>(to));
  const Kernel* kernel = kernel_of(interpolation);
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  for (std::int64_t i = 0; i < to; ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * ratio;
    if (kernel) add_weighted(plan, *kernel, middle, antialias ? std::max(ratio, 1.) : 1);
    else if (interpolation == "nearest") plan.add((2 * i + 1) * from / (2 * to), 1);
    else add_area(plan, i);
    plan.end_place();
  }
  return plan;
}

Plan transposed(const Plan& plan) {
  Plan out{plan.to, plan.from};
  if (plan.place.empty()) return out;
  out.begin.assign(static_cast<std::size_t>(plan.from) + 1, 0);
  for (const std::int64_t j : plan.place) ++out.begin[static_cast<std::size_t>(j) + 1];
  for (std::size_t j = 1; j < out.begin.size(); ++j) out.begin[j] += out.begin[j - 1];
  out.place.resize(plan.place.size());
  out.weight.resize(plan.place.size());
  std::vector<std::int64_t> next = out.begin;
  for (std::int64_t i = 0; i < plan.to; ++i)
    for (auto k = static_cast<std::size_t>(plan.begin[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(plan.begin[static_cast<std::size_t>(i) + 1]); ++k) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(plan.place[k])]++);
      out.place[at] = i;
      out.weight[at] = plan.weight[k];
    }
  return out;
}

/// Computes one row of n numbers as the weighted sum of the rows of `block` at `place`. `sums` is memory for
/// one row.
template <class T, class C, class N>
[[gnu::always_inline]] inline void weigh_row(T* out, const T* block, N n, std::int64_t count,
                                             const std::int64_t* place, const C* weight, C* sums) {
  if (count == 2) {  // most rows of an image that "bilinear" enlarges
    const T *a = block + place[0] * n, *b = block + place[1] * n;
    for (std::int64_t j = 0; j < n; ++j) out[j] = static_cast<T>(weight[0] * C(a[j]) + weight[1] * C(b[j]));
    return;
  }
  std::fill_n(sums, n, C(0));
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t j = 0; j < n; ++j) sums[j] += weight[k] * C(block[place[k] * n + j]);
  std::transform(sums, sums + n, out, [](C sum) { return static_cast<T>(sum); });
}

/// Computes out (outer, plan.to, inner) from in (outer, plan.from, inner).
template <class T>
void weigh(T* out, const T* in, const Plan& plan, std::int64_t outer, std::int64_t inner) {
  using C = compute_type<T>;
  const std::vector<C> weights(plan.weight.begin(), plan.weight.end());
  const std::int64_t taps = static_cast<std::int64_t>(weights.size()) / std::max<std::int64_t>(plan.to, 1);
  kernels::parallel_rows(outer * plan.to, inner * (taps + 1), [&](std::int64_t begin, std::int64_t end) {
    kernels::Workspace<C> space(inner);
    C* const sums = space.take(inner);
    auto i = static_cast<std::size_t>(begin % plan.to);
    const T* block = in + begin / plan.to * plan.from * inner;
    const auto rows = [&](auto n) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t first = plan.begin[i];
        weigh_row(out + row * n, block, n, plan.begin[i + 1] - first, plan.place.data() + first,
                  weights.data() + first, sums);
        if (++i == static_cast<std::size_t>(plan.to)) i = 0, block += plan.from * n;
      }
    };
    if (inner == 1) rows(std::integral_constant<std::int64_t, 1>());
    else if (inner == 3) rows(std::integral_constant<std::int64_t, 3>());
    else rows(inner);
  });
}

Tensor weighed(const Tensor& x, int axis, const Plan& plan) {
  Shape shape = x.shape();
  shape[axis] = plan.to;
  const Tensor values = op_helpers::widened(x), sums = Tensor::empty(shape, values.dtype());
  if (sums.size() > 0)
    dispatch_native_floating(values.dtype(), [&]<class T>() {
      weigh(sums.pointer<T>(), values.pointer<T>(), plan, shape.count(0, axis), shape.count(axis + 1));
    });
  Tensor out = op_helpers::narrowed(sums, x.dtype());
  if (recording(x))
    record("resample", out, {x}, [axis, plan](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return weighed(g, axis, transposed(plan)); });
    });
  return out;
}

// --- Through an affine map ---------------------------------------------------------------------------------

/// The memory layout of images: each has `planes` arrays of height * width pixels with `inner` numbers.
struct Layout {
  std::int64_t images, planes, height, width, inner;

  Layout(const Shape& shape, bool channels_first)
      : images(shape[0]),
        planes(channels_first ? shape[1] : 1),
        height(shape[channels_first ? 2 : 1]),
        width(shape[channels_first ? 3 : 2]),
        inner(channels_first ? 1 : shape[3]) {}
  std::int64_t image() const { return planes * plane(); }
  std::int64_t plane() const { return height * width * inner; }
};

/// Maps a position outside of a row of n elements to a position inside, as the mode says; -1 for the mode
/// with a constant value outside.
std::int64_t inside_position(std::int64_t i, std::int64_t n, FillMode mode) {
  if (i >= 0 && i < n) return i;
  const auto wrapped = [i](std::int64_t period) { return (i % period + period) % period; };
  if (mode == FillMode::Nearest) return i < 0 ? 0 : n - 1;
  if (mode == FillMode::Wrap) return wrapped(n);
  if (mode == FillMode::Reflect) return std::min(wrapped(2 * n), 2 * n - 1 - wrapped(2 * n));
  return -1;
}

/// The input pixels whose weighted sum is an output pixel; `missing` is the weight of the fill value.
struct Sampling {
  std::int64_t pixel[4];
  double weight[4], missing = 0;
  int count = 0;

  Sampling(const AffineMap& map, std::int64_t row, std::int64_t column, const Layout& at,
           const WarpOptions& options) {
    const auto u = static_cast<double>(column), v = static_cast<double>(row);
    const double x = map.a * u + map.b * v + map.c, y = map.d * u + map.e * v + map.f;
    if (!options.bilinear) {
      add(static_cast<std::int64_t>(std::round(y)), static_cast<std::int64_t>(std::round(x)), 1, at, options);
      return;
    }
    const double left = std::floor(x), top = std::floor(y), right_weight = x - left, low_weight = y - top;
    for (int low = 0; low < 2; ++low)
      for (int right = 0; right < 2; ++right)
        add(static_cast<std::int64_t>(top) + low, static_cast<std::int64_t>(left) + right,
            (low ? low_weight : 1 - low_weight) * (right ? right_weight : 1 - right_weight), at, options);
  }

 private:
  void add(std::int64_t row, std::int64_t column, double w, const Layout& at, const WarpOptions& options) {
    if (w == 0) return;
    const std::int64_t y = inside_position(row, at.height, options.fill_mode),
                       x = inside_position(column, at.width, options.fill_mode);
    if (y < 0 || x < 0) {
      missing += w;
      return;
    }
    pixel[count] = (y * at.width + x) * at.inner;
    weight[count++] = w;
  }
};

struct Warp {
  std::vector<AffineMap> maps;
  WarpOptions options;
};

template <class T>
void warp_images(T* out, const T* in, const Warp& warp, const Layout& at) {
  using C = compute_type<T>;
  kernels::parallel_rows(at.images * at.height, at.image() / at.height * 5, [&](auto begin, auto end) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t column = 0; column < at.width; ++column) {
        const std::int64_t image = row / at.height, y = row % at.height;
        const Sampling sampling(warp.maps[static_cast<std::size_t>(image)], y, column, at, warp.options);
        const std::int64_t place = image * at.image() + (y * at.width + column) * at.inner;
        for (std::int64_t plane = 0; plane < at.planes; ++plane)
          for (std::int64_t j = 0; j < at.inner; ++j) {
            const T* from = in + image * at.image() + plane * at.plane() + j;
            C sum = static_cast<C>(sampling.missing * warp.options.fill_value);
            for (int k = 0; k < sampling.count; ++k)
              sum += static_cast<C>(sampling.weight[k]) * C(from[sampling.pixel[k]]);
            out[place + plane * at.plane() + j] = static_cast<T>(sum);
          }
      }
  });
}

/// Computes the gradient of `warp_images`: the transposed linear map.
template <class T>
void warp_gradient(T* out, const T* g, const Warp& warp, const Layout& at) {
  using C = compute_type<T>;
  kernels::parallel_rows(at.images, at.image() * 5, [&](std::int64_t begin, std::int64_t end) {
    std::vector<C> sums(static_cast<std::size_t>(at.image()));
    for (std::int64_t image = begin; image < end; ++image) {
      std::fill(sums.begin(), sums.end(), C(0));
      for (std::int64_t pixel = 0; pixel < at.height * at.width; ++pixel) {
        const Sampling sampling(warp.maps[static_cast<std::size_t>(image)], pixel / at.width,
                                pixel % at.width, at, warp.options);
        for (std::int64_t plane = 0; plane < at.planes; ++plane)
          for (int k = 0; k < sampling.count; ++k)
            for (std::int64_t j = 0; j < at.inner; ++j)
              sums[static_cast<std::size_t>(plane * at.plane() + sampling.pixel[k] + j)] +=
                  static_cast<C>(sampling.weight[k]) *
                  C(g[image * at.image() + plane * at.plane() + pixel * at.inner + j]);
      }
      std::transform(sums.begin(), sums.end(), out + image * at.image(),
                     [](C sum) { return static_cast<T>(sum); });
    }
  });
}

Tensor warped(const Tensor& x, const std::shared_ptr<const Warp>& warp, bool back) {
  const Tensor values = op_helpers::widened(x), moved = Tensor::empty_like(values);
  const Layout layout(x.shape(), warp->options.channels_first);
  if (x.size() > 0)
    dispatch_native_floating(values.dtype(), [&]<class T>() {
      (back ? warp_gradient<T> : warp_images<T>)(moved.pointer<T>(), values.pointer<T>(), *warp, layout);
    });
  Tensor out = op_helpers::narrowed(moved, x.dtype());
  if (recording(x))
    record("warp", out, {x}, [warp, back](const Tensor& g, Grads& grads) {
      grads.to(0, [&] {
        // The map and its transpose are linear except for the fill value, which is constant: gradients use 0.
        auto linear = std::make_shared<Warp>(*warp);
        linear->options.fill_value = 0;
        return warped(g, linear, !back);
      });
    });
  return out;
}

}  // namespace

void expect_interpolation(const char* layer, const std::string& interpolation) {
  if (kernel_of(interpolation) || interpolation == "nearest" || interpolation == "area") return;
  std::vector<std::string> known{"nearest", "area"};
  for (const Kernel& kernel : kernel_table) known.push_back(kernel.name);
  fail("[", layer, "] interpolation must be ", in_quotes(known, " or "), ": received interpolation=\"",
       interpolation, '"', near_names(interpolation, known));
}

Tensor resampled(const Tensor& x, int axis, std::int64_t extent, const std::string& interpolation,
                 bool antialias) {
  const std::int64_t before = x.shape()[axis];
  if (before == extent) return x;
  // An image without pixels needs no plan, whose memory grows with the extent.
  if (x.size() == 0) return weighed(x, axis, Plan{before, extent});
  return weighed(x, axis, plan_of(before, extent, interpolation, antialias));
}

Tensor resampled(const Tensor& x, const std::array<int, 2>& axes, const std::array<std::int64_t, 2>& extents,
                 const std::string& interpolation, bool antialias) {
  Shape between = x.shape(), result;
  between[axes[0]] = extents[0];
  result = between;
  result[axes[1]] = extents[1];
  // The allocation fails here if memory does not suffice; untouched memory costs nothing. A plan has some
  // numbers for each output position.
  constexpr std::int64_t numbers = 16;
  for (const Shape& shape : {result, between, Shape{extents[0], numbers}, Shape{extents[1], numbers}})
    Tensor::empty(shape, x.dtype(), "resize");
  const Tensor tall = resampled(x, axes[0], extents[0], interpolation, antialias);
  return resampled(tall, axes[1], extents[1], interpolation, antialias);
}

Tensor warped(const Tensor& x, std::vector<AffineMap> maps, const WarpOptions& options) {
  return warped(x, std::make_shared<Warp>(Warp{std::move(maps), options}), false);
}

}  // namespace ktape::op_helpers
