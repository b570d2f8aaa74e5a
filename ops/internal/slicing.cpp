#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/node.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/kernels/copy/strided_copy.hpp>
#include <ktape/ops/kernels/elementwise/elementwise.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::op_helpers {
namespace {

using backend::reshape;

int element_size(const Tensor& x) { return static_cast<int>(x.dtype().size()); }
char* at(const Tensor& x, std::int64_t index) {
  return static_cast<char*>(x.raw()) + index * element_size(x);
}

Shape row_major(const Shape& shape) {
  Shape strides = shape;
  for (std::int64_t d = shape.rank() - 1, step = 1; d >= 0; step *= shape[static_cast<int>(d--)])
    strides[static_cast<int>(d)] = step;
  return strides;
}

/// Returns the offset of the window in a tensor with these strides, and multiplies the strides by the
/// window's steps.
std::int64_t enter(Shape& strides, const Window& window) {
  std::int64_t offset = 0;
  for (int d = 0; d < strides.rank(); ++d) {
    offset += window.start[d] * strides[d];
    strides[d] *= window.step[d];
  }
  return offset;
}

/// Copies `rows` rows of `bytes` bytes that are `to_step` and `from_step` bytes apart.
void copy_rows(char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int64_t rows,
               std::int64_t bytes) {
  const std::int64_t shape[] = {rows, bytes}, out[] = {to_step, 1}, in[] = {from_step, 1};
  kernels::copy_strided(to, out, from, in, shape, 2, 1);
}

/// Calls f(first, n) for blocks of rows of `row` bytes; a single block for many long rows, since each copy
/// then has enough work for all threads and non-temporal stores. With blocks, cache lines that several parts
/// share are read or written before they leave the caches.
template <class F>
void for_row_blocks(std::int64_t rows, std::int64_t row, const F& f) {
  const bool long_rows = row >= 1024 && rows * row >= kernels::streaming_bytes;
  const std::int64_t block = long_rows ? rows : std::max<std::int64_t>(1, (64 << 10) / row);
  if (block >= rows || rows == 1) return f(0, rows);
  kernels::parallel_rows((rows + block - 1) / block, block * row / 4,
                         [&](std::int64_t begin, std::int64_t end) {
                           for (; begin < end; ++begin)
                             f(begin * block, std::min(block, rows - begin * block));
                         });
}

/// Copies the rows of the parts to the rows of the whole, part after part, or back.
void copy_parts(const Tensor& whole, std::span<const Tensor> parts, std::int64_t rows, bool join) {
  if (whole.size() == 0) return;
  const std::int64_t row = whole.size() / rows * element_size(whole);
  for_row_blocks(rows, row, [&](std::int64_t first, std::int64_t n) {
    char* at_whole = at(whole, 0) + first * row;
    for (const Tensor& part : parts) {
      const std::int64_t bytes = part.size() / rows * element_size(whole);
      char* const at_part = at(part, 0) + first * bytes;
      if (join) copy_rows(at_whole, row, at_part, bytes, n, bytes);
      else copy_rows(at_part, bytes, at_whole, row, n, bytes);
      at_whole += bytes;
    }
  });
}

}  // namespace

Tensor take(const char* op, const Tensor& x, const Window& window) {
  Tensor out = Tensor::empty(window.size, x.dtype(), op);
  if (out.size() > 0) {
    Shape strides = row_major(x.shape());
    const std::int64_t offset = enter(strides, window);
    kernels::copy_strided(out.raw(), row_major(window.size).begin(), at(x, offset), strides.begin(),
                          window.size.begin(), x.ndim(), element_size(x));
  }
  if (recording(x))
    record(op, out, {x}, [op, window, shape = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return place(op, g, shape, window); });
    });
  return out;
}

void write(void* memory, const Shape& shape, const Tensor& x, const Window& window) {
  if (x.size() == 0) return;
  Shape strides = row_major(shape);
  const std::int64_t offset = enter(strides, window);
  kernels::copy_strided(static_cast<char*>(memory) + offset * element_size(x), strides.begin(), x.raw(),
                        row_major(window.size).begin(), window.size.begin(), shape.rank(), element_size(x));
}

Tensor filled(const char* op, const Shape& shape, Scalar value, DType dtype) {
  Tensor out = Tensor::empty(shape, dtype, op);
  dispatch(dtype, [&]<class T>() {
    const T one = value.to<T>();
    // Non-temporal stores write results that exceed the caches three times as fast.
    if (out.size() > kernels::streaming_bytes / static_cast<std::int64_t>(sizeof(T)))
      return kernels::fill_elements(out.raw(), &one, out.size(), sizeof(T));
    parallel_for(out.size(), kernels::map_grain,
                 [one, to = out.pointer<T>()](std::int64_t begin, std::int64_t end) {
                   std::fill(to + begin, to + end, one);
                 });
  });
  return out;
}

Tensor place(const char* op, const Tensor& x, const Shape& shape, const Window& window, Scalar fill) {
  expect_fits(op, fill, x.dtype());
  Tensor out = filled(op, shape, fill, x.dtype());
  if (x.size() > 0) {
    Shape strides = row_major(shape);
    const std::int64_t offset = enter(strides, window);
    kernels::copy_strided(at(out, offset), strides.begin(), x.raw(), row_major(x.shape()).begin(),
                          x.shape().begin(), x.ndim(), element_size(x));
  }
  if (recording(x))
    record(op, out, {x},
           [op, window](const Tensor& g, Grads& grads) { grads.to(0, [&] { return take(op, g, window); }); });
  return out;
}

Tensor join(const char* op, std::span<const Tensor> parts, std::int64_t outer, const Shape& shape) {
  Tensor out = Tensor::empty(shape, parts[0].dtype(), op);
  copy_parts(out, parts, outer, true);
  if (!recording(parts)) return out;
  std::vector<Shape> shapes;
  for (const Tensor& part : parts) shapes.push_back(part.shape());
  record(op, out, Inputs(parts), [op, outer, shapes](const Tensor& g, Grads& grads) {
    if (outer == 0 || g.size() == 0) {
      for (std::size_t i = 0; i < shapes.size(); ++i)
        grads.to(static_cast<int>(i), [&] { return backend::full(shapes[i], 0, g.dtype()); });
      return;
    }
    const Tensor rows = reshape(g, {outer, g.size() / outer});
    std::int64_t start = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::int64_t width = shapes[i].count() / outer;
      grads.to(static_cast<int>(i), [&] {
        return reshape(take(op, rows, {{0, start}, {1, 1}, {outer, width}}), shapes[i]);
      });
      start += width;
    }
  });
  return out;
}

std::vector<Tensor> cut(const char* op, const Tensor& x, std::int64_t outer, std::span<const Shape> shapes) {
  std::vector<Tensor> parts;
  parts.reserve(shapes.size());
  for (const Shape& shape : shapes) parts.push_back(Tensor::empty(shape, x.dtype(), op));
  copy_parts(x, parts, outer, false);
  if (!recording(x) || parts.empty()) return parts;
  std::vector<Shape> kept(shapes.begin(), shapes.end());
  record(op, std::span<const Tensor>(parts), {x},
         [op, outer, kept, shape = x.shape(), dtype = x.dtype()](Grads& grads) {
           grads.to(0, [&] {
             std::vector<Tensor> arrived;
             for (std::size_t i = 0; i < kept.size(); ++i) {
               const Tensor& g = grads.output(static_cast<int>(i));
               arrived.push_back(g.defined() ? g : backend::full(kept[i], 0, dtype));
             }
             return join(op, arrived, outer, shape);
           });
         });
  return parts;
}

Tensor repeat_rows(const char* op, const Tensor& x, std::int64_t outer, std::int64_t n, const Shape& shape) {
  Tensor out = Tensor::empty(shape, x.dtype(), op);
  const std::int64_t inner = outer == 0 ? 0 : x.size() / outer;
  const std::int64_t sizes[] = {outer, n, inner}, in[] = {inner, 0, 1}, to[] = {n * inner, inner, 1};
  kernels::copy_strided(out.raw(), to, x.raw(), in, sizes, 3, element_size(x));
  if (recording(x))
    record(op, out, {x}, [outer, n, inner, shape = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return reshape(backend::sum(reshape(g, {outer, n, inner}), 1), shape); });
    });
  return out;
}

}  // namespace ktape::op_helpers
