#include <ktape/autograd/base/error.hpp>
#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/inspection.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

/// Operators that read images at computed places. They compute with values, without gradients.
namespace ktape::nn::onnx {
namespace {

namespace K = backend;

// --- GridSample -------------------------------------------------------------------------------------------

/// An element along one axis and its share in the result; index -1 stands for a zero beyond the image.
struct Share {
  std::int64_t index;
  double weight;
};

/// The places of GridSample along one axis.
class GridAxis {
 public:
  enum class Mode { Nearest, Linear, Cubic };
  enum class Padding { Zeros, Border, Reflection };

  GridAxis(std::int64_t extent, Mode mode, Padding padding, bool align_corners)
      : extent_(extent), mode_(mode), padding_(padding), align_(align_corners) {}

  /// Returns the elements for a coordinate in [-1, 1].
  std::vector<Share> shares(double coordinate) const {
    const double n = static_cast<double>(extent_);
    double x = align_ ? (coordinate + 1) / 2 * (n - 1) : ((coordinate + 1) * n - 1) / 2;
    if (!std::isfinite(x)) x = padding_ == Padding::Zeros ? -2 : 0;
    if (mode_ == Mode::Nearest) x = std::nearbyint(x);
    if (x < low() || x > high()) {
      if (padding_ == Padding::Border) x = std::clamp(x, 0., n - 1);
      else if (padding_ == Padding::Reflection) x = reflected(x);
    }
    x = std::clamp(x, -1e9, 1e9);
    const auto first = static_cast<std::int64_t>(std::floor(x));
    const double part = x - static_cast<double>(first);
    if (mode_ == Mode::Nearest) return {{at(first), 1}};
    if (mode_ == Mode::Linear) return {{at(first), 1 - part}, {at(first + 1), part}};
    return {{at(first - 1), outer(1 + part)},
            {at(first), inner(part)},
            {at(first + 1), inner(1 - part)},
            {at(first + 2), outer(2 - part)}};
  }

 private:
  double low() const { return align_ ? 0 : -0.5; }
  double high() const { return static_cast<double>(extent_) - (align_ ? 1 : 0.5); }

  double reflected(double x) const {
    const double range = high() - low();
    if (range <= 0) return 0;
    const double beyond = x < low() ? low() - x : x - high();
    const double turns = std::floor(beyond / range), rest = beyond - turns * range;
    const bool from_low = (x < low()) == (std::fmod(turns, 2) == 0);
    return from_low ? low() + rest : high() - rest;
  }

  std::int64_t at(std::int64_t index) const {
    if (index >= 0 && index < extent_) return index;
    if (padding_ == Padding::Zeros) return -1;
    if (padding_ == Padding::Border) return std::clamp<std::int64_t>(index, 0, extent_ - 1);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(reflected(static_cast<double>(index))), 0,
                                    extent_ - 1);
  }

  /// The weights of cubic convolution with a = -0.75, for distances below 1 and from 1 to 2.
  static double inner(double d) { return (1.25 * d - 2.25) * d * d + 1; }
  static double outer(double d) { return ((-0.75 * d + 3.75) * d - 6) * d + 3; }

  std::int64_t extent_;
  Mode mode_;
  Padding padding_;
  bool align_;
};

GridAxis::Mode mode_of(const std::string& name) {
  if (name == "nearest") return GridAxis::Mode::Nearest;
  if (name == "bilinear" || name == "linear") return GridAxis::Mode::Linear;
  if (name == "bicubic" || name == "cubic") return GridAxis::Mode::Cubic;
  fail("[onnx] mode must be nearest, linear or cubic: received mode=", name);
}

GridAxis::Padding padding_of(const std::string& name) {
  if (name == "zeros") return GridAxis::Padding::Zeros;
  if (name == "border") return GridAxis::Padding::Border;
  if (name == "reflection") return GridAxis::Padding::Reflection;
  fail("[onnx] padding_mode must be zeros, border or reflection: received padding_mode=", name);
}

/// Returns the weighted sum of the elements of an image; `at` is the axis, and `place` the place in the image.
double sampled(const double* image, const Shape& extents, const std::vector<std::vector<Share>>& shares,
               int axis, std::int64_t place) {
  if (axis == extents.rank()) return image[place];
  double sum = 0;
  for (const Share& share : shares[static_cast<std::size_t>(axis)])
    if (share.index >= 0 && share.weight != 0)
      sum += share.weight * sampled(image, extents, shares, axis + 1, place * extents[axis] + share.index);
  return sum;
}

Tensors grid_sample(const Call& call) {
  const Tensor x = doubles(call[0]), grid = doubles(call[1]);
  const int axes = x.ndim() - 2;
  if (axes < 1 || grid.ndim() != x.ndim() || grid.shape()[0] != x.shape()[0] || grid.shape().back() != axes)
    fail("[onnx] x must be (samples, channels, spatial...) and the grid must fit x: received shapes ",
         x.shape(), " and ", grid.shape());
  const Shape extents(std::vector<std::int64_t>(x.shape().begin() + 2, x.shape().end()));
  const GridAxis::Mode mode = mode_of(call.text("mode", "bilinear"));
  const GridAxis::Padding padding = padding_of(call.text("padding_mode", "zeros"));
  std::vector<GridAxis> along;
  for (const std::int64_t extent : extents) {
    if (extent == 0) fail("[onnx] x must have elements: received shape=", x.shape());
    along.emplace_back(extent, mode, padding, call.flag("align_corners"));
  }
  Shape shape = grid.shape();
  shape.erase(shape.rank() - 1);
  shape.insert(1, x.shape()[1]);
  const Tensor out = Tensor::empty(shape, DType::Float64);
  const std::int64_t samples = shape[0], channels = shape[1], points = shape.count(2),
                     image = extents.count();
  std::vector<std::vector<Share>> shares(static_cast<std::size_t>(axes));
  for (std::int64_t sample = 0; sample < samples; ++sample)
    for (std::int64_t point = 0; point < points; ++point) {
      const double* at = grid.pointer<double>() + (sample * points + point) * axes;
      for (int axis = 0; axis < axes; ++axis)  // the grid has the last axis first
        shares[static_cast<std::size_t>(axis)] =
            along[static_cast<std::size_t>(axis)].shares(at[axes - 1 - axis]);
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::int64_t plane = sample * channels + channel;
        out.pointer<double>()[plane * points + point] =
            sampled(x.pointer<double>() + plane * image, extents, shares, 0, 0);
      }
    }
  return {K::cast(out, call.dtype())};
}

// --- RoiAlign ---------------------------------------------------------------------------------------------

/// Four neighbours of a point in an image and their weights; no neighbours beyond the image.
struct Neighbours {
  std::int64_t place[4]{};
  double weight[4]{};
};

Neighbours neighbours(double y, double x, std::int64_t height, std::int64_t width) {
  Neighbours n;
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width))) return n;
  const auto split = [](double v, std::int64_t extent, std::int64_t& low, std::int64_t& high) {
    v = std::max(v, 0.);
    low = static_cast<std::int64_t>(v);
    high = std::min(low + 1, extent - 1);
    if (low >= extent - 1) low = extent - 1, v = static_cast<double>(low);
    return v - static_cast<double>(low);
  };
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
  const double dy = split(y, height, top, bottom), dx = split(x, width, left, right);
  const std::int64_t places[4] = {top * width + left, top * width + right, bottom * width + left,
                                  bottom * width + right};
  const double weights[4] = {(1 - dy) * (1 - dx), (1 - dy) * dx, dy * (1 - dx), dy * dx};
  std::copy_n(places, 4, n.place), std::copy_n(weights, 4, n.weight);
  return n;
}

/// A region of an image, divided into cells.
struct Region {
  double top, left, cell_height, cell_width;
  std::int64_t rows, columns;  ///< the samples in a cell
};

Region region_of(const Call& call, const double* roi, std::int64_t rows, std::int64_t columns) {
  const double scale = call.real("spatial_scale", 1);
  const bool half = call.text("coordinate_transformation_mode",
                              call.opset < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  const double shift = half ? 0.5 : 0;
  double height = (roi[3] - roi[1]) * scale, width = (roi[2] - roi[0]) * scale;
  if (!half) height = std::max(height, 1.), width = std::max(width, 1.);
  const std::int64_t ratio = call.integer("sampling_ratio", 0);
  const double cell_height = height / static_cast<double>(rows),
               cell_width = width / static_cast<double>(columns);
  const auto samples = [&](double cell) {
    if (ratio > 0) return ratio;
    if (!(cell <= 1e4))
      fail("[onnx] the regions must be of the size of images: received a region of height ", height,
           " and width ", width);
    return std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(cell)), 0);
  };
  return {roi[1] * scale - shift, roi[0] * scale - shift, cell_height, cell_width,
          samples(cell_height),   samples(cell_width)};
}

double pooled(const double* image, std::int64_t height, std::int64_t width, const Region& r, std::int64_t row,
              std::int64_t column, bool largest) {
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < r.rows; ++i)
    for (std::int64_t j = 0; j < r.columns; ++j) {
      const double y =
          r.top + (static_cast<double>(row) + (static_cast<double>(i) + 0.5) / static_cast<double>(r.rows)) *
                      r.cell_height;
      const double x = r.left + (static_cast<double>(column) +
                                 (static_cast<double>(j) + 0.5) / static_cast<double>(r.columns)) *
                                    r.cell_width;
      const Neighbours n = neighbours(y, x, height, width);
      for (int k = 0; k < 4; ++k) {
        const double value = n.weight[k] * image[n.place[k]];
        sum += value;
        most = std::max(most, value);
      }
    }
  const double count = static_cast<double>(r.rows * r.columns);
  if (count == 0) return 0;
  return largest ? most : sum / count;
}

Tensors roi_align(const Call& call) {
  const Tensor x = doubles(call[0]), rois = doubles(call[1]);
  const Numbers batch = whole(call[2]);
  const std::int64_t rows = call.integer("output_height", 1), columns = call.integer("output_width", 1);
  if (x.ndim() != 4 || rois.ndim() != 2 || rois.shape()[1] != 4 ||
      rois.shape()[0] != static_cast<std::int64_t>(batch.size()) || rows < 1 || columns < 1)
    fail("[onnx] x must be (samples, channels, height, width) and the regions (n, 4): received shapes ",
         x.shape(), " and ", rois.shape());
  const std::int64_t channels = x.shape()[1], height = x.shape()[2], width = x.shape()[3];
  if (height == 0 || width == 0) fail("[onnx] x must have elements: received shape=", x.shape());
  const bool largest = call.text("mode", "avg") == "max";
  const Tensor out = Tensor::empty({rois.shape()[0], channels, rows, columns}, DType::Float64);
  double* next = out.pointer<double>();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i] < 0 || batch[i] >= x.shape()[0])
      fail("[onnx] the batch indices must be in [0, ", x.shape()[0], "): received ", batch[i]);
    const Region region = region_of(call, rois.pointer<double>() + 4 * i, rows, columns);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      const double* image = x.pointer<double>() + (batch[i] * channels + channel) * height * width;
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column)
          *next++ = pooled(image, height, width, region, row, column, largest);
    }
  }
  return {K::cast(out, call.dtype())};
}

}  // namespace

void add_sampling(OperatorTable& t) { t["GridSample"] = grid_sample, t["RoiAlign"] = roi_align; }

}  // namespace ktape::nn::onnx
