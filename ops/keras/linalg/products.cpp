#include <ktape/autograd/base/called_op.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/deferred.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/keras/promotion.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <algorithm>

namespace ktape::ops {

namespace K = backend;

namespace {

/// Returns the dtype in which factors are multiplied: int32 for int8 and bool, whose sums overflow.
DType dtype_of_sums(DType dtype) {
  return dtype.is_bool() || dtype == DType::Int8 ? DType(DType::Int32) : dtype;
}

/// Returns f of two factors in their common dtype.
template <class F>
Tensor of_factors(const char* op, const Tensor& x1, const Tensor& x2, F f) {
  expect_defined(op, "x1, x2", x1, x2);
  const auto [x, y] = op_helpers::promoted(op, x1, x2);
  const DType wide = dtype_of_sums(x.dtype());
  return K::as_dtype(f(K::as_dtype(x, wide), K::as_dtype(y, wide)), x.dtype());
}

Tensor product(const Tensor& x, const Tensor& y) {
  const Tensor a = x.ndim() == 1 ? K::expand_dims(x, 0) : x, b = y.ndim() == 1 ? K::expand_dims(y, -1) : y;
  Tensor out = K::matmul(a, b);
  if (y.ndim() == 1) out = K::squeeze(out, -1);
  if (x.ndim() == 1) out = K::squeeze(out, y.ndim() == 1 ? -1 : -2);
  return out;
}

}  // namespace

Tensor matmul(const Tensor& x1, const Tensor& x2) {
  const CalledOp called("matmul");
  expect_defined("matmul", "x1, x2", x1, x2);
  if (x1.ndim() == 0 || x2.ndim() == 0)
    fail("[matmul] tensors must have rank 1 or more: received x1=", x1.shape(), ", x2=", x2.shape());
  if (x1.dtype() == DType::Int8 && x2.dtype() == DType::Int8)
    return product(K::cast(x1, DType::Int32), K::cast(x2, DType::Int32));
  return of_factors("matmul", x1, x2, product);
}

Tensor dot(const Tensor& x1, const Tensor& x2) {
  const CalledOp called("dot");
  return of_factors("dot", x1, x2, [](const Tensor& x, const Tensor& y) {
    if (x.ndim() == 0 || y.ndim() == 0) return x * y;
    return tensordot(x, y, DotAxes({-1}, {y.ndim() == 1 ? 0 : -2}));
  });
}

Tensor inner(const Tensor& x1, const Tensor& x2) {
  const CalledOp called("inner");
  return of_factors("inner", x1, x2, [](const Tensor& x, const Tensor& y) {
    return x.ndim() == 0 || y.ndim() == 0 ? x * y : tensordot(x, y, DotAxes({-1}, {-1}));
  });
}

Tensor outer(const Tensor& x1, const Tensor& x2) {
  const CalledOp called("outer");
  expect_defined("outer", "x1, x2", x1, x2);
  const auto [x, y] = op_helpers::promoted("outer", x1, x2);
  return multiply(K::reshape(x, {-1, 1}), K::reshape(y, {1, -1}));
}

Tensor vdot(const Tensor& x1, const Tensor& x2) {
  const CalledOp called("vdot");
  return of_factors("vdot", x1, x2, [](const Tensor& x, const Tensor& y) {
    if (!compatible(x.shape().count(), y.shape().count()))
      fail("[vdot] both tensors must have as many elements: received x1=", x.shape(), ", x2=", y.shape());
    return product(K::reshape(x, {-1}), K::reshape(y, {-1}));
  });
}

Tensor kron(const Tensor& x1, const Tensor& x2) {
  const CalledOp called("kron");
  expect_defined("kron", "x1, x2", x1, x2);
  const auto [given_x, given_y] = op_helpers::promoted("kron", x1, x2);
  const int rank = std::max(given_x.ndim(), given_y.ndim());
  expect_rank("kron", 2 * rank);
  const auto compute = [rank](const std::vector<Tensor>& v) {
    Shape a, b, result;
    for (int d = 0; d < rank; ++d) {
      const auto extent = [&](const Tensor& x) {
        return d < rank - x.ndim() ? 1 : x.shape()[d - rank + x.ndim()];
      };
      a.push_back(extent(v[0])), a.push_back(1), b.push_back(1), b.push_back(extent(v[1]));
      result.push_back(extent(v[0]) * extent(v[1]));
    }
    return std::vector{K::reshape(multiply(K::reshape(v[0], a), K::reshape(v[1], b)), result)};
  };
  if (given_x.size() < 0 || given_y.size() < 0)
    return op_helpers::defer_by_trace("kron", {given_x, given_y}, compute)[0];
  return compute({given_x, given_y})[0];
}

Tensor cross(const Tensor& x1, const Tensor& x2, int axis) {
  const CalledOp called("cross");
  return cross(x1, x2, {.axis = axis});
}

Tensor cross(const Tensor& x1, const Tensor& x2, const CrossOptions& o) {
  const CalledOp called("cross");
  expect_defined("cross", "x1, x2", x1, x2);
  const auto [given_x, given_y] = op_helpers::promoted("cross", x1, x2);
  const Tensor x = moveaxis(given_x, o.axis.value_or(o.axisa), -1),
               y = moveaxis(given_y, o.axis.value_or(o.axisb), -1);
  const std::int64_t m = x.shape()[-1], n = y.shape()[-1];
  if ((m != 2 && m != 3) || (n != 2 && n != 3))
    fail("[cross] vectors must have 2 or 3 elements: received x1=", x1.shape(), ", x2=", x2.shape());
  const auto of = [](const Tensor& v, int i) { return K::index(v, {Ellipsis, i}); };
  const Tensor z = of(x, 0) * of(y, 1) - of(x, 1) * of(y, 0);
  if (m == 2 && n == 2) return z;
  const auto third = [&](const Tensor& v) { return v.shape()[-1] == 3 ? of(v, 2) : K::zeros_like(of(v, 1)); };
  const Tensor x2_ = third(x), y2 = third(y);
  const Tensor out = K::stack({of(x, 1) * y2 - x2_ * of(y, 1), x2_ * of(y, 0) - of(x, 0) * y2, z}, -1);
  return moveaxis(out, -1, o.axis.value_or(o.axisc));
}

std::pair<std::vector<int>, std::vector<int>> DotAxes::of(int rank1, int rank2) const {
  if (!lists_) {
    if (n_ < 0 || n_ > rank1 || n_ > rank2)
      fail("[tensordot] axes must be in [0, ", std::min(rank1, rank2), "]: received axes=", n_);
    std::vector<int> first, second;
    for (int i = 0; i < n_; ++i) first.push_back(rank1 - n_ + i), second.push_back(i);
    return {first, second};
  }
  if (first_.size() != second_.size())
    fail("[tensordot] both lists of axes must have one length: received ", first_.size(), " and ",
         second_.size());
  const auto canonical = [](std::vector<int> axes, int rank) {
    canonical_axes("tensordot", axes, rank);
    for (int& axis : axes) axis = canonical_axis("tensordot", axis, rank);
    return axes;
  };
  return {canonical(first_, rank1), canonical(second_, rank2)};
}

namespace {

Tensor contracted(const Tensor& x, const Tensor& y, const DotAxes& axes) {
  const auto [first, second] = axes.of(x.ndim(), y.ndim());
  // Letters from a name the axes of x1, letters from A the axes of x2; the axes of a sum share a letter.
  std::string left, right, result;
  for (int d = 0; d < x.ndim(); ++d) left += static_cast<char>('a' + d);
  for (int d = 0; d < y.ndim(); ++d) right += static_cast<char>('A' + d);
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (!compatible(x.shape()[first[i]], y.shape()[second[i]]))
      fail("[tensordot] the extents of summed axes must be equal: received x1=", x.shape(),
           ", x2=", y.shape());
    right[static_cast<std::size_t>(second[i])] = left[static_cast<std::size_t>(first[i])];
  }
  for (const char letter : left)
    if (right.find(letter) == std::string::npos) result += letter;
  for (const char letter : right)
    if (left.find(letter) == std::string::npos) result += letter;
  expect_rank("tensordot", static_cast<int>(result.size()));
  return K::einsum(left + ',' + right + "->" + result, {x, y});
}

}  // namespace

Tensor tensordot(const Tensor& x1, const Tensor& x2, const DotAxes& axes) {
  const CalledOp called("tensordot");
  return of_factors("tensordot", x1, x2,
                    [&](const Tensor& x, const Tensor& y) { return contracted(x, y, axes); });
}

namespace {

/// Takes the diagonal of axes that share a letter, until every letter is the name of one axis. Letters stand at the end of
/// the axes; those that "..." names come first.
void take_diagonals(std::string& letters, Tensor& x) {
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == '.') continue;
    const std::size_t again = letters.find(letters[i], i + 1);
    if (again == std::string::npos) continue;
    const std::size_t dots = letters.find('.');
    // The axis of a letter, counted from the front if the letter is before the dots, from the end otherwise.
    const auto axis = [&](std::size_t at) {
      return dots == std::string::npos || at < dots ? static_cast<int>(at)
                                                    : static_cast<int>(at) - static_cast<int>(letters.size());
    };
    x = moveaxis(diagonal(x, 0, axis(i), axis(again)), -1, 0);
    const char letter = letters[i];
    letters.erase(again, 1), letters.erase(i, 1);
    letters.insert(letters.begin(), letter);
    i = static_cast<std::size_t>(-1);
  }
}

}  // namespace

Tensor einsum(const std::string& subscripts, const TensorList& operands) {
  const CalledOp called("einsum");
  std::vector<Tensor> xs = op_helpers::promoted("einsum", "operands", operands);
  const bool narrow = std::all_of(operands.vector().begin(), operands.vector().end(),
                                  [](const Tensor& x) { return x.dtype() == DType::Int8; });
  const DType common = xs[0].dtype(), wide = dtype_of_sums(common);
  for (Tensor& x : xs) x = K::as_dtype(x, wide);
  std::string text = subscripts;
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow), result;
  if (arrow != std::string::npos) result = text.substr(arrow);
  else {
    std::string letters = left;
    std::sort(letters.begin(), letters.end());
    result = "->";
    if (left.find('.') != std::string::npos) result += "...";
    for (const char letter : letters)
      if (std::isalpha(static_cast<unsigned char>(letter)) &&
          std::count(letters.begin(), letters.end(), letter) == 1)
        result += letter;
  }
  std::string equation;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < xs.size() && begin <= left.size(); ++i) {
    const std::size_t comma = std::min(left.find(',', begin), left.size());
    std::string letters = left.substr(begin, comma - begin);
    take_diagonals(letters, xs[i]);
    equation += letters;
    if (comma < left.size()) equation += ',';
    begin = comma + 1;
  }
  if (begin < left.size()) equation += left.substr(begin);
  return K::as_dtype(K::einsum(equation + result, xs), narrow ? wide : common);
}

Tensor cdist(const Tensor& given_x, const Tensor& given_y) {
  const CalledOp called("cdist");
  expect_defined("cdist", "x, y", given_x, given_y);
  const auto [x, y] = op_helpers::promoted_floating("cdist", given_x, given_y);
  if (x.ndim() < 2 || y.ndim() < 2 || !compatible(x.shape()[-1], y.shape()[-1]))
    fail("[cdist] x and y must hold rows of one length: received x=", x.shape(), ", y=", y.shape());
  return K::norm(K::expand_dims(x, -2) - K::expand_dims(y, -3), -1);
}

}  // namespace ktape::ops

namespace ktape::ops {
/// Reads a number of axes, or the axes of both.
static DotAxes from_value(const nn::Value& axes, const std::string& what, std::type_identity<DotAxes>) {
  if (!axes.is_list()) return axes.as<int>(what);
  const auto both = axes.as<std::array<std::vector<int>, 2>>(what);
  return {both[0], both[1]};
}
}  // namespace ktape::ops

namespace ktape::nn {
namespace {

Tensor cross(const OperationCall& call) {
  ops::CrossOptions options{call.axis("axisa"), call.axis("axisb"), call.axis("axisc")};
  if (call.has("axis")) options.axis = call.axis();
  return ops::cross(call.tensor("x1"), call.tensor("x2"), options);
}

}  // namespace

Operations product_operations() {
  static constexpr Operation rows[] = {
      {"Matmul", "numpy", "x1, x2;", calls<ops::matmul>, "-"},
      {"Dot", "numpy", "x1, x2;", calls<ops::dot>},
      {"Inner", "numpy", "x1, x2;", calls<ops::inner>},
      {"Outer", "numpy", "x1, x2;", calls<ops::outer>},
      {"Vdot", "numpy", "x1, x2;", calls<ops::vdot>},
      {"Kron", "numpy", "x1, x2;", calls<ops::kron>},
      {"Cross", "numpy", "x1, x2; axisa=-1, axisb=-1, axisc=-1, axis=null", cross},
      {"Tensordot", "numpy", "x1, x2; axes=2", calls<ops::tensordot>},
      {"Einsum", "numpy", "operands*; subscripts", calls<ops::einsum>, "", "subscripts, operands"},
      {"CDist", "math", "x, y;", calls<ops::cdist>, "cdist"},
  };
  return rows;
}

}  // namespace ktape::nn
