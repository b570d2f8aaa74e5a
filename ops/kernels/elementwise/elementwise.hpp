#pragma once
#include <ktape/autograd/base/parallel.hpp>
#include <ktape/ops/kernels/elementwise/broadcast.hpp>
#include <ktape/ops/kernels/elementwise/broadcast_reader.hpp>
#include <ktape/ops/kernels/simd/batch.hpp>

/// Element-wise kernels: one pass that applies a generic lambda to vectors (float16, float, double) or
/// elements (other types).
namespace ktape::kernels {

/// The number of elements below which a second thread costs more time than it saves.
inline constexpr std::int64_t map_grain = 1 << 15;

/// The result type of a lambda on vectors of T for results of type R: numbers, or conditions.
template <class R, class T>
using result_t = std::conditional_t<std::is_same_v<R, T>, batch_t<T>, xsimd::batch_bool<compute_t<T>>>;

/// out[i] = f(x[i]...) for n elements. Reads and writes whole vectors, also beyond the last element. Pointers
/// are passed by value, because the compiler must assume that written bytes change pointers in memory.
template <class T, class R, class F>
void map_range(std::int64_t n, R* out, F f, const auto*... x) {
  if constexpr (vectorized<T>) {
    for (std::int64_t i = 0; i < n; i += lanes<T>)
      store_batch(out + i, result_t<R, T>(f(load_batch(x + i)...)));
  } else {
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(f(x[i]...));
  }
}

/// out[i] = f(x[i]...) over whole tensors of T, split over the threads; vectors beyond the last element end
/// in the padding of the storages.
template <class T, class R, class F>
void map(std::int64_t n, R* out, F f, const auto*... x) {
  if (n <= map_grain) return map_range<T>(n, out, f, x...);
  parallel_for(n, map_grain, [=](std::int64_t begin, std::int64_t end) {
    map_range<T>(end - begin, out + begin, f, x + begin...);
  });
}

/// Computes a row: out[i] = f(x[i * xstep], y[i * ystep]) with steps of 0 or 1. Reads and writes nothing
/// after the row.
template <class R, class T, class F>
void map_row(std::int64_t n, R* out, F f, const T* x, bool xstep, const T* y, bool ystep) {
  if constexpr (vectorized<T>) {
    using B = result_t<R, T>;
    const batch_t<T> x0(element(x)), y0(element(y));
    std::int64_t i = 0;
    if (xstep && ystep) {
      for (; i + lanes<T> <= n; i += lanes<T>)
        store_batch(out + i, B(f(load_batch(x + i), load_batch(y + i))));
    } else if (xstep) {
      for (; i + lanes<T> <= n; i += lanes<T>) store_batch(out + i, B(f(load_batch(x + i), y0)));
    } else if (ystep) {
      for (; i + lanes<T> <= n; i += lanes<T>) store_batch(out + i, B(f(x0, load_batch(y + i))));
    }
    const std::int64_t rest = n - i;
    if (rest == 0) return;
    if (!xstep && !ystep) {
      for (; i < n; i += lanes<T>)
        store_batch(out + i, B(f(x0, y0)), std::min<std::int64_t>(lanes<T>, n - i));
    } else {
      store_batch(out + i, B(f(xstep ? load_batch(x + i, rest) : x0, ystep ? load_batch(y + i, rest) : y0)),
                  rest);
    }
  } else {
    using C = compute_t<T>;
    const C x0 = *x, y0 = *y;
    if (xstep && ystep)
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(f(C(x[i]), C(y[i])));
    else if (xstep)
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(f(C(x[i]), y0));
    else
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(f(x0, C(y[ystep ? i : 0])));
  }
}

/// Computes a row, split over the threads.
template <class R, class T, class F>
void map_long_row(std::int64_t n, R* out, F f, const T* x, bool xstep, const T* y, bool ystep) {
  parallel_for(n, map_grain, [=](std::int64_t begin, std::int64_t end) {
    map_row(end - begin, out + begin, f, x + (xstep ? begin : 0), xstep, y + (ystep ? begin : 0), ystep);
  });
}

/// Computes a result with short rows: copies the operands, a block at a time, in the order of the result.
template <class R, class T, class F>
void map_short_rows(const BroadcastPlan& plan, R* out, F f, const T* x, const T* y) {
  parallel_for(plan.size, map_grain, [&](std::int64_t begin, std::int64_t end) {
    BroadcastReader<T> xs(x, plan.rank, plan.shape, plan.xstep), ys(y, plan.rank, plan.shape, plan.ystep);
    for_blocks(begin, end, [&](std::int64_t i, std::int64_t n) {
      map_row(n, out + i, f, xs(i, n), true, ys(i, n), true);
    });
  });
}

/// out = f(x, y) where the shapes broadcast as `plan` says.
template <class R, class T, class F>
void map_broadcast(const BroadcastPlan& plan, R* out, F f, const T* x, const T* y) {
  if (plan.size == 0) return;
  const int last = plan.rank - 1;
  const std::int64_t inner = plan.shape[last], rows = plan.size / inner;
  const bool xstep = plan.xstep[last] != 0, ystep = plan.ystep[last] != 0;
  if (inner < 32 && rows > 1) return map_short_rows(plan, out, f, x, y);
  auto range = [&](std::int64_t begin, std::int64_t end) {
    BroadcastCursor at(plan, begin);
    for (std::int64_t row = begin; row < end; ++row, at.next())
      map_row(inner, out + row * inner, f, x + at.x, xstep, y + at.y, ystep);
  };
  if (rows == 1) return map_long_row(inner, out, f, x, xstep, y, ystep);
  parallel_for(rows, std::max<std::int64_t>(1, map_grain / inner), range);
}

}  // namespace ktape::kernels
