#pragma once
#include <ktape/ops/kernels/simd/chained.hpp>
#include <ktape/ops/kernels/softmax/softmax.hpp>

/// Crossentropies of the rows of a [rows, classes] array of logits, in one pass over rows that stay in the
/// caches. Rows of few classes are transposed, so that each lane works on another row.
namespace ktape::kernels {

/// The values of a row that the forward pass keeps for softmax: a probability is exp((x - largest) -
/// log_sum).
template <class A>
struct RowSum {
  A largest, log_sum;
};

namespace detail {

template <class T, class A = compute_type<T>>
RowSum<A> row_sum(const T* x, std::int64_t n) {
  const A largest = row_max(x, n);
  return {largest, static_cast<A>(std::log(exp_sum(x, n, largest, static_cast<A*>(nullptr), n)))};
}

/// A block of rows of logits in lanes, and their sums.
template <class A>
struct LogitTile : RowTile<A> {
  using RowTile<A>::RowTile;
  alignas(64) A largest[RowTile<A>::most * lanes<A>], log_sum[RowTile<A>::most * lanes<A>];

  void add_up() {
    tile_sums<false, false>(this->data(), this->n, this->rows, [&](auto j, Vec<A> top, Vec<A> sum) {
      store(largest + j, top), store(log_sum + j, functions::log(xsimd::batch<A>(sum)));
    });
  }
  void put(RowSum<A>* sums, std::int64_t rows) const {
    for (std::int64_t i = 0; i < rows; ++i) sums[i] = {largest[i], log_sum[i]};
  }
  void take(const RowSum<A>* sums, std::int64_t rows) {
    for (std::int64_t i = 0; i < this->rows; ++i)
      largest[i] = i < rows ? sums[i].largest : 0, log_sum[i] = i < rows ? sums[i].log_sum : 0;
  }
  Vec<A> probability(std::int64_t k, std::int64_t j) const {
    return exp_of_small<A>(this->at(k, j) - load(largest + j) - load(log_sum + j));
  }
  /// Stores the gradients of the losses as vectors, in the memory of `largest`, which is no longer needed.
  template <class T>
  A* scales(const T* g, std::int64_t rows) {
    for (std::int64_t i = 0; i < this->rows; ++i) largest[i] = i < rows ? element(g + i) : 0;
    return largest;
  }
};

}  // namespace detail

/// loss = log(sum(exp(x))) - x[target].
template <class T>
void sparse_crossentropy(const T* x, const std::int64_t* target, T* loss, RowSum<compute_type<T>>* sums,
                         std::int64_t rows, std::int64_t n) {
  using A = compute_type<T>;
  const auto finish = [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      loss[r] = static_cast<T>(sums[r].log_sum + (sums[r].largest - element(x + r * n + target[r])));
  };
  if (n <= detail::RowTile<A>::most)
    return detail::for_row_tiles<A>(rows, n, 4, [=](std::int64_t r, std::int64_t m) {
      detail::LogitTile<A> tile(n, m);
      tile.load(x + r * n, m, r + m < rows);
      tile.add_up();
      tile.put(sums + r, m);
      finish(r, r + m);
    });
  parallel_rows(rows, n * 4, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) sums[r] = detail::row_sum(x + r * n, n), finish(r, r + 1);
  });
}

/// dx = g * (softmax(x) - onehot(target)).
template <class T>
void sparse_crossentropy_backward(const T* x, const std::int64_t* target, const T* g,
                                  const RowSum<compute_type<T>>* sums, T* dx, std::int64_t rows,
                                  std::int64_t n) {
  using A = compute_type<T>;
  if (n <= detail::RowTile<A>::most)
    return detail::for_row_tiles<A>(rows, n, 3, [=](std::int64_t r, std::int64_t m) {
      detail::LogitTile<A> tile(n, m);
      tile.load(x + r * n, m, r + m < rows);
      tile.take(sums + r, m);
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < tile.rows; j += lanes<A>)
          store(tile.data() + k * tile.rows + j, tile.probability(k, j));
      for (std::int64_t i = 0; i < m; ++i) tile.data()[target[r + i] * tile.rows + i] -= 1;
      const A* scale = tile.scales(g + r, m);
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < tile.rows; j += lanes<A>)
          store(tile.data() + k * tile.rows + j, chained<A>(load(scale + j), tile.at(k, j)));
      tile.store(dx + r * n, m, false);
    });
  parallel_rows(rows, n * 3, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const auto scale = splat(element(g + r)), largest = splat(sums[r].largest),
                 log_sum = splat(sums[r].log_sum);
      for_vectors<A>(n, [&](std::int64_t i, std::int64_t m) {
        const Vec<A> p = exp_of_small<A>(load_partial(x + r * n + i, m) - largest - log_sum);
        store_partial(dx + r * n + i, chained<A>(scale, p), m);
      });
      T* at = dx + r * n + target[r];
      const A rest = std::exp(element(x + r * n + target[r]) - sums[r].largest - sums[r].log_sum) - 1;
      if (element(g + r) != 0) *at = static_cast<T>(element(g + r) * rest);
    }
  });
}

namespace detail {

/// Returns target * (log_sum + largest - x), and 0 for a target of 0 even where x is -infinity.
template <class A>
Vec<A> cost_of(Vec<A> target, Vec<A> x, Vec<A> largest, Vec<A> log_sum) {
  return target == 0 ? Vec<A>{} : target * (log_sum + (largest - x));
}

}  // namespace detail

/// loss = sum(target * (log(sum(exp(x))) - x)); the term of a target of 0 is 0, even for x = -infinity.
template <class T>
void crossentropy(const T* x, const T* target, T* loss, RowSum<compute_type<T>>* sums, std::int64_t rows,
                  std::int64_t n) {
  using A = compute_type<T>;
  if (n <= detail::RowTile<A>::most)
    return detail::for_row_tiles<A>(rows, n, 5, [=](std::int64_t r, std::int64_t m) {
      detail::LogitTile<A> tile(n, m);
      detail::RowTile<A> targets(n, m);
      tile.load(x + r * n, m, r + m < rows), targets.load(target + r * n, m, r + m < rows);
      tile.add_up();
      tile.put(sums + r, m);
      for (std::int64_t j = 0; j < tile.rows; j += lanes<A>) {
        Vec<A> total{};
        for (std::int64_t k = 0; k < n; ++k)
          total += detail::cost_of<A>(targets.at(k, j), tile.at(k, j), load(tile.largest + j),
                                      load(tile.log_sum + j));
        store(targets.data() + j, total);  // the first targets of these rows are no longer needed
      }
      for (std::int64_t i = 0; i < m; ++i) loss[r + i] = static_cast<T>(targets.data()[i]);
    });
  parallel_rows(rows, n * 5, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      sums[r] = detail::row_sum(x + r * n, n);
      const auto largest = splat(sums[r].largest), log_sum = splat(sums[r].log_sum);
      loss[r] = static_cast<T>(static_cast<A>(detail::sum_terms<A>(n, [&](std::int64_t i, std::int64_t m) {
        return detail::cost_of<A>(load_partial(target + r * n + i, m), load_partial(x + r * n + i, m),
                                  largest, log_sum);
      })));
    }
  });
}

/// dx = g * (softmax(x) * sum(target) - target).
template <class T>
void crossentropy_backward(const T* x, const T* target, const T* g, const RowSum<compute_type<T>>* sums,
                           T* dx, std::int64_t rows, std::int64_t n) {
  using A = compute_type<T>;
  if (n <= detail::RowTile<A>::most)
    return detail::for_row_tiles<A>(rows, n, 5, [=](std::int64_t r, std::int64_t m) {
      detail::LogitTile<A> tile(n, m);
      detail::RowTile<A> targets(n, m);
      tile.load(x + r * n, m, r + m < rows), targets.load(target + r * n, m, r + m < rows);
      tile.take(sums + r, m);
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t j = 0; j < tile.rows; j += lanes<A>)
          store(tile.data() + k * tile.rows + j, tile.probability(k, j));
      const A* scale = tile.scales(g + r, m);
      for (std::int64_t j = 0; j < tile.rows; j += lanes<A>) {
        Vec<A> total{};
        for (std::int64_t k = 0; k < n; ++k) total += targets.at(k, j);
        for (std::int64_t k = 0; k < n; ++k)
          store(targets.data() + k * tile.rows + j,
                chained<A>(load(scale + j), tile.at(k, j) * total - targets.at(k, j)));
      }
      targets.store(dx + r * n, m, false);
    });
  parallel_rows(rows, n * 5, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const T* t = target + r * n;
      const auto load_target = [&](std::int64_t i, std::int64_t m) { return load_partial(t + i, m); };
      const auto total = splat(static_cast<A>(detail::sum_terms<A>(n, load_target)));
      const auto scale = splat(element(g + r)), largest = splat(sums[r].largest),
                 log_sum = splat(sums[r].log_sum);
      for_vectors<A>(n, [&](std::int64_t i, std::int64_t m) {
        const Vec<A> p = exp_of_small<A>(load_partial(x + r * n + i, m) - largest - log_sum);
        store_partial(dx + r * n + i, chained<A>(scale, p * total - load_target(i, m)), m);
      });
    }
  });
}

}  // namespace ktape::kernels
