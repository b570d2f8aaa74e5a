#include <ktape/ops/kernels/network/element_functions.hpp>
#include <ktape/ops/kernels/network/in_place_product.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

namespace ktape::kernels {

namespace {

/// The vectors of a panel of columns, and the rows that are multiplied at once: together their sums fill the registers.
constexpr int panel_vectors = vector_bytes == 64 ? 4 : 2;
constexpr int most_rows_at_once = vector_bytes == 64 ? 7 : 6;
constexpr std::int64_t panel_columns = panel_vectors * float_lanes;
/// The rows of a kernel in a block, which stays in the second-level cache with the sums of its panels.
constexpr std::int64_t block_rows = 256;
constexpr std::int64_t most_sums = std::int64_t{1} << 17;

/// One position of the window of a convolution.
struct WindowPosition {
  std::vector<std::int64_t>
      pixels;                      ///< the pixels of x at this position, by the offset of their first channel
  std::vector<std::int64_t> rows;  ///< for each pixel the row of the result to which the pixel is added
};

/// Returns the number of rows of channels in an array.
std::int64_t rows_of(const std::vector<std::int64_t>& shape) {
  std::int64_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) rows *= shape[axis];
  return rows;
}

/// Returns the positions of a convolution's window; for a product one position, which reaches every row.
std::vector<WindowPosition> window_positions(const NetworkNode& node, const std::vector<std::int64_t>& x) {
  const std::int64_t channels = x.back();
  if (node.kind == NetworkNode::Kind::Product) {
    WindowPosition all;
    for (std::int64_t row = 0; row < rows_of(x); ++row)
      all.pixels.push_back(row * channels), all.rows.push_back(row);
    return {all};
  }
  std::vector<WindowPosition> out;
  for (std::int64_t i = 0; i < node.window[0]; ++i)
    for (std::int64_t j = 0; j < node.window[1]; ++j) {
      WindowPosition& position = out.emplace_back();
      std::int64_t row = 0;
      for (std::int64_t image = 0; image < x[0]; ++image)
        for (std::int64_t p = 0; p < node.shape[1]; ++p)
          for (std::int64_t q = 0; q < node.shape[2]; ++q, ++row) {
            const std::int64_t line = p * node.strides[0] + i * node.dilation[0] - node.before[0],
                               column = q * node.strides[1] + j * node.dilation[1] - node.before[1];
            if (line < 0 || line >= x[1] || column < 0 || column >= x[2]) continue;
            position.pixels.push_back(((image * x[1] + line) * x[2] + column) * channels);
            position.rows.push_back(row);
          }
    }
  return out;
}

/// Some rows of a panel of columns of a kernel, `step` elements apart.
struct KernelBlock {
  const float* elements;
  std::int64_t rows, step;
  std::int64_t valid;  ///< the columns in the last vector of each row
  const float* next;   ///< the block that is multiplied after this block
  std::int64_t next_step;
};

/// The memory in which a tile reads a block: the copy of the block, or the kernel, from which the tile makes the copy.
/// In a PartialKernel the last vector of each row is not full, and the elements behind the row are not read.
enum class Source { Copy, Kernel, PartialKernel };

/// Adds the product of R pixels and a block to the sums of the pixels' rows. Meanwhile reads ahead one line of each row
/// of the next block from `ahead` on.
template <int R, int V, Source source>
void multiply_tile(const float* const* pixels, float* const* sums, const KernelBlock& block,
                   const float* ahead, float* copy) {
  Vec<float> sum[R][V] = {};
  const float* x[R];
  for (int r = 0; r < R; ++r) x[r] = pixels[r];
  const float* row = block.elements;
  for (std::int64_t k = 0; k < block.rows; ++k, row += block.step, ahead += block.next_step) {
    __builtin_prefetch(ahead, 0, 2);
    Vec<float> vectors[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const float* const from = row + v * float_lanes;
      const bool partial = source == Source::PartialKernel && v == V - 1;
      vectors[v] = partial ? load_partial(from, block.valid) : load(from);
      keep_in_register<float>(vectors[v]);
      if constexpr (source != Source::Copy) store(copy + (k * V + v) * float_lanes, vectors[v]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[r][v] += x[r][k] * vectors[v];
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) store(sums[r] + v * float_lanes, load(sums[r] + v * float_lanes) + sum[r][v]);
}

/// Adds the product of R elements and as many rows to `size` sums.
template <int R>
void add_rows(const float* x, const float* rows, std::int64_t step, std::int64_t size, float* sums) {
  const auto add = [&](std::int64_t i, const auto& vector_at) {
    Vec<float> sum = x[0] * vector_at(rows + i);
#pragma GCC unroll 8
    for (int r = 1; r < R; ++r) sum += x[r] * vector_at(rows + r * step + i);
    store(sums + i, load(sums + i) + sum);
  };
  std::int64_t i = 0;
  for (; i + float_lanes <= size; i += float_lanes) add(i, [](const float* p) { return load(p); });
  if (i < size) add(i, [&](const float* p) { return load_partial(p, size - i); });
}

/// The rows of the result are the pixels of the images, or the rows of x. Each thread computes some panels of columns.
class InPlaceProduct final : public NodeKernel {
 public:
  InPlaceProduct(const NetworkNode& node, const std::vector<std::int64_t>& x)
      : positions_(window_positions(node, x)),
        functions_(has_vector_code(node.functions) ? node.functions : std::vector<ElementFunction>()),
        inner_(x.back()),
        rows_(rows_of(node.shape)),
        columns_(node.shape.back()),
        adds_(node.inputs.size() == 2) {}
  const char* name() const override { return "product in place"; }
  std::int64_t products() const override {
    return rows_ * inner_ * columns_ * static_cast<std::int64_t>(positions_.size());
  }

  void run(const Arrays& at) const override {
    if (rows_ == 1) return run_row(at);
    const std::int64_t panels = (columns_ + panel_columns - 1) / panel_columns;
    const std::int64_t most = std::max<std::int64_t>(1, most_sums / (rows_ * panel_columns));
    parallel_rows(panels, products() / panels / products_per_element,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (; begin < end; begin += most) run_panels(at, begin, std::min(end, begin + most));
                  });
  }

 private:
  static constexpr std::int64_t products_per_element = 16;

  void run_panels(const Arrays& at, std::int64_t begin, std::int64_t end) const {
    const std::int64_t size = (end - begin) * rows_ * panel_columns;
    Workspace<float> space(size + block_rows * panel_columns);
    float *const sums = space.take(size), *const copy = space.take(block_rows * panel_columns);
    std::memset(sums, 0, static_cast<std::size_t>(size) * sizeof(float));
    std::vector<const float*> pixels(static_cast<std::size_t>(rows_));
    std::vector<float*> rows(static_cast<std::size_t>(rows_));
    const float* kernel = at.inputs[1];
    for (const WindowPosition& position : positions_)
      for (std::int64_t from = 0; from < inner_; from += block_rows) {
        const std::int64_t block = std::min(block_rows, inner_ - from);
        for (std::size_t i = 0; i < position.pixels.size(); ++i)
          pixels[i] = at.inputs[0] + position.pixels[i] + from;
        for (std::int64_t panel = begin; panel < end; ++panel) {
          for (std::size_t i = 0; i < position.rows.size(); ++i)
            rows[i] = sums + ((panel - begin) * rows_ + position.rows[i]) * panel_columns;
          const float* const elements = kernel + panel * panel_columns;
          const float* const next =
              panel + 1 < end ? elements + panel_columns : kernel + block * columns_ + begin * panel_columns;
          const std::int64_t columns = std::min(panel_columns, columns_ - panel * panel_columns);
          const std::int64_t vectors = (columns + float_lanes - 1) / float_lanes;
          multiply_block(static_cast<std::int64_t>(position.rows.size()), vectors, pixels.data(), rows.data(),
                         {elements, block, columns_, columns - (vectors - 1) * float_lanes, next, columns_},
                         copy);
        }
        kernel += block * columns_;
      }
    for (std::int64_t panel = begin; panel < end; ++panel)
      finish(at, panel * panel_columns, std::min(columns_, (panel + 1) * panel_columns),
             sums + (panel - begin) * rows_ * panel_columns);
  }

  /// Computes the only row of a product as the sum of the products of parts of the kernel, of which each lies in one
  /// piece, so that memory is read in order.
  void run_row(const Arrays& at) const {
    constexpr std::int64_t parts = 8;
    const std::int64_t size = padded<float>(columns_);
    Workspace<float> space(parts * size);
    float* const sums = space.take(parts * size);
    parallel_rows(parts, inner_ * columns_ / parts, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part)
        multiply_rows(at, inner_ * part / parts, inner_ * (part + 1) / parts, sums + part * size);
    });
    for (std::int64_t part = 1; part < parts; ++part)
      for (std::int64_t i = 0; i < size; i += float_lanes)
        store(sums + i, load(sums + i) + load(sums + part * size + i));
    finish(at, 0, columns_, sums);
  }

  /// Computes the product of a part of the row and the rows [k, end) of the kernel.
  void multiply_rows(const Arrays& at, std::int64_t k, std::int64_t end, float* sums) const {
    constexpr int at_once = 8;
    std::memset(sums, 0, static_cast<std::size_t>(padded<float>(columns_)) * sizeof(float));
    const auto add = [&](auto count) {
      add_rows<count()>(at.inputs[0] + k, at.inputs[1] + k * columns_, columns_, columns_, sums);
      k += count();
    };
    while (k + at_once <= end) add(std::integral_constant<int, at_once>());
    while (k < end) add(std::integral_constant<int, 1>());
  }

  /// Multiplies all pixels of a position and a block. The first tile copies the block, which the others read.
  static void multiply_block(std::int64_t count, std::int64_t vectors, const float* const* pixels,
                             float* const* rows, const KernelBlock& block, float* copy) {
    using Tile = void (*)(const float* const*, float* const*, const KernelBlock&, const float*, float*);
    constexpr auto tiles_from = []<Source source, int... I>(std::integer_sequence<int, I...>) {
      return std::array<Tile, sizeof...(I)>{
          multiply_tile<I / panel_vectors + 1, I % panel_vectors + 1, source>...};
    };
    constexpr std::make_integer_sequence<int, panel_vectors * most_rows_at_once> all;
    constexpr std::array tiles{tiles_from.operator()<Source::Copy>(all),
                               tiles_from.operator()<Source::Kernel>(all),
                               tiles_from.operator()<Source::PartialKernel>(all)};
    const Source kernel = block.valid < float_lanes ? Source::PartialKernel : Source::Kernel;
    const KernelBlock copied{copy,        block.rows, vectors * float_lanes,
                             float_lanes, block.next, block.next_step};
    const std::int64_t parts = (count + most_rows_at_once - 1) / most_rows_at_once;
    for (std::int64_t i = 0; i < parts; ++i) {
      const std::int64_t begin = count * i / parts, size = count * (i + 1) / parts - begin;
      const Source source = i == 0 ? kernel : Source::Copy;
      const Tile tile = tiles[static_cast<std::size_t>(source)]
                             [static_cast<std::size_t>((size - 1) * panel_vectors + vectors - 1)];
      const float* const ahead = block.next + std::min(i, vectors - 1) * float_lanes;
      tile(pixels + begin, rows + begin, i == 0 ? block : copied, ahead, copy);
    }
  }

  /// Turns the sums of some columns into results; sums of rows are a panel apart.
  void finish(const Arrays& at, std::int64_t column, std::int64_t end, const float* sums) const {
    for (std::int64_t row = 0; row < rows_; ++row, sums += panel_columns)
      for (std::int64_t c = column; c < end; c += float_lanes) {
        const std::int64_t valid = std::min(float_lanes, end - c), i = row * columns_ + c;
        Vec<float> y = load(sums + c - column) * load_partial(at.inputs[2] + c, valid) +
                       load_partial(at.inputs[3] + c, valid);
        if (adds_) y += load_partial(at.inputs[4] + i, valid);
        for (const ElementFunction& f : functions_) y = apply_function(f, y);
        store_partial(at.output + i, y, valid);
      }
  }

  const std::vector<WindowPosition> positions_;
  const std::vector<ElementFunction> functions_;
  const std::int64_t inner_, rows_, columns_;
  const bool adds_;
};

}  // namespace

bool suits_in_place_product(const NetworkNode& node, const std::vector<std::int64_t>& x) {
#if defined(KTAPE_FUSED)
  constexpr std::int64_t least_weights = 1 << 19;  // the copy of a smaller kernel is no burden
  constexpr std::int64_t most_cached = 1 << 21;    // oneDNN is faster while a cache holds the weights
  constexpr std::int64_t fewest_rows = 32, most_rows = 256;
  if (node.numbers != NumberType::Float32 || node.depthwise || node.columns) return false;
  const std::int64_t rows = rows_of(node.shape);
  const std::int64_t inner = x.back() * node.window[0] * node.window[1], weights = inner * node.shape.back();
  const bool product = node.kind == NetworkNode::Kind::Product;
  if (product && rows == 1) return weights >= least_weights;
  return vector_bytes >= 32 && weights >= (product ? most_cached : least_weights) && rows >= fewest_rows &&
         rows <= std::min(most_rows, inner);
#else
  return false;
#endif
}

std::shared_ptr<const NodeKernel> in_place_product(const NetworkNode& node,
                                                   const std::vector<std::int64_t>& x) {
  return std::make_shared<InPlaceProduct>(node, x);
}

}  // namespace ktape::kernels
