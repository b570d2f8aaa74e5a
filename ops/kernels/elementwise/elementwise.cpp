#include <ktape/autograd/base/half.hpp>
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/kernels/elementwise/broadcast_reader.hpp>
#include <ktape/ops/kernels/elementwise/elementwise.hpp>

#include <algorithm>

namespace ktape::kernels {
namespace {

constexpr int most_inputs = 4, vector_size = 64;
constexpr std::int64_t block = 256;  ///< elements that a buffer holds

const char* at(const void* p, std::int64_t bytes) { return static_cast<const char*>(p) + bytes; }
char* at(void* p, std::int64_t bytes) { return static_cast<char*>(p) + bytes; }

}  // namespace

void map_halves(const ElementLoop& loop, std::int64_t n, void* out, const void* const* x) {
  alignas(vector_size) float inputs[most_inputs][block], results[block];
  const void* const from[most_inputs] = {inputs[0], inputs[1], inputs[2], inputs[3]};
  const DType half = loop.halves == Half::Float16 ? DType::Float16 : DType::BFloat16;
  for (std::int64_t i = 0, m; i < n; i += m) {
    m = std::min(block, n - i);
    for (int k = 0; k < loop.inputs; ++k) widen(m, half, at(x[k], i * 2), inputs[k]);
    run_consecutive(loop, m, results, from);
    if (loop.results_halves) narrow(m, results, half, at(out, i * 2));
    else std::memcpy(at(out, i), results, static_cast<std::size_t>(m));
  }
}

namespace {

/// Writes an element, whose bytes are those of a U, n times.
template <class U>
void fill(char* to, const void* element, std::int64_t n) {
  U value;
  std::memcpy(&value, element, sizeof value);
  for (std::int64_t i = 0; i < n; ++i, to += sizeof value) std::memcpy(to, &value, sizeof value);
}
/// Calls f(U{}) with the unsigned type of an element's size.
template <class F>
void with_bits(int size, const F& f) {
  switch (size) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}
/// Writes an element as often as a vector holds it.
void fill_vector(char* to, const void* element, int size) {
  with_bits(size, [&]<class U>(U) { fill<U>(to, element, vector_size / sizeof(U)); });
}

/// One operand of a row: consecutive elements, or one element that repeats.
struct Operand {
  const void* at;
  bool repeats;
};

/// Computes fewer elements than a vector has, in a copy of whole vectors.
void run_rest(const ElementLoop& loop, std::int64_t n, void* out, const Operand (&x)[2]) {
  alignas(vector_size) char inputs[2][vector_size] = {}, results[vector_size];
  const void* const from[2] = {inputs[0], inputs[1]};
  for (int k = 0; k < 2; ++k)
    if (x[k].repeats) fill_vector(inputs[k], x[k].at, loop.in_size);
    else std::memcpy(inputs[k], x[k].at, static_cast<std::size_t>(n * loop.in_size));
  const ElementLoop::Step steps[2] = {};
  loop.run(loop.f, 1, loop.lanes, results, from, steps);
  std::memcpy(out, results, static_cast<std::size_t>(n * loop.out_size));
}

/// Computes a row of whole vectors and of a rest.
void run_vectors(const ElementLoop& loop, std::int64_t n, void* out, const Operand (&x)[2]) {
  const std::int64_t w = loop.lanes, whole = n / w * w;
  if (whole > 0) {
    alignas(vector_size) char repeated[2][vector_size];
    const void* from[2];
    ElementLoop::Step steps[2] = {};
    for (int k = 0; k < 2; ++k) {
      steps[k].vector = x[k].repeats ? 0 : w;
      from[k] = x[k].repeats ? repeated[k] : x[k].at;
      if (x[k].repeats) fill_vector(repeated[k], x[k].at, loop.in_size);
    }
    loop.run(loop.f, 1, whole, out, from, steps);
  }
  if (whole == n) return;
  const auto after = [&](int k) { return x[k].repeats ? x[k].at : at(x[k].at, whole * loop.in_size); };
  run_rest(loop, n - whole, at(out, whole * loop.out_size),
           {{after(0), x[0].repeats}, {after(1), x[1].repeats}});
}

/// Computes a row a block at a time, with an operand that repeats written out.
void run_blocks(const ElementLoop& loop, std::int64_t n, void* out, const Operand (&x)[2]) {
  alignas(vector_size) char repeated[2][block * 8];
  for (int k = 0; k < 2; ++k)
    if (x[k].repeats)
      with_bits(loop.in_size, [&]<class U>(U) { fill<U>(repeated[k], x[k].at, std::min(block, n)); });
  for (std::int64_t i = 0, m; i < n; i += m) {
    m = x[0].repeats || x[1].repeats ? std::min(block, n - i) : n;
    const void* from[2];
    for (int k = 0; k < 2; ++k) from[k] = x[k].repeats ? repeated[k] : at(x[k].at, i * loop.in_size);
    if (loop.halves != Half::None) map_halves(loop, m, at(out, i * loop.out_size), from);
    else run_consecutive(loop, m, at(out, i * loop.out_size), from);
  }
}

/// Computes a row. Reads and writes nothing after the row.
void run_row(const ElementLoop& loop, std::int64_t n, void* out, const Operand (&x)[2]) {
  if (loop.lanes > 1 && loop.halves == Half::None) run_vectors(loop, n, out, x);
  else run_blocks(loop, n, out, x);
}

/// Computes rows of n elements, which are whole vectors, a block of rows at a time. The operands advance by
/// `steps` elements a row.
void run_even_rows(const ElementLoop& loop, std::int64_t rows, std::int64_t n, void* out,
                   const Operand (&x)[2], const std::int64_t (&steps)[2]) {
  constexpr std::int64_t most = 32;
  alignas(vector_size) char repeated[2][most][vector_size];
  for (std::int64_t row = 0, m; row < rows; row += m) {
    m = std::min(most, rows - row);
    const void* from[2];
    ElementLoop::Step step[2];
    for (int k = 0; k < 2; ++k) {
      const auto element = [&](std::int64_t j) { return at(x[k].at, (row + j) * steps[k] * loop.in_size); };
      from[k] = x[k].repeats ? &repeated[k][0][0] : element(0);
      step[k] = x[k].repeats ? ElementLoop::Step{0, vector_size / loop.in_size}
                             : ElementLoop::Step{loop.lanes, steps[k] - n};
      if (!x[k].repeats) continue;
      with_bits(loop.in_size, [&]<class U>(U) {
        for (std::int64_t j = 0; j < m; ++j)
          fill<U>(repeated[k][j], element(j), vector_size / static_cast<std::int64_t>(sizeof(U)));
      });
    }
    loop.run(loop.f, m, n, at(out, row * n * loop.out_size), from, step);
  }
}

/// A result with short rows: brings the operands into its order, a block at a time. T has the size of the
/// operands' elements.
template <class T>
void run_short_rows(const ElementLoop& loop, const BroadcastPlan& plan, void* out, const void* x,
                    const void* y) {
  parallel_for(plan.size, map_grain, [&](std::int64_t begin, std::int64_t end) {
    BroadcastReader<T> xs(static_cast<const T*>(x), plan.rank, plan.shape, plan.xstep);
    BroadcastReader<T> ys(static_cast<const T*>(y), plan.rank, plan.shape, plan.ystep);
    for_blocks(begin, end, [&](std::int64_t i, std::int64_t n) {
      run_row(loop, n, at(out, i * loop.out_size), {{xs(i, n), false}, {ys(i, n), false}});
    });
  });
}

}  // namespace

void map_elements(const ElementLoop& loop, std::int64_t n, void* out, const void* const* x) {
  const auto range = [&](std::int64_t begin, std::int64_t end) {
    const void* from[most_inputs];
    for (int k = 0; k < loop.inputs; ++k) from[k] = at(x[k], begin * loop.in_size);
    if (loop.halves != Half::None) map_halves(loop, end - begin, at(out, begin * loop.out_size), from);
    else run_consecutive(loop, end - begin, at(out, begin * loop.out_size), from);
  };
  if (n > map_grain) return parallel_for(n, map_grain, range);
  range(0, n);
}

void map_broadcast(const ElementLoop& loop, const BroadcastPlan& plan, void* out, const void* x,
                   const void* y) {
  if (plan.size == 0) return;
  const int last = plan.rank - 1;
  const std::int64_t inner = plan.shape[last], rows = plan.size / inner;
  const bool xstep = plan.xstep[last] != 0, ystep = plan.ystep[last] != 0;
  if (inner < 32 && rows > 1)
    return with_bits(loop.in_size, [&]<class U>(U) { run_short_rows<U>(loop, plan, out, x, y); });
  if (rows == 1)
    return parallel_for(inner, map_grain, [&](std::int64_t begin, std::int64_t end) {
      run_row(loop, end - begin, at(out, begin * loop.out_size),
              {{at(x, xstep ? begin * loop.in_size : 0), !xstep},
               {at(y, ystep ? begin * loop.in_size : 0), !ystep}});
    });
  const bool whole_vectors = loop.lanes > 1 && loop.halves == Half::None && inner % loop.lanes == 0;
  parallel_for(rows, std::max<std::int64_t>(1, map_grain / inner), [&](std::int64_t begin, std::int64_t end) {
    BroadcastCursor cursor(plan, begin);
    for (std::int64_t row = begin, n; row < end; row += n, cursor.next(n)) {
      n = whole_vectors ? cursor.even_rows(end - row) : 1;
      const Operand operands[2] = {{at(x, cursor.x * loop.in_size), !xstep},
                                   {at(y, cursor.y * loop.in_size), !ystep}};
      void* const to = at(out, row * inner * loop.out_size);
      if (whole_vectors)
        run_even_rows(loop, n, inner, to, operands, {plan.xstep[last - 1], plan.ystep[last - 1]});
      else run_row(loop, inner, to, operands);
    }
  });
}

}  // namespace ktape::kernels
