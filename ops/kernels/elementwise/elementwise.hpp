#pragma once
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/ops/kernels/elementwise/broadcast.hpp>
#include <ktape/ops/kernels/simd/load_numbers.hpp>

#include <utility>

/// Element-wise kernels: one pass that applies a generic lambda to vectors (float, double; float16 and bfloat16
/// as float) or elements (other types).
namespace ktape::kernels {

/// Elements below which a second thread costs more than it brings.
inline constexpr std::int64_t map_grain = 1 << 15;

/// The type of half precision numbers in memory, for which a loop computes floats.
enum class Half : std::uint8_t { None, Float16, BFloat16 };

/// A lambda whose loops convert half precision numbers in registers: for functions that take less time than a pass
/// over the memory of a block. The loops of other lambdas see blocks of floats, and half precision needs no code.
template <class F>
struct ConvertsHalves : F {};
template <class F>
constexpr ConvertsHalves<F> converting_halves(F f) {
  return {f};
}

/// A compiled loop over consecutive elements, out[i] = f(x[i]...), and what its callers must know of the
/// element types. For each lambda and type only this loop is compiled: threads, broadcasting and half
/// precision are the work of elementwise.cpp, which calls the loop block by block.
struct ElementLoop {
  /// The elements by which an input moves.
  struct Step {
    std::int64_t vector;  ///< after each vector: the lanes, or 0 to repeat one vector
    std::int64_t row;     ///< after each row, beyond the vectors of the row
  };
  /// Computes rows of n elements each; the results of all rows are consecutive. The steps have an element for each
  /// input, and are null for one row of consecutive elements. A loop over vectors reads and writes whole vectors,
  /// also after the last element.
  using Run = void (*)(const void* f, std::int64_t rows, std::int64_t n, void* out, const void* const* x,
                       const Step* steps);
  Run run;
  const void* f;          ///< the lambda
  std::uint8_t inputs;    ///< the number of inputs, at most 4
  std::uint8_t in_size;   ///< bytes of an input's element in memory
  std::uint8_t out_size;  ///< bytes of a result's element in memory
  std::uint8_t lanes;     ///< elements of a vector; 1 for a loop over elements
  Half halves;            ///< the type of the inputs that must be converted before the loop
  bool results_halves;    ///< results have the type of the inputs
};

/// Returns a loop whose inputs and results have a dtype; the results are bools if `conditions`. The bytes of a
/// vector are those of the source that compiles `run`.
inline ElementLoop loop_of_dtype(ElementLoop::Run run, const void* f, int inputs, DType dtype,
                                 bool conditions, bool converts_halves = false,
                                 int bytes_of_vector = vector_bytes) {
  const auto size = static_cast<std::uint8_t>(dtype.size());
  const std::size_t computed = dtype == DType::Float64 ? sizeof(double) : sizeof(float);
  const std::size_t lanes = dtype.is_floating() ? static_cast<std::size_t>(bytes_of_vector) / computed : 1;
  const Half halves = converts_halves            ? Half::None
                      : dtype == DType::Float16  ? Half::Float16
                      : dtype == DType::BFloat16 ? Half::BFloat16
                                                 : Half::None;
  return {run,
          f,
          static_cast<std::uint8_t>(inputs),
          size,
          conditions ? std::uint8_t{1} : size,
          static_cast<std::uint8_t>(lanes),
          halves,
          halves != Half::None && !conditions};
}

/// Computes n consecutive elements in the calling thread; vectors beyond the last element end in the padding of
/// the storages. The inputs are not in half precision.
inline void run_consecutive(const ElementLoop& loop, std::int64_t n, void* out, const void* const* x) {
  loop.run(loop.f, 1, n, out, x, nullptr);
}

/// out[i] = f(x[i]...) over whole tensors, split over the threads; vectors beyond the last element end in the
/// padding of the storages.
void map_elements(const ElementLoop& loop, std::int64_t n, void* out, const void* const* x);

/// out = f(x, y) where the shapes broadcast as `plan` says. Reads and writes nothing after the last element.
void map_broadcast(const ElementLoop& loop, const BroadcastPlan& plan, void* out, const void* x,
                   const void* y);

/// out[i] = f(x[i]...) for n inputs in half precision, computed in float by the calling thread.
void map_halves(const ElementLoop& loop, std::int64_t n, void* out, const void* const* x);

namespace detail {
template <class F>
inline constexpr bool converts_halves = false;
template <class F>
inline constexpr bool converts_halves<ConvertsHalves<F>> = true;

/// The type of the elements that a loop of F over T reads: float for half precision that is converted before.
template <class T, class F>
using loop_type = std::conditional_t<is_half<T> && !converts_halves<F>, float, T>;

/// Stores a vector of results.
template <class T>
requires(!std::is_same_v<T, bool>) void store_results(T* to, const Batch<computed_type<T>>& numbers) {
  store_numbers(to, numbers);
}
#if defined(__SSE2__)
/// Returns the sign bits of the lanes.
inline int signs(__m128 x) { return _mm_movemask_ps(x); }
inline int signs(__m128d x) { return _mm_movemask_pd(x); }
#if defined(__AVX__)
inline int signs(__m256 x) { return _mm256_movemask_ps(x); }
inline int signs(__m256d x) { return _mm256_movemask_pd(x); }
#endif
#endif
/// Stores a vector of conditions as bools.
template <class A>
void store_results(bool* to, const xsimd::batch_bool<A>& conditions) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  const __m128i flags = _mm_maskz_set1_epi8(conditions.data, 1);
#elif defined(__SSE2__)
  constexpr std::uint64_t ones = 0x0101010101010101, bit_of_byte = 0x8040201008040201;
  const std::uint64_t bits = static_cast<std::uint64_t>(signs(conditions.data)) * ones & bit_of_byte;
  const std::uint64_t flags = (bits + 0x7f * ones) >> 7 & ones;
#else
  bool flags[lanes<A>];
  const Batch<A> numbers = select(conditions, Batch<A>(A{1}), Batch<A>(A{0}));
  for (int i = 0; i < lanes<A>; ++i) flags[i] = numbers.get(i) != 0;
#endif
  std::memcpy(static_cast<void*>(to), &flags, lanes<A>);
}

/// A vector of results of type R, or of conditions.
template <class T, class R>
using result_vector =
    std::conditional_t<std::is_same_v<R, T>, Batch<computed_type<T>>, xsimd::batch_bool<computed_type<T>>>;

/// The body of an ElementLoop over vectors that advances its inputs by steps. A function apart from the loop over
/// consecutive elements, whose prologue would save registers for both.
template <class T, class R, class F, std::size_t... I>
[[gnu::noinline]] void run_steps(const void* function, std::int64_t rows, std::int64_t n, void* to,
                                 const void* const* from, const ElementLoop::Step* steps) {
  const F f = *static_cast<const F*>(function);
  R* out = static_cast<R*>(to);
  const T* x[] = {static_cast<const T*>(from[I])...};
  const std::int64_t step[] = {steps[I].vector...};
  for (; rows > 0; --rows, out += n, ((x[I] += steps[I].row), ...))
    for (std::int64_t i = 0; i < n; i += lanes<computed_type<T>>) {
      store_results(out + i, result_vector<T, R>(f(load_numbers(x[I])...)));
      ((x[I] += step[I]), ...);
    }
}

/// The body of an ElementLoop. The lambda and the pointers are copied first, because the compiler must assume
/// that written bytes change what lies in memory.
template <class T, class R, class F, std::size_t... I>
[[gnu::noinline]] void run_loop(const void* function, std::int64_t rows, std::int64_t n, void* to,
                                const void* const* from, const ElementLoop::Step* steps) {
  constexpr bool vectors = std::is_floating_point_v<T> || is_half<T>;
  if constexpr (vectors)
    if (steps) return run_steps<T, R, F, I...>(function, rows, n, to, from, steps);
  const F f = *static_cast<const F*>(function);
  R* out = static_cast<R*>(to);
  const T* x[] = {static_cast<const T*>(from[I])...};
  if constexpr (vectors) {
    for (std::int64_t i = 0; i < n; i += lanes<computed_type<T>>)
      store_results(out + i, result_vector<T, R>(f(load_numbers(x[I] + i)...)));
  } else {
    for (;; out += n, ((x[I] += n + steps[I].row), ...)) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(f(x[I][i]...));
      if (--rows == 0) return;
    }
  }
}

/// The loop of lambdas of the type F over N inputs of T with results of R.
template <class T, class R, class F, int N>
constexpr auto loop_of = []<std::size_t... I>(std::index_sequence<I...>) {
  return &run_loop<loop_type<T, F>, loop_type<R, F>, F, I...>;
}
(std::make_index_sequence<N>());

/// Returns the loop of a lambda over N inputs of T with results of R.
template <class T, class R, int N, class F>
ElementLoop element_loop(const F& f) {
  return loop_of_dtype(loop_of<T, R, F, N>, &f, N, dtype_of<T>(), !std::is_same_v<T, R>, converts_halves<F>);
}
}  // namespace detail

/// The dtypes that a function of elements takes.
enum class Elements { Floating, Integer, Number, Any };

/// Returns the function of a loop of lambdas of the type F over N inputs of a dtype, with results of the dtype, or
/// with conditions as results.
template <Elements elements, int N, bool conditions, class F>
ElementLoop::Run loop_function(DType dtype) {
  const auto pick = []<class T>() -> ElementLoop::Run {
    return detail::loop_of<T, std::conditional_t<conditions, bool, T>, F, N>;
  };
  if constexpr (elements == Elements::Floating) return dispatch_floating(dtype, pick);
  else if constexpr (elements == Elements::Integer) return dispatch_integer(dtype, pick);
  else if constexpr (elements == Elements::Number) return dispatch_number(dtype, pick);
  else return dispatch(dtype, pick);
}

/// Returns the loop of a lambda over N inputs of a dtype.
template <Elements elements, int N, bool conditions = false, class F>
ElementLoop element_loop(DType dtype, const F& f) {
  return loop_of_dtype(loop_function<elements, N, conditions, F>(dtype), &f, N, dtype, conditions,
                       detail::converts_halves<F>);
}

/// out[i] = f(x[i]...) over whole tensors of T, with results of R: T or bool.
template <class T, class R, class F>
void map(std::int64_t n, R* out, const F& f, const auto*... x) {
  const void* const inputs[] = {x...};
  map_elements(detail::element_loop<T, R, sizeof...(x)>(f), n, out, inputs);
}

/// out = f(x, y) where the shapes broadcast as `plan` says.
template <class R, class T, class F>
void map_broadcast(const BroadcastPlan& plan, R* out, const F& f, const T* x, const T* y) {
  map_broadcast(detail::element_loop<T, R, 2>(f), plan, out, x, y);
}

}  // namespace ktape::kernels
