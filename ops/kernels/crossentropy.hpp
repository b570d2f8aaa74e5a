#pragma once
#include <ktape/ops/kernels/softmax.hpp>

/// Crossentropies of the rows of a [rows, classes] array of logits, in one pass over rows that stay in the
/// caches.
namespace ktape::kernels {

/// What softmax of a row needs, kept from the forward pass: a probability is exp((x - largest) - log_sum).
template <class A>
struct RowSum {
  A largest, log_sum;
};

template <class T, class A = compute_type<T>>
RowSum<A> row_sum(const T* x, std::int64_t n) {
  const A largest = detail::row_max(x, n);
  return {largest, static_cast<A>(std::log(detail::exp_sum(x, n, largest, static_cast<A*>(nullptr))))};
}

/// loss = log(sum(exp(x))) - x[target].
template <class T>
void sparse_crossentropy(const T* x, const std::int64_t* target, T* loss, RowSum<compute_type<T>>* sums,
                         std::int64_t rows, std::int64_t n) {
  parallel_rows(rows, n * 4, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      sums[r] = row_sum(x + r * n, n);
      loss[r] = narrow<T>(sums[r].log_sum + (sums[r].largest - element(x + r * n + target[r])));
    }
  });
}

/// dx = g * (softmax(x) - onehot(target)).
template <class T>
void sparse_crossentropy_backward(const T* x, const std::int64_t* target, const T* g,
                                  const RowSum<compute_type<T>>* sums, T* dx, std::int64_t rows,
                                  std::int64_t n) {
  using A = compute_type<T>;
  parallel_rows(rows, n * 3, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const auto scale = splat(element(g + r)), largest = splat(sums[r].largest),
                 log_sum = splat(sums[r].log_sum);
      detail::for_vectors<A>(1, n, [&](std::int64_t, std::int64_t i, std::int64_t m) {
        const Vec<A> p = exp_of<A>(detail::load_some(x + r * n + i, m) - largest - log_sum);
        detail::store_some(dx + r * n + i, scale * p, m);
      });
      T* at = dx + r * n + target[r];
      const A rest = std::exp(element(x + r * n + target[r]) - sums[r].largest - sums[r].log_sum) - 1;
      *at = narrow<T>(element(g + r) * rest);
    }
  });
}

/// loss = sum(target * (log(sum(exp(x))) - x)); a target of 0 counts nothing, even for x = -infinity.
template <class T>
void crossentropy(const T* x, const T* target, T* loss, RowSum<compute_type<T>>* sums, std::int64_t rows,
                  std::int64_t n) {
  using A = compute_type<T>;
  parallel_rows(rows, n * 5, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      sums[r] = row_sum(x + r * n, n);
      const auto largest = splat(sums[r].largest), log_sum = splat(sums[r].log_sum);
      loss[r] = narrow<T>(static_cast<A>(detail::sum_terms<A>(n, [&](std::int64_t i, std::int64_t m) {
        const Vec<A> t = detail::load_some(target + r * n + i, m);
        const Vec<A> cost = log_sum + (largest - detail::load_some(x + r * n + i, m));
        return Vec<A>(t == 0 ? Vec<A>{} : t * cost);
      })));
    }
  });
}

/// dx = g * (softmax(x) * sum(target) - target).
template <class T>
void crossentropy_backward(const T* x, const T* target, const T* g, const RowSum<compute_type<T>>* sums,
                           T* dx, std::int64_t rows, std::int64_t n) {
  using A = compute_type<T>;
  parallel_rows(rows, n * 5, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* t = target + r * n;
      const auto load_target = [&](std::int64_t i, std::int64_t m) { return detail::load_some(t + i, m); };
      const auto total = splat(static_cast<A>(detail::sum_terms<A>(n, load_target)));
      const auto scale = splat(element(g + r)), largest = splat(sums[r].largest),
                 log_sum = splat(sums[r].log_sum);
      detail::for_vectors<A>(1, n, [&](std::int64_t, std::int64_t i, std::int64_t m) {
        const Vec<A> p = exp_of<A>(detail::load_some(x + r * n + i, m) - largest - log_sum);
        detail::store_some(dx + r * n + i, scale * (p * total - load_target(i, m)), m);
      });
    }
  });
}

}  // namespace ktape::kernels
