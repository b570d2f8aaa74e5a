#pragma once
#include <ktape/ops/kernels/multiply_add.hpp>
#include <ktape/ops/kernels/strided.hpp>
#include <ktape/ops/kernels/softmax.hpp>

#include <vector>

/// Scaled dot-product attention of float or double. Scores exist for a block of queries at a time, in the caches; backward
/// makes them again from what forward keeps of each query, the logarithm of its sum.
namespace ktape::kernels {

/// Heads of (steps, dim) matrices; which key a query may look at.
struct AttentionLayout {
  std::int64_t batch, heads, queries, keys, dim, value_dim;
  double scale;
  bool causal;
  const bool* mask;             // null: every key
  std::int64_t mask_strides[4];  // over batch, heads, queries and keys; 0 along axes that it repeats

  const bool* mask_row(std::int64_t head, std::int64_t query) const {
    return mask + head / heads * mask_strides[0] + head % heads * mask_strides[1] + query * mask_strides[2];
  }
};

namespace detail {

inline constexpr std::int64_t query_block = 64;

/// c (rows, V vectors) = or += a b.
template <int V, class A>
void block_product(std::int64_t rows, std::int64_t valid, std::int64_t inner, const A* a, std::int64_t a_row, std::int64_t a_step,
                   const A* b, std::int64_t b_step, A* c, std::int64_t c_row, bool accumulate) {
  const auto run = [&](auto count, std::int64_t first) {
    constexpr int R = count();
    Vec<A> sum[R][V] = {};
    const A* from[R];
    for (int r = 0; r < R; ++r) from[r] = a + (first + r) * a_row;
    multiply_add(sum, from, a_step, inner, b, b_step, valid);
    for (int r = 0; r < R; ++r)
      for (int v = 0; v < V; ++v) {
        A* to = c + (first + r) * c_row + v * lanes<A>;
        const std::int64_t m = V > 1 ? lanes<A> : valid;
        store_some(to, accumulate ? Vec<A>(load_some(to, m) + sum[r][v]) : sum[r][v], m);
      }
  };
  constexpr int most = 16 / V;
  std::int64_t r = 0;
  for (; r + most <= rows; r += most) run(std::integral_constant<int, most>(), r);
  for (; r < rows; ++r) run(std::integral_constant<int, 1>(), r);
}

/// c (rows, columns) = or += a (rows, inner) b (inner, columns); a has any strides.
template <class A>
void small_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const A* a, std::int64_t a_row, std::int64_t a_step,
                   const A* b, std::int64_t b_step, A* c, std::int64_t c_row, bool accumulate) {
  constexpr std::int64_t w = lanes<A>;
  std::int64_t j = 0;
  const auto run = [&]<int V>(std::integral_constant<int, V>, std::int64_t valid) {
    block_product<V>(rows, valid, inner, a, a_row, a_step, b + j, b_step, c + j, c_row, accumulate);
    j += V * w;
  };
  while (j + 4 * w <= columns) run(std::integral_constant<int, 4>(), w);
  if (j + 2 * w <= columns) run(std::integral_constant<int, 2>(), w);
  while (j < columns) run(std::integral_constant<int, 1>(), std::min(w, columns - j));
}

/// Room of one thread, and the steps that both directions share.
template <class A>
struct AttentionBlock {
  const AttentionLayout& at;
  std::int64_t stride = (at.keys + lanes<A> - 1) / lanes<A> * lanes<A>;
  Ref<Storage> scores_room = room(query_block * stride), keys_room = room(at.dim * stride);
  A *scores = data(scores_room), *keys_across = data(keys_room);  // keys_across: (dim, keys)

  static Ref<Storage> room(std::int64_t n) { return Storage::make(static_cast<std::size_t>(n) * sizeof(A)); }
  static A* data(const Ref<Storage>& storage) { return static_cast<A*>(storage->data()); }

  void transpose(const A* from, std::int64_t dim, A* to) const {
    const std::int64_t sizes[] = {dim, at.keys}, in[] = {1, dim}, out[] = {stride, 1};
    copy_strided(to, out, from, in, sizes, 2, sizeof(A));
  }
  /// The keys that some query of the block may look at come first.
  std::int64_t reachable(std::int64_t first, std::int64_t count) const { return at.causal ? std::min(at.keys, first + count) : at.keys; }

  /// scale * query . key, and -infinity where the query may not look.
  void score(const A* queries, std::int64_t head, std::int64_t first, std::int64_t count) const {
    const std::int64_t n = reachable(first, count);
    small_product<A>(count, n, at.dim, queries + first * at.dim, at.dim, 1, keys_across, stride, scores, stride, false);
    for (std::int64_t q = 0; q < count; ++q) {
      A* row = scores + q * stride;
      for (std::int64_t j = 0; j < n; ++j) row[j] *= static_cast<A>(at.scale);
      constexpr A nowhere = -std::numeric_limits<A>::infinity();
      if (at.causal) std::fill(row + std::min(n, first + q + 1), row + n, nowhere);
      if (!at.mask) continue;
      const bool* seen = at.mask_row(head, first + q);
      for (std::int64_t j = 0; j < n; ++j) row[j] = seen[j * at.mask_strides[3]] ? row[j] : nowhere;
    }
  }
};

}  // namespace detail

/// out = softmax(scale query key^T) value for each head; zeros for a query that may look at nothing. `logs` gets the logarithm of
/// the sum of each query's exponentials (infinity for those), for the gradient.
template <class A>
void attention(const AttentionLayout& at, const A* query, const A* key, const A* value, A* out, A* logs) {
  const std::int64_t heads = at.batch * at.heads, chunk = 2 * detail::query_block, chunks = (at.queries + chunk - 1) / chunk;
  parallel_rows(heads * chunks, std::min(chunk, at.queries) * at.keys * (at.dim + at.value_dim) / 16, [&](std::int64_t begin, std::int64_t end) {
    const detail::AttentionBlock<A> block{at};
    std::int64_t known = -1;
    for (; begin < end; ++begin) {
      const std::int64_t head = begin / chunks, stop = std::min(at.queries, (begin % chunks + 1) * chunk);
      if (head != known) block.transpose(key + head * at.keys * at.dim, at.dim, block.keys_across), known = head;
      for (std::int64_t first = begin % chunks * chunk; first < stop; first += detail::query_block) {
        const std::int64_t count = std::min(detail::query_block, stop - first), n = block.reachable(first, count);
        A* const to = out + (head * at.queries + first) * at.value_dim;
        block.score(query + head * at.queries * at.dim, head, first, count);
        for (std::int64_t q = 0; q < count; ++q) {
          A* row = block.scores + q * block.stride;
          const A largest = detail::row_max(row, n);
          const bool nothing = largest == -std::numeric_limits<A>::infinity();
          const double sum = detail::exp_sum(row, n, nothing ? A(0) : largest, row);
          for (std::int64_t j = 0; j < n; ++j) row[j] *= static_cast<A>(nothing ? 0 : 1 / sum);
          logs[head * at.queries + first + q] =
              nothing ? std::numeric_limits<A>::infinity() : static_cast<A>(double(largest) + std::log(sum));
        }
        detail::small_product<A>(count, at.value_dim, n, block.scores, block.stride, 1, value + head * at.keys * at.value_dim, at.value_dim,
                                 to, at.value_dim, false);
      }
    }
  });
}

template <class A>
struct AttentionGradients {
  A *query, *key, *value;
};

/// The gradients of query, key and value, from that of the result and the logarithms.
template <class A>
void attention_backward(const AttentionLayout& at, const A* query, const A* key, const A* value, const A* logs, const A* g,
                        const AttentionGradients<A>& d) {
  const std::int64_t heads = at.batch * at.heads;
  parallel_rows(heads, at.queries * at.keys * (at.dim + at.value_dim) / 8, [&](std::int64_t begin, std::int64_t end) {
    const detail::AttentionBlock<A> block{at};
    const auto slopes_room = block.room(detail::query_block * block.stride), values_room = block.room(at.value_dim * block.stride);
    A *slopes = block.data(slopes_room), *values_across = block.data(values_room);
    for (std::int64_t head = begin; head < end; ++head) {
      const A *keys = key + head * at.keys * at.dim, *values = value + head * at.keys * at.value_dim;
      A *dkeys = d.key + head * at.keys * at.dim, *dvalues = d.value + head * at.keys * at.value_dim;
      block.transpose(keys, at.dim, block.keys_across);
      block.transpose(values, at.value_dim, values_across);
      std::fill_n(dkeys, at.keys * at.dim, A(0)), std::fill_n(dvalues, at.keys * at.value_dim, A(0));
      for (std::int64_t first = 0; first < at.queries; first += detail::query_block) {
        const std::int64_t count = std::min(detail::query_block, at.queries - first), n = block.reachable(first, count);
        const std::int64_t at_query = head * at.queries + first;
        const A* slope = g + at_query * at.value_dim;
        block.score(query + head * at.queries * at.dim, head, first, count);
        detail::small_product<A>(count, n, at.value_dim, slope, at.value_dim, 1, values_across, block.stride, slopes, block.stride, false);
        for (std::int64_t q = 0; q < count; ++q) {
          A *p = block.scores + q * block.stride, *dp = slopes + q * block.stride;
          const auto log = splat(logs[at_query + q]);
          const auto mean = splat(static_cast<A>(detail::sum_terms<A>(n, [&](std::int64_t i, std::int64_t m) {
            const Vec<A> weight = exp_of<A>(detail::load_some(p + i, m, -std::numeric_limits<A>::infinity()) - log);
            store(p + i, weight);
            return Vec<A>(weight * detail::load_some(dp + i, m));
          })));
          detail::for_vectors<A>(1, n, [&](std::int64_t, std::int64_t i, std::int64_t) {
            store(dp + i, load(p + i) * (load(dp + i) - mean) * static_cast<A>(at.scale));
          });
        }
        detail::small_product<A>(n, at.value_dim, count, block.scores, 1, block.stride, slope, at.value_dim, dvalues, at.value_dim, true);
        detail::small_product<A>(n, at.dim, count, slopes, 1, block.stride, query + at_query * at.dim, at.dim, dkeys, at.dim, true);
        detail::small_product<A>(count, at.dim, n, slopes, block.stride, 1, keys, at.dim, d.query + at_query * at.dim, at.dim, false);
      }
    }
  });
}

}  // namespace ktape::kernels
