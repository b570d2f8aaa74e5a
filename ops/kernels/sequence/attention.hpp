#pragma once
#include <ktape/ops/kernels/copy/transpose.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>
#include <ktape/ops/kernels/reduce/sum_terms.hpp>
#include <ktape/ops/kernels/sequence/pair_product.hpp>
#include <ktape/ops/kernels/simd/gemm_microkernel.hpp>
#include <ktape/ops/kernels/workspace.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

/// Scaled dot-product attention of float or double, by FlashAttention: the scores of a block of queries and a
/// block of keys are computed at a time, in the first-level cache. The forward pass rescales the sums of a
/// query when a later block has a larger score; the backward pass computes the weights again from the
/// logarithm of each query's sum.
namespace ktape::kernels {

/// The extents of query, key and value, whose heads are (steps, dim) matrices, and the keys that each query
/// may see.
struct AttentionLayout {
  std::int64_t batch, heads, queries, keys, dim, value_dim;
  double scale;
  bool causal;
  const bool* mask;              // null: queries see every key
  std::int64_t mask_strides[4];  // along batch, heads, queries and keys; 0 where the mask repeats
  bool heads_last;               // (batch, steps, heads, dim) in place of (batch, heads, steps, dim)

  /// Returns the offset of the first row of a head with `steps` rows of n numbers (`start`), and the distance
  /// of its rows (`row`).
  std::int64_t start(std::int64_t head, std::int64_t steps, std::int64_t n) const {
    return heads_last ? (head / heads * steps * heads + head % heads) * n : head * steps * n;
  }
  std::int64_t row(std::int64_t n) const { return heads_last ? heads * n : n; }

  const bool* mask_row(std::int64_t head, std::int64_t query) const {
    return mask + head / heads * mask_strides[0] + head % heads * mask_strides[1] + query * mask_strides[2];
  }
};

namespace detail {

inline constexpr std::int64_t query_block = 64, key_block = 128;

/// The logarithm of the sum for a query that sees no key: subtracting infinity makes the weights 0.
template <class A>
inline constexpr A no_visible_key = std::numeric_limits<A>::infinity();

/// Computes c = a b, or with `accumulate` c += a b, for V vectors of columns.
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
        store_partial(to, accumulate ? Vec<A>(load_partial(to, m) + sum[r][v]) : sum[r][v], m);
      }
  };
  constexpr int most = 16 / V;
  std::int64_t r = 0;
  for (; r + most <= rows; r += most) run(std::integral_constant<int, most>(), r);
  for (; r < rows; ++r) run(std::integral_constant<int, 1>(), r);
}

/// Computes c = a b, or with `accumulate` c += a b: (rows, inner) times (inner, columns). One of a's strides is 1. Paired
/// products round a and b to bfloat16.
template <class A, bool paired>
void small_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const A* a,
                   std::int64_t a_row, std::int64_t a_step, const A* b, std::int64_t b_step, A* c,
                   std::int64_t c_row, bool accumulate) {
  if constexpr (paired)
    return pair_product(rows, columns, inner, a, a_row, a_step, b, b_step, c, c_row, accumulate);
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

/// Calls f(key) for the keys from `begin` to `end` that a query may see.
template <class F>
void for_seen(const AttentionLayout& at, std::int64_t head, std::int64_t query, std::int64_t begin,
              std::int64_t end, const F& f) {
  const bool* const seen = at.mask ? at.mask_row(head, query) : nullptr;
  if (at.causal) end = std::min(end, query + 1);
  for (std::int64_t key = begin; key < end; ++key)
    if (!seen || seen[key * at.mask_strides[3]]) f(key);
}

template <class A>
double sum_of_products(std::int64_t n, const A* q, const A* k) {
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += double(q[j]) * double(k[j]);
  return sum;
}
/// Returns the sum of products, without those of the elements of a gradient g that are 0.
template <class A>
double sum_of_slopes(std::int64_t n, const A* g, const A* x) {
  double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) sum += g[j] == 0 ? 0 : double(g[j]) * double(x[j]);
  return sum;
}

template <class A>
bool all_finite(const A* x, std::int64_t n) {
  bool finite = true;
  for (std::int64_t i = 0; i < n; ++i) finite &= std::abs(x[i]) <= std::numeric_limits<A>::max();
  return finite;
}

/// Computes the result of a query by sums over the keys that the query sees, and returns the logarithm of the
/// sum of exponentials. The products of a block also read the other keys, whose weight is 0: infinity or NaN
/// behind a mask would reach all queries of the block.
template <class A>
A attend_seen(const AttentionLayout& at, std::int64_t head, std::int64_t query, const A* q, const A* keys,
              const A* values, A* result) {
  const auto score = [&](std::int64_t key) {
    return at.scale * sum_of_products(at.dim, q, keys + key * at.row(at.dim));
  };
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for_seen(at, head, query, 0, at.keys, [&](std::int64_t key) { largest = std::max(largest, score(key)); });
  std::fill_n(result, at.value_dim, A(0));
  for_seen(at, head, query, 0, at.keys, [&](std::int64_t key) {
    const double weight = std::exp(score(key) - largest);
    const A* const value = values + key * at.row(at.value_dim);
    for (std::int64_t j = 0; j < at.value_dim; ++j) result[j] += static_cast<A>(weight) * value[j];
    sum += weight;
  });
  if (sum == 0) return no_visible_key<A>;
  for (std::int64_t j = 0; j < at.value_dim; ++j) result[j] *= static_cast<A>(1 / sum);
  return static_cast<A>(largest + std::log(sum));
}

/// A thread's memory for the forward or the backward pass, and the computation of scores. Rows of scores are
/// key_block apart.
template <class A, bool paired>
class AttentionBlocks {
 public:
  explicit AttentionBlocks(const AttentionLayout& layout, std::int64_t more = 0)
      : at(layout), space_(room(layout, layout.dim) + more), keys_(space_.take(room(layout, layout.dim))) {}

  /// Stores a head's keys from `begin` to `end`, which are bounds of blocks, transposed and scaled.
  void use_keys(const A* key, std::int64_t begin, std::int64_t end) {
    transpose(key, begin, end, at.dim, at.scale, keys_);
  }

  /// Returns the end of the keys that the queries before `stop` may see, or the number of these keys in the
  /// block from `key` on.
  std::int64_t reachable(std::int64_t stop) const { return at.causal ? std::min(at.keys, stop) : at.keys; }
  std::int64_t reachable(std::int64_t stop, std::int64_t key) const {
    return std::min(key_block, reachable(stop) - key);
  }

  /// Computes scale * query . key for `count` queries from `first` on and the keys from `key` on, and
  /// -infinity for keys that a query may not see and for the rest of the block after the last key.
  void score(const A* queries, std::int64_t head, std::int64_t first, std::int64_t count, std::int64_t key,
             A* scores) const {
    const std::int64_t keys = reachable(first + count, key);
    product(count, keys, at.dim, queries, at.row(at.dim), keys_, key, scores);
    if (keys == key_block && !at.mask && !(at.causal && key + keys > first + 1)) return;
    constexpr A nowhere = -std::numeric_limits<A>::infinity();
    for (std::int64_t q = 0; q < count; ++q) {
      A* const row = scores + q * key_block;
      const std::int64_t n = at.causal ? std::clamp<std::int64_t>(first + q + 1 - key, 0, keys) : keys;
      std::fill(row + n, row + key_block, nowhere);
      if (!at.mask) continue;
      const bool* const seen = at.mask_row(head, first + q) + key * at.mask_strides[3];
      for (std::int64_t j = 0; j < n; ++j) row[j] = seen[j * at.mask_strides[3]] ? row[j] : nowhere;
    }
  }

 protected:
  const AttentionLayout& at;

  /// Returns the number of elements of a head's transposed keys or values, of n numbers each: (n, key_block)
  /// for each block.
  static std::int64_t room(const AttentionLayout& layout, std::int64_t n) {
    return (layout.keys + key_block - 1) / key_block * key_block * n;
  }
  A* take(std::int64_t size) { return space_.take(size); }
  static void clear(A* rows, std::int64_t count, std::int64_t n, std::int64_t row) {
    for (std::int64_t r = 0; r < count; ++r) std::fill_n(rows + r * row, n, A(0));
  }
  void transpose(const A* from, std::int64_t begin, std::int64_t end, std::int64_t n, double factor,
                 A* to) const {
    using U = bits_of<A>;
    for (std::int64_t key = begin; key < end; key += key_block) {
      A* const block = to + key * n;
      const std::int64_t count = std::min(key_block, end - key);
      if (count < key_block) std::fill_n(block, n * key_block, A(0));
      transpose_tile(reinterpret_cast<const U*>(from + key * at.row(n)), at.row(n),
                     reinterpret_cast<U*>(block), key_block, count, n, 0, false);
      if (factor != 1)
        for (std::int64_t i = 0; i < n * key_block; ++i) block[i] *= static_cast<A>(factor);
    }
  }
  /// Computes c = a b: a is (count, n), b the block of transposed keys or values from `key` on. Writes whole
  /// vectors of c.
  static void product(std::int64_t count, std::int64_t keys, std::int64_t n, const A* a, std::int64_t a_row,
                      const A* transposed, std::int64_t key, A* c) {
    const std::int64_t columns = (keys + lanes<A> - 1) / lanes<A> * lanes<A>;
    small_product<A, paired>(count, columns, n, a, a_row, 1, transposed + key * n, key_block, c, key_block,
                             false);
  }

 private:
  Workspace<A> space_;
  A* keys_;
};

/// The forward pass, a block of queries at a time.
template <class A, bool paired>
class AttentionForward : public AttentionBlocks<A, paired> {
 public:
  using AttentionBlocks<A, paired>::AttentionBlocks;

  /// Computes the results of the `count` queries from `first` on. The arrays point to the head.
  void run(std::int64_t head, std::int64_t first, std::int64_t count, const A* query, const A* keys,
           const A* value, A* out, A* logs) {
    const std::int64_t n = at.value_dim, row = at.row(n);
    std::fill_n(largest_, count, -std::numeric_limits<A>::infinity());
    std::fill_n(sums_, count, Vec<A>{});
    if (at.keys == 0) this->clear(out + first * row, count, n, row);
    for (std::int64_t key = 0, end = this->reachable(first + count); key < end; key += key_block) {
      this->score(query + first * at.row(at.dim), head, first, count, key, scores_);
      for (std::int64_t q = 0; q < count; ++q) weigh(q, out + (first + q) * row);
      small_product<A, paired>(count, n, this->reachable(first + count, key), scores_, key_block, 1,
                               value + key * row, row, out + first * row, row, key > 0);
    }
    for (std::int64_t q = 0; q < count; ++q) {
      const double sum = sum_of_lanes<A>(sums_[q]);
      A* const result = out + (first + q) * row;
      for (std::int64_t j = 0; j < n && sum != 0; ++j) result[j] *= static_cast<A>(1 / sum);
      logs[first + q] = sum == 0 ? no_visible_key<A> : static_cast<A>(double(largest_[q]) + std::log(sum));
      if ((at.mask || at.causal) && !all_finite(result, n))
        logs[first + q] =
            attend_seen(at, head, first + q, query + (first + q) * at.row(at.dim), keys, value, result);
    }
  }

 private:
  using AttentionBlocks<A, paired>::at;

  /// Turns the scores of a query into weights relative to the largest score so far, and rescales the earlier
  /// sums when a larger score appears.
  void weigh(std::int64_t q, A* result) {
    A* const row = scores_ + q * key_block;
    const A before = largest_[q], now = std::max(before, row_max(row, key_block));
    const A shift = now == -std::numeric_limits<A>::infinity() ? 0 : now;
    if (before != now && before != -std::numeric_limits<A>::infinity()) {
      const A factor = exp_of_small<A>(splat(before - shift))[0];
      for (std::int64_t j = 0; j < at.value_dim; ++j) result[j] *= factor;
      sums_[q] *= factor;
    }
    largest_[q] = now;
    for (std::int64_t j = 0; j < key_block; j += lanes<A>) {
      const Vec<A> weight = exp_term<A>(load(row + j) - splat(shift));
      store(row + j, weight), sums_[q] += weight;
    }
  }

  alignas(64) A scores_[query_block * key_block];
  A largest_[query_block];
  Vec<A> sums_[query_block];
};

}  // namespace detail

/// out = softmax(scale query key^T) value for each head; zeros for a query that sees no key. `logs` gets the
/// logarithm of the sum of each query's exponentials (infinity for a query that sees no key), for the
/// gradient. Paired products round their operands to bfloat16.
template <class A, bool paired = false>
void attention(const AttentionLayout& at, const A* query, const A* key, const A* value, A* out, A* logs) {
  constexpr std::int64_t step = detail::query_block;
  const std::int64_t blocks = (at.queries + step - 1) / step;
  const std::int64_t work = std::min(step, at.queries) * at.keys * (at.dim + at.value_dim) / 16;
  parallel_rows(at.batch * at.heads * blocks, work, [&](std::int64_t begin, std::int64_t end) {
    detail::AttentionForward<A, paired> forward(at);
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t head = task / blocks, first = task % blocks * step;
      const A* const keys = key + at.start(head, at.keys, at.dim);
      if (task == begin || first == 0) forward.use_keys(keys, 0, at.keys);
      forward.run(head, first, std::min(step, at.queries - first), query + at.start(head, at.queries, at.dim),
                  keys, value + at.start(head, at.keys, at.value_dim),
                  out + at.start(head, at.queries, at.value_dim), logs + head * at.queries);
    }
  });
}

/// The inputs and results of the gradient of one head, or of all heads.
template <class A>
struct AttentionGradients {
  const A *query, *key, *value, *out, *logs, *g;
  A *dquery, *dkey, *dvalue;

  AttentionGradients of(const AttentionLayout& at, std::int64_t head) const {
    const std::int64_t q = at.start(head, at.queries, at.dim), k = at.start(head, at.keys, at.dim),
                       v = at.start(head, at.keys, at.value_dim),
                       o = at.start(head, at.queries, at.value_dim);
    return {query + q, key + k,    value + v, out + o,   logs + head * at.queries,
            g + o,     dquery + q, dkey + k,  dvalue + v};
  }
};

namespace detail {

/// Computes the gradients that a query's result gives to the keys and values from `begin` to `end` and to the
/// query, by sums over the keys that the query sees.
template <class A>
void add_seen_slopes(const AttentionLayout& at, std::int64_t head, const AttentionGradients<A>& d,
                     std::int64_t query, std::int64_t begin, std::int64_t end, A* dquery) {
  const A *const g = d.g + query * at.row(at.value_dim), *const q = d.query + query * at.row(at.dim);
  if (std::all_of(g, g + at.value_dim, [](A slope) { return slope == 0; })) return;
  const double mean = sum_of_slopes(at.value_dim, g, d.out + query * at.row(at.value_dim));
  for_seen(at, head, query, begin, end, [&](std::int64_t key) {
    const A *const k = d.key + key * at.row(at.dim), *const v = d.value + key * at.row(at.value_dim);
    A *const dk = d.dkey + key * at.row(at.dim), *const dv = d.dvalue + key * at.row(at.value_dim);
    const double weight = std::exp(at.scale * sum_of_products(at.dim, q, k) - double(d.logs[query])),
                 change = sum_of_slopes(at.value_dim, g, v) - mean;
    for (std::int64_t j = 0; j < at.value_dim; ++j) dv[j] += g[j] == 0 ? A(0) : static_cast<A>(weight) * g[j];
    if (change == 0) return;
    const A slope = static_cast<A>(weight * change * at.scale);
    for (std::int64_t j = 0; j < at.dim; ++j) dk[j] += slope * q[j], dquery[j] += slope * k[j];
  });
}

template <class A, bool paired>
class AttentionBackward : public AttentionBlocks<A, paired> {
 public:
  explicit AttentionBackward(const AttentionLayout& layout)
      : AttentionBlocks<A, paired>(layout, AttentionBlocks<A, paired>::room(layout, layout.value_dim)),
        values_(this->take(AttentionBlocks<A, paired>::room(layout, layout.value_dim))) {}

  /// Computes the gradients of a head's keys and values from `begin` to `end`, which are bounds of blocks,
  /// and the part of these keys in the gradient of the queries, d.dquery, whose rows are `dquery_row` apart.
  void run(std::int64_t head, const AttentionGradients<A>& d, std::int64_t begin, std::int64_t end,
           std::int64_t dquery_row) {
    this->use_keys(d.key, begin, end);
    this->transpose(d.value, begin, end, at.value_dim, 1, values_);
    if (at.causal || at.queries == 0) {  // no block of queries assigns these gradients to all keys
      const std::int64_t row = at.row(at.dim), value_row = at.row(at.value_dim);
      this->clear(d.dkey + begin * row, end - begin, at.dim, row);
      this->clear(d.dvalue + begin * value_row, end - begin, at.value_dim, value_row);
    }
    bool hides = at.mask || at.causal;  // whether queries leave out keys, or have a gradient of 0
    for (std::int64_t first = 0; first < at.queries; first += query_block) {
      const std::int64_t count = std::min(query_block, at.queries - first),
                         seen = std::min(end, this->reachable(first + count));
      A* const dquery = d.dquery + first * dquery_row;
      if (seen <= begin) this->clear(dquery, count, at.dim, dquery_row);
      else
        for (std::int64_t q = first; q < first + count; ++q) {
          const A mean = means_[q - first] = mean_slope(d, q);
          hides = hides || mean == 0 || mean != mean;
        }
      for (std::int64_t key = begin; key < seen; key += key_block) {
        add_block(head, d, first, count, key);
        small_product<A, paired>(count, at.dim, this->reachable(first + count, key), slopes_, key_block, 1,
                                 d.key + key * at.row(at.dim), at.row(at.dim), dquery, dquery_row,
                                 key > begin);
      }
    }
    if (hides) leave_hidden(head, d, begin, end, dquery_row);
  }

 private:
  using AttentionBlocks<A, paired>::at;

  /// Computes the gradients again without the hidden pairs, and queries whose result has no gradient, if infinity or NaN
  /// has reached them.
  void leave_hidden(std::int64_t head, const AttentionGradients<A>& d, std::int64_t begin, std::int64_t end,
                    std::int64_t dquery_row) const {
    const auto finite = [](const A* rows, std::int64_t count, std::int64_t n, std::int64_t row) {
      bool all = true;
      for (std::int64_t r = 0; r < count; ++r) all = all && all_finite(rows + r * row, n);
      return all;
    };
    const std::int64_t row = at.row(at.dim), value_row = at.row(at.value_dim), keys = end - begin;
    A *const dk = d.dkey + begin * row, *const dv = d.dvalue + begin * value_row;
    if (finite(d.dquery, at.queries, at.dim, dquery_row) && finite(dk, keys, at.dim, row) &&
        finite(dv, keys, at.value_dim, value_row))
      return;
    this->clear(d.dquery, at.queries, at.dim, dquery_row);
    this->clear(dk, keys, at.dim, row), this->clear(dv, keys, at.value_dim, value_row);
    for (std::int64_t query = 0; query < at.queries; ++query)
      add_seen_slopes(at, head, d, query, begin, end, d.dquery + query * dquery_row);
  }

  /// Returns the mean of the gradients of a query's weights, weighted by the weights: dot(out, g).
  A mean_slope(const AttentionGradients<A>& d, std::int64_t q) const {
    const A *out = d.out + q * at.row(at.value_dim), *g = d.g + q * at.row(at.value_dim);
    return static_cast<A>(sum_terms<A>(at.value_dim, [=](std::int64_t i, std::int64_t m) {
      return Vec<A>(load_partial(out + i, m) * load_partial(g + i, m));
    }));
  }

  /// Computes the weights of a block and the gradients of its scores, and adds the block's part to the
  /// gradients of keys and values.
  void add_block(std::int64_t head, const AttentionGradients<A>& d, std::int64_t first, std::int64_t count,
                 std::int64_t key) {
    const std::int64_t dim = at.dim, value_dim = at.value_dim, row = at.row(dim),
                       value_row = at.row(value_dim), keys = this->reachable(first + count, key);
    const A *const queries = d.query + first * row, *const g = d.g + first * value_row;
    this->score(queries, head, first, count, key, weights_);
    this->product(count, keys, value_dim, g, value_row, values_, key, slopes_);
    for (std::int64_t q = 0; q < count; ++q) {
      const auto log = splat(d.logs[first + q]), mean = splat(means_[q]),
                 scale = splat(static_cast<A>(at.scale));
      for (A *w = weights_ + q * key_block, *s = slopes_ + q * key_block, *end = w + keys; w < end;
           w += lanes<A>, s += lanes<A>) {
        const Vec<A> weight = exp_of<A>(load(w) - log);
        store(w, weight), store(s, weight * (load(s) - mean) * scale);
      }
    }
    const bool add = first > 0 || at.causal;
    small_product<A, paired>(keys, value_dim, count, weights_, 1, key_block, g, value_row,
                             d.dvalue + key * value_row, value_row, add);
    small_product<A, paired>(keys, dim, count, slopes_, 1, key_block, queries, row, d.dkey + key * row, row,
                             add);
  }

  A* values_;
  alignas(64) A weights_[query_block * key_block];
  alignas(64) A slopes_[query_block * key_block];
  A means_[query_block];
};

}  // namespace detail

/// Computes the gradients of query, key and value. If there are few heads, the keys of each are divided into
/// parts that do not depend on the number of threads; the parts' gradients of the queries are added in order.
template <class A, bool paired = false>
void attention_backward(const AttentionLayout& at, const AttentionGradients<A>& gradients) {
  constexpr std::int64_t enough = 16;
  const std::int64_t heads = at.batch * at.heads,
                     blocks = (at.keys + detail::key_block - 1) / detail::key_block;
  const std::int64_t parts =
      std::max<std::int64_t>(1, std::min(blocks, enough / std::max<std::int64_t>(heads, 1)));
  const std::int64_t size = at.queries * at.dim;
  Workspace<A> space(heads * (parts - 1) * size);
  A* const others = space.take(heads * (parts - 1) * size);
  const auto other = [&](std::int64_t head, std::int64_t part) {
    return others + (head * (parts - 1) + part - 1) * size;
  };
  const std::int64_t work = at.queries * at.keys * (at.dim + at.value_dim) / 8 / parts;
  parallel_rows(heads * parts, work, [&](std::int64_t begin, std::int64_t end) {
    detail::AttentionBackward<A, paired> backward(at);
    for (std::int64_t task = begin; task < end; ++task) {
      // First and last parts alternate, because with a causal mask fewer queries see the last keys.
      const std::int64_t head = task / parts, i = task % parts, part = i % 2 == 0 ? i / 2 : parts - 1 - i / 2;
      AttentionGradients<A> d = gradients.of(at, head);
      if (part > 0) d.dquery = other(head, part);
      backward.run(head, d, blocks * part / parts * detail::key_block,
                   std::min(at.keys, blocks * (part + 1) / parts * detail::key_block),
                   part > 0 ? at.dim : at.row(at.dim));
    }
  });
  if (parts == 1) return;
  parallel_rows(heads * at.queries, parts * at.dim, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) {
      const std::int64_t head = begin / at.queries, query = begin % at.queries;
      A* const sum = gradients.of(at, head).dquery + query * at.row(at.dim);
      for (std::int64_t part = 1; part < parts; ++part)
        for (std::int64_t j = 0; j < at.dim; ++j) sum[j] += other(head, part)[query * at.dim + j];
    }
  });
}

}  // namespace ktape::kernels
