#include <ktape/autograd/arguments.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/internal/slicing.hpp>
#include <ktape/ops/internal/sparse_symbolic.hpp>
#include <ktape/ops/kernels/copy/permute.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

namespace ktape::backend {

/// Returns Keras's form: the number of parts, or the places where all parts but the last end.
nn::Value value_of(const Sections& sections) {
  const std::vector<std::int64_t> sizes = sections.of(None);
  if (!sizes.empty() && sizes[0] == None) return sizes.size();
  nn::Value::List ends;
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) ends.push_back(end += sizes[i]);
  return ends;
}

/// Only the mode "constant" has a number: Keras refuses one beside another mode.
template <class F>
void fields(PadOptions& options, F&& field) {
  field("mode", options.mode);
  if (options.mode == "constant") field("constant_values", options.constant_values);
}
namespace {

/// Returns the result of an op on x as a new tensor, also where the op returned x itself.
Tensor own_result(const Tensor& out, const Tensor& x) { return out.get() == x.get() ? identity(x) : out; }

/// Returns the elements of x under another shape.
Tensor renamed(const char* op, const Tensor& x, const Shape& shape) {
  Tensor out = x.alias(shape);
  if (recording(x))
    record(op, out, {x}, [op, shape = x.shape()](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return renamed(op, g, shape); });
    });
  return out;
}

Shape filled(int rank, std::int64_t value) {
  Shape out;
  for (int d = 0; d < rank; ++d) out.push_back(value);
  return out;
}

op_helpers::Window whole(const Shape& shape) {
  return {filled(shape.rank(), 0), filled(shape.rank(), 1), shape};
}

}  // namespace

namespace {

/// Returns the shape with the extent -1 replaced by a number, or by None if the number depends on an unknown
/// extent of x.
Shape reshaped(const Tensor& x, const Shape& shape) {
  Shape wanted = shape;
  int open = -1;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] != -1) continue;
    if (open >= 0) fail("[reshape] one extent at most may be -1: received shape=", numbers(shape));
    wanted[open = d] = 1;
  }
  check_extents("reshape", wanted, x.dtype().size());
  const std::int64_t known = wanted.count();
  if (x.size() == None) {
    const std::int64_t multiple = with_unknown(x.shape(), 1).count();
    if (open >= 0 ? known == 0 : multiple == 0 ? known != 0 : known % multiple != 0)
      fail("[reshape] the shape must hold the elements of x: received x=", x.shape(),
           ", shape=", numbers(shape));
    if (open >= 0) wanted[open] = None;
    return wanted;
  }
  if (open >= 0 && known > 0 && x.size() % known == 0) wanted[open] = x.size() / known;
  if (wanted.count() != x.size() || (open >= 0 && known == 0))
    fail("[reshape] the shape must hold the ", x.size(), " elements of x: received x=", x.shape(),
         ", shape=", numbers(shape));
  return wanted;
}

}  // namespace

Tensor reshape(const Tensor& x, const ShapeLike& shape) {
  expect_defined("reshape", "x", x);
  const Shape& known = shape.known();
  // A single unknown extent follows from the known extents, unless a known extent is 0.
  const bool open = shape.waits() && (std::count(known.begin(), known.end(), None) > 1 ||
                                      std::find(known.begin(), known.end(), 0) != known.end());
  const Shape wanted = open ? known : reshaped(x, known);
  if (is_symbolic(x) || shape.waits())
    return defer_described("reshape", {wanted, x.dtype()}, reshape, x, shape);
  return renamed("reshape", x, wanted);
}

Tensor permute_dimensions(const Tensor& x, const Shape& pattern) {
  expect_defined("permute_dimensions", "x", x);
  if (pattern.rank() != x.ndim())
    fail("[permute_dimensions] the pattern must have one entry per axis: received x=", x.shape(),
         ", pattern=", numbers(pattern));
  int axes[Shape::max_rank];
  unsigned seen = 0;
  Shape shape = x.shape(), back = pattern;
  for (int d = 0; d < x.ndim(); ++d) {
    const std::int64_t axis = pattern[d] < 0 ? pattern[d] + x.ndim() : pattern[d];
    if (axis < 0 || axis >= x.ndim() || (seen >> axis & 1))
      fail("[permute_dimensions] the pattern must name every axis once: received x=", x.shape(),
           ", pattern=", numbers(pattern));
    seen |= 1u << axis;
    axes[d] = static_cast<int>(axis);
    shape[d] = x.shape()[axes[d]];
    back[axes[d]] = d;
  }
  if (is_symbolic(x))
    return defer_described("permute_dimensions", {shape, x.dtype()}, permute_dimensions, x, pattern);
  Tensor out = Tensor::empty(shape, x.dtype(), "permute_dimensions");
  kernels::permute(x.raw(), out.raw(), x.shape().begin(), axes, x.ndim(), static_cast<int>(x.dtype().size()));
  if (recording(x))
    record("permute_dimensions", out, {x}, [back](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return permute_dimensions(g, back); });
    });
  return out;
}

Tensor transpose(const Tensor& x) {
  expect_defined("transpose", "x", x);
  Shape pattern = x.shape();
  for (int d = 0; d < x.ndim(); ++d) pattern[d] = x.ndim() - 1 - d;
  return permute_dimensions(x, pattern);
}

namespace {

/// Returns the shape of the tensors, which may differ only in the extent of the axis `but`, or with -1 not at
/// all.
Shape common_shape(const char* op, const TensorList& tensors, int but) {
  if (tensors.empty()) fail("[", op, "] at least one tensor is needed: received none");
  const Tensor& first = tensors[0];
  Shape shape = first.shape();
  for (const Tensor& x : tensors) {
    if (x.dtype() != first.dtype())
      fail<TypeError>("[", op, "] the tensors must have one dtype: received ", first.dtype(), " and ",
                      x.dtype());
    bool alike = x.ndim() == first.ndim();
    for (int d = 0; alike && d < x.ndim(); ++d) {
      alike = d == but || compatible(x.shape()[d], shape[d]);
      shape[d] = merged(shape[d], x.shape()[d]);
    }
    if (alike) continue;
    if (but < 0)
      fail("[", op, "] the tensors must have one shape: received ", first.shape(), " and ", x.shape());
    fail("[", op, "] the shapes must agree in all axes but ", but, ": received ", first.shape(), " and ",
         x.shape());
  }
  return shape;
}

}  // namespace

Tensor concatenate(const TensorList& tensors, int axis) {
  expect_defined("concatenate", "tensors", tensors.vector());
  if (!tensors.empty() &&
      std::all_of(tensors.begin(), tensors.end(), [](const Tensor& x) { return sparse_parts(x); }))
    return concatenate_later(tensors.vector(), axis);
  if (!tensors.empty()) axis = canonical_axis("concatenate", axis, tensors[0].ndim());
  Shape shape = common_shape("concatenate", tensors, axis);
  shape[axis] = 0;
  for (const Tensor& x : tensors) shape[axis] = where_known(std::plus<>(), shape[axis], x.shape()[axis]);
  if (is_symbolic(tensors.vector()))
    return defer_described(
        "concatenate", {shape, tensors[0].dtype()},
        [](const TensorList& tensors, int axis) { return concatenate(tensors, axis); }, tensors, axis);
  return op_helpers::join("concatenate", tensors.vector(), shape.count(0, axis), shape);
}

Tensor stack(const TensorList& x, int axis) {
  expect_defined("stack", "x", x.vector());
  Shape shape = common_shape("stack", x, -1);
  axis = canonical_axis("stack", axis, shape.rank() + 1);
  expect_rank("stack", shape.rank() + 1);
  shape.insert(axis, static_cast<std::int64_t>(x.size()));
  if (is_symbolic(x.vector())) return defer_described("stack", {shape, x[0].dtype()}, stack, x, axis);
  return op_helpers::join("stack", x.vector(), shape.count(0, axis), shape);
}

Tensor repeat(const Tensor& x, std::int64_t n) {
  expect_defined("repeat", "x", x);
  if (x.ndim() != 2) fail("[repeat] x must have rank 2: received x=", x.shape());
  if (n < 0) fail("[repeat] n must be at least 0: received n=", n);
  const Shape shape{x.shape()[0], n, x.shape()[1]};
  check_extents("repeat", shape, x.dtype().size(), true);
  if (is_symbolic(x)) return defer_described("repeat", {shape, x.dtype()}, repeat, x, n);
  return op_helpers::repeat_rows("repeat", x, x.shape()[0], n, shape);
}

namespace {
/// Returns the shape with one axis `times` as long. The products are checked for overflow, with extents of 0
/// counted as 1, since gradients have the repetitions as another axis.
Shape stretched(const char* op, Shape shape, int axis, std::int64_t times, DType dtype) {
  std::int64_t extent;
  if (__builtin_mul_overflow(std::max<std::int64_t>(shape[axis], 1), times, &extent))
    fail("[", op, "] the tensor must fit in memory: received x=", shape, " ", times, " times");
  const std::int64_t result = times == 0 || shape[axis] == 0 ? 0 : shape[axis] == None ? shape[axis] : extent;
  shape[axis] = extent;
  check_extents(op, shape, dtype.size(), true);
  shape[axis] = result;
  return shape;
}
}  // namespace

Tensor repeat_elements(const Tensor& x, std::int64_t rep, int axis) {
  expect_defined("repeat_elements", "x", x);
  axis = canonical_axis("repeat_elements", axis, x.ndim());
  if (rep < 0) fail("[repeat_elements] rep must be at least 0: received rep=", rep);
  if (rep == 1) return identity(x);
  const Shape shape = stretched("repeat_elements", x.shape(), axis, rep, x.dtype());
  if (is_symbolic(x))
    return defer_described("repeat_elements", {shape, x.dtype()}, repeat_elements, x, rep, axis);
  return op_helpers::repeat_rows("repeat_elements", x, x.shape().count(0, axis + 1), rep, shape);
}

Tensor tile(const Tensor& x, const ShapeLike& times) {
  expect_defined("tile", "x", x);
  const Shape& n = times.known();
  if (n.rank() != x.ndim())
    fail("[tile] n must have one entry per axis: received x=", x.shape(), ", n=", numbers(n));
  Shape shape = x.shape();
  for (int d = 0; d < n.rank(); ++d) {
    const bool later = times.waits() && n[d] == None;
    if (n[d] < 0 && !later) fail("[tile] n must be at least 0: received n=", numbers(n));
    if (later) shape[d] = None;
    else shape = stretched("tile", shape, d, n[d], x.dtype());
  }
  if (is_symbolic(x) || times.waits()) return defer_described("tile", {shape, x.dtype()}, tile, x, times);
  Tensor out = x;
  for (int d = x.ndim() - 1; d >= 0; --d) {
    if (n[d] == 1) continue;
    Shape next = out.shape();
    next[d] = shape[d];
    out = op_helpers::repeat_rows("tile", out, out.shape().count(0, d), n[d], next);
  }
  return own_result(out, x);
}

Tensor flatten(const Tensor& x) {
  expect_defined("flatten", "x", x);
  const Shape shape{x.size()};
  if (is_symbolic(x)) return defer("flatten", {shape, x.dtype()}, flatten, x);
  return renamed("flatten", x, shape);
}

Tensor batch_flatten(const Tensor& x) {
  expect_defined("batch_flatten", "x", x);
  if (x.ndim() == 0) fail("[batch_flatten] x must have rank 1 or more: received x=", x.shape());
  const Shape shape{x.shape()[0], x.shape().count(1)};
  if (is_symbolic(x)) return defer("batch_flatten", {shape, x.dtype()}, batch_flatten, x);
  return renamed("batch_flatten", x, shape);
}

Tensor expand_dims(const Tensor& x, int axis) {
  expect_defined("expand_dims", "x", x);
  Shape shape = x.shape();
  expect_rank("expand_dims", x.ndim() + 1);
  shape.insert(canonical_axis("expand_dims", axis, x.ndim() + 1), 1);
  if (is_symbolic(x)) return defer_described("expand_dims", {shape, x.dtype()}, expand_dims, x, axis);
  return renamed("expand_dims", x, shape);
}

Tensor squeeze(const Tensor& x, int axis) {
  expect_defined("squeeze", "x", x);
  const int at = canonical_axis("squeeze", axis, x.ndim());
  Shape shape = x.shape();
  if (!compatible(shape[at], 1))
    fail("[squeeze] the axis must have extent 1: received x=", shape, ", axis=", axis);
  shape.erase(at);
  if (is_symbolic(x)) return defer_described("squeeze", {shape, x.dtype()}, squeeze, x, axis);
  return renamed("squeeze", x, shape);
}

Tensor reverse(const Tensor& x, const Axes& axes) {
  expect_defined("reverse", "x", x);
  const unsigned bits = canonical_axes("reverse", axes, x.ndim());
  if (is_symbolic(x)) return defer_described("reverse", {x.shape(), x.dtype()}, reverse, x, axes);
  op_helpers::Window window = whole(x.shape());
  for (int d = 0; d < x.ndim(); ++d)
    if (bits >> d & 1) window.start[d] = x.shape()[d] - 1, window.step[d] = -1;
  return op_helpers::take("reverse", x, window);
}

Tensor slice(const Tensor& x, const Shape& start, const Shape& size) {
  expect_defined("slice", "x", x);
  if (start.rank() != x.ndim() || size.rank() != x.ndim())
    fail("[slice] start and size must have one entry per axis: received x=", x.shape(),
         ", start=", numbers(start), ", size=", numbers(size));
  Shape extents = size;
  for (int d = 0; d < x.ndim(); ++d) {
    const std::int64_t n = x.shape()[d];
    if (size[d] == -1) extents[d] = where_known(std::minus<>(), n, start[d]);
    const bool inside =
        n == None ? size[d] >= -1 : start[d] <= n && extents[d] >= 0 && extents[d] <= n - start[d];
    if (start[d] < 0 || !inside)
      fail("[slice] the block must lie inside x: received x=", x.shape(), ", start=", numbers(start),
           ", size=", numbers(size), " (axis ", d, ")");
  }
  if (is_symbolic(x)) return defer_described("slice", {extents, x.dtype()}, slice, x, start, size);
  if (extents == x.shape()) return identity(x);
  return op_helpers::take("slice", x, {start, filled(x.ndim(), 1), extents});
}

std::vector<std::int64_t> Sections::of(std::int64_t extent) const {
  if (sizes_.empty()) {
    if (number_ <= 0 || (extent != None && extent % number_ != 0))
      fail("[split] the axis of extent ", extent, " must divide into the parts: received number=", number_);
    return std::vector<std::int64_t>(static_cast<std::size_t>(number_),
                                     where_known(std::divides<>(), extent, number_));
  }
  std::int64_t sum = 0;
  for (std::int64_t size : sizes_) {
    if (size < 0) fail("[split] a size must be at least 0: received size=", size);
    if (extent != None) sum += std::min(size, extent + 1 - std::min(sum, extent));
  }
  if (extent != None && sum != extent)
    fail("[split] the sizes must add up to the extent ", extent, ": received a sum of ",
         std::accumulate(sizes_.begin(), sizes_.end(), 0.0));
  return sizes_;
}

namespace {
std::vector<OutputInfo> infos_of(const std::vector<Shape>& shapes, DType dtype) {
  std::vector<OutputInfo> infos;
  for (const Shape& shape : shapes) infos.push_back({shape, dtype});
  return infos;
}
}  // namespace

std::vector<Tensor> split(const Tensor& x, const Sections& sections, int axis) {
  expect_defined("split", "x", x);
  axis = canonical_axis("split", axis, x.ndim());
  std::vector<Shape> shapes;
  for (std::int64_t size : sections.of(x.shape()[axis])) shapes.emplace_back(x.shape())[axis] = size;
  if (is_symbolic(x)) return defer_described("split", infos_of(shapes, x.dtype()), split, x, sections, axis);
  return op_helpers::cut("split", x, x.shape().count(0, axis), shapes);
}

std::vector<Tensor> unstack(const Tensor& x, int axis) {
  expect_defined("unstack", "x", x);
  axis = canonical_axis("unstack", axis, x.ndim());
  Shape shape = x.shape();
  if (shape[axis] == None)
    fail("[unstack] the extent of the axis, and so the number of tensors, must be known: received x=", shape,
         ", axis=", axis);
  shape.erase(axis);
  const std::vector<Shape> shapes(static_cast<std::size_t>(x.shape()[axis]), shape);
  if (is_symbolic(x)) return defer_described("unstack", infos_of(shapes, x.dtype()), unstack, x, axis);
  return op_helpers::cut("unstack", x, x.shape().count(0, axis), shapes);
}

namespace {

/// Pads an axis with its mirror image, which begins `skip` elements from the border.
Tensor mirrored(const Tensor& x, int axis, const PaddingPair& padding, std::int64_t skip) {
  if (padding.before == 0 && padding.after == 0) return x;
  const std::int64_t n = x.shape()[axis];
  const auto image = [&](std::int64_t start, std::int64_t size) {
    op_helpers::Window window = whole(x.shape());
    window.start[axis] = start, window.step[axis] = -1, window.size[axis] = size;
    return op_helpers::take("pad", x, window);
  };
  return concatenate(
      {image(padding.before - 1 + skip, padding.before), x, image(n - 1 - skip, padding.after)}, axis);
}

}  // namespace

Tensor pad(const Tensor& x, const std::vector<PaddingPair>& paddings, const PadOptions& options) {
  expect_defined("pad", "x", x);
  const std::string& mode = options.mode;
  if (mode != "constant" && mode != "reflect" && mode != "symmetric")
    fail("[pad] mode must be \"constant\", \"reflect\" or \"symmetric\": received mode=\"", mode, '"');
  if (paddings.size() != static_cast<std::size_t>(x.ndim()))
    fail("[pad] there must be one pair per axis: received x=", x.shape(), ", ", paddings.size(), " pairs");
  const std::int64_t skip = mode == "reflect" ? 1 : 0;
  Shape shape = x.shape();
  op_helpers::Window window = whole(x.shape());
  for (int d = 0; d < x.ndim(); ++d) {
    const auto [before, after] = paddings[static_cast<std::size_t>(d)];
    if (before < 0 || after < 0)
      fail("[pad] paddings must be at least 0: received (", before, ", ", after, ") for axis ", d);
    if (mode != "constant" && shape[d] != None &&
        std::max(before, after) > std::max<std::int64_t>(0, shape[d] - skip))
      fail("[pad] a ", mode, " padding must not exceed the axis: received (", before, ", ", after,
           ") for x=", x.shape());
    window.start[d] = before;
    const std::int64_t extent = std::max<std::int64_t>(0, x.shape()[d]);
    if (__builtin_add_overflow(before, after, &shape[d]) ||
        __builtin_add_overflow(shape[d], extent, &shape[d]))
      fail("[pad] the tensor must fit in memory: received (", before, ", ", after, ") for axis ", d);
  }
  check_extents("pad", shape, x.dtype().size());
  for (int d = 0; d < x.ndim(); ++d)
    if (x.shape()[d] == None) shape[d] = None;
  if (is_symbolic(x)) return defer_described("pad", {shape, x.dtype()}, pad, x, paddings, options);
  if (mode == "constant") return op_helpers::place("pad", x, shape, window, options.constant_values);
  Tensor out = x;
  for (int d = 0; d < x.ndim(); ++d) out = mirrored(out, d, paddings[static_cast<std::size_t>(d)], skip);
  return own_result(out, x);
}

}  // namespace ktape::backend

namespace ktape::nn {
namespace {

std::vector<Tensor> unstack(const OperationCall& call) {
  std::vector<Tensor> parts = backend::unstack(call.tensor("x"), call.axis());
  if (call.has("num") && call.integer("num") != static_cast<std::int64_t>(parts.size()))
    fail("[Unstack] num must be the extent of the axis, ", parts.size(),
         ": received num=", call.integer("num"));
  return parts;
}

}  // namespace

Operations shape_operations() {
  static constexpr Operation rows[] = {
      {"Unstack", "core", "x; num=null, axis=0", unstack, "", "x, axis"},
      {"repeat_vector", "", "x; n",
       [](const OperationCall& call) { return backend::repeat(call.tensor("x"), call.integer("n")); },
       "repeat"},
      {"batch_flatten", "", "x;", calls<backend::batch_flatten>},
  };
  return rows;
}

}  // namespace ktape::nn
