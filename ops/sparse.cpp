#include <ktape/ops/indexing.hpp>
#include <ktape/ops/internal/sparse_symbolic.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/shape.hpp>
#include <ktape/ops/sparse.hpp>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <span>

namespace ktape {
namespace {

std::span<const std::int64_t> row(const Tensor& indices, std::int64_t i) {
  const std::int64_t rank = indices.shape()[1];
  return {indices.pointer<std::int64_t>() + i * rank, static_cast<std::size_t>(rank)};
}

Shape printable(std::span<const std::int64_t> row) { return {row.data(), static_cast<int>(row.size())}; }

bool before(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

/// Returns the name followed by the text, whose further lines are indented to the first.
std::string indented(const std::string& name, const std::string& text) {
  const std::string margin(std::string("SparseTensor(").size() + name.size(), ' ');
  std::string out = name;
  for (char c : text) c == '\n' ? out += '\n' + margin : out += c;
  return out;
}

}  // namespace

SparseTensor::SparseTensor(const ArrayLike& indices, const ArrayLike& values, const Shape& dense_shape)
    : SparseTensor(Parts{tensor_of("indices", indices, DType::Int64),
                         tensor_of("values", values, backend::floatx()), dense_shape}) {}

Tensor SparseTensor::tensor_of(const char* name, const ArrayLike& value, DType dtype) {
  value.expect_defined("SparseTensor", name);
  return value.tensor({}, dtype);
}

SparseTensor::SparseTensor(const Parts& parts) : values_(parts.values), shape_(parts.shape) {
  expect_defined("SparseTensor", "values", values_);
  expect_value("SparseTensor", parts.indices), expect_value("SparseTensor", values_);
  const Shape &rows = parts.indices.shape(), &values = values_.shape();
  check_extents("SparseTensor", shape_, values_.dtype().size());
  if (!parts.indices.dtype().is_integer())
    fail<TypeError>("[SparseTensor] indices must be integers: received indices=", parts.indices.dtype());
  const bool none = rows.count() == 0 && values == Shape{0};
  if (!none && (values.rank() != 1 || rows != Shape{values[0], shape_.rank()}))
    fail("[SparseTensor] indices must have a row of ", shape_.rank(),
         " coordinates for each value: received indices=", rows, ", values=", values,
         ", dense_shape=", shape_);
  indices_ = converted(parts.indices, DType::Int64).alias({values_.size(), shape_.rank()});
  check_coordinates();
}

void SparseTensor::check_coordinates() const {
  for (std::int64_t i = 0; i < values_.size(); ++i) {
    const auto at = row(indices_, i);
    for (int d = 0; d < shape_.rank(); ++d)
      if (at[static_cast<std::size_t>(d)] < 0 || at[static_cast<std::size_t>(d)] >= shape_[d])
        fail("[SparseTensor] coordinates must lie inside of dense_shape=", shape_, ": received ",
             printable(at), " in row ", i, " of indices");
    if (i == 0 || before(row(indices_, i - 1), at)) continue;
    if (before(at, row(indices_, i - 1)))
      fail("[SparseTensor] coordinates must be in row-major order: received ", printable(at), " after ",
           printable(row(indices_, i - 1)), " in row ", i, " of indices");
    fail("[SparseTensor] coordinates must not repeat: received ", printable(at), " in rows ", i - 1, " and ",
         i, " of indices");
  }
}

std::string to_string(const SparseTensor& x) {
  return "SparseTensor(" + indented("indices=", to_string(x.indices())) + ",\n             " +
         indented("values=", to_string(x.values())) + ",\n             dense_shape=" + to_string(x.shape()) +
         ')';
}

std::ostream& operator<<(std::ostream& out, const SparseTensor& x) { return out << to_string(x); }

}  // namespace ktape

namespace ktape::backend {

bool is_sparse(const Tensor& x) { return sparse_parts(x).has_value(); }
bool is_sparse(const SparseTensor&) { return true; }

Tensor to_dense(const Tensor& x) { return identity(x); }

Tensor to_dense(const SparseTensor& x) {
  expect_defined("to_dense", "x", x.values());
  if (x.dtype().is_bool())
    return cast(scatter_nd(x.indices(), cast(x.values(), DType::UInt8), x.shape()), DType::Bool);
  return scatter_nd(x.indices(), x.values(), x.shape());
}

namespace {

/// Returns the shape of the tensors one after another. Throws where they do not fit.
Shape joined_shape(const std::vector<SparseTensor>& tensors, int axis) {
  Shape shape = tensors[0].shape();
  for (std::size_t i = 1; i < tensors.size(); ++i) {
    Shape own = tensors[i].shape();
    if (tensors[i].dtype() != tensors[0].dtype())
      fail<TypeError>("[concatenate] the tensors must have one dtype: received ", tensors[0].dtype(), " and ",
                      tensors[i].dtype());
    if (own.rank() == shape.rank()) std::swap(own[axis], shape[axis]);
    if (own.rank() != shape.rank() ||
        !std::equal(own.begin() + axis + 1, own.end(), shape.begin() + axis + 1) ||
        !std::equal(own.begin(), own.begin() + axis, shape.begin()))
      fail("[concatenate] the shapes must agree in all axes but ", axis, ": received ", tensors[0].shape(),
           " and ", tensors[i].shape());
    shape[axis] += own[axis];
  }
  return shape;
}

/// Returns the order that sorts the coordinates row-major.
Tensor row_major_order(const Tensor& indices) {
  Tensor order = Tensor::empty({indices.shape()[0]}, DType::Int64);
  std::int64_t* at = order.pointer<std::int64_t>();
  std::iota(at, at + order.size(), 0);
  std::sort(at, at + order.size(),
            [&](std::int64_t a, std::int64_t b) { return before(row(indices, a), row(indices, b)); });
  return order;
}

}  // namespace

SparseTensor concatenate(const std::vector<SparseTensor>& tensors, int axis) {
  if (tensors.empty()) fail("[concatenate] at least one tensor is needed: received none");
  for (const SparseTensor& x : tensors) expect_defined("concatenate", "a tensor", x.values());
  axis = canonical_axis("concatenate", axis, tensors[0].ndim());
  const Shape shape = joined_shape(tensors, axis);
  std::vector<Tensor> indices, values;
  std::int64_t first = 0;
  for (const SparseTensor& x : tensors) {
    const Tensor offset = zeros({shape.rank()}, {.dtype = DType::Int64});
    offset.pointer<std::int64_t>()[axis] = first;
    indices.push_back(x.indices() + offset);
    values.push_back(x.values());
    first += x.shape()[axis];
  }
  const Tensor all = concatenate(indices, 0), order = row_major_order(all);
  return SparseTensor(gather(all, order), gather(concatenate(values, 0), order), shape);
}

MixedList::MixedList(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) dense_.push_back(entry.dense());
}

Tensor concatenate_mixed(const MixedList& tensors, int axis) { return concatenate(tensors.dense(), axis); }

}  // namespace ktape::backend
