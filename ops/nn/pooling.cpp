#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/elementwise_op.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/kernels/convolution/pooling.hpp>
#include <ktape/ops/nn/convolution_arguments.hpp>
#include <ktape/ops/nn/pooling.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/settings/engine.hpp>
#include <ktape/ops/shape.hpp>

#include <limits>

namespace ktape::backend {

template <class F>
void fields(PoolOptions& options, F&& field) {
  field("strides", options.strides);
  field("padding", options.padding);
  field("data_format", options.data_format);
  field("pool_mode", options.pool_mode);
}
namespace {

using kernels::PoolGrid;

Shape grid_shape(const PoolGrid& grid, bool windows) {
  const auto& extents = windows ? grid.out : grid.in;
  return {grid.batch, extents[0], extents[1], extents[2], grid.channels};
}

/// Runs a pooling kernel on float or double. x and y are the fields of ktape_pooling with these names; one of
/// them is the result.
void run(kernels::Kernel kernel, const PoolGrid& grid, const Tensor& x, const Tensor& y,
         const Tensor* index) {
  ktape_pooling call{};
  call.dtype = kernels::engine_dtype(x.dtype()), call.average = !index;
  call.batch = grid.batch, call.channels = grid.channels;
  const auto copy = [](std::int64_t(&to)[3], const std::array<std::int64_t, 3>& from) {
    std::copy(from.begin(), from.end(), to);
  };
  copy(call.input, grid.in), copy(call.output, grid.out), copy(call.window, grid.window);
  copy(call.strides, grid.stride), copy(call.padding, grid.before);
  call.x = x.raw(), call.y = y.raw(), call.index = index && index->defined() ? index->raw() : nullptr;
  op_helpers::engine().run(kernel, &call);
}

/// Returns the means over the windows, or with `transposed` the gradient of the means.
Tensor average(const char* op, const Tensor& x, const PoolGrid& grid, bool transposed) {
  const Tensor values = op_helpers::widened(x),
               means = Tensor::empty(grid_shape(grid, !transposed), values.dtype(), op);
  if (transposed) run(kernels::Kernel::PoolingBackward, grid, means, values, nullptr);
  else run(kernels::Kernel::Pooling, grid, values, means, nullptr);
  Tensor out = op_helpers::narrowed(means, x.dtype());
  if (recording(x))
    record(op, out, {x}, [op, grid, transposed](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return average(op, g, grid, !transposed); });
    });
  return out;
}

/// Returns the type of positions in a window.
DType index_type(const PoolGrid& grid) { return grid.window_size() <= 256 ? DType::UInt8 : DType::Int32; }

/// Copies elements between windows and their largest cells, which `index` names: from windows to cells (the
/// gradient of max pooling), or from cells to windows.
Tensor routed(const char* op, const Tensor& x, const Tensor& index, const PoolGrid& grid, bool to_cells) {
  const Tensor values = op_helpers::widened(x),
               moved = Tensor::empty(grid_shape(grid, !to_cells), values.dtype(), op);
  if (to_cells) run(kernels::Kernel::PoolingBackward, grid, moved, values, &index);
  else
    dispatch_native_floating(values.dtype(), [&]<class T>() {
      if (index.dtype() == DType::UInt8)
        kernels::max_pool_pick(grid, values.pointer<T>(), index.pointer<std::uint8_t>(), moved.pointer<T>());
      else
        kernels::max_pool_pick(grid, values.pointer<T>(), index.pointer<std::int32_t>(), moved.pointer<T>());
    });
  Tensor out = op_helpers::narrowed(moved, x.dtype());
  if (recording(x))
    record(op, out, {x}, [op, index, grid, to_cells](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return routed(op, g, index, grid, !to_cells); });
    });
  return out;
}

Tensor maximum_of(const char* op, const Tensor& x, const PoolGrid& grid) {
  const Tensor values = op_helpers::widened(x),
               largest = Tensor::empty(grid_shape(grid, true), values.dtype(), op);
  Tensor index;
  if (recording(x)) index = Tensor::empty(largest.shape(), index_type(grid));
  run(kernels::Kernel::Pooling, grid, values, largest, &index);
  Tensor out = op_helpers::narrowed(largest, x.dtype());
  if (recording(x))
    record(op, out, {x}, [op, index, grid](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return routed(op, g, index, grid, true); });
    });
  return out;
}

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

void expect_extent(const char* op, const char* name, std::int64_t value) {
  if (value > most) fail("[", op, "] ", name, " must be at most ", most, ": received ", name, '=', value);
}

/// Computes the padding and the number of windows along one axis.
void lay(const char* op, PoolGrid& grid, std::size_t axis, bool same) {
  const std::int64_t n = grid.in[axis], k = grid.window[axis], s = grid.stride[axis];
  expect_extent(op, "pool_size", k);
  expect_extent(op, "strides", s);
  if (n == None) {
    grid.out[axis] = None;
    return;
  }
  if (!same && k > n)
    fail("[", op, "] with \"valid\" padding the window must fit in the axis of extent ", n,
         ": received pool_size=", k);
  grid.out[axis] = same ? (n - 1 + s) / s : (n - k) / s + 1;
  grid.before[axis] = same ? std::max<std::int64_t>((grid.out[axis] - 1) * s + k - n, 0) / 2 : 0;
}

void expect_one_of(const char* op, const char* name, const std::string& value, const char* first,
                   const char* second) {
  if (value != first && value != second)
    fail("[", op, "] ", name, " must be \"", first, "\" or \"", second, "\": received ", name, "=\"", value,
         '"');
}

Tensor pool(const char* op, int dims, const Tensor& x, const PerAxis<std::int64_t>& pool_size,
            const PoolOptions& options) {
  const int rank = dims + 2;
  const std::string data_format = options.data_format.value_or(image_data_format());
  const bool first = channels_first(op, data_format);
  op_helpers::expect_floating(op, x);
  if (x.ndim() != rank) fail("[", op, "] x must have rank ", rank, ": received x=", x.shape());
  const Shape window = pool_size.over(dims), strides = options.strides.over(dims);
  expect_positive(op, "pool_size", window, dims);
  expect_positive(op, "strides", strides, dims);
  expect_one_of(op, "padding", options.padding, "valid", "same");
  expect_one_of(op, "pool_mode", options.pool_mode, "max", "avg");
  const Shape input = channels_last(x.shape(), first);
  PoolGrid grid{input[0], input.back(), {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
  Shape shape{grid.batch};
  for (int d = 0; d < dims; ++d) {
    const auto axis = static_cast<std::size_t>(3 - dims + d);
    grid.in[axis] = input[d + 1];
    grid.window[axis] = window[d], grid.stride[axis] = strides[d];
    lay(op, grid, axis, options.padding == "same");
    shape.push_back(grid.out[axis]);
  }
  shape.push_back(grid.channels);
  if (grid.window[0] * grid.window[1] > most / grid.window[2])
    fail("[", op, "] a window must have at most ", most, " cells: received pool_size=", window);
  if (is_symbolic(x)) {
    PoolOptions fixed = options;
    fixed.data_format = data_format;
    return defer_described(op, {channels_back(shape, first), x.dtype()}, pool, op, dims, x, pool_size, fixed);
  }
  const Tensor last = reshape(channels_last(x, first), grid_shape(grid, false));
  return channels_back(
      reshape(options.pool_mode == "max" ? maximum_of(op, last, grid) : average(op, last, grid, false),
              shape),
      first);
}

}  // namespace

Tensor pool2d(const Tensor& x, const PerAxis<std::int64_t>& pool_size, const PoolOptions& options) {
  expect_defined("pool2d", "x", x);
  return pool("pool2d", 2, x, pool_size, options);
}

Tensor pool3d(const Tensor& x, const PerAxis<std::int64_t>& pool_size, const PoolOptions& options) {
  expect_defined("pool3d", "x", x);
  return pool("pool3d", 3, x, pool_size, options);
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

Tensor pooled(const OperationCall& call) {
  const Tensor x = call.tensor("inputs");
  using Extents = backend::PerAxis<std::int64_t>;
  const auto pool = x.ndim() == 5 ? backend::pool3d : backend::pool2d;
  return pool(x, call.value("pool_size").as<Extents>("[pool] pool_size"),
              {.strides = call.value("strides").as<Extents>("[pool] strides"),
               .padding = call.text("padding"),
               .data_format = call.text("data_format"),
               .pool_mode = call.text("pool_mode")});
}

const char* written_pool(const std::vector<OperationArgument>&, Config& attributes) {
  const bool most = attributes.get("pool_mode") == Value("max");
  attributes.erase("pool_mode");
  return most ? "MaxPool" : "AveragePool";
}

}  // namespace

Operations pooling_operations() {
  static constexpr Operation rows[] = {
      {"pool", "", "inputs; pool_size, strides, padding, data_format, pool_mode", pooled, "pool2d pool3d",
       "-, inputs, pool_size", written_pool},
  };
  return rows;
}

}  // namespace ktape::nn
