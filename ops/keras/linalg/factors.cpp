#include <ktape/autograd/base/called_op.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/linalg/batches.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/kernels/linear_algebra/lapack.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>

/// Factorizations into triangular and orthogonal matrices, and solutions of linear systems.
namespace ktape::ops {

namespace K = backend;
using op_helpers::appended, op_helpers::as_given, op_helpers::batch_of, op_helpers::copied,
    op_helpers::each_matrix, op_helpers::has_zero_pivot, op_helpers::matrices, op_helpers::taken,
    op_helpers::transposed;

namespace {

/// Returns the lower triangle with half of the diagonal.
Tensor half_lower(const Tensor& x) { return tril(x, -1) + tril(triu(x)) * 0.5; }

Tensor symmetric(const Tensor& x) { return (x + transposed(x)) * 0.5; }

/// Returns a^-T x for a lower or upper triangle a.
Tensor solve_transposed(const Tensor& a, const Tensor& x, bool lower) {
  return solve_triangular(transposed(a), x, !lower);
}

Tensor lower_factor(const Tensor& x) {
  if (is_symbolic(x)) return defer("cholesky", {x.shape(), x.dtype()}, lower_factor, x);
  Tensor out = copied("cholesky", x);
  const std::int64_t n = x.shape()[-1];
  dispatch_native_floating(x.dtype(), [&]<class T>() {
    each_matrix("cholesky", "a matrix must be positive definite", batch_of(x),
                [&](std::int64_t i) { return kernels::cholesky(n, out.pointer<T>() + i * n * n); });
  });
  if (recording(x))
    record("cholesky", out, {x}, [](const Tensor& g, const Tensor& factor, Grads& grads) {
      grads.to(0, [&] {
        const Tensor l = taken(factor, g);
        const Tensor inner = half_lower(K::matmul(transposed(l), tril(g)));
        const Tensor left = solve_transposed(l, inner, true);
        return symmetric(transposed(solve_transposed(l, transposed(left), true)));
      });
    });
  return out;
}

}  // namespace

Tensor cholesky(const Tensor& given, bool upper) {
  const Tensor l = lower_factor(matrices("cholesky", given, true));
  return as_given(upper ? transposed(l) : l, given);
}

namespace {

/// Returns the vectors or matrices on the right of a, as matrices of the batch of a.
struct RightSide {
  Tensor b;
  bool vector;
};

RightSide right_side(const char* op, const Tensor& a, const Tensor& given) {
  Tensor b = K::as_dtype(given, a.dtype());
  const bool vector = b.ndim() == a.ndim() - 1;
  if (vector) b = K::expand_dims(b, -1);
  if (b.ndim() < 2 || !compatible(b.shape()[-2], a.shape()[-2]))
    fail("[", op, "] b must have ", a.shape()[-2], " rows: received a=", a.shape(), ", b=", given.shape());
  const Shape batch = broadcast_shapes(op, batch_of(a), batch_of(b), "a", "b");
  if (b.ndim() != a.ndim() || !compatible(batch_of(b), batch_of(a))) {
    if (!(batch == batch_of(a)))
      fail("[", op, "] the batch of b must broadcast to the batch of a: received a=", a.shape(),
           ", b=", given.shape());
    b = K::broadcast_to(b, appended(batch, {b.shape()[-2], b.shape()[-1]}));
  }
  return {b, vector};
}

Tensor regular_solution(const Tensor& a, const Tensor& b) {
  if (is_symbolic(a, b)) return defer("solve", {b.shape(), b.dtype()}, regular_solution, a, b);
  const Tensor factors = copied("solve", a);
  Tensor out = copied("solve", b);
  const std::int64_t n = a.shape()[-1], k = b.shape()[-1];
  dispatch_native_floating(a.dtype(), [&]<class T>() {
    each_matrix("solve", "a matrix must not be singular", batch_of(a), [&](std::int64_t i) {
      return kernels::solve(n, k, factors.pointer<T>() + i * n * n, out.pointer<T>() + i * n * k);
    });
  });
  if (recording(a, b))
    record("solve", out, {a, b}, [a](const Tensor& g, const Tensor& x, Grads& grads) {
      const Tensor right = regular_solution(transposed(taken(a, g)), g);
      grads.to(0, [&] { return -K::matmul(right, transposed(taken(x, g))); });
      grads.to(1, [&] { return right; });
    });
  return out;
}

/// Returns whether a triangle has a 0 on its diagonal.
template <class T>
bool regular(const T* a, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    if (a[i * n + i] == 0) return false;
  return true;
}

Tensor triangular_solution(const Tensor& a, const Tensor& b, bool lower) {
  if (is_symbolic(a, b))
    return defer_described("solve_triangular", {b.shape(), b.dtype()}, triangular_solution, a, b, lower);
  Tensor out = copied("solve_triangular", b);
  const std::int64_t n = a.shape()[-1], k = b.shape()[-1];
  dispatch_native_floating(a.dtype(), [&]<class T>() {
    each_matrix("solve_triangular", "the diagonal of a matrix must not hold 0", batch_of(a),
                [&](std::int64_t i) {
                  const T* matrix = a.pointer<T>() + i * n * n;
                  if (!regular(matrix, n)) return false;
                  kernels::solve_triangular(n, k, matrix, lower, out.pointer<T>() + i * n * k);
                  return true;
                });
  });
  if (recording(a, b))
    record("solve_triangular", out, {a, b}, [a, lower](const Tensor& g, const Tensor& x, Grads& grads) {
      const Tensor right = triangular_solution(transposed(taken(a, g)), g, !lower);
      grads.to(0, [&] {
        const Tensor whole = -K::matmul(right, transposed(taken(x, g)));
        return lower ? tril(whole) : triu(whole);
      });
      grads.to(1, [&] { return right; });
    });
  return out;
}

}  // namespace

Tensor solve(const Tensor& given, const Tensor& given_b) {
  const CalledOp called("solve");
  expect_defined("solve", "a, b", given, given_b);
  const op_helpers::Operands operands = op_helpers::together(given, given_b);
  const Tensor a = matrices("solve", operands.x, true, "a");
  const auto [b, vector] = right_side("solve", a, operands.y);
  const Tensor x = regular_solution(a, b);
  return as_given(vector ? K::squeeze(x, -1) : x, given);
}

Tensor solve_triangular(const Tensor& given, const Tensor& given_b, bool lower) {
  const CalledOp called("solve_triangular");
  expect_defined("solve_triangular", "a, b", given, given_b);
  const op_helpers::Operands operands = op_helpers::together(given, given_b);
  const Tensor a = matrices("solve_triangular", operands.x, true, "a");
  const auto [b, vector] = right_side("solve_triangular", a, operands.y);
  const Tensor x = triangular_solution(a, b, lower);
  return as_given(vector ? K::squeeze(x, -1) : x, given);
}

namespace {

/// Returns identity matrices in the shape of x.
Tensor identities(const Tensor& x) {
  const std::int64_t n = x.shape()[-1];
  if (n != None) return K::zeros_like(x) + eye(n, {}, 0, x.dtype());
  const Tensor ones = K::ones_like(x, {.dtype = DType::Int32});
  return K::cast(K::equal(K::cumsum(ones, -1), K::cumsum(ones, -2)), x.dtype());
}

}  // namespace

Tensor cholesky_inverse(const Tensor& given, bool upper) {
  const CalledOp called("cholesky_inverse");
  const Tensor factor = matrices("cholesky_inverse", given, true), l = upper ? transposed(factor) : factor;
  const Tensor one = K::stop_gradient(identities(l));
  return as_given(solve_transposed(l, solve_triangular(l, one, true), true), given);
}

Tensor inv(const Tensor& given) {
  const CalledOp called("inv");
  const Tensor x = matrices("inv", given, true);
  return as_given(regular_solution(x, K::stop_gradient(identities(x))), given);
}

namespace {

std::vector<Tensor> packed_lu(const Tensor& x) {
  const std::int64_t m = x.shape()[-2], n = x.shape()[-1];
  const std::int64_t k = m == None || n == None ? std::int64_t{None} : std::min(m, n);
  const Shape batch = batch_of(x), pivot_shape = appended(batch, {k});
  if (is_symbolic(x))
    return defer("lu_factor", {{x.shape(), x.dtype()}, {pivot_shape, DType::Int32}}, packed_lu, x);
  Tensor out = copied("lu_factor", x), pivots = Tensor::empty(pivot_shape, DType::Int32);
  dispatch_native_floating(x.dtype(), [&]<class T>() {
    each_matrix("lu_factor", "", batch, [&](std::int64_t i) {
      kernels::lu(m, n, out.pointer<T>() + i * m * n, pivots.pointer<std::int32_t>() + i * k);
      return true;
    });
  });
  return {out, pivots};
}

/// Returns, for each row of the factors, the row of x that came to it, as a matrix p with p x = l u.
Tensor permutation(const Tensor& pivots, std::int64_t rows, DType dtype) {
  const std::int64_t k = pivots.shape()[-1], matrices = pivots.size() / std::max<std::int64_t>(k, 1);
  Shape batch(pivots.shape().begin(), pivots.ndim() - 1);
  Tensor out = K::zeros(appended(batch, {rows, rows}), {.dtype = DType::Float64});
  for (std::int64_t i = 0; i < matrices; ++i) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
    for (std::int64_t r = 0; r < rows; ++r) order[static_cast<std::size_t>(r)] = r;
    for (std::int64_t r = 0; r < k; ++r)
      std::swap(order[static_cast<std::size_t>(r)],
                order[static_cast<std::size_t>(pivots.pointer<std::int32_t>()[i * k + r])]);
    for (std::int64_t r = 0; r < rows; ++r)
      out.pointer<double>()[(i * rows + r) * rows + order[static_cast<std::size_t>(r)]] = 1;
  }
  return K::as_dtype(out, dtype);
}

/// Returns l, u and the permutation of square matrices.
Tensor lu_gradient(const Tensor& g, const Tensor& lu, const Tensor& pivots) {
  const Tensor lower = tril(lu, -1) + identities(lu), upper = triu(lu);
  const Tensor inner = tril(K::matmul(transposed(lower), g), -1) + triu(K::matmul(g, transposed(upper)));
  // x's gradient is p^T l^-T (tril(l^T gl) + triu(gu u^T)) u^-T, where gl and gu are the triangles of g.
  const Tensor left = solve_transposed(lower, inner, true);
  const Tensor both = transposed(solve_triangular(upper, transposed(left), false));
  return K::matmul(transposed(permutation(pivots, lu.shape()[-1], lu.dtype())), both);
}

}  // namespace

LU lu_factor(const Tensor& given) {
  const Tensor x = matrices("lu_factor", given, false);
  if (is_symbolic(x)) {
    const auto later = [](const Tensor& x) {
      const LU found = lu_factor(x);
      return std::vector{found.lu, found.pivots};
    };
    const std::int64_t m = x.shape()[-2], n = x.shape()[-1];
    const std::int64_t k = m == None || n == None ? std::int64_t{None} : std::min(m, n);
    const auto waiting =
        defer("lu_factor", {{x.shape(), x.dtype()}, {appended(batch_of(x), {k}), DType::Int32}}, later, x);
    return {as_given(waiting[0], given), waiting[1]};
  }
  const std::vector<Tensor> found = packed_lu(x);
  const Tensor &lu = found[0], &pivots = found[1];
  if (recording(x)) {
    if (x.shape()[-1] != x.shape()[-2])
      fail("[lu_factor] matrices that are differentiated must be square: received x=", x.shape());
    record("lu_factor", lu, {x}, [pivots](const Tensor& g, const Tensor& lu, Grads& grads) {
      grads.to(0, [&] { return lu_gradient(g, taken(lu, g, has_zero_pivot(lu)), pivots); });
    });
  }
  return {as_given(lu, given), pivots};
}

namespace {

QR factored_qr(const Tensor& x, bool complete);

/// Returns x with the upper triangle mirrored to below the diagonal.
Tensor mirrored_lower(const Tensor& x) { return tril(x) + transposed(tril(x, -1)); }

/// Returns the gradient of a reduced factorization of matrices with at least as many rows as columns.
Tensor qr_gradient(const Tensor& q, const Tensor& r, const Tensor& gq, const Tensor& gr) {
  const Tensor m = K::matmul(r, transposed(gr)) - K::matmul(transposed(gq), q);
  const Tensor inner = gq + K::matmul(q, mirrored_lower(m));
  return transposed(solve_triangular(r, transposed(inner), false));
}

Tensor columns(const Tensor& x, Slice which) { return K::index(x, {Ellipsis, which}); }
Tensor rows(const Tensor& x, Slice which) { return K::index(x, {Ellipsis, which, All}); }

QR qr_of_values(const Tensor& x, bool complete) {
  const std::int64_t m = x.shape()[-2], n = x.shape()[-1], k = complete ? m : std::min(m, n);
  const Shape batch = batch_of(x);
  Tensor q = Tensor::empty(appended(batch, {m, k}), x.dtype(), "qr"),
         r = Tensor::empty(appended(batch, {k, n}), x.dtype());
  dispatch_native_floating(x.dtype(), [&]<class T>() {
    each_matrix("qr", "", batch, [&](std::int64_t i) {
      kernels::qr(m, n, k, static_cast<const T*>(x.pointer<T>() + i * m * n), q.pointer<T>() + i * m * k,
                  r.pointer<T>() + i * k * n);
      return true;
    });
  });
  return {q, r};
}

QR factored_qr(const Tensor& x, bool complete) {
  const std::int64_t m = x.shape()[-2], n = x.shape()[-1];
  if (recording(x) && m < n) {
    // The first m columns have the factors q and u; the others are q times the rest of r.
    const QR square = factored_qr(columns(x, Slice(0, m)), false);
    return {square.q,
            K::concatenate({square.r, K::matmul(transposed(square.q), columns(x, Slice(m, None)))}, -1)};
  }
  const QR found = qr_of_values(x, complete);
  if (recording(x)) {
    const Tensor outs[] = {found.q, found.r};
    record("qr", outs, {x}, [x, q = found.q.detach(), r = found.r.detach(), n](Grads& grads) {
      grads.to(0, [&] {
        // The factors are recorded anew where the gradient itself is differentiated.
        const QR reduced =
            recording() ? factored_qr(x, false) : QR{columns(q, Slice(0, n)), rows(r, Slice(0, n))};
        const Tensor gq =
            grads.output(0).defined() ? columns(grads.output(0), Slice(0, n)) : K::zeros_like(reduced.q);
        const Tensor gr =
            grads.output(1).defined() ? rows(grads.output(1), Slice(0, n)) : K::zeros_like(reduced.r);
        const Tensor both = K::concatenate({gq, gr}, -2), unfit = has_zero_pivot(reduced.r);
        return qr_gradient(taken(reduced.q, both, unfit), taken(reduced.r, both, unfit), gq, triu(gr));
      });
    });
  }
  return found;
}

std::vector<Tensor> qr_parts(const Tensor& x, const std::string& mode) {
  const bool complete = mode == "complete";
  if (is_symbolic(x)) {
    const std::int64_t m = x.shape()[-2], n = x.shape()[-1];
    const std::int64_t k = complete ? m : m == None || n == None ? std::int64_t{None} : std::min(m, n);
    return defer_described(
        "qr", {{appended(batch_of(x), {m, k}), x.dtype()}, {appended(batch_of(x), {k, n}), x.dtype()}},
        qr_parts, x, mode);
  }
  const QR found = factored_qr(x, complete);
  return {found.q, found.r};
}

}  // namespace

QR qr(const Tensor& given, const std::string& mode) {
  const Tensor x = matrices("qr", given, false);
  if (mode != "reduced" && mode != "complete")
    fail("[qr] mode must be \"reduced\" or \"complete\": received mode=\"", mode, '"');
  const std::vector<Tensor> found = qr_parts(x, mode);
  return {as_given(found[0], given), as_given(found[1], given)};
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations factor_operations() {
  static constexpr Operation rows[] = {
      {"Cholesky", "linalg", "x; upper=false", calls<ops::cholesky>, "", "x"},
      {"CholeskyInverse", "linalg", "x; upper=false", calls<ops::cholesky_inverse>},
      {"Inv", "linalg", "x;", calls<ops::inv>},
      {"Solve", "linalg", "a, b;", calls<ops::solve>},
      {"SolveTriangular", "linalg", "a, b; lower=false", calls<ops::solve_triangular>},
      {"LuFactor", "linalg", "x;", calls<ops::lu_factor>},
      {"Qr", "linalg", "x; mode=\"reduced\"", calls<ops::qr>},
  };
  return rows;
}

}  // namespace ktape::nn
