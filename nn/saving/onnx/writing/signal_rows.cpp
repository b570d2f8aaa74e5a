#include <ktape/autograd/indexing.hpp>
#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/as_dtype.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

/// Fourier transforms, and the windows of signals and images.
namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Returns the names of the two parts of a complex tensor.
Names parts(const Translation& t) {
  const auto& x = t.call->tensors("x");
  return {t.name(x[0]), t.name(x[1])};
}

/// Returns a DFT over the last axis of a real tensor, or of a complex tensor given as its two parts. The operator takes and
/// returns both parts in one tensor, along a new last axis.
Names transformed(const Translation& t, const Names& x, std::int64_t inverse, std::int64_t onesided) {
  Names last;
  for (const std::string& part : x) last.push_back(t.node("Unsqueeze", {part, t.graph.integers({-1})}));
  const std::string whole = last.size() == 1 ? last[0] : t.node("Concat", last, {{"axis", std::int64_t{-1}}});
  // One batch axis and one axis of the signal, so that the number of the axis is known.
  const std::string shape = t.node("Shape", {whole}, {{"start", std::int64_t{-2}}});
  const std::string rows = t.node(
      "Reshape", {whole, t.node("Concat", {t.graph.integers({-1}), shape}, {{"axis", std::int64_t{0}}})});
  Attributes attributes{{"inverse", inverse}, {"onesided", onesided}};
  Names inputs{rows};
  if (t.graph.opset() < 20) attributes.emplace_back("axis", std::int64_t{1});
  else inputs = {rows, "", t.graph.integer(1)};
  const std::string made = t.node("DFT", inputs, attributes);
  const std::string outer = t.node("Shape", {whole}, {{"end", std::int64_t{-2}}});
  const std::string extent = t.graph.extent(made, 1);
  const std::string wanted = t.node("Concat", {outer, extent}, {{"axis", std::int64_t{0}}});
  Names out;
  for (const std::int64_t part : {0, 1})
    out.push_back(t.node(
        "Reshape", {t.node("Gather", {made, t.graph.integer(part)}, {{"axis", std::int64_t{-1}}}), wanted}));
  return out;
}

/// The transform, or the inverse one times the number of elements, which is a transform with the parts exchanged.
Names fourier_transform(const Translation& t) {
  Names x = parts(t);
  const bool inverse = t.call->flag("inverse");
  if (inverse) std::swap(x[0], x[1]);
  Names y = transformed(t, x, 0, 0);
  if (inverse) std::swap(y[0], y[1]);
  return y;
}

Names real_transform(const Translation& t) { return transformed(t, {t("x")}, 0, 1); }

/// The real numbers with the given half of a transform: the other half has the conjugate elements in reverse order.
Names real_numbers(const Translation& t) {
  const std::int64_t n = t.call->integer("fft_length");
  const Names half = parts(t);
  const auto mirrored = [&](const std::string& x) { return t.graph.sliced(x, -1, (n - 1) / 2, 0, -1); };
  const auto joined = [&](const std::string& a, const std::string& b) {
    return n < 3 ? a : t.node("Concat", {a, b}, {{"axis", std::int64_t{-1}}});
  };
  const std::string real = joined(half[0], mirrored(half[0]));
  const std::string imag = joined(half[1], t.node("Neg", {mirrored(half[1])}));
  return {transformed(t, {real, imag}, 1, 0)[0]};
}

Integers window_places(std::int64_t windows, std::int64_t length, std::int64_t stride) {
  Integers places;
  for (std::int64_t i = 0; i < windows; ++i)
    for (std::int64_t j = 0; j < length; ++j) places.push_back(i * stride + j);
  return places;
}

Names extract_sequences(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  const std::int64_t n = x.shape()[-1], length = t.call->integer("sequence_length"),
                     stride = t.call->integer("sequence_stride");
  if (n == None) t.fail("the number of elements is unknown");
  const std::int64_t windows = (n - length) / stride + 1;
  const Integers places = window_places(windows, length, stride);
  const Tensor at = Tensor::from_buffer(places.data(), places.size() * sizeof(std::int64_t),
                                        {windows, length}, DType::Int64);
  return {t.node("Gather", {t("x"), t.graph.constant(at)}, {{"axis", std::int64_t{x.ndim() - 1}}})};
}

/// The patches of images, (batch, channels, height, width): slices for each place in a patch.
Names unfold(const Translation& t) {
  const Tensor x = t.call->tensor("x");
  const auto option = [&](const char* name) {
    return t.call->value(name).as<K::PerAxis<std::int64_t>>(name).over(2);
  };
  const Integers kernel = option("kernel_size"), dilation = option("dilation"), padding = option("padding"),
                 stride = option("stride");
  const std::int64_t channels = x.shape()[1], height = x.shape()[2], width = x.shape()[3];
  if (channels == None || height == None || width == None) t.fail("the extents of the images are unknown");
  const auto count = [&](std::size_t i, std::int64_t n) {
    return (n + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
  };
  const std::int64_t rows = count(0, height), columns = count(1, width);
  const Tensor padded = K::pad(x, {0, 0, padding[0], padding[1]});
  std::vector<Tensor> places;
  for (std::int64_t i = 0; i < kernel[0]; ++i)
    for (std::int64_t j = 0; j < kernel[1]; ++j) {
      const auto along = [](std::int64_t begin, std::int64_t count, std::int64_t step) {
        return Slice(begin, begin + (count - 1) * step + 1, step);
      };
      places.push_back(K::index(padded, {All, All, along(i * dilation[0], rows, stride[0]),
                                         along(j * dilation[1], columns, stride[1])}));
    }
  return {t.name(K::reshape(K::stack(places, 2), {-1, channels * kernel[0] * kernel[1], rows * columns}))};
}

/// Images, or volumes, of patches that do not overlap.
Names reconstruct_patches(const Translation& t) {
  const auto numbers = [&](const char* name, int axes) {
    return t.call->value(name).as<K::PerAxis<std::int64_t>>(name).over(axes);
  };
  const int axes = t.call->value("size").as<K::PerAxis<std::int64_t>>("size").list().size() == 3 ? 3 : 2;
  const Integers patch = numbers("size", axes), wanted = numbers("output_size", axes);
  const std::string format =
      t.call->has("data_format") ? t.call->text("data_format") : K::image_data_format();
  Tensor x = t.call->tensor("patches");
  const bool single = x.ndim() == axes + 1, first = format == "channels_first";
  if (single) x = K::expand_dims(x, 0);
  if (first) x = K::permute_dimensions(x, to_channels_last(x.ndim()));
  const Shape& shape = x.shape();
  if (std::count(shape.begin() + 1, shape.end(), None) > 0) t.fail("the extents of the patches are unknown");
  std::int64_t channels = shape[-1];
  for (const std::int64_t n : patch) channels /= n;
  Integers split{-1}, order{0}, merged{-1};
  Shape begin{0}, size{-1};
  for (int i = 0; i < axes; ++i) split.push_back(shape[i + 1]);
  for (int i = 0; i < axes; ++i) {
    const auto a = static_cast<std::size_t>(i);
    split.push_back(patch[a]), order.push_back(i + 1), order.push_back(axes + i + 1);
    merged.push_back(shape[i + 1] * patch[a]);
    begin.push_back((merged.back() - wanted[a]) / 2), size.push_back(wanted[a]);
  }
  split.push_back(channels), order.push_back(2 * axes + 1), merged.push_back(channels);
  begin.push_back(0), size.push_back(channels);
  x = K::reshape(K::permute_dimensions(K::reshape(x, Shape(split)), order), Shape(merged));
  x = K::slice(x, begin, size);
  if (first) x = K::permute_dimensions(x, to_channels_first(x.ndim()));
  return {t.name(single ? K::squeeze(x, 0) : x)};
}

}  // namespace

void add_signal_rows(RowTable& rows) {
  rows["fourier_transform"] = fourier_transform;
  rows["FFT"] = [](const Translation& t) { return transformed(t, parts(t), 0, 0); };
  rows["RFFT"] = real_transform, rows["IRFFT"] = real_numbers;
  rows["ExtractSequences"] = extract_sequences, rows["Unfold"] = unfold;
  rows["ReconstructPatches"] = reconstruct_patches;
}

}  // namespace ktape::nn::onnx
