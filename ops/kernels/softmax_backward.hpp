#pragma once
#include <ktape/ops/kernels/softmax.hpp>

/// Gradients of softmax and log_softmax, over the middle dimension of contiguous [outer, axis, inner] arrays.
namespace ktape::kernels {
namespace detail {

/// dx = value(y, g, s) with s = sum(term(y, g)) along the axis.
template <class T, class Term, class Value>
void backward_rows(const T* y, const T* g, T* dx, std::int64_t rows, std::int64_t n, const Term& term,
                   const Value& value) {
  using A = compute_type<T>;
  const bool past_caches = std::is_same_v<T, A> && rows * n * std::int64_t(sizeof(T)) >= streaming_bytes;
  parallel_rows(rows, n * 2, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T *y_row = y + r * n, *g_row = g + r * n;
      const auto sum = splat(static_cast<A>(sum_terms<A>(n, [&](std::int64_t i, std::int64_t m) {
        return term(load_some(y_row + i, m), load_some(g_row + i, m));
      })));
      write_run(dx + r * n, n, past_caches, [&](std::int64_t i, std::int64_t m) {
        return value(load_some(y_row + i, m), load_some(g_row + i, m), sum);
      });
    }
    stream_fence();
  });
}

template <class T, class Term, class Value>
void backward_columns(const T* y, const T* g, T* dx, std::int64_t outer, std::int64_t axis,
                      std::int64_t inner, const Term& term, const Value& value) {
  using A = compute_type<T>;
  for_column_blocks<A>(outer, axis, inner, [&](std::int64_t o, std::int64_t column, std::int64_t width) {
    const std::int64_t start = o * axis * inner + column;
    alignas(64) A sums[8 * lanes<A>] = {}, part[8 * lanes<A>];
    const auto at = [&](const T* p, std::int64_t k, std::int64_t j, std::int64_t m) {
      return load_some(p + start + k * inner + j, m);
    };
    for (std::int64_t first = 0; first < axis; first += 256) {
      std::fill(std::begin(part), std::end(part), A(0));
      for_vectors<A>(std::min<std::int64_t>(256, axis - first), width, [&](auto k, auto j, auto m) {
        store(part + j, load(part + j) + term(at(y, first + k, j, m), at(g, first + k, j, m)));
      });
      for (std::int64_t j = 0; j < width; ++j) sums[j] += part[j];
    }
    for_vectors<A>(axis, width, [&](std::int64_t k, std::int64_t j, std::int64_t m) {
      store_some(dx + start + k * inner + j, value(at(y, k, j, m), at(g, k, j, m), load(sums + j)), m);
    });
  });
}

template <class T, class Term, class Value>
void backward(const T* y, const T* g, T* dx, std::int64_t outer, std::int64_t axis, std::int64_t inner,
              const Term& term, const Value& value) {
  if (outer * axis * inner == 0) return;
  if (inner == 1) backward_rows(y, g, dx, outer, axis, term, value);
  else backward_columns(y, g, dx, outer, axis, inner, term, value);
}

}  // namespace detail

/// dx = y * (g - sum(g * y)): the gradient of softmax from its result y and the gradient g of that.
template <class T>
void softmax_backward(const T* y, const T* g, T* dx, std::int64_t outer, std::int64_t axis,
                      std::int64_t inner) {
  using V = Vec<compute_type<T>>;
  detail::backward(
      y, g, dx, outer, axis, inner, [](V y, V g) -> V { return g * y; },
      [](V y, V g, V sum) -> V { return y * (g - sum); });
}

/// dx = g - exp(y) * sum(g): the gradient of log_softmax from its result y and the gradient g of that.
template <class T>
void log_softmax_backward(const T* y, const T* g, T* dx, std::int64_t outer, std::int64_t axis,
                          std::int64_t inner) {
  using V = Vec<compute_type<T>>;
  detail::backward(
      y, g, dx, outer, axis, inner, [](V, V g) -> V { return g; },
      [](V y, V g, V sum) -> V { return g - exp_of<compute_type<T>>(y) * sum; });
}

}  // namespace ktape::kernels
