#include <ktape/autograd/node.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/kernels/parallel_rows.hpp>
#include <ktape/ops/kernels/parts.hpp>
#include <ktape/ops/kernels/strided.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::kernels {
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

/// Where the window begins in a tensor with these strides; multiplies them by the window's steps.
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
  copy_strided(to, out, from, in, shape, 2, 1);
}

/// Puts the rows of the parts one behind the other. Of short rows a block at a time: what several parts write
/// to one line is there before the line leaves the caches.
void join_rows(const Tensor& out, std::span<const Tensor> parts, std::int64_t rows) {
  const std::int64_t row = out.size() / rows * element_size(out);
  const std::int64_t block = row >= 1024 ? rows : (64 << 10) / row;
  const auto join_block = [&](std::int64_t first, std::int64_t n) {
    char* to = at(out, 0) + first * row;
    for (const Tensor& part : parts) {
      const std::int64_t bytes = part.size() / rows * element_size(out);
      copy_rows(to, row, at(part, 0) + first * bytes, bytes, n, bytes);
      to += bytes;
    }
  };
  if (block >= rows) return join_block(0, rows);
  parallel_rows((rows + block - 1) / block, block * row / 4, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) join_block(begin * block, std::min(block, rows - begin * block));
  });
}

}  // namespace

Tensor take(const char* op, const Tensor& x, const Window& window) {
  Tensor out = Tensor::empty(window.size, x.dtype());
  if (out.size() > 0) {
    Shape strides = row_major(x.shape());
    const std::int64_t offset = enter(strides, window);
    copy_strided(out.raw(), row_major(window.size).begin(), at(x, offset), strides.begin(),
                 window.size.begin(), x.ndim(), element_size(x));
  }
  if (recording(x))
    record(op, out, {x}, [op, window, shape = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return place(op, g, shape, window); });
    });
  return out;
}

Tensor place(const char* op, const Tensor& x, const Shape& shape, const Window& window, Scalar fill) {
  Tensor out = backend::full(shape, fill, x.dtype());
  if (x.size() > 0) {
    Shape strides = row_major(shape);
    const std::int64_t offset = enter(strides, window);
    copy_strided(at(out, offset), strides.begin(), x.raw(), row_major(x.shape()).begin(), x.shape().begin(),
                 x.ndim(), element_size(x));
  }
  if (recording(x))
    record(op, out, {x},
           [op, window](const Tensor& g, Grads& grads) { grads.to(0, [&] { return take(op, g, window); }); });
  return out;
}

Tensor join(const char* op, std::span<const Tensor> parts, std::int64_t outer, const Shape& shape) {
  Tensor out = Tensor::empty(shape, parts[0].dtype());
  if (out.size() > 0) join_rows(out, parts, outer);
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
  const std::int64_t row = outer == 0 ? 0 : x.size() / outer * element_size(x);
  const char* from = at(x, 0);
  for (const Shape& shape : shapes) {
    Tensor part = Tensor::empty(shape, x.dtype());
    const std::int64_t bytes = outer == 0 ? 0 : part.size() / outer * element_size(x);
    copy_rows(at(part, 0), bytes, from, row, outer, bytes);
    from += bytes;
    parts.push_back(std::move(part));
  }
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
  Tensor out = Tensor::empty(shape, x.dtype());
  const std::int64_t inner = outer == 0 ? 0 : x.size() / outer;
  const std::int64_t sizes[] = {outer, n, inner}, in[] = {inner, 0, 1}, to[] = {n * inner, inner, 1};
  copy_strided(out.raw(), to, x.raw(), in, sizes, 3, element_size(x));
  if (recording(x))
    record(op, out, {x}, [outer, n, inner, shape = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return reshape(backend::sum(reshape(g, {outer, n, inner}), 1), shape); });
    });
  return out;
}

}  // namespace ktape::kernels
