#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/image/image.hpp>
#include <ktape/ops/keras/image/internal/image_batch.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

/// Windows of images as channels, and images of such windows.
namespace ktape::ops {

namespace K = backend;
using op_helpers::image_extents, op_helpers::ImageBatch;

namespace {

constexpr std::int64_t most_places = 1 << 24;

void expect_padding(const char* op, const std::string& padding) {
  if (padding != "valid" && padding != "same")
    fail("[", op, "] padding must be \"valid\" or \"same\": received padding=\"", padding, '"');
}

std::int64_t positions_of(const char* op, const std::vector<std::int64_t>& size) {
  std::int64_t places = 1;
  for (const std::int64_t n : size)
    if ((places *= n) > most_places)
      fail("[", op, "] a patch must have at most ", most_places, " positions: received ", places);
  return places;
}

/// Returns the windows of x, (batch, spatial..., channels), as channels.
Tensor windows(const char* op, const Tensor& x, const std::vector<std::int64_t>& size,
               const PatchOptions& o) {
  const int axes = static_cast<int>(size.size());
  const auto strides = o.strides ? image_extents(op, "strides", *o.strides, axes) : size;
  const auto rates = image_extents(op, "dilation_rate", o.dilation_rate, axes);
  expect_padding(op, o.padding);
  Shape result = x.shape(), step(x.shape());
  std::vector<K::PaddingPair> paddings(static_cast<std::size_t>(axes) + 2, 0);
  for (int i = 0; i < axes; ++i) {
    const auto a = static_cast<std::size_t>(i);
    const std::int64_t n = x.shape()[i + 1], reach = (size[a] - 1) * rates[a] + 1;
    if (n == None) fail("[", op, "] extents must be known: received ", x.shape());
    std::int64_t count = n < reach ? 0 : (n - reach) / strides[a] + 1;
    if (o.padding == "same") {
      count = (n + strides[a] - 1) / strides[a];
      const std::int64_t missing = std::max<std::int64_t>(0, (count - 1) * strides[a] + reach - n);
      paddings[a + 1] = {missing / 2, missing - missing / 2};
    }
    result[i + 1] = count, step[i + 1] = strides[a];
  }
  step[0] = step[-1] = 1;
  const std::int64_t places = positions_of(op, size);
  const Tensor padded = K::pad(x, paddings);
  std::vector<Tensor> parts;
  for (std::int64_t place = 0; place < places; ++place) {
    std::vector<Index> index{All};
    std::vector<std::int64_t> at(size.size());
    for (std::int64_t i = axes - 1, rest = place; i >= 0; --i)
      at[static_cast<std::size_t>(i)] = rest % size[static_cast<std::size_t>(i)],
      rest /= size[static_cast<std::size_t>(i)];
    for (int i = 0; i < axes; ++i) {
      const auto a = static_cast<std::size_t>(i);
      const std::int64_t begin = at[a] * rates[a];
      index.push_back(
          Slice(begin, begin + std::max<std::int64_t>(0, (result[i + 1] - 1) * strides[a] + 1), strides[a]));
    }
    parts.push_back(K::index(padded, Indices(index)));
  }
  return K::concatenate(parts, -1);
}

Tensor extracted(const char* op, const char* name, const Tensor& given, const ImageSize& size, int axes,
                 const PatchOptions& o) {
  const std::vector<std::int64_t> each = image_extents(op, "size", size, axes);
  const ImageBatch batch(op, name, given, o.data_format, axes);
  return batch.restored(windows(op, batch.images, each, o));
}

}  // namespace

Tensor extract_patches(const Tensor& images, const ImageSize& size, const PatchOptions& o) {
  const CalledOp called("extract_patches");
  return extracted("extract_patches", "images", images, size, size.list().size() == 3 ? 3 : 2, o);
}
Tensor extract_patches_3d(const Tensor& volumes, const ImageSize& size, const PatchOptions& o) {
  const CalledOp called("extract_patches_3d");
  return extracted("extract_patches_3d", "volumes", volumes, size, 3, o);
}

namespace {

/// What `reconstruct_patches` makes of patches: their size, and the size and the padding of the images.
struct Reconstruction {
  std::vector<std::int64_t> patch, wanted;
  bool same;

  /// Throws ValueError unless patches, of which some extents may be unknown, make images of the size.
  void expect(const Tensor& patches) const {
    const std::int64_t positions = positions_of("reconstruct_patches", patch), flat = patches.shape()[-1];
    if (flat != None && flat % positions != 0)
      fail("[reconstruct_patches] channels must be a multiple of the ", positions,
           " positions of a patch: received ", flat);
    for (std::size_t i = 0; i < patch.size(); ++i) {
      const std::int64_t grid = patches.shape()[static_cast<int>(i) + 1], most = grid * patch[i];
      if (grid == None) continue;
      const std::int64_t least = same ? most - patch[i] + 1 : most;
      if (wanted[i] < least || wanted[i] > most)
        fail("[reconstruct_patches] the output_size of axis ", i, " must be in [", least, ", ", most,
             "] for ", grid, " patches of ", patch[i], ", with the padding \"", same ? "same" : "valid",
             "\": received ", wanted[i]);
    }
  }

  /// Returns images of patches, (batch, grid..., positions * channels).
  Tensor operator()(const Tensor& patches) const {
    const int axes = static_cast<int>(patch.size());
    const Shape& shape = patches.shape();
    Shape split{shape[0]}, order{0}, merged{shape[0]}, begin{0}, result{shape[0]};
    for (int i = 0; i < axes; ++i) split.push_back(shape[i + 1]);
    for (int i = 0; i < axes; ++i) {
      const auto a = static_cast<std::size_t>(i);
      const std::int64_t extent = shape[i + 1] * patch[a];
      split.push_back(patch[a]), order.push_back(i + 1), order.push_back(axes + i + 1);
      merged.push_back(extent), begin.push_back((extent - wanted[a]) / 2), result.push_back(wanted[a]);
    }
    const std::int64_t channels = shape[-1] / positions_of("reconstruct_patches", patch);
    split.push_back(channels), order.push_back(2 * axes + 1);
    merged.push_back(channels), begin.push_back(0), result.push_back(channels);
    const Tensor whole = K::reshape(K::permute_dimensions(K::reshape(patches, split), order), merged);
    return merged == result ? whole : K::slice(whole, begin, result);
  }
};

/// `reconstruct_patches` with the arguments that a graph keeps.
Tensor reconstruct(const Tensor& patches, const ImageSize& size, const ImageSize& output_size,
                   const std::string& padding, const std::string& data_format) {
  return reconstruct_patches(patches, size, output_size, {.padding = padding, .data_format = data_format});
}

}  // namespace

Tensor reconstruct_patches(const Tensor& given, const ImageSize& size, const ImageSize& output_size,
                           const ReconstructOptions& o) {
  const CalledOp called("reconstruct_patches");
  const char* const op = "reconstruct_patches";
  const int axes = size.list().size() == 3 ? 3 : 2;
  expect_padding(op, o.padding);
  const Reconstruction made{image_extents(op, "size", size, axes),
                            image_extents(op, "output_size", output_size, axes), o.padding == "same"};
  if (o.strides && image_extents(op, "strides", *o.strides, axes) != made.patch)
    fail("[reconstruct_patches] strides must be the size of a patch: received size=",
         numbers(Shape(made.patch)), ", strides=", numbers(Shape(o.strides->over(axes))));
  const ImageBatch batch(op, "patches", given, o.data_format, axes);
  made.expect(batch.images);
  if (!is_symbolic(given)) return batch.restored(made(batch.images));
  const std::int64_t flat = batch.images.shape()[-1],
                     channels = flat == None ? flat : flat / positions_of(op, made.patch);
  Shape shape;
  if (!batch.single) shape.push_back(given.shape()[0]);
  if (batch.first) shape.push_back(channels);
  for (const std::int64_t extent : made.wanted) shape.push_back(extent);
  if (!batch.first) shape.push_back(channels);
  return defer_described(op, {shape, given.dtype()}, reconstruct, given, size, output_size, o.padding,
                         std::string(batch.first ? "channels_first" : "channels_last"));
}

}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(PatchOptions& options, F&& field) {
  field("strides", options.strides);
  field("dilation_rate", options.dilation_rate);
  field("padding", options.padding);
  field("data_format", options.data_format);
}
}  // namespace ktape::ops

namespace ktape::ops {
template <class F>
void fields(ReconstructOptions& options, F&& field) {
  field("strides", options.strides);
  field("padding", options.padding);
  field("data_format", options.data_format);
}
}  // namespace ktape::ops

namespace ktape::nn {
namespace {

Tensor patches(const Tensor& images, const ops::ImageSize& size, const ops::PatchOptions& options) {
  return size.list().size() == 3 ? ops::extract_patches_3d(images, size, options)
                                 : ops::extract_patches(images, size, options);
}

}  // namespace

Operations image_patch_operations() {
  static constexpr Operation rows[] = {
      {"ExtractPatches", "image",
       "images; size, strides=null, dilation_rate=1, padding=\"valid\", data_format=null", calls<patches>},
      {"ReconstructPatches", "image",
       "patches; size, output_size, strides=null, padding=\"valid\", data_format=null",
       calls<ops::reconstruct_patches>, "", "patches, size, output_size, padding, data_format"},
  };
  return rows;
}

}  // namespace ktape::nn
