#pragma once
#include <ktape/autograd/base/error.hpp>
#include <ktape/autograd/tensor.hpp>
#include <ktape/autograd/variable.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

/// Linear algebra of keras.ops. Matrices are the last two axes; the axes before are a batch. Integers and bools are
/// converted to floatx(), float16 and bfloat16 are computed in float32. The functions are differentiable to any order unless a comment
/// says otherwise. Other ranks and shapes are a ValueError. The functions run LAPACK; a matrix that the function cannot
/// take is a LinAlgError that names the matrix of the batch.
///
///     Tensor x = ops::solve(a, b), w = ops::eigh(a).w;
///     auto [u, s, vh] = ops::svd(a, false);
///     ops::cholesky(a), ops::cholesky_inverse(a), ops::lu_factor(a).pivots, ops::solve_triangular(a, b, true);
///     ops::inv(a), ops::det(a), ops::slogdet(a).sign, ops::logdet(a), ops::qr(a).r, ops::eig(a).w_real;
///     ops::lstsq(a, b), ops::pinv(a), ops::matrix_power(a, 3), ops::matrix_rank(a), ops::norm(a, "nuc");
namespace ktape {

/// An error for a matrix that is singular or not positive definite, or for an iteration that does not converge.
///
///     try {
///       ops::inv(K::constant({{1., 2.}, {2., 4.}}));
///     } catch (const ktape::LinAlgError& error) {
///       std::cout << error.what();
///     }
class LinAlgError : public ValueError {
 public:
  using ValueError::ValueError;
};

}  // namespace ktape

namespace ktape::ops {

/// Returns the lower triangular factor L of a positive definite matrix x = L L^T, or with `upper` its transpose. Only the
/// lower triangle of x is read; the gradient is symmetric.
///
///     Tensor x = K::constant({{4., 2.}, {2., 3.}}), l = ops::cholesky(x);
///     std::cout << l << "\n" << ops::matmul(l, ops::transpose(l));
Tensor cholesky(const Tensor& x, bool upper = false);
/// Returns the inverse of the matrix whose Cholesky factor is x.
///
///     Tensor x = K::constant({{4., 0.}, {0., 2.}});
///     std::cout << ops::cholesky_inverse(ops::cholesky(x));
Tensor cholesky_inverse(const Tensor& x, bool upper = false);

struct LU {
  Tensor lu, pivots;
};

/// Returns L (unit diagonal, below the diagonal) and U of the factorization with partial pivoting in one matrix, and the int32
/// pivots: row i was swapped with row pivots[i], in order. A singular matrix is factored, too; its gradient is a LinAlgError.
///
///     ops::LU factored = ops::lu_factor(K::constant({{1., 2.}, {4., 3.}}));
///     std::cout << factored.lu << " " << factored.pivots;
LU lu_factor(const Tensor& x);

/// Returns x with a x = b: b is (..., n) or (..., n, k) with the batch of a. Throws LinAlgError for a singular a.
///
///     std::cout << ops::solve(K::constant({{2., 0.}, {0., 4.}}), K::constant({2., 2.}));
Tensor solve(const Tensor& a, const Tensor& b);
/// Returns x with t x = b, where t is the upper triangle of a, or the lower one; the other triangle is not read. Throws
/// LinAlgError for a 0 on the diagonal.
///
///     std::cout << ops::solve_triangular(K::constant({{2., 0.}, {1., 4.}}),
///                                        K::constant({2., 5.}), true);
Tensor solve_triangular(const Tensor& a, const Tensor& b, bool lower = false);
/// Returns the inverse. Throws LinAlgError for a singular matrix.
///
///     std::cout << ops::inv(K::constant({{2., 0.}, {0., 4.}}));
Tensor inv(const Tensor& x);
/// Returns the determinant, its sign and the logarithm of its absolute value, or the latter alone. A singular matrix has the
/// determinant 0, the sign 0 and the logarithm -inf.
///
///     Tensor x = K::constant({{2., 0.}, {1., 4.}});
///     std::cout << ops::det(x) << " " << ops::logdet(x) << "\n";
///     auto [sign, logabsdet] = ops::slogdet(K::constant({{0., 1.}, {2., 0.}}));
///     std::cout << sign << " " << logabsdet;
Tensor det(const Tensor& x);
struct SignAndLogarithm {
  Tensor sign, logabsdet;
};
SignAndLogarithm slogdet(const Tensor& x);
Tensor logdet(const Tensor& x);

struct QR {
  Tensor q, r;
};

/// Returns an orthogonal q and an upper triangular r with q r = x: with the mode "reduced" min(m, n) columns of q, with
/// "complete" m columns, of which the gradient reads the first min(m, n).
///
///     auto [q, r] = ops::qr(K::constant({{3., 1.}, {4., 2.}}));
///     std::cout << ops::matmul(q, r);
QR qr(const Tensor& x, const std::string& mode = "reduced");

struct SVD {
  Tensor u, s, vh;
};

/// Returns u, the singular values s in descending order, and vh with x = u diag(s) vh. With full_matrices u and vh are square,
/// otherwise they have min(m, n) columns and rows, which are the ones that the gradient reads. Without compute_uv only s
/// is defined. Gradients of u and vh are not finite where singular values are equal.
///
///     auto [u, s, vh] = ops::svd(K::constant({{3., 0.}, {0., -2.}, {0., 0.}}), false);
///     std::cout << s;
SVD svd(const Tensor& x, bool full_matrices = true, bool compute_uv = true);

struct Eigh {
  Tensor w, v;
};

/// Returns the eigenvalues of a symmetric matrix in ascending order, and the eigenvectors as columns. Only the lower triangle
/// is read; the gradient is symmetric, and not finite for v where eigenvalues are equal.
///
///     auto [w, v] = ops::eigh(K::constant({{2., 1.}, {1., 2.}}));
///     std::cout << w;
Eigh eigh(const Tensor& x);

struct Eig {
  Tensor w_real, w_imag, v_real, v_imag;
};

/// Returns the real and imaginary parts of the eigenvalues, and of the right eigenvectors of norm 1, whose
/// largest element is real, as columns. Gradients need eigenvalues that differ: with equal ones they are not finite.
///
///     ops::Eig e = ops::eig(K::constant({{0., 1.}, {-1., 0.}}));
///     std::cout << e.w_real << " " << e.w_imag;
Eig eig(const Tensor& x);

/// Returns the solution of least norm among those that minimize |a x - b|; b is a vector or a matrix. Singular values below
/// rcond times the largest count as 0; by default the precision of the dtype times max(m, n).
///
///     Tensor a = K::constant({{1., 0.}, {1., 1.}, {1., 2.}}),
///            b = K::constant({1., 3., 5.});
///     std::cout << ops::lstsq(a, b);
Tensor lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond = {});
/// Returns the pseudo-inverse; rcond as in `lstsq`, by default 1e-15 (float32: the precision of the dtype times max(m, n)).
///
///     std::cout << ops::pinv(K::constant({{2., 0.}, {0., 0.}}));
Tensor pinv(const Tensor& x, std::optional<double> rcond = {});
/// Returns x multiplied n times; a negative n multiplies the inverse. Throws LinAlgError for the inverse of a singular matrix.
///
///     std::cout << ops::matrix_power(K::constant({{1., 1.}, {0., 1.}}), 5);
Tensor matrix_power(const Tensor& x, int n);
/// Returns the int32 number of singular values above tol, by default the largest one times the precision of the dtype times
/// max(m, n).
///
///     std::cout << ops::matrix_rank(K::constant({{1., 2.}, {2., 4.}}));
Tensor matrix_rank(const Tensor& x, std::optional<double> tol = {});

/// The order of a norm: a number, infinity included, or "fro" or "nuc".
///
///     Tensor x = K::constant({{3., 0.}, {0., 4.}});
///     std::cout << ops::norm(x, "fro") << " " << ops::norm(x, "nuc") << " "
///               << ops::norm(x, 1.);
using NormOrder = std::variant<std::monostate, double, std::string>;

/// Returns the norm of vectors (one axis) or matrices (two axes): of order p, (sum |x|^p)^(1/p), for matrices 1, 2, infinity and
/// their negatives, "fro" or "nuc". Without axes and order, returns the Euclidean norm of all elements; without axes, x has
/// rank 1 or 2. The slope of the norm of zeros is 0. Throws ValueError for an order that does not exist.
///
///     Tensor x = K::constant({3., -4.});
///     std::cout << ops::norm(x) << " " << ops::norm(x, 1.);
Tensor norm(const Tensor& x, const NormOrder& ord = {}, const Axes& axis = {}, bool keepdims = false);

}  // namespace ktape::ops
