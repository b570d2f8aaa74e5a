#include "../reference/layers.hpp"
#include "draws.hpp"

using namespace draws;
using reference::Windows;

namespace {

/// Windows on an image of `rank` spatial axes, in either layout.
struct Layout {
  Windows windows;
  Extents size;    ///< the size of the windows
  Extents images;  ///< one extent for each spatial axis
  bool channels_first = false;

  std::string padding() const { return windows.same ? "same" : "valid"; }
  std::string format() const { return channels_first ? "channels_first" : "channels_last"; }
  std::string text() const {
    return draws::text(size) + ", strides " + draws::text(windows.strides) + ", rates " +
           draws::text(windows.rates) + ", " + padding() + ", " + format();
  }
  Shape of_images(std::int64_t samples, std::int64_t channels) const { return of(samples, images, channels); }
  Shape of(std::int64_t samples, const Extents& space, std::int64_t channels) const {
    Shape shape{samples};
    if (channels_first) shape.push_back(channels);
    for (const std::size_t n : space) shape.push_back(static_cast<std::int64_t>(n));
    if (!channels_first) shape.push_back(channels);
    return shape;
  }
  Shape of_kernel(std::int64_t in, std::int64_t out) const {
    Shape shape(std::vector<std::int64_t>(size.begin(), size.end()));
    shape.push_back(in), shape.push_back(out);
    return shape;
  }
  Extents places() const {
    Extents out;
    for (std::size_t d = 0; d < size.size(); ++d) {
      const std::size_t s = windows.strides[d], reach = (size[d] - 1) * windows.rates[d] + 1;
      out.push_back(windows.same ? (images[d] + s - 1) / s : (images[d] - reach) / s + 1);
    }
    return out;
  }
  Array in(const Array& x) const {
    if (!channels_first) return x;
    Axes pattern = counting(static_cast<int>(x.dimension()));
    std::rotate(pattern.begin() + 1, pattern.begin() + 2, pattern.end());
    return reference::permute(x, pattern);
  }
  Array out(const Array& y) const {
    if (!channels_first) return y;
    Axes pattern = counting(static_cast<int>(y.dimension()));
    std::rotate(pattern.begin() + 1, pattern.end() - 1, pattern.end());
    return reference::permute(y, pattern);
  }
};

ktape::backend::PerAxis<std::int64_t> per_axis(const Extents& list) {
  return std::vector<std::int64_t>(list.begin(), list.end());
}

Layout layout(Random& random, int rank, bool may_dilate = true, bool one_stride = false) {
  Layout out;
  out.windows.same = random.chance(0.5), out.channels_first = random.chance(0.3);
  const bool dilated = may_dilate && random.chance(0.3), strided = !dilated && random.chance(0.5);
  const auto stride = static_cast<std::size_t>(1 + random.below(3));
  for (int d = 0; d < rank; ++d) {
    const auto size = static_cast<std::size_t>(1 + random.below(4)),
               rate = dilated ? static_cast<std::size_t>(1 + random.below(3)) : 1,
               least = out.windows.same ? 1 : (size - 1) * rate + 1;
    out.size.push_back(size), out.windows.rates.push_back(rate);
    out.windows.strides.push_back(!strided     ? 1
                                  : one_stride ? stride
                                               : static_cast<std::size_t>(1 + random.below(3)));
    out.images.push_back(least + static_cast<std::size_t>(random.below(rank == 3 ? 4 : 12)));
  }
  return out;
}

std::int64_t channels(Random& random) {
  return random.pick(std::vector<std::int64_t>{1, 2, 3, 4, 7, 8, 9, 16, 17});
}

K::ConvOptions options(const Layout& at) {
  return {.strides = per_axis(at.windows.strides),
          .padding = at.padding(),
          .data_format = at.format(),
          .dilation_rate = per_axis(at.windows.rates)};
}

OpCall convolution(Random& random) {
  struct Function {
    const char* op;
    Tensor (*run)(const Tensor&, const Tensor&, const K::ConvOptions&);
  };
  static const Function functions[] = {{"conv1d", K::conv1d}, {"conv2d", K::conv2d}, {"conv3d", K::conv3d}};
  const int rank = static_cast<int>(1 + random.below(3));
  const Function f = functions[rank - 1];
  const Layout at = layout(random, rank);
  const std::int64_t in = channels(random), out = channels(random);
  const DType dtype = random.pick(wide);
  return {.op = f.op,
          .arguments = at.text(),
          .inputs = {tensor(random, at.of_images(1 + random.below(3), in), dtype),
                     tensor(random, at.of_kernel(in, out), dtype)},
          .run = [=](In x) { return f.run(x[0], x[1], options(at)); },
          .wanted = [=](Arrays x) { return at.out(reference::conv(at.in(x[0]), x[1], at.windows)); },
          .terms = 16. * 64 * static_cast<double>(in)};
}

OpCall depthwise(Random& random) {
  const Layout at = layout(random, 2, true, true);
  const std::int64_t in = channels(random), multiplier = 1 + random.below(3);
  const DType dtype = random.pick(wide);
  return {.op = "depthwise_conv2d",
          .arguments = at.text(),
          .inputs = {tensor(random, at.of_images(1 + random.below(3), in), dtype),
                     tensor(random, at.of_kernel(in, multiplier), dtype)},
          .run = [=](In x) { return K::depthwise_conv2d(x[0], x[1], options(at)); },
          .wanted =
              [=](Arrays x) {
                Array kernel = x[1];
                kernel.reshape({kernel.shape(0), kernel.shape(1), std::size_t{1},
                                static_cast<std::size_t>(in * multiplier)});
                return at.out(reference::conv(at.in(x[0]), kernel, at.windows, static_cast<std::size_t>(in)));
              },
          .terms = 16. * 16};
}

OpCall separable(Random& random) {
  const int rank = static_cast<int>(1 + random.below(2));
  const Layout at = layout(random, rank, true, true);
  const std::int64_t in = channels(random), multiplier = 1 + random.below(3), out = channels(random);
  const DType dtype = random.pick(wide);
  Shape pointwise(std::vector<std::int64_t>(static_cast<std::size_t>(rank), 1));
  pointwise.push_back(in * multiplier), pointwise.push_back(out);
  OpCall call{.op = rank == 1 ? "separable_conv1d" : "separable_conv2d", .arguments = at.text()};
  call.inputs = {tensor(random, at.of_images(1 + random.below(3), in), dtype),
                 tensor(random, at.of_kernel(in, multiplier), dtype), tensor(random, pointwise, dtype)};
  call.run = [=](In x) {
    return rank == 1 ? K::separable_conv1d(x[0], x[1], x[2], options(at))
                     : K::separable_conv2d(x[0], x[1], x[2], options(at));
  };
  call.wanted = [=](Arrays x) {
    Array kernel = x[1];
    Extents shape = at.size;
    shape.push_back(1), shape.push_back(static_cast<std::size_t>(in * multiplier));
    kernel.reshape(shape);
    const Array each = reference::conv(at.in(x[0]), kernel, at.windows, static_cast<std::size_t>(in));
    Array mixing = x[2];
    mixing.reshape({static_cast<std::size_t>(in * multiplier), static_cast<std::size_t>(out)});
    const auto rows = each.size() / each.shape().back();
    Array columns = each;
    columns.reshape({rows, each.shape().back()});
    Array y = reference::matmul(columns, mixing);
    Extents last(each.shape().begin(), each.shape().end());
    last.back() = static_cast<std::size_t>(out);
    y.reshape(last);
    return at.out(y);
  };
  call.terms = 16. * 16 * 64 * static_cast<double>(in);
  return call;
}

/// Draws a local convolution, with a separate kernel at each position.
OpCall local(Random& random) {
  Layout at = layout(random, static_cast<int>(1 + random.below(2)), false);
  at.windows.same = at.channels_first = false;
  for (std::size_t d = 0; d < at.size.size(); ++d) at.images[d] = std::max(at.images[d], at.size[d]);
  const std::int64_t in = channels(random), out = channels(random);
  const DType dtype = random.pick(wide);
  const Extents places = at.places();
  std::int64_t positions = 1, patch = in;
  for (const std::size_t n : places) positions *= static_cast<std::int64_t>(n);
  for (const std::size_t n : at.size) patch *= static_cast<std::int64_t>(n);
  OpCall call{.op = at.size.size() == 1 ? "local_conv1d" : "local_conv2d", .arguments = at.text()};
  call.inputs = {tensor(random, at.of_images(1 + random.below(3), in), dtype),
                 tensor(random, {positions, patch, out}, dtype)};
  call.run = [=](In x) {
    const auto size = per_axis(at.size), strides = per_axis(at.windows.strides);
    if (places.size() == 1)
      return K::local_conv1d(x[0], x[1], size, strides, {.data_format = "channels_last"});
    return K::local_conv2d(x[0], x[1], size, strides,
                           Shape(std::vector<std::int64_t>(places.begin(), places.end())),
                           {.data_format = "channels_last"});
  };
  call.wanted = [=](Arrays x) {
    std::vector<Array> columns;
    Extents size{x[0].shape(0)};
    size.insert(size.end(), at.size.begin(), at.size.end()), size.push_back(static_cast<std::size_t>(in));
    for (std::size_t p = 0; p < static_cast<std::size_t>(positions); ++p) {
      Extents start(size.size(), 0);
      for (std::size_t d = places.size(), rest = p; d-- > 0; rest /= places[d])
        start[d + 1] = rest % places[d] * at.windows.strides[d];
      Array cells = reference::slice(x[0], start, size),
            kernel = reference::slice(x[1], {p, 0, 0}, {1, x[1].shape(1), x[1].shape(2)});
      cells.reshape({size[0], static_cast<std::size_t>(patch)});
      kernel.reshape({x[1].shape(1), x[1].shape(2)});
      columns.push_back(reference::matmul(cells, kernel));
    }
    Array y = reference::concatenate(columns, 1);
    Extents shape{size[0]};
    shape.insert(shape.end(), places.begin(), places.end()), shape.push_back(static_cast<std::size_t>(out));
    y.reshape(shape);
    return y;
  };
  call.terms = 16. * static_cast<double>(patch), call.least_known = Inputs::Placeholders;
  return call;
}

OpCall transposed(Random& random) {
  const bool cubes = random.chance(0.3);
  const Layout at = layout(random, cubes ? 3 : 2, false);
  const std::int64_t in = channels(random), out = channels(random), samples = 1 + random.below(3);
  const DType dtype = random.pick(wide);
  const Shape result = at.of_images(samples, out);
  OpCall call{.op = cubes ? "conv3d_transpose" : "conv2d_transpose",
              .arguments = at.text() + ", " + text(result),
              .inputs = {tensor(random, at.of(samples, at.places(), in), dtype),
                         tensor(random, at.of_kernel(out, in), dtype)}};
  call.run = [=](In x) {
    if (!cubes) return K::conv2d_transpose(x[0], x[1], result, options(at));
    return K::conv3d_transpose(
        x[0], x[1], result,
        {.strides = per_axis(at.windows.strides), .padding = at.padding(), .data_format = at.format()});
  };
  call.wanted = [=](Arrays x) {
    Layout last = at;
    last.channels_first = false;
    const Extents shape = as_extents(last.of_images(samples, out));
    return at.out(reference::conv_transpose(at.in(x[0]), x[1], shape, at.windows));
  };
  call.terms = 16. * 64 * static_cast<double>(in);
  return call;
}

OpCall pooling(Random& random) {
  const int rank = static_cast<int>(2 + random.below(2));
  const Layout at = layout(random, rank, false);
  const bool largest = random.chance(0.5);
  const K::PoolOptions given{.strides = per_axis(at.windows.strides),
                             .padding = at.padding(),
                             .data_format = at.format(),
                             .pool_mode = largest ? "max" : "avg"};
  return {
      .op = rank == 2 ? "pool2d" : "pool3d",
      .arguments = at.text() + ", " + given.pool_mode,
      .inputs = {tensor(random, at.of_images(1 + random.below(3), channels(random)), random.pick(floating))},
      .run =
          [=](In x) {
            return rank == 2 ? K::pool2d(x[0], per_axis(at.size), given)
                             : K::pool3d(x[0], per_axis(at.size), given);
          },
      .wanted =
          [=](Arrays x) {
            const auto pool = largest ? reference::max_pool : reference::average_pool;
            return at.out(pool(at.in(x[0]), at.size, at.windows));
          },
      .terms = largest ? 0. : 64.,
      .any_value = largest};
}

OpCall attention(Random& random) {
  const std::int64_t batch = 1 + random.below(2), heads = 1 + random.below(3), queries = 1 + random.below(20),
                     keys = 1 + random.below(20), depth = 1 + random.below(9), width = 1 + random.below(9);
  const DType dtype = random.pick(wide);
  const bool causal = random.chance(0.3);
  const auto small = [&](const Shape& shape) { return (tensor(random, shape, dtype) * 0.25).detach(); };
  return {.op = "scaled_dot_product_attention",
          .arguments = causal ? "causal" : "",
          .inputs = {small({batch, heads, queries, depth}), small({batch, heads, keys, depth}),
                     small({batch, heads, keys, width}),
                     tensor(random, broadcasting(random, {batch, heads, queries, keys}),
                            random.pick(all_dtypes))},
          .run =
              [=](In x) {
                return K::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3], .causal = causal});
              },
          .wanted = [=](Arrays x) { return reference::attention(x[0], x[1], x[2], x[3], causal); },
          .terms = 64};
}

OpCall crossentropy(Random& random) {
  const Shape extents = shape(random, 1, 3);
  const DType dtype = random.pick(wide);
  const bool logits = random.chance(0.5), binary = random.chance(0.5);
  Tensor output = tensor(random, extents, dtype);
  if (!logits) output = ((K::abs(output) + 1. / 16) / 8).detach();
  const Tensor target = (K::abs(tensor(random, extents, dtype)) / 4).detach();
  OpCall call{.op = binary ? "binary_crossentropy" : "categorical_crossentropy",
              .arguments = logits ? "from logits" : "",
              .inputs = {target, output}};
  call.run = [=](In x) {
    return binary ? K::binary_crossentropy(x[0], x[1], {.from_logits = logits})
                  : K::categorical_crossentropy(x[0], x[1], {.from_logits = logits});
  };
  call.wanted = [=](Arrays x) {
    return binary ? reference::binary_crossentropy(x[0], x[1], logits)
                  : reference::categorical_crossentropy(x[0], x[1], logits);
  };
  call.terms = 16. * static_cast<double>(extents.back() + 16);
  return call;
}

OpCall sparse_crossentropy(Random& random) {
  const Shape extents = shape(random, 1, 3);
  const Shape rows(std::vector<std::int64_t>(extents.begin(), extents.end() - 1));
  const DType dtype = random.pick(wide);
  const bool logits = random.chance(0.5);
  std::vector<double> labels(static_cast<std::size_t>(rows.count()));
  for (double& label : labels) label = static_cast<double>(random.below(extents.back()));
  OpCall call;
  if (random.chance(0.1)) call.fits = false, labels[0] = static_cast<double>(extents.back());
  Tensor output = tensor(random, extents, dtype);
  if (!logits) output = ((K::abs(output) + 1. / 16) / 8).detach();
  call.op = "sparse_categorical_crossentropy", call.arguments = logits ? "from logits" : "";
  call.inputs = {K::constant(labels, {.dtype = random.chance(0.5) ? "int32" : "float32", .shape = rows}),
                 output};
  call.run = [=](In x) { return K::sparse_categorical_crossentropy(x[0], x[1], {.from_logits = logits}); };
  call.wanted = [=](Arrays x) { return reference::sparse_categorical_crossentropy(x[0], x[1], logits); };
  call.terms = 64;
  return call;
}

/// Draws a recurrence with masked steps after a sample's length, which repeat the last output.
OpCall masked_recurrence(Random& random) {
  const std::int64_t samples = 1 + random.below(5), steps = 1 + random.below(6),
                     features = 1 + random.below(5), units = 1 + random.below(9),
                     gates = random.chance(0.5) ? 4 : 3, columns = gates * units;
  const DType dtype = random.pick(wide);
  const bool zero = random.chance(0.5);
  const auto small = [&](const Shape& shape) { return (tensor(random, shape, dtype) * 0.125).detach(); };
  std::vector<double> mask;
  for (std::int64_t i = 0; i < samples; ++i)
    for (std::int64_t t = 0, length = random.below(steps + 1); t < steps; ++t) mask.push_back(t < length);
  OpCall call;
  call.op = gates == 4 ? "lstm" : "gru", call.arguments = zero ? "masked by zeros" : "masked";
  call.inputs = {small({samples, steps, features}), small({features, columns}), small({units, columns}),
                 small(gates == 3 ? Shape{2, columns} : Shape{columns}),
                 K::constant(mask, {.dtype = "bool", .shape = Shape{samples, steps}})};
  call.run = [=](In x) {
    if (gates == 4)
      return K::lstm(x[0], x[1], x[2], x[3], {}, {.mask = x[4], .zero_output_for_mask = zero}).outputs;
    return K::gru(x[0], x[1], x[2], x[3], {}, {.mask = x[4], .zero_output_for_mask = zero}).outputs;
  };
  call.wanted = [=](Arrays x) {
    Array y = (gates == 4 ? reference::lstm : reference::gru)(x[0], x[1], x[2], x[3]);
    for (std::size_t i = 0; i < y.shape(0); ++i)
      for (std::size_t t = 0; t < y.shape(1); ++t)
        for (std::size_t u = 0; u < y.shape(2) && x[4](i, t) == 0; ++u)
          y(i, t, u) = zero || t == 0 ? 0 : y(i, t - 1, u);
    return y;
  };
  call.terms = 64. * static_cast<double>(steps);
  return call;
}

}  // namespace

std::vector<MakeCall> layer_calls() {
  return {convolution, convolution,  depthwise,           separable,        local, transposed, pooling,
          attention,   crossentropy, sparse_crossentropy, masked_recurrence};
}
