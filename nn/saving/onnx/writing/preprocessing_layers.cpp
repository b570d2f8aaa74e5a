#include <ktape/nn/layers/preprocessing/lookup.hpp>
#include <ktape/nn/layers/preprocessing/numeric.hpp>
#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

/// Layers that prepare numbers and images, and that compute with values only.
namespace ktape::nn::onnx {
namespace {

namespace K = backend;

const Tensor& input(const Translation& t) { return t.operand(0); }
Config config_of(const Translation& t) { return t.layer->layer.get_config(); }
std::string text(const Translation& t, const char* name) { return config_of(t).at(name).string(name); }

// --- Categories -------------------------------------------------------------------------------------------

/// Joins the vectors of a row of entries, (..., entries, depth), as the output mode says.
std::string joined(const Translation& t, const std::string& vectors, const Shape& entries,
                   const std::string& mode) {
  const int rank = entries.rank();
  if (mode == "one_hot")
    return rank > 1 && entries[-1] == 1 ? t.graph.squeezed(vectors, {rank - 1}) : vectors;
  if (rank == 0) return vectors;
  return t.graph.reduced(mode == "multi_hot" ? "ReduceMax" : "ReduceSum", vectors, {rank - 1}, false);
}

/// Returns categories, int64, as the output mode says.
Names encoded(const Translation& t, const std::string& categories, std::int64_t depth) {
  const std::string mode = text(t, "output_mode");
  if (mode == "int") return {t.graph.cast(categories, DType::Int64, t.dtype())};
  const std::vector<float> values{0, 1};
  const std::string off_on = t.graph.constant(K::cast(
      Tensor::from_buffer(values.data(), values.size() * sizeof(float), {2}, DType::Float32), t.dtype()));
  const std::string vectors = t.node("OneHot", {categories, t.graph.integer(depth), off_on});
  return {joined(t, vectors, input(t).shape(), mode)};
}

Names category_encoding(const Translation& t) {
  const Tensor& x = input(t);
  const std::string categories = t.graph.cast(t(0), x.dtype(), DType::Int64);
  if (!t.layer->arguments.count_weights.defined())
    return encoded(t, categories, config_of(t).at("num_tokens").integer());
  t.fail("the categories have weights");
}

Names discretization(const Translation& t) {
  const Value boundaries = config_of(t).at("bin_boundaries");
  if (boundaries.is_null()) t.fail("the layer is not adapted");
  const auto numbers = boundaries.as<std::vector<double>>("bin_boundaries");
  const DType dtype = input(t).dtype().is_floating() ? input(t).dtype() : DType(DType::Float64);
  const Tensor limits =
      K::cast(Tensor::from_buffer(numbers.data(), numbers.size() * sizeof(double),
                                  {static_cast<std::int64_t>(numbers.size())}, DType::Float64),
              dtype);
  const int rank = input(t).ndim();
  const std::string x = t.graph.unsqueezed(t.graph.cast(t(0), input(t).dtype(), dtype), {rank});
  const std::string above = t.node("GreaterOrEqual", {x, t.graph.constant(limits)});
  const std::string bins =
      t.graph.reduced("ReduceSum", t.graph.cast(above, DType::Bool, DType::Int64), {rank}, false);
  return encoded(t, bins, static_cast<std::int64_t>(numbers.size()) + 1);
}

/// Looks numbers up in a table with the layer's results for each token, and for a number that is no token.
Names integer_lookup(const Translation& t) {
  const IntegerLookup layer(t.layer->layer);
  const Config config = config_of(t);
  if (config.at("num_oov_indices").integer() > 1) t.fail("num_oov_indices is above 1");
  if (config.at("invert").boolean()) t.fail("the layer turns places into tokens");
  std::vector<std::int64_t> tokens = layer.get_vocabulary();
  const auto count = static_cast<std::int64_t>(tokens.size());
  std::int64_t other = 0;
  while (std::find(tokens.begin(), tokens.end(), other) != tokens.end()) ++other;
  const std::string all = t.graph.integers(tokens);
  tokens.push_back(other);
  const std::string mode = text(t, "output_mode");
  // In vectors, each token is a row; a number that the layer refuses cannot occur.
  if (config.at("num_oov_indices").integer() == 0) tokens.back() = tokens.front();
  const Tensor list =
      Tensor::from_buffer(tokens.data(), tokens.size() * sizeof(std::int64_t), {count + 1, 1}, DType::Int64);
  const Tensor results = layer(list), table = mode == "int" ? K::reshape(results, {-1}) : results;
  const int rank = input(t).ndim();
  const std::string x = t.graph.unsqueezed(t.graph.cast(t(0), input(t).dtype(), DType::Int64), {rank});
  Integers places;
  for (std::int64_t i = 0; i < count; ++i) places.push_back(i);
  const std::string found =
      t.node("Where", {t.node("Equal", {x, all}), t.graph.integers(places), t.graph.integer(count)});
  const std::string place = t.graph.reduced("ReduceMin", found, {rank}, false);
  const std::string looked_up = t.node("Gather", {t.graph.constant(table), place});
  return {mode == "int" ? looked_up : joined(t, looked_up, input(t).shape(), mode)};
}

// --- Images -----------------------------------------------------------------------------------------------

struct Image {
  int height, width;  ///< the axes
  explicit Image(const Translation& t)
      : height(text(t, "data_format") == "channels_first" ? input(t).ndim() - 2 : input(t).ndim() - 3),
        width(height + 1) {}
};

/// Resizes the axes of height and width.
std::string resized(const Translation& t, const std::string& x, const Image& image, std::int64_t height,
                    std::int64_t width, const std::string& interpolation, bool antialias) {
  const std::string mode = interpolation == "bilinear"  ? "linear"
                           : interpolation == "nearest" ? "nearest"
                           : interpolation == "bicubic" ? "cubic"
                                                        : "";
  if (mode.empty()) t.fail("the interpolation is " + interpolation);
  if (antialias && t.graph.opset() < 18) t.fail("antialias needs the opset 18");
  Attributes attributes{{"mode", mode}, {"coordinate_transformation_mode", std::string("half_pixel")}};
  if (mode == "nearest") attributes.emplace_back("nearest_mode", std::string("round_prefer_ceil"));
  if (mode == "cubic")
    attributes.emplace_back("cubic_coeff_a", -0.5F),
        attributes.emplace_back("exclude_outside", std::int64_t{1});
  if (antialias && mode != "nearest") attributes.emplace_back("antialias", std::int64_t{1});
  // The operator takes (samples, channels, height, width).
  const int rank = input(t).ndim();
  Integers order, back(static_cast<std::size_t>(rank));
  for (int d = 0; d < rank; ++d)
    if (d != image.height && d != image.width) order.push_back(d);
  order.push_back(image.height), order.push_back(image.width);
  for (std::size_t d = 0; d < order.size(); ++d)
    back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  const std::string in = t.graph.transposed(x, order);
  Names sizes;
  for (int d = 0; d + 2 < rank; ++d) sizes.push_back(t.graph.extent(in, d));
  sizes.push_back(t.graph.integers({height, width}));
  const std::string size = t.node("Concat", sizes, {{"axis", std::int64_t{0}}});
  if (mode == "cubic") {
    // ONNX Runtime refuses channels in the last axis, to which it moves them unless a Reshape stands between.
    const std::string plane = t.node(
        "Concat", {t.graph.integers({-1, 1}), t.graph.extent(in, rank - 2), t.graph.extent(in, rank - 1)},
        {{"axis", std::int64_t{0}}});
    const std::string planes = t.node("Reshape", {in, plane});
    const std::string wanted =
        t.node("Concat", {t.graph.extent(planes, 0), t.graph.integers({1, height, width})},
               {{"axis", std::int64_t{0}}});
    const std::string y = t.node("Resize", {planes, "", "", wanted}, attributes);
    return t.graph.transposed(t.node("Reshape", {y, size}), back);
  }
  return t.graph.transposed(t.node("Resize", {in, "", "", size}, attributes), back);
}

/// Returns `of` in the proportion height : width, as the layers round it.
std::int64_t in_ratio(std::int64_t of, std::int64_t numerator, std::int64_t denominator) {
  return static_cast<std::int64_t>(static_cast<double>(of) * static_cast<double>(numerator) /
                                   static_cast<double>(denominator));
}

std::string cropped(const Translation& t, const std::string& x, const Image& image, std::int64_t top,
                    std::int64_t left, std::int64_t height, std::int64_t width) {
  return t.node("Slice", {x, t.graph.integers({top, left}), t.graph.integers({top + height, left + width}),
                          t.graph.integers({image.height, image.width})});
}

/// Cuts the largest centered window with the ratio height : width, and resizes the window.
std::string cropped_to_ratio(const Translation& t, const std::string& x, const Image& image,
                             std::int64_t height, std::int64_t width, const std::string& interpolation,
                             bool antialias) {
  const std::int64_t h = input(t).shape()[image.height], w = input(t).shape()[image.width];
  if (h == None || w == None) t.fail("the height and width of the images are unknown");
  const std::int64_t tall = std::max<std::int64_t>(std::min(h, in_ratio(w, height, width)), 1),
                     wide = std::max<std::int64_t>(std::min(w, in_ratio(h, width, height)), 1);
  const std::string window = cropped(t, x, image, (h - tall) / 2, (w - wide) / 2, tall, wide);
  return resized(t, window, image, height, width, interpolation, antialias);
}

Names resizing(const Translation& t) {
  const Config config = config_of(t);
  const Image image(t);
  const std::int64_t height = config.at("height").integer(), width = config.at("width").integer();
  const std::string interpolation = text(t, "interpolation");
  const bool antialias = config.get("antialias", false).boolean();
  const DType dtype = input(t).dtype(), computed = dtype.is_floating() ? dtype : DType(DType::Float32);
  const std::string x = t.graph.cast(t(0), dtype, computed);
  if (config.get("pad_to_aspect_ratio", false).boolean()) t.fail("pad_to_aspect_ratio is set");
  const std::string y = config.at("crop_to_aspect_ratio").boolean()
                            ? cropped_to_ratio(t, x, image, height, width, interpolation, antialias)
                            : resized(t, x, image, height, width, interpolation, antialias);
  return {dtype.is_floating() ? t.graph.cast(y, dtype, t.dtype())
                              : t.graph.cast(t.node("Round", {y}), computed, dtype)};
}

/// Cuts out the center; smaller images are resized.
Names center_crop(const Translation& t) {
  const Config config = config_of(t);
  const Image image(t);
  const std::int64_t height = config.at("height").integer(), width = config.at("width").integer();
  const std::int64_t h = input(t).shape()[image.height], w = input(t).shape()[image.width];
  if (h == None || w == None) t.fail("the height and width of the images are unknown");
  const std::string x = t.graph.cast(t(0), input(t).dtype(), t.dtype());
  if (h >= height && w >= width)
    return {cropped(t, x, image, (h - height) / 2, (w - width) / 2, height, width)};
  return {cropped_to_ratio(t, x, image, height, width, "bilinear", false)};
}

/// A layer that changes images at random in training only.
Names unchanged(const Translation& t) {
  if (t.layer->arguments.training.value_or(false)) t.fail("the layer draws random numbers in training");
  return {t.graph.cast(t(0), input(t).dtype(), t.dtype())};
}

/// A random crop, which in inference cuts and resizes as CenterCrop does with smaller images.
Names random_crop(const Translation& t) {
  if (t.layer->arguments.training.value_or(false)) t.fail("the layer draws random numbers in training");
  const Config config = config_of(t);
  const std::string x = t.graph.cast(t(0), input(t).dtype(), t.dtype());
  return {cropped_to_ratio(t, x, Image(t), config.at("height").integer(), config.at("width").integer(),
                           "bilinear", false)};
}

}  // namespace

void add_preprocessing_layers(RowTable& rows) {
  rows["CategoryEncoding"] = category_encoding, rows["Discretization"] = discretization;
  rows["IntegerLookup"] = integer_lookup;
  rows["Resizing"] = resizing, rows["CenterCrop"] = center_crop, rows["RandomCrop"] = random_crop;
  for (const char* name : {"RandomFlip", "RandomRotation", "RandomTranslation", "RandomZoom",
                           "RandomContrast", "RandomBrightness"})
    rows[name] = unchanged;
}

}  // namespace ktape::nn::onnx
