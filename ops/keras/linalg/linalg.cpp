#include <ktape/autograd/base/called_op.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/linalg/batches.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/numpy/indexing.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/kernels/linear_algebra/lapack.hpp>
#include <ktape/ops/kernels/reduce/scaled_product.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

#include <cmath>
#include <limits>

/// Functions that are made of factorizations, and determinants.
namespace ktape::ops {

namespace K = backend;
using op_helpers::as_given, op_helpers::batch_of, op_helpers::matrices, op_helpers::transposed;

namespace {

double precision(DType dtype) {
  return dtype == DType::Float64 ? std::numeric_limits<double>::epsilon()
                                 : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// Determinants, their signs and the logarithms of their absolute values.
struct Determinants {
  Tensor value, sign, logarithm;
};

Determinants determinants(const Tensor& x) {
  const std::int64_t n = x.shape()[-1];
  const auto numbers = [&] { return Tensor::empty(batch_of(x), x.dtype()); };
  Tensor value = numbers(), sign = numbers(), logarithm = numbers();
  const LU found = [&] {
    const NoGrad off;
    return lu_factor(x);
  }();
  dispatch_native_floating(x.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < sign.size(); ++i) {
      T s = 1, l = 0;
      kernels::ScaledProduct<T> product;
      for (std::int64_t j = 0; j < n; ++j) {
        const T pivot = found.lu.pointer<T>()[(i * n + j) * n + j];
        const bool swapped = found.pivots.pointer<std::int32_t>()[i * n + j] != j;
        s *= static_cast<T>((pivot > 0) - (pivot < 0)) * (swapped ? T(-1) : T(1));
        l += std::log(std::abs(pivot));
        product.multiply(std::abs(pivot));
      }
      sign.pointer<T>()[i] = s, logarithm.pointer<T>()[i] = l;
      value.pointer<T>()[i] = s * product.value();
    }
  });
  return {value, sign, logarithm};
}

Tensor over_matrices(const Tensor& x) { return K::expand_dims(K::expand_dims(x, -1), -1); }

/// Returns log |det x|, whose gradient is x^-T.
std::vector<Tensor> recorded_slogdet(const Tensor& x) {
  const OutputInfo info{batch_of(x), x.dtype()};
  if (is_symbolic(x)) return defer("slogdet", {info, info}, recorded_slogdet, x);
  const auto [value, sign, logarithm] = determinants(x);
  if (recording(x))
    record("slogdet", logarithm, {x}, [x, singular = sign == 0](const Tensor& g, Grads& grads) {
      grads.to(0, [&] {
        const Tensor of_matrices = over_matrices(g);
        return of_matrices * transposed(inv(op_helpers::taken(x, of_matrices, over_matrices(singular))));
      });
    });
  return {sign, logarithm};
}

Tensor recorded_det(const Tensor& x);

/// Returns the derivatives of the determinants as the determinants of the matrices without a row and a column: differentiable to any
/// order, of singular matrices, too.
Tensor cofactors(const Tensor& x) {
  const std::int64_t n = x.shape()[-1];
  if (n == 1) return K::ones_like(x);
  Tensor others = Tensor::empty({n, n - 1}, DType::Int64), signs = Tensor::empty({n, n}, DType::Float64);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      if (j > 0) others.pointer<std::int64_t>()[i * (n - 1) + j - 1] = j - (j <= i);
      signs.pointer<double>()[i * n + j] = (i + j) % 2 == 0 ? 1 : -1;
    }
  const Tensor rows = take(K::reshape(x, {-1, n, n}), others, 1), both = take(rows, others, 3);
  const Tensor minors = K::permute_dimensions(both, {0, 1, 3, 2, 4});  // (batch, row, column, rest, rest)
  return K::reshape(recorded_det(minors) * K::as_dtype(signs, x.dtype()), x.shape());
}

/// Returns the cofactors of large matrices; the derivatives exist where the singular values differ.
Tensor cofactors_of_svd(const Tensor& x) {
  const auto [u, s, vh] = svd(x, true);
  const std::int64_t n = x.shape()[-1];
  std::vector<Tensor> others;
  for (std::int64_t i = 0; i < n; ++i) {
    const Tensor one = K::equal(K::arange(n), i);
    others.push_back(K::prod(K::where(one, 1, s), -1));
  }
  const Tensor sign = recorded_det(u) * recorded_det(vh);
  return over_matrices(K::stop_gradient(sign)) * K::matmul(u * K::expand_dims(K::stack(others, -1), -2), vh);
}

Tensor recorded_det(const Tensor& x) {
  if (is_symbolic(x)) return defer("det", {batch_of(x), x.dtype()}, recorded_det, x);
  Tensor out = determinants(x).value;
  if (recording(x))
    record("det", out, {x}, [x](const Tensor& g, const Tensor& y, Grads& grads) {
      grads.to(0, [&] {
        // det(x) x^-T has no derivative that is exact near singular matrices.
        const std::int64_t n = x.shape()[-1];
        const bool small = n <= 8;
        const double share = small ? std::sqrt(std::sqrt(precision(x.dtype()))) : 0;  // of the largest det
        const bool singular = K::any(K::abs(y) <= K::prod(K::norm(x, -1), -1) * share).item<bool>();
        const bool expand = small ? singular || recording() : singular && recording() && n <= 32;
        const Tensor slope = expand     ? cofactors(op_helpers::taken(x, over_matrices(g)))
                             : singular ? cofactors_of_svd(op_helpers::taken(x, over_matrices(g)))
                                        : over_matrices(y) * transposed(inv(x));
        return op_helpers::chained(over_matrices(g), slope);
      });
    });
  return out;
}

}  // namespace

Tensor det(const Tensor& given) {
  const CalledOp called("det");
  return as_given(recorded_det(matrices("det", given, true)), given);
}

SignAndLogarithm slogdet(const Tensor& given) {
  const CalledOp called("slogdet");
  const auto found = recorded_slogdet(matrices("slogdet", given, true));
  return {as_given(found[0], given), as_given(found[1], given)};
}
Tensor logdet(const Tensor& x) {
  const CalledOp called("logdet");
  return slogdet(x).logabsdet;
}

namespace {

Tensor recorded_pinv(const Tensor& x, double rcond) {
  if (is_symbolic(x)) {
    Shape shape = x.shape();
    std::swap(shape[-1], shape[-2]);
    return defer_described("pinv", {shape, x.dtype()}, recorded_pinv, x, rcond);
  }
  Tensor out;
  {
    const NoGrad off;
    const auto [u, s, vh] = svd(x, false);
    const Tensor counts = s.shape()[-1] == 0 ? s > 0 : s > K::max(s, -1, true) * rcond;
    const Tensor inverse = K::where(counts, 1 / K::where(counts, s, 1), 0);
    out = K::matmul(transposed(vh) * K::expand_dims(inverse, -2), transposed(u));
  }
  if (recording(x))
    record("pinv", out, {x}, [x](const Tensor& g, const Tensor& p, Grads& grads) {
      grads.to(0, [&] {
        const Tensor pt = transposed(p), gt = transposed(g);
        const Tensor left = gt - K::matmul(x, K::matmul(p, gt)), right = gt - K::matmul(K::matmul(gt, p), x);
        return K::matmul(K::matmul(left, p), pt) + K::matmul(pt, K::matmul(p, right)) -
               K::matmul(K::matmul(pt, g), pt);
      });
    });
  return out;
}

double default_rcond(const Tensor& x) {
  const double most = static_cast<double>(std::max({x.shape()[-1], x.shape()[-2], std::int64_t{1}}));
  return most * precision(x.dtype());
}

}  // namespace

Tensor pinv(const Tensor& given, std::optional<double> rcond) {
  const CalledOp called("pinv");
  const Tensor x = matrices("pinv", given, false);
  return as_given(recorded_pinv(x, rcond.value_or(default_rcond(x))), given);
}

Tensor lstsq(const Tensor& given, const Tensor& given_b, std::optional<double> rcond) {
  const CalledOp called("lstsq");
  expect_defined("lstsq", "a, b", given, given_b);
  const op_helpers::Operands operands = op_helpers::together(given, given_b);
  const Tensor a = matrices("lstsq", operands.x, false, "a"), b = K::as_dtype(operands.y, a.dtype());
  const int rows_axis = b.ndim() == 1 ? 0 : -2;
  if (b.ndim() == 0 || !compatible(b.shape()[rows_axis], a.shape()[-2]))
    fail("[lstsq] b must have ", a.shape()[-2], " rows: received a=", a.shape(), ", b=", b.shape());
  const Tensor p = recorded_pinv(a, rcond.value_or(default_rcond(a)));
  return as_given(b.ndim() == 1 ? K::squeeze(K::matmul(p, K::expand_dims(b, -1)), -1) : K::matmul(p, b),
                  given);
}

Tensor matrix_power(const Tensor& given, int n) {
  const CalledOp called("matrix_power");
  Tensor x = matrices("matrix_power", given, true);
  if (n < 0) x = inv(x);
  Tensor out;
  for (unsigned rest = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); rest > 0;
       rest >>= 1) {
    if (rest & 1) out = out.defined() ? K::matmul(out, x) : x;
    if (rest > 1) x = K::matmul(x, x);
  }
  if (!out.defined()) out = K::zeros_like(x) + eye(x.shape()[-1], {}, 0, x.dtype());
  return as_given(n == 1 ? K::identity(out) : out, given);
}

Tensor matrix_rank(const Tensor& given, std::optional<double> tol) {
  const CalledOp called("matrix_rank");
  const Tensor x = K::stop_gradient(matrices("matrix_rank", given, false));
  const Tensor s = svd(x, false, false).s;
  const Tensor bound = tol ? K::full({}, *tol, s.dtype()) : K::max(s, -1, true) * default_rcond(x);
  return K::sum(K::cast(s > bound, DType::Int32), -1);
}

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor vector_norm(const Tensor& x, double p, const Axes& axis, bool keepdims) {
  if (p == infinity) return K::max(K::abs(x), axis, keepdims);
  if (p == -infinity) return K::min(K::abs(x), axis, keepdims);
  if (p == 0) return K::sum(K::cast(K::not_equal(x, 0), x.dtype()), axis, keepdims);
  if (p == 1) return K::sum(K::abs(x), axis, keepdims);
  if (p == 2) return K::norm(x, axis, keepdims);
  // The norm of x / s is the norm of x divided by s. The powers of numbers around 1 neither overflow nor vanish. Zeros are kept out
  // of the powers, whose slopes there are not finite.
  const Tensor size = K::abs(x),
               extreme = K::stop_gradient(p > 0 ? K::max(size, axis, true) : K::min(size, axis, true));
  const Tensor scale = K::where((extreme > 0) & K::is_finite(extreme), extreme, 1);
  const Tensor some = K::not_equal(size, 0), powers = K::pow(K::where(some, size / scale, 1), p);
  const Tensor total = K::sum(K::where(some, powers, p > 0 ? 0 : infinity), axis, true);
  const Tensor between = (total > 0) & K::is_finite(total);
  const Tensor root =
      K::where(between, K::pow(K::where(between, total, 1), 1 / p), K::pow(K::stop_gradient(total), 1 / p));
  const Tensor norm = scale * root;
  return keepdims ? norm : K::sum(norm, axis);
}

[[noreturn]] void refuse(const NormOrder& ord, const char* of) {
  std::ostringstream text;
  if (const double* p = std::get_if<double>(&ord)) text << *p;
  else text << '"' << std::get<std::string>(ord) << '"';
  fail("[norm] ord must be an order of the norm of ", of, ": received ord=", text.str());
}

/// Returns the norm of the matrices in the last two axes, without these axes.
Tensor matrix_norm(const Tensor& x, const NormOrder& ord) {
  if (const std::string* name = std::get_if<std::string>(&ord)) {
    if (*name == "fro") return K::norm(x, {-2, -1});
    if (*name == "nuc") return K::sum(svd(x, false, false).s, -1);
    refuse(ord, "matrices");
  }
  const double p = std::get<double>(ord);
  if (p == 2) return K::max(svd(x, false, false).s, -1);
  if (p == -2) return K::min(svd(x, false, false).s, -1);
  const bool columns = std::fabs(p) == 1;
  if (!columns && !std::isinf(p)) refuse(ord, "matrices");
  const Tensor sums = K::sum(K::abs(x), columns ? -2 : -1);
  return p > 0 ? K::max(sums, -1) : K::min(sums, -1);
}

}  // namespace

Tensor norm(const Tensor& given, const NormOrder& ord, const Axes& axis, bool keepdims) {
  const CalledOp called("norm");
  const Tensor x = op_helpers::floating("norm", given);
  if (ord.index() == 0) return K::norm(x, axis, keepdims);
  Axes axes = axis;
  if (axis.all()) {
    if (x.ndim() == 1) axes = 0;
    else if (x.ndim() == 2) axes = {0, 1};
    else fail("[norm] with ord and without axis, x must be a vector or a matrix: received x=", x.shape());
  }
  canonical_axes("norm", axes, x.ndim());
  if (axes.list().size() == 1) {
    if (ord.index() == 2) refuse(ord, "vectors");
    return as_given(vector_norm(op_helpers::computed(x), std::get<double>(ord), axes, keepdims), x);
  }
  if (axes.list().size() != 2) fail("[norm] axis must name one or two axes: received ", axes.list().size());
  const Tensor found = matrix_norm(moveaxis(x, axes, {-2, -1}), ord);
  if (!keepdims) return found;
  return expand_dims(found, axes);
}

}  // namespace ktape::ops

namespace ktape::nn {
namespace {

Tensor norm(const OperationCall& call) {
  const Value order = call.value("ord");
  ops::NormOrder given;
  if (order == Value("inf") || order == Value("-inf")) given = order == Value("inf") ? INFINITY : -INFINITY;
  else if (order.is_string() && order != Value("euclidean")) given = order.string();
  else if (!order.is_null() && !order.is_string()) given = order.number("[Norm] ord");
  const Axes axis = call.axes("axis");
  if (given.index() == 0) return backend::norm(call.tensor("x"), axis, call.flag("keepdims"));
  return ops::norm(call.tensor("x"), given, axis, call.flag("keepdims"));
}

}  // namespace

Operations linalg_operations() {
  static constexpr Operation rows[] = {
      {"Det", "linalg", "x;", calls<ops::det>},
      {"Logdet", "math", "x;", calls<ops::logdet>},
      {"Slogdet", "numpy", "x;", calls<ops::slogdet>},
      {"Lstsq", "linalg", "a, b; rcond=null", calls<ops::lstsq>},
      {"Pinv", "linalg", "x; rcond=null", calls<ops::pinv>},
      {"MatrixPower", "linalg", "x; n", calls<ops::matrix_power>},
      {"MatrixRank", "linalg", "x; tol=null", calls<ops::matrix_rank>},
      {"Norm", "linalg", "x; ord=null, axis=null, keepdims=false", norm, "", "x, axis, keepdims"},
  };
  return rows;
}

}  // namespace ktape::nn
