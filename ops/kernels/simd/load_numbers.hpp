#pragma once
#include <ktape/autograd/base/half.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

/// Vectors of the numbers in which floating elements are computed: floats for half precision.
namespace ktape::kernels {

/// The type in which floating elements of T are computed.
template <class T>
using computed_type = std::conditional_t<is_half<T>, float, T>;

/// Loads a vector of numbers.
template <class T>
Batch<computed_type<T>> load_numbers(const T* from) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    Vec<std::uint16_t, vector_bytes / 2> upper;
    std::memcpy(&upper, from, sizeof upper);
    const auto bits = __builtin_convertvector(upper, Vec<std::uint32_t>) << 16;
    return reinterpret_cast<Vec<float>>(bits);
  } else if constexpr (std::is_same_v<T, float16>) {
    alignas(vector_bytes) float numbers[lanes<float>];
    widen(lanes<float>, from, numbers);
    return load(numbers);
  } else {
    return load(from);
  }
}

/// Stores a vector of numbers; half precision is rounded to nearest even, and NaN stays NaN.
template <class T>
void store_numbers(T* to, const Batch<computed_type<T>>& numbers) {
  const auto x = static_cast<Vec<computed_type<T>>>(numbers);
  if constexpr (std::is_same_v<T, bfloat16>) {
    const auto bits = reinterpret_cast<Vec<std::uint32_t>>(x);
    const Vec<std::uint32_t> rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, nan = bits >> 16 | 0x40;
    const auto upper = __builtin_convertvector(x == x ? rounded : nan, Vec<std::uint16_t, vector_bytes / 2>);
    std::memcpy(static_cast<void*>(to), &upper, sizeof upper);
  } else if constexpr (std::is_same_v<T, float16>) {
    alignas(vector_bytes) float buffer[lanes<float>];
    store(buffer, x);
    narrow(lanes<float>, buffer, to);
  } else {
    store(to, x);
  }
}

/// Loads the first n numbers, 0 <= n <= lanes, without touching memory after them; the other lanes are those of `fill`.
template <class T, class A = computed_type<T>>
Vec<A> load_numbers(const T* from, std::int64_t n, Vec<A> fill = Vec<A>{}) {
  if constexpr (!is_half<T>) {
    return load_partial(from, n, fill);
  } else {
    if (n == lanes<A>) return static_cast<Vec<A>>(load_numbers(from));
    for (std::int64_t i = 0; i < n; ++i) fill[i] = from[i];
    return fill;
  }
}

/// Stores the first n <= lanes numbers without touching memory after them.
template <class T, class A = computed_type<T>>
void store_numbers(T* to, Vec<A> numbers, std::int64_t n) {
  if constexpr (!is_half<T>) {
    store_partial(to, numbers, n);
  } else {
    if (n == lanes<A>) return store_numbers(to, Batch<A>(numbers));
    for (std::int64_t i = 0; i < n; ++i) to[i] = T(static_cast<float>(numbers[i]));
  }
}

}  // namespace ktape::kernels
