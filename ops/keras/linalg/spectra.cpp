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
#include <ktape/ops/linalg/matmul.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/schema/described_call.hpp>
#include <ktape/ops/schema/typed_call.hpp>
#include <ktape/ops/vector_or_tensor.hpp>

/// Singular values and eigenvalues.
namespace ktape::ops {

namespace K = backend;
using op_helpers::appended, op_helpers::as_given, op_helpers::batch_of, op_helpers::chained,
    op_helpers::copied, op_helpers::each_matrix, op_helpers::hiding_matmul, op_helpers::matrices,
    op_helpers::transposed;

namespace {

/// Returns 1 / (x[j] - x[i]) at row i and column j, and 0 on the diagonal.
Tensor gaps(const Tensor& x) {
  const Tensor difference = K::expand_dims(x, -2) - K::expand_dims(x, -1);
  const Tensor diagonal = eye(x.shape()[-1], {}, 0, DType::Bool);
  return K::where(diagonal, 0, 1 / K::where(diagonal, 1, difference));
}

/// Returns matrices with the vectors on their diagonals.
Tensor diagonals(const Tensor& x) { return K::expand_dims(x, -1) * eye(x.shape()[-1], {}, 0, x.dtype()); }

SVD svd_of_values(const Tensor& x, bool full, bool vectors) {
  const std::int64_t m = x.shape()[-2], n = x.shape()[-1], k = std::min(m, n);
  const Shape batch = batch_of(x);
  const Tensor work = copied("svd", x);
  Tensor s = Tensor::empty(appended(batch, {k}), x.dtype()), u, vh;
  const std::int64_t u_columns = full ? m : k, vh_rows = full ? n : k;
  if (vectors) {
    u = Tensor::empty(appended(batch, {m, u_columns}), x.dtype(), "svd");
    vh = Tensor::empty(appended(batch, {vh_rows, n}), x.dtype(), "svd");
  }
  dispatch_native_floating(x.dtype(), [&]<class T>() {
    each_matrix("svd", "a matrix must have finite elements for which the iteration converges", batch,
                [&](std::int64_t i) {
                  return kernels::svd(m, n, full, work.pointer<T>() + i * m * n, s.pointer<T>() + i * k,
                                      vectors ? u.pointer<T>() + i * m * u_columns : nullptr,
                                      vectors ? vh.pointer<T>() + i * vh_rows * n : nullptr);
                });
  });
  return {u, s, vh};
}

/// Which operand of a product is a gradient.
constexpr op_helpers::Hiding gradient_left{.left = true}, gradient_right{.right = true};

/// Returns the gradient of a reduced decomposition.
Tensor svd_gradient(const SVD& d, const Tensor& gu, const Tensor& gs, const Tensor& gvh) {
  const Tensor &u = d.u, v = transposed(d.vh), &s = d.s;
  const Tensor values = K::expand_dims(s, -2);  // scales columns
  Tensor inner = gs.defined() ? diagonals(gs) : K::zeros_like(diagonals(s));
  Tensor outside;
  const Tensor f = gu.defined() || gvh.defined() ? gaps(s * s) : Tensor();
  if (gu.defined()) {
    const Tensor along = hiding_matmul(transposed(u), gu, gradient_right);
    inner = inner + chained(chained(along - transposed(along), f), values);
    outside =
        hiding_matmul(chained(gu - hiding_matmul(u, along, gradient_right), 1 / values), d.vh, gradient_left);
  }
  if (gvh.defined()) {
    const Tensor gv = transposed(gvh), along = hiding_matmul(d.vh, gv, gradient_right);
    inner = inner + chained(chained(along - transposed(along), f), K::expand_dims(s, -1));
    const Tensor rest = hiding_matmul(
        u, transposed(chained(gv - hiding_matmul(v, along, gradient_right), 1 / values)), gradient_right);
    outside = outside.defined() ? outside + rest : rest;
  }
  const Tensor within = hiding_matmul(hiding_matmul(u, inner, gradient_right), d.vh, gradient_left);
  return outside.defined() ? within + outside : within;
}

Tensor first_columns(const Tensor& x, std::int64_t k) {
  return x.defined() ? K::index(x, {Ellipsis, Slice(0, k)}) : x;
}
Tensor first_rows(const Tensor& x, std::int64_t k) {
  return x.defined() ? K::index(x, {Ellipsis, Slice(0, k), All}) : x;
}

SVD recorded_svd(const Tensor& x, bool full) {
  const SVD found = svd_of_values(x, full, true);
  if (!recording(x)) return found;
  const Tensor outs[] = {found.u, found.s, found.vh};
  const SVD kept{found.u.detach(), found.s.detach(), found.vh.detach()};
  record("svd", outs, {x}, [x, kept](Grads& grads) {
    grads.to(0, [&] {
      const std::int64_t k = kept.s.shape()[-1];
      const SVD reduced = recording() ? recorded_svd(x, false)
                                      : SVD{first_columns(kept.u, k), kept.s, first_rows(kept.vh, k)};
      return svd_gradient(reduced, first_columns(grads.output(0), k), grads.output(1),
                          first_rows(grads.output(2), k));
    });
  });
  return found;
}

std::vector<Tensor> svd_parts(const Tensor& x, bool full_matrices, bool compute_uv) {
  if (is_symbolic(x)) {
    const std::int64_t m = x.shape()[-2], n = x.shape()[-1];
    const std::int64_t k = m == None || n == None ? std::int64_t{None} : std::min(m, n);
    const Shape batch = batch_of(x);
    const OutputInfo s{appended(batch, {k}), x.dtype()};
    const OutputInfo u{appended(batch, {m, full_matrices ? m : k}), x.dtype()};
    const OutputInfo vh{appended(batch, {full_matrices ? n : k, n}), x.dtype()};
    return defer_described("svd", compute_uv ? std::vector{u, s, vh} : std::vector{s}, svd_parts, x,
                           full_matrices, compute_uv);
  }
  // The gradient of the singular values reads the vectors.
  const SVD found = compute_uv || recording(x) ? recorded_svd(x, compute_uv && full_matrices)
                                               : svd_of_values(x, false, false);
  return compute_uv ? std::vector{found.u, found.s, found.vh} : std::vector{found.s};
}

}  // namespace

SVD svd(const Tensor& given, bool full_matrices, bool compute_uv) {
  std::vector<Tensor> found = svd_parts(matrices("svd", given, false), full_matrices, compute_uv);
  for (Tensor& part : found) part = as_given(part, given);
  return compute_uv ? SVD{found[0], found[1], found[2]} : SVD{{}, found[0], {}};
}

namespace {

Eigh recorded_eigh(const Tensor& x) {
  const std::int64_t n = x.shape()[-1];
  Tensor v = copied("eigh", x), w = Tensor::empty(appended(batch_of(x), {n}), x.dtype());
  dispatch_native_floating(x.dtype(), [&]<class T>() {
    each_matrix(
        "eigh", "a matrix must have finite elements for which the iteration converges", batch_of(x),
        [&](std::int64_t i) { return kernels::eigh(n, v.pointer<T>() + i * n * n, w.pointer<T>() + i * n); });
  });
  if (!recording(x)) return {w, v};
  const Tensor outs[] = {w, v};
  record("eigh", outs, {x}, [x, w = w.detach(), v = v.detach()](Grads& grads) {
    grads.to(0, [&] {
      const Eigh found = recording() ? recorded_eigh(x) : Eigh{w, v};
      const Tensor &gw = grads.output(0), &gv = grads.output(1);
      Tensor inner = gw.defined() ? diagonals(gw) : K::zeros_like(found.v);
      if (gv.defined())
        inner = inner + chained(hiding_matmul(transposed(found.v), gv, gradient_right), gaps(found.w));
      const Tensor g =
          hiding_matmul(hiding_matmul(found.v, inner, gradient_right), transposed(found.v), gradient_left);
      return (g + transposed(g)) * 0.5;
    });
  });
  return {w, v};
}

std::vector<Tensor> eigh_parts(const Tensor& x) {
  const OutputInfo w{appended(batch_of(x), {x.shape()[-1]}), x.dtype()};
  if (is_symbolic(x)) return defer("eigh", {w, info_of(x)}, eigh_parts, x);
  const Eigh found = recorded_eigh(x);
  return {found.w, found.v};
}

}  // namespace

Eigh eigh(const Tensor& given) {
  const std::vector<Tensor> found = eigh_parts(matrices("eigh", given, true));
  return {as_given(found[0], given), as_given(found[1], given)};
}

namespace {

/// A complex tensor.
struct ComplexMatrix {
  Tensor real, imag;
};

ComplexMatrix product(const ComplexMatrix& x, const ComplexMatrix& y) {
  return {K::matmul(x.real, y.real) - K::matmul(x.imag, y.imag),
          K::matmul(x.real, y.imag) + K::matmul(x.imag, y.real)};
}

ComplexMatrix adjoint(const ComplexMatrix& x) { return {transposed(x.real), -transposed(x.imag)}; }

/// Returns the solution of a x = b from the real equations for both parts.
ComplexMatrix solution(const ComplexMatrix& a, const ComplexMatrix& b) {
  const auto n = static_cast<int>(a.real.ndim()) - 2;
  const Tensor equations =
      K::concatenate({K::concatenate({a.real, -a.imag}, -1), K::concatenate({a.imag, a.real}, -1)}, n);
  const std::int64_t rows = a.real.shape()[-1];
  const Tensor x = solve(equations, K::concatenate({b.real, b.imag}, n));
  return {K::index(x, {Ellipsis, Slice(0, rows), All}), K::index(x, {Ellipsis, Slice(rows, None), All})};
}

/// Returns the conjugate of 1 / (w[j] - w[i]) at row i and column j, and 0 on the diagonal.
ComplexMatrix conjugate_gaps(const ComplexMatrix& w) {
  const auto differences = [](const Tensor& x) { return K::expand_dims(x, -2) - K::expand_dims(x, -1); };
  const Tensor real = differences(w.real), imag = differences(w.imag);
  const Tensor diagonal = eye(w.real.shape()[-1], {}, 0, DType::Bool);
  const Tensor square = K::where(diagonal, 1, real * real + imag * imag);
  return {K::where(diagonal, 0, real / square), K::where(diagonal, 0, imag / square)};
}

/// Returns the gradient for vectors that may change in length and phase, from that for vectors of norm 1 whose largest element
/// is real.
ComplexMatrix free_gradient(const ComplexMatrix& v, const ComplexMatrix& g) {
  const Tensor real = K::sum(v.real * g.real + v.imag * g.imag, -2, true),
               imag = K::sum(v.real * g.imag - v.imag * g.real, -2, true);
  const Tensor squares = K::stop_gradient(v.real * v.real + v.imag * v.imag);
  const Tensor place = K::one_hot(K::argmax(squares, -2), v.real.shape()[-1]);  // [..., column, row]
  const Tensor largest = transposed(K::cast(place, v.real.dtype()));
  const Tensor element = K::sum(largest * v.real, -2, true);
  return {g.real - real * v.real, g.imag - real * v.imag - largest * (imag / element)};
}

Tensor eig_gradient(const ComplexMatrix& w, const ComplexMatrix& v, const ComplexMatrix& gw,
                    const ComplexMatrix& gv) {
  const auto given = [](const Tensor& g, const Tensor& like) {
    return g.defined() ? g : K::zeros_like(like);
  };
  ComplexMatrix inner{diagonals(given(gw.real, w.real)), diagonals(given(gw.imag, w.imag))};
  if (gv.real.defined() || gv.imag.defined()) {
    const ComplexMatrix along =
        product(adjoint(v), free_gradient(v, {given(gv.real, v.real), given(gv.imag, v.imag)}));
    const ComplexMatrix f = conjugate_gaps(w);
    inner.real = inner.real + chained(along.real, f.real) - chained(along.imag, f.imag);
    inner.imag = inner.imag + chained(along.imag, f.real) + chained(along.real, f.imag);
  }
  return solution(adjoint(v), product(inner, adjoint(v))).real;
}

std::vector<Tensor> recorded_eig(const Tensor& x) {
  const Shape shape = appended(batch_of(x), {x.shape()[-1]});
  const OutputInfo values{shape, x.dtype()}, vectors = info_of(x);
  if (is_symbolic(x)) return defer("eig", {values, values, vectors, vectors}, recorded_eig, x);
  const Tensor work = copied("eig", x);
  const std::int64_t n = x.shape()[-1];
  Tensor wr = Tensor::empty(shape, x.dtype()), wi = Tensor::empty(shape, x.dtype());
  Tensor vr = Tensor::empty(x.shape(), x.dtype()), vi = Tensor::empty(x.shape(), x.dtype());
  dispatch_native_floating(x.dtype(), [&]<class T>() {
    each_matrix("eig", "a matrix must have finite elements for which the iteration converges", batch_of(x),
                [&](std::int64_t i) {
                  return kernels::eig(n, work.pointer<T>() + i * n * n, wr.pointer<T>() + i * n,
                                      wi.pointer<T>() + i * n, vr.pointer<T>() + i * n * n,
                                      vi.pointer<T>() + i * n * n);
                });
  });
  const Tensor outs[] = {wr, wi, vr, vi};
  if (recording(x)) {
    const ComplexMatrix w{wr.detach(), wi.detach()}, v{vr.detach(), vi.detach()};
    record("eig", outs, {x}, [x, w, v](Grads& grads) {
      grads.to(0, [&] {
        const ComplexMatrix gw{grads.output(0), grads.output(1)}, gv{grads.output(2), grads.output(3)};
        if (!recording()) return eig_gradient(w, v, gw, gv);
        const std::vector<Tensor> found = recorded_eig(x);
        return eig_gradient({found[0], found[1]}, {found[2], found[3]}, gw, gv);
      });
    });
  }
  return {wr, wi, vr, vi};
}

}  // namespace

Eig eig(const Tensor& given) {
  const std::vector<Tensor> found = recorded_eig(matrices("eig", given, true));
  return {as_given(found[0], given), as_given(found[1], given), as_given(found[2], given),
          as_given(found[3], given)};
}

}  // namespace ktape::ops

namespace ktape::nn {
namespace {

std::vector<Tensor> svd(const OperationCall& call) {
  const bool vectors = call.flag("compute_uv");
  const auto [u, s, vh] = ops::svd(call.tensor("x"), call.flag("full_matrices"), vectors);
  return vectors ? std::vector{u, s, vh} : std::vector{s};
}

}  // namespace

Operations spectrum_operations() {
  static constexpr Operation rows[] = {
      {"SVD", "linalg", "x; full_matrices=true, compute_uv=true", svd},
      {"Eigh", "linalg", "x;", calls<ops::eigh>},
      {"Eig", "linalg", "x;", calls<ops::eig>, "eig"},
  };
  return rows;
}

}  // namespace ktape::nn
