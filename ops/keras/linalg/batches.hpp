#pragma once
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/autograd/defer.hpp>
#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/keras/unary.hpp>

#include <atomic>

/// Functions of matrices in batches. Internal: sources only.
namespace ktape::op_helpers {

/// Returns x in float or double: integers become floatx(), half precision becomes float. Throws ValueError unless x has the rank 2 or
/// more and, with `square`, square matrices.
Tensor matrices(const char* op, const Tensor& x, bool square, const char* name = "x");

/// Returns a copy of the elements, which LAPACK may overwrite.
Tensor copied(const char* op, const Tensor& x);
/// Returns x with its last two axes exchanged.
Tensor transposed(const Tensor& x);
/// Returns the extents before the last two.
Shape batch_of(const Tensor& x);
/// Returns the shape with extents appended.
Shape appended(Shape shape, std::initializer_list<std::int64_t> extents);

/// Throws LinAlgError for the matrix of a batch.
[[noreturn]] void fail_matrix(const char* op, const char* rule, std::int64_t index, const Shape& batch);

/// Calls f(i) for each matrix of a batch, in parallel where there are several. Throws LinAlgError for the first matrix for
/// which f returns false.
template <class F>
void each_matrix(const char* op, const char* rule, const Shape& batch, F f) {
  const std::int64_t n = batch.count();
  std::atomic<std::int64_t> failed = n;
  parallel_for(n, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (f(i)) continue;
      std::int64_t first = failed;
      while (i < first && !failed.compare_exchange_weak(first, i)) continue;
    }
  });
  if (failed < n) fail_matrix(op, rule, failed, batch);
}

/// Returns the result of f(x), x in float, in the dtype of a `given` of half precision; gradients flow through both casts.
inline Tensor as_given(const Tensor& result, const Tensor& given) {
  return given.dtype().is_half() ? backend::cast(result, given.dtype()) : result;
}

/// Returns x with unit matrices in the place of those that are not finite, or are unfit for the gradient in another way, and
/// do not matter: the gradient g is 0 in all their elements.
Tensor taken(const Tensor& x, const Tensor& g, const Tensor& unfit = {});
/// Returns whether triangles have a 0 on their diagonals: (..., 1, 1).
Tensor has_zero_pivot(const Tensor& x);

}  // namespace ktape::op_helpers
