#pragma once
#include <ktape/ops/kernels/multiply_add.hpp>
#include <ktape/ops/kernels/softmax.hpp>
#include <ktape/ops/kernels/strided.hpp>

#include <vector>

/// Scaled dot-product attention of float or double. Scores exist for a block of queries at a time, in the
/// caches; backward makes them again from what forward keeps of each query, the logarithm of its sum.
namespace ktape::kernels {

/// Heads of (steps, dim) matrices; which key a query may look at.
struct AttentionLayout {
  std::int64_t batch, heads, queries, keys, dim, value_dim;
  double scale;
  bool causal;
  const bool* mask;              // null: every key
  std::int64_t mask_strides[4];  // over batch, heads, queries and keys; 0 along axes that it repeats
  bool heads_last;               // (batch, steps, heads, dim) in place of (batch, heads, steps, dim)

  /// The first row of a head, of n numbers, among `steps`; and how far its rows are apart.
  std::int64_t start(std::int64_t head, std::int64_t steps, std::int64_t n) const {
    return heads_last ? (head / heads * steps * heads + head % heads) * n : head * steps * n;
  }
  std::int64_t row(std::int64_t n) const { return heads_last ? heads * n : n; }

  const bool* mask_row(std::int64_t head, std::int64_t query) const {
    return mask + head / heads * mask_strides[0] + head % heads * mask_strides[1] + query * mask_strides[2];
  }
};

namespace detail {

inline constexpr std::int64_t query_block = 64;

/// c (rows, V vectors) = or += a b.
template <int V, class A>
void block_product(std::int64_t rows, std::int64_t valid, std::int64_t inner, const A* a, std::int64_t a_row,
                   std::int64_t a_step, const A* b, std::int64_t b_step, A* c, std::int64_t c_row,
                   bool accumulate) {
  const auto run = [&](auto count, std::int64_t first) {
    constexpr int R = count();
    Vec<A> sum[R][V];
    const A* from[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      from[r] = a + (first + r) * a_row;
      for (int v = 0; v < V; ++v) sum[r][v] = Vec<A>{};
    }
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
void small_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const A* a,
                   std::int64_t a_row, std::int64_t a_step, const A* b, std::int64_t b_step, A* c,
                   std::int64_t c_row, bool accumulate) {
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

  /// to (dim, keys) = factor * a head's keys or values.
  void transpose(const A* from, std::int64_t dim, A* to, double factor = 1) const {
    const std::int64_t sizes[] = {dim, at.keys}, in[] = {1, at.row(dim)}, out[] = {stride, 1};
    copy_strided(to, out, from, in, sizes, 2, sizeof(A));
    if (factor == 1) return;
    for (std::int64_t i = 0; i < dim; ++i)
      for (std::int64_t k = 0; k < at.keys; ++k) to[i * stride + k] *= static_cast<A>(factor);
  }
  /// The keys that some query of the block may look at come first.
  std::int64_t reachable(std::int64_t first, std::int64_t count) const {
    return at.causal ? std::min(at.keys, first + count) : at.keys;
  }

  /// scale * query . key for the queries from `first` on, and -infinity where a query may not look.
  void score(const A* queries, std::int64_t head, std::int64_t first, std::int64_t count) const {
    const std::int64_t n = reachable(first, count);
    small_product<A>(count, n, at.dim, queries, at.row(at.dim), 1, keys_across, stride, scores, stride,
                     false);
    for (std::int64_t q = 0; q < count; ++q) {
      A* row = scores + q * stride;
      constexpr A nowhere = -std::numeric_limits<A>::infinity();
      if (at.causal) std::fill(row + std::min(n, first + q + 1), row + n, nowhere);
      if (!at.mask) continue;
      const bool* seen = at.mask_row(head, first + q);
      for (std::int64_t j = 0; j < n; ++j) row[j] = seen[j * at.mask_strides[3]] ? row[j] : nowhere;
    }
  }
};

/// A query's scores become its weights; returns the logarithm of the sum of their exponentials.
template <class A>
A weigh(A* scores, std::int64_t n) {
  const A largest = row_max(scores, n);
  if (largest == -std::numeric_limits<A>::infinity()) {
    std::fill_n(scores, n, A(0));
    return std::numeric_limits<A>::infinity();
  }
  const double sum = exp_sum(scores, n, largest, scores, n);
  for (std::int64_t j = 0; j < n; ++j) scores[j] *= static_cast<A>(1 / sum);
  return static_cast<A>(double(largest) + std::log(sum));
}

/// A query's scores become its weights, and the gradients of the weights those of the unscaled scores.
template <class A>
void score_slopes(A* scores, A* slopes, std::int64_t n, A log, A scale) {
  constexpr A nowhere = -std::numeric_limits<A>::infinity();
  const auto mean = splat(static_cast<A>(sum_terms<A>(n, [&](std::int64_t i, std::int64_t m) {
    const Vec<A> weight = exp_of<A>(load_some(scores + i, m, nowhere) - splat(log));
    store(scores + i, weight);
    return Vec<A>(weight * load_some(slopes + i, m));
  })));
  for (std::int64_t i = 0; i < n; i += lanes<A>)
    store(slopes + i, load(scores + i) * (load(slopes + i) - mean) * scale);
}

}  // namespace detail

/// out = softmax(scale query key^T) value for each head; zeros for a query that may look at nothing. `logs`
/// gets the logarithm of the sum of each query's exponentials (infinity for those), for the gradient.
template <class A>
void attention(const AttentionLayout& at, const A* query, const A* key, const A* value, A* out, A* logs) {
  constexpr std::int64_t step = detail::query_block;
  const std::int64_t chunk = 2 * step, chunks = (at.queries + chunk - 1) / chunk, n_value = at.value_dim;
  const std::int64_t work = std::min(chunk, at.queries) * at.keys * (at.dim + at.value_dim) / 16;
  parallel_rows(at.batch * at.heads * chunks, work, [&](std::int64_t begin, std::int64_t end) {
    const detail::AttentionBlock<A> block{at};
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t head = task / chunks, stop = std::min(at.queries, (task % chunks + 1) * chunk);
      if (task == begin || task % chunks == 0)
        block.transpose(key + at.start(head, at.keys, at.dim), at.dim, block.keys_across, at.scale);
      const A* queries = query + at.start(head, at.queries, at.dim);
      const A* values = value + at.start(head, at.keys, n_value);
      A* results = out + at.start(head, at.queries, n_value);
      for (std::int64_t first = task % chunks * chunk; first < stop; first += step) {
        const std::int64_t count = std::min(step, stop - first), n = block.reachable(first, count);
        block.score(queries + first * at.row(at.dim), head, first, count);
        for (std::int64_t q = 0; q < count; ++q)
          logs[head * at.queries + first + q] = detail::weigh(block.scores + q * block.stride, n);
        detail::small_product<A>(count, n_value, n, block.scores, block.stride, 1, values, at.row(n_value),
                                 results + first * at.row(n_value), at.row(n_value), false);
      }
    }
  });
}

template <class A>
struct AttentionGradients {
  A *query, *key, *value;
};

namespace detail {

/// Room for the gradients of the scores, and one head.
template <class A>
struct AttentionSlopes : AttentionBlock<A> {
  using Block = AttentionBlock<A>;
  Ref<Storage> slopes_room, values_room;
  A *slopes, *values_across;

  explicit AttentionSlopes(const AttentionLayout& layout)
      : Block{layout},
        slopes_room(Block::room(query_block * this->stride)),
        values_room(Block::room(layout.value_dim * this->stride)),
        slopes(Block::data(slopes_room)),
        values_across(Block::data(values_room)) {}

  /// The arrays are those of the head.
  void run(std::int64_t head, const A* query, const A* key, const A* value, const A* logs, const A* g,
           const AttentionGradients<A>& d) const {
    const AttentionLayout& at = this->at;
    const std::int64_t stride = this->stride, dim = at.dim, value_dim = at.value_dim, row = at.row(dim),
                       value_row = at.row(value_dim);
    this->transpose(key, dim, this->keys_across, at.scale);
    this->transpose(value, value_dim, values_across);
    if (at.causal || at.queries == 0)  // the first block does not reach all keys
      for (std::int64_t k = 0; k < at.keys; ++k) {
        std::fill_n(d.key + k * row, dim, A(0));
        std::fill_n(d.value + k * value_row, value_dim, A(0));
      }
    for (std::int64_t first = 0; first < at.queries; first += query_block) {
      const std::int64_t count = std::min(query_block, at.queries - first), n = this->reachable(first, count);
      const A *queries = query + first * row, *slope = g + first * value_row;
      const bool add = first > 0 || at.causal;
      A* scores = this->scores;
      this->score(queries, head, first, count);
      small_product<A>(count, n, value_dim, slope, value_row, 1, values_across, stride, slopes, stride,
                       false);
      for (std::int64_t q = 0; q < count; ++q)
        score_slopes(scores + q * stride, slopes + q * stride, n, logs[first + q], static_cast<A>(at.scale));
      small_product<A>(n, value_dim, count, scores, 1, stride, slope, value_row, d.value, value_row, add);
      small_product<A>(n, dim, count, slopes, 1, stride, queries, row, d.key, row, add);
      small_product<A>(count, dim, n, slopes, stride, 1, key, row, d.query + first * row, row, false);
    }
  }
};

}  // namespace detail

/// The gradients of query, key and value, from that of the result and the logarithms.
template <class A>
void attention_backward(const AttentionLayout& at, const A* query, const A* key, const A* value,
                        const A* logs, const A* g, const AttentionGradients<A>& d) {
  const std::int64_t work = at.queries * at.keys * (at.dim + at.value_dim) / 8;
  parallel_rows(at.batch * at.heads, work, [&](std::int64_t begin, std::int64_t end) {
    const detail::AttentionSlopes<A> slopes(at);
    for (std::int64_t head = begin; head < end; ++head) {
      const std::int64_t q = at.start(head, at.queries, at.dim), k = at.start(head, at.keys, at.dim),
                         v = at.start(head, at.keys, at.value_dim);
      slopes.run(head, query + q, key + k, value + v, logs + head * at.queries,
                 g + at.start(head, at.queries, at.value_dim), {d.query + q, d.key + k, d.value + v});
    }
  });
}

}  // namespace ktape::kernels
