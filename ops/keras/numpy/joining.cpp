#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <algorithm>

/// The functions of shape.hpp that join and split tensors.
namespace ktape::ops {

namespace K = backend;
using op_helpers::promoted;

Tensor concatenate(const TensorList& xs, int axis) {
  return K::concatenate(promoted("concatenate", "xs", xs), axis);
}
Tensor stack(const TensorList& x, int axis) { return K::stack(promoted("stack", "x", x), axis); }

Tensor append(const Tensor& x1, const Tensor& x2, std::optional<int> axis) {
  const CalledOp called("append");
  const std::vector<Tensor> xs = promoted("append", "x", {x1, x2});
  if (axis) return K::concatenate(xs, *axis);
  return K::concatenate({K::reshape(xs[0], {-1}), K::reshape(xs[1], {-1})}, 0);
}

namespace {

/// Returns x as rows: leading axes of extent 1 are added until the rank is 2.
Tensor at_least_2d(const Tensor& x) {
  return x.ndim() >= 2 ? x : K::reshape(x, x.ndim() == 1 ? Shape{1, -1} : Shape{1, 1});
}

std::vector<Tensor> each(std::vector<Tensor> xs, Tensor (*f)(const Tensor&)) {
  std::transform(xs.begin(), xs.end(), xs.begin(), f);
  return xs;
}

}  // namespace

Tensor hstack(const TensorList& given) {
  const CalledOp called("hstack");
  const auto at_least_1d = [](const Tensor& x) { return x.ndim() == 0 ? K::reshape(x, {1}) : x; };
  const std::vector<Tensor> xs = each(promoted("hstack", "xs", given), at_least_1d);
  return K::concatenate(xs, xs[0].ndim() == 1 ? 0 : 1);
}
Tensor vstack(const TensorList& xs) {
  const CalledOp called("vstack");
  return K::concatenate(each(promoted("vstack", "xs", xs), at_least_2d), 0);
}
Tensor dstack(const TensorList& xs) {
  const CalledOp called("dstack");
  const auto at_least_3d = [](const Tensor& x) {
    return x.ndim() >= 3 ? x : K::expand_dims(at_least_2d(x), 2);
  };
  return K::concatenate(each(promoted("dstack", "xs", xs), at_least_3d), 2);
}
Tensor column_stack(const TensorList& xs) {
  const CalledOp called("column_stack");
  const auto columns = [](const Tensor& x) {
    return x.ndim() >= 2 ? x : K::reshape(x, x.ndim() == 1 ? Shape{-1, 1} : Shape{1, 1});
  };
  return K::concatenate(each(promoted("column_stack", "xs", xs), columns), 1);
}

namespace {
constexpr std::int64_t largest_count = 1 << 24;
}

std::vector<std::int64_t> Cuts::sizes(const char* op, std::int64_t extent, bool equal) const {
  if (extent == None) fail("[", op, "] the extent of the axis must be known: received None");
  std::vector<std::int64_t> out;
  if (at_) {
    std::int64_t last = 0;
    const auto place = [&](std::int64_t position) {
      return std::clamp(position < 0 ? position + extent : position, std::int64_t{0}, extent);
    };
    for (const std::int64_t position : positions_) {
      out.push_back(std::max<std::int64_t>(0, place(position) - last));
      last = std::max(last, place(position));
    }
    out.push_back(extent - last);
    return out;
  }
  if (sections_ < 1 || (equal && extent % sections_ != 0))
    fail("[", op, "] the number of parts must divide the extent ", extent,
         ": received indices_or_sections=", sections_);
  if (sections_ > largest_count)
    fail("[", op, "] there must be at most ", largest_count,
         " parts: received indices_or_sections=", sections_);
  for (std::int64_t i = 0; i < sections_; ++i) out.push_back(extent / sections_ + (i < extent % sections_));
  return out;
}

namespace {

std::vector<Tensor> parts(const char* op, const Tensor& x, const Cuts& cuts, int given_axis, bool equal) {
  expect_defined(op, "x", x);
  const int axis = canonical_axis(op, given_axis, x.ndim());
  return K::split(x, cuts.sizes(op, x.shape()[axis], equal), axis);
}

}  // namespace

std::vector<Tensor> split(const Tensor& x, const Cuts& cuts, int axis) {
  return parts("split", x, cuts, axis, true);
}
std::vector<Tensor> array_split(const Tensor& x, const Cuts& cuts, int axis) {
  return parts("array_split", x, cuts, axis, false);
}
std::vector<Tensor> hsplit(const Tensor& x, const Cuts& cuts) {
  expect_defined("hsplit", "x", x);
  if (x.ndim() < 1) fail("[hsplit] x must have rank 1 or more: received x=()");
  return parts("hsplit", x, cuts, x.ndim() == 1 ? 0 : 1, true);
}
std::vector<Tensor> vsplit(const Tensor& x, const Cuts& cuts) {
  expect_defined("vsplit", "x", x);
  if (x.ndim() < 2) fail("[vsplit] x must have rank 2 or more: received x=", x.shape());
  return parts("vsplit", x, cuts, 0, true);
}
std::vector<Tensor> dsplit(const Tensor& x, const Cuts& cuts) {
  expect_defined("dsplit", "x", x);
  if (x.ndim() < 3) fail("[dsplit] x must have rank 3 or more: received x=", x.shape());
  return parts("dsplit", x, cuts, 2, true);
}

}  // namespace ktape::ops

namespace ktape::ops {
/// Reads positions of cuts, or a number of parts.
static Cuts from_value(const nn::Value& value, const std::string& what, std::type_identity<Cuts>) {
  if (value.is_list()) return value.as<std::vector<std::int64_t>>(what);
  return value.integer(what);
}
}  // namespace ktape::ops

namespace ktape::nn {
namespace {

Tensor concatenated(const OperationCall& call) {
  if (call.has("axis")) return ops::concatenate(call.tensors("xs"), call.axis());
  std::vector<Tensor> flat;
  for (const Tensor& x : call.tensors("xs")) flat.push_back(backend::flatten(x));
  return ops::concatenate(flat, 0);
}

}  // namespace

Operations joining_operations() {
  static constexpr Operation rows[] = {
      {"Concatenate", "numpy", "xs; axis=0", concatenated},
      {"Stack", "numpy", "x; axis=0", calls<ops::stack>},
      {"Append", "numpy", "x1, x2; axis=null", calls<ops::append>},
      {"Hstack", "numpy", "xs;", calls<ops::hstack>, "-"},
      {"Vstack", "numpy", "xs;", calls<ops::vstack>, "-"},
      {"Dstack", "numpy", "xs;", calls<ops::dstack>, "-"},
      {"ColumnStack", "numpy", "xs;", calls<ops::column_stack>, "-"},
      {"Split", "numpy", "x; indices_or_sections, axis=0", calls<ops::split>},
      {"ArraySplit", "numpy", "x; indices_or_sections, axis=0", calls<ops::array_split>},
      {"Hsplit", "numpy", "x; indices_or_sections", calls<ops::hsplit>},
      {"Vsplit", "numpy", "x; indices_or_sections", calls<ops::vsplit>},
      {"Dsplit", "numpy", "x; indices_or_sections", calls<ops::dsplit>},
  };
  return rows;
}

}  // namespace ktape::nn
