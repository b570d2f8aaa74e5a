#include <ktape/ops/kernels/linear_algebra/lapack.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <cblas.h>

// LAPACK's Fortran functions, which OpenBLAS contains.
#define KTAPE_LAPACK(p, T)                                                                                   \
  void p##potrf_(const char*, const int*, T*, const int*, int*);                                             \
  void p##getrf_(const int*, const int*, T*, const int*, int*, int*);                                        \
  void p##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*, const int*,      \
                 int*);                                                                                      \
  void p##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                          \
  void p##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);        \
  void p##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*,    \
                 T*, const int*, int*, int*);                                                                \
  void p##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, \
                 int*);                                                                                      \
  void p##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*,            \
                const int*, T*, const int*, int*);
extern "C" {
KTAPE_LAPACK(s, float)
KTAPE_LAPACK(d, double)
}
#undef KTAPE_LAPACK

namespace ktape::kernels {
namespace {

#define KTAPE_BOTH(name)                                        \
  template <class T, class... A>                                \
  void name(A... a) {                                           \
    if constexpr (sizeof(T) == sizeof(float)) s##name##_(a...); \
    else d##name##_(a...);                                      \
  }
KTAPE_BOTH(potrf)
KTAPE_BOTH(getrf)
KTAPE_BOTH(getrs)
KTAPE_BOTH(geqrf)
KTAPE_BOTH(orgqr)
KTAPE_BOTH(gesdd)
KTAPE_BOTH(syevd)
KTAPE_BOTH(geev)
#undef KTAPE_BOTH

int leading(int n) { return std::max(n, 1); }

/// Returns whether all elements are finite. LAPACK's iterations for eigenvalues and singular values leave results
/// undefined, or do not end, for other elements.
template <class T>
bool all_finite(const T* a, std::int64_t n) {
  return std::all_of(a, a + n, [](T x) { return std::isfinite(x); });
}

/// to, columns x rows, becomes the transpose of from, rows x columns.
template <class T>
void transpose(std::int64_t rows, std::int64_t columns, const T* from, T* to) {
  constexpr std::int64_t tile = 16;
  for (std::int64_t r = 0; r < rows; r += tile)
    for (std::int64_t c = 0; c < columns; c += tile)
      for (std::int64_t i = r; i < std::min(rows, r + tile); ++i)
        for (std::int64_t j = c; j < std::min(columns, c + tile); ++j)
          to[j * rows + i] = from[i * columns + j];
}

/// Calls f(work, size) with size -1, which returns the best size in work[0], and again with that size.
template <class T, class F>
void with_workspace(F f) {
  T best = 1;
  f(&best, -1);
  std::vector<T> work(static_cast<std::size_t>(std::max<T>(best, 1)) + 1);
  f(work.data(), static_cast<int>(work.size()));
}

}  // namespace

template <class T>
bool cholesky(std::int64_t n, T* a) {
  const int size = static_cast<int>(n), stride = leading(size);
  int info = 0;
  potrf<T>("U", &size, a, &stride, &info);  // the lower triangle by rows is the upper one by columns
  for (std::int64_t i = 0; i < n; ++i) std::fill(a + i * n + i + 1, a + (i + 1) * n, T(0));
  return info == 0;
}

template <class T>
bool lu(std::int64_t m, std::int64_t n, T* a, std::int32_t* pivots) {
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), stride = leading(rows);
  std::vector<T> by_columns(static_cast<std::size_t>(m * n));
  transpose(m, n, a, by_columns.data());
  int info = 0;
  getrf<T>(&rows, &columns, by_columns.data(), &stride, pivots, &info);
  transpose(n, m, by_columns.data(), a);
  for (std::int64_t i = 0; i < std::min(m, n); ++i) --pivots[i];
  return info == 0;
}

template <class T>
bool solve(std::int64_t n, std::int64_t k, T* a, T* b) {
  const int size = static_cast<int>(n), right = static_cast<int>(k), stride = leading(size);
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = 0;
  getrf<T>(&size, &size, a, &stride, pivots.data(), &info);
  if (info != 0) return false;
  std::vector<T> by_columns(static_cast<std::size_t>(n * k));
  transpose(n, k, b, by_columns.data());
  getrs<T>("T", &size, &right, static_cast<const T*>(a), &stride, static_cast<const int*>(pivots.data()),
           by_columns.data(), &stride, &info);
  transpose(k, n, by_columns.data(), b);
  return true;
}

template <class T>
void solve_triangular(std::int64_t n, std::int64_t k, const T* a, bool lower, T* b) {
  const int size = static_cast<int>(n), right = static_cast<int>(k);
  const auto triangle = lower ? CblasLower : CblasUpper;
  if (n == 0 || k == 0) return;
  if constexpr (sizeof(T) == sizeof(float))
    cblas_strsm(CblasRowMajor, CblasLeft, triangle, CblasNoTrans, CblasNonUnit, size, right, 1, a, size, b,
                right);
  else
    cblas_dtrsm(CblasRowMajor, CblasLeft, triangle, CblasNoTrans, CblasNonUnit, size, right, 1, a, size, b,
                right);
}

template <class T>
void qr(std::int64_t m, std::int64_t n, std::int64_t columns, const T* a, T* q, T* r) {
  const int rows = static_cast<int>(m), given = static_cast<int>(n), wanted = static_cast<int>(columns),
            k = std::min(rows, given), stride = leading(rows);
  std::vector<T> by_columns(static_cast<std::size_t>(m * std::max(n, columns)) + 1),
      tau(static_cast<std::size_t>(k) + 1);
  transpose(m, n, a, by_columns.data());
  int info = 0;
  with_workspace<T>([&](T* work, int size) {
    geqrf<T>(&rows, &given, by_columns.data(), &stride, tau.data(), work, &size, &info);
  });
  for (std::int64_t i = 0; i < columns; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      r[i * n + j] = j < i ? T(0) : by_columns[static_cast<std::size_t>(j * m + i)];
  const int reflectors = std::min(k, wanted);
  with_workspace<T>([&](T* work, int size) {
    orgqr<T>(&rows, &wanted, &reflectors, by_columns.data(), &stride, static_cast<const T*>(tau.data()), work,
             &size, &info);
  });
  transpose(columns, m, by_columns.data(), q);
}

template <class T>
bool svd(std::int64_t m, std::int64_t n, bool full, T* a, T* s, T* u, T* vh) {
  // By columns, a is its transpose v s u^T: v by columns is vh by rows, and u^T by columns is u by rows.
  const int rows = static_cast<int>(n), columns = static_cast<int>(m), k = std::min(rows, columns);
  const int stride = leading(rows), u_stride = leading(full || !u ? columns : k);
  if (!all_finite(a, m * n)) return false;
  std::vector<int> integers(static_cast<std::size_t>(8 * k) + 1);
  T none = 0;
  int info = 0;
  with_workspace<T>([&](T* work, int size) {
    gesdd<T>(!u     ? "N"
             : full ? "A"
                    : "S",
             &rows, &columns, a, &stride, s, vh ? vh : &none, &stride, u ? u : &none, &u_stride, work, &size,
             integers.data(), &info);
  });
  return info == 0;
}

template <class T>
bool eigh(std::int64_t n, T* a, T* w) {
  for (std::int64_t i = 0; i < n; ++i)
    if (!all_finite(a + i * n, i + 1)) return false;
  const int size = static_cast<int>(n), stride = leading(size);
  int info = 0, best = 1, ask = -1;
  T best_work = 1;
  syevd<T>("V", "U", &size, a, &stride, w, &best_work, &ask, &best, &ask, &info);
  std::vector<T> work(static_cast<std::size_t>(best_work) + 1);
  std::vector<int> integers(static_cast<std::size_t>(best) + 1);
  const int work_size = static_cast<int>(work.size()), integer_size = static_cast<int>(integers.size());
  syevd<T>("V", "U", &size, a, &stride, w, work.data(), &work_size, integers.data(), &integer_size, &info);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(a[i * n + j], a[j * n + i]);
  return info == 0;
}

template <class T>
bool eig(std::int64_t n, T* a, T* w_real, T* w_imag, T* v_real, T* v_imag) {
  if (!all_finite(a, n * n)) return false;
  const int size = static_cast<int>(n), stride = leading(size), one = 1;
  std::vector<T> by_columns(static_cast<std::size_t>(n * n) + 1), v(by_columns.size());
  transpose(n, n, a, by_columns.data());
  T none = 0;
  int info = 0;
  with_workspace<T>([&](T* work, int work_size) {
    geev<T>("N", "V", &size, by_columns.data(), &stride, w_real, w_imag, &none, &one, v.data(), &stride, work,
            &work_size, &info);
  });
  if (info != 0) return false;
  // A pair of conjugate vectors is stored as its real and imaginary parts.
  for (std::int64_t j = 0; j < n; ++j) {
    const bool first = w_imag[j] > 0, second = w_imag[j] < 0;
    for (std::int64_t i = 0; i < n; ++i) {
      v_real[i * n + j] = v[static_cast<std::size_t>((second ? j - 1 : j) * n + i)];
      v_imag[i * n + j] = first    ? v[static_cast<std::size_t>((j + 1) * n + i)]
                          : second ? -v[static_cast<std::size_t>(j * n + i)]
                                   : T(0);
    }
  }
  return info == 0;
}

#define KTAPE_INSTANTIATE(T)                                                      \
  template bool cholesky(std::int64_t, T*);                                       \
  template bool lu(std::int64_t, std::int64_t, T*, std::int32_t*);                \
  template bool solve(std::int64_t, std::int64_t, T*, T*);                        \
  template void solve_triangular(std::int64_t, std::int64_t, const T*, bool, T*); \
  template void qr(std::int64_t, std::int64_t, std::int64_t, const T*, T*, T*);   \
  template bool svd(std::int64_t, std::int64_t, bool, T*, T*, T*, T*);            \
  template bool eigh(std::int64_t, T*, T*);                                       \
  template bool eig(std::int64_t, T*, T*, T*, T*, T*);
KTAPE_INSTANTIATE(float)
KTAPE_INSTANTIATE(double)
#undef KTAPE_INSTANTIATE

}  // namespace ktape::kernels
