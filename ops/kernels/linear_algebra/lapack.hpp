#pragma once
#include <cstdint>

/// Factorizations of one row-major matrix by LAPACK, for T = float and double. Sizes are small enough for 32 bits.
namespace ktape::kernels {

/// Overwrites the lower triangle of a, n x n, with its Cholesky factor and the rest with 0. Returns whether a is
/// positive definite; only the lower triangle is read.
template <class T>
bool cholesky(std::int64_t n, T* a);

/// Overwrites a, m x n, with the factors L (unit diagonal, below) and U, and pivots[i] with the row, from 0, that was
/// swapped with row i. Returns whether no pivot is 0.
template <class T>
bool lu(std::int64_t m, std::int64_t n, T* a, std::int32_t* pivots);

/// Overwrites b, n x k, with the solution x of a x = b, or of x's transposed problem; a is overwritten, too. Returns whether
/// a is regular.
template <class T>
bool solve(std::int64_t n, std::int64_t k, T* a, T* b);

/// Overwrites b, n x k, with the solution of t x = b, where t is the lower or upper triangle of a, or its transpose.
template <class T>
void solve_triangular(std::int64_t n, std::int64_t k, const T* a, bool lower, T* b);

/// Computes a = q r for a, m x n: the first `columns` columns of q, m x columns, and as many rows of r, columns x n.
template <class T>
void qr(std::int64_t m, std::int64_t n, std::int64_t columns, const T* a, T* q, T* r);

/// Computes a = u diag(s) vh for a, m x n, with s in descending order. With `full`, u is m x m and vh n x n, else m x k and
/// k x n for k = min(m, n); null pointers leave u and vh out. Overwrites a. Returns whether the iteration converged.
template <class T>
bool svd(std::int64_t m, std::int64_t n, bool full, T* a, T* s, T* u, T* vh);

/// Computes the eigenvalues w of a symmetric matrix, in ascending order, and overwrites a with the eigenvectors as columns;
/// only the lower triangle is read. Returns whether the iteration converged.
template <class T>
bool eigh(std::int64_t n, T* a, T* w);

/// Computes the eigenvalues (real and imaginary parts) and the right eigenvectors of norm 1 as columns. Overwrites a.
/// Returns whether the iteration converged.
template <class T>
bool eig(std::int64_t n, T* a, T* w_real, T* w_imag, T* v_real, T* v_imag);

}  // namespace ktape::kernels
