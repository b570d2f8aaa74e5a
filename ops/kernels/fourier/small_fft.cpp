#include <ktape/ops/kernels/fourier/small_fft.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <xsimd/xsimd.hpp>

namespace ktape::kernels {
namespace {

template <class T>
using Batch = xsimd::batch<T>;
template <class T>
constexpr std::int64_t lane_count = static_cast<std::int64_t>(Batch<T>::size);

/// Complex numbers in a vector.
template <class T>
struct Number {
  Batch<T> re, im;

  static Number load(const T* re, const T* im) {
    return {Batch<T>::load_unaligned(re), Batch<T>::load_unaligned(im)};
  }
  void store(T* to_re, T* to_im) const { re.store_unaligned(to_re), im.store_unaligned(to_im); }
  Number operator+(const Number& o) const { return {re + o.re, im + o.im}; }
  Number operator-(const Number& o) const { return {re - o.re, im - o.im}; }
  Number operator*(const Number& o) const {
    return {xsimd::fms(re, o.re, im * o.im), xsimd::fma(re, o.im, im * o.re)};
  }
  Number operator*(T factor) const { return {re * factor, im * factor}; }
  /// Returns the sum with -i times the other number.
  Number plus_turned(const Number& o) const { return {re + o.im, im - o.re}; }
  /// Returns the sum with i times the other number.
  Number minus_turned(const Number& o) const { return {re - o.im, im + o.re}; }
};

template <class T>
Number<T> constant(T re, T im) {
  return {Batch<T>(re), Batch<T>(im)};
}

/// Transforms `radix` numbers by a formula.
template <int radix, class T>
[[gnu::always_inline]] inline void butterfly(Number<T>* x) {
  if constexpr (radix == 2) {
    const Number<T> a = x[0];
    x[0] = a + x[1], x[1] = a - x[1];
  } else if constexpr (radix == 3) {
    const T sine = static_cast<T>(std::numbers::sqrt3 / 2);
    const Number<T> sum = x[1] + x[2], side = (x[1] - x[2]) * sine, middle = x[0] - sum * T(0.5);
    x[0] = x[0] + sum, x[1] = middle.plus_turned(side), x[2] = middle.minus_turned(side);
  } else if constexpr (radix == 4) {
    const Number<T> ac = x[0] + x[2], a_c = x[0] - x[2], bd = x[1] + x[3], b_d = x[1] - x[3];
    x[0] = ac + bd, x[1] = a_c.plus_turned(b_d), x[2] = ac - bd, x[3] = a_c.minus_turned(b_d);
  } else if constexpr (radix == 8) {
    const T half = static_cast<T>(std::numbers::sqrt2 / 2);
    Number<T> even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    butterfly<4>(even);
    butterfly<4>(odd);
    // The factors of the odd half are the powers of (1 - i) / sqrt(2).
    const Number<T> diagonal = odd[1].plus_turned(odd[1]) * half, other = odd[3].minus_turned(odd[3]) * half;
    x[0] = even[0] + odd[0], x[4] = even[0] - odd[0];
    x[1] = even[1] + diagonal, x[5] = even[1] - diagonal;
    x[2] = even[2].plus_turned(odd[2]), x[6] = even[2].minus_turned(odd[2]);
    x[3] = even[3] - other, x[7] = even[3] + other;
  } else {
    static_assert(radix == 5);
    const T c1 = T(0.30901699437494742), c2 = T(-0.80901699437494742), s1 = T(0.95105651629515357),
            s2 = T(0.58778525229247313);
    const Number<T> p = x[1] + x[4], m = x[1] - x[4], q = x[2] + x[3], n = x[2] - x[3];
    const Number<T> a = x[0] + p * c1 + q * c2, b = x[0] + p * c2 + q * c1;
    const Number<T> c = m * s1 + n * s2, d = m * s2 - n * s1;
    x[0] = x[0] + p + q, x[1] = a.plus_turned(c), x[4] = a.minus_turned(c), x[2] = b.plus_turned(d),
    x[3] = b.minus_turned(d);
  }
}

/// Transforms `radix` numbers by the roots of 1 of that order.
template <class T>
void any_butterfly(Number<T>* x, std::int64_t radix, const T* re, const T* im) {
  Number<T> out[SmallFourierTransform<T>::largest_prime];
  for (std::int64_t k = 0; k < radix; ++k) {
    out[k] = x[0];
    for (std::int64_t j = 1; j < radix; ++j) {
      const auto at = static_cast<std::size_t>(j * k % radix);
      out[k] = out[k] + x[j] * constant(re[at], im[at]);
    }
  }
  std::copy(out, out + radix, x);
}

/// One stage of the transform: radix, the count of groups, the stride, and the factors and roots of the stage.
template <class T>
struct StageOf {
  std::int64_t radix, groups, stride;
  const T *re, *im, *root_re, *root_im;
};

/// Calls f with 0, 1, ..., count - 1 as constants, so that arrays that f indexes stay in registers.
template <int count, class F>
[[gnu::always_inline]] inline void unrolled(F f) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (f(std::integral_constant<int, i>()), ...); }
  (std::make_integer_sequence<int, count>());
}

/// Returns the address p + n * stride and hides its origin from the compiler. A compiler that knows the origin computes
/// the addresses of all numbers of a butterfly before the loop, more than fit the registers, and reads them from memory.
template <class P>
[[gnu::always_inline]] inline P opaque(P p, std::int64_t n) {
  auto *re = p.re + n * p.stride, *im = p.im + n * p.stride;
  asm("" : "+r"(re), "+r"(im));
  return {re, im, p.stride};
}

/// Multiplies the results of a butterfly of the last stage: result t of the butterfly is number k + s * t.
template <int radix, class T>
[[gnu::always_inline]] inline void twiddle(Number<T>* numbers, const Twiddles<T>& twiddles, std::int64_t k,
                                           std::int64_t s) {
  if (!twiddles.re) return;
  const auto w = opaque(Strided<const T>{twiddles.re, twiddles.im, twiddles.stride}, k);
  const std::int64_t step = s * twiddles.stride;
  if (twiddles.each_column)
    unrolled<radix>(
        [&](auto t) { numbers[t] = numbers[t] * Number<T>::load(w.re + t * step, w.im + t * step); });
  else unrolled<radix>([&](auto t) { numbers[t] = numbers[t] * constant(w.re[t * step], w.im[t * step]); });
}

/// Runs a stage of a radix that has a formula. The first stage reads x and the last stage writes `out`, with their strides;
/// the vectors between two stages are consecutive.
template <int radix, bool first, bool last, class T>
void run_stage(const StageOf<T>& stage, Strided<const T> x, Strided<T> out, const Twiddles<T>& twiddles) {
  const std::int64_t groups = last ? 1 : stage.groups, s = first ? 1 : stage.stride;
  if (!first) x.stride = lane_count<T>;
  if (!last) out.stride = lane_count<T>;
  const std::int64_t step = s * groups * x.stride, to_step = s * out.stride;
  for (std::int64_t p = 0; p < groups; ++p)
    for (std::int64_t q = 0; q < s; ++q) {
      Number<T> numbers[radix];
      const auto from = opaque(x, q + s * p);
      unrolled<radix>([&](auto i) {
        // A butterfly of eight begins with the even numbers.
        constexpr int u = radix == 8 ? (i < 4 ? 2 * i : 2 * i - 7) : int{i};
        numbers[u] = Number<T>::load(from.re + u * step, from.im + u * step);
      });
      butterfly<radix>(numbers);
      const std::int64_t k = q + s * radix * p;
      if constexpr (last) twiddle<radix>(numbers, twiddles, k, s);
      else if (p > 0)
        unrolled<radix - 1>([&](auto t) {
          const std::int64_t w = p * radix + t + 1;
          numbers[t + 1] = numbers[t + 1] * constant(stage.re[w], stage.im[w]);
        });
      const auto to = opaque(out, k);
      unrolled<radix>([&](auto t) { numbers[t].store(to.re + t * to_step, to.im + t * to_step); });
    }
}

/// Runs a stage of any radix.
template <bool last, class T>
void run_any_stage(const StageOf<T>& stage, Strided<const T> x, Strided<T> out, const Twiddles<T>& twiddles) {
  const std::int64_t radix = stage.radix, groups = stage.groups, s = stage.stride;
  Number<T> numbers[SmallFourierTransform<T>::largest_prime];
  for (std::int64_t p = 0; p < groups; ++p)
    for (std::int64_t q = 0; q < s; ++q) {
      for (std::int64_t u = 0; u < radix; ++u) {
        const std::int64_t at = (q + s * (p + u * groups)) * x.stride;
        numbers[u] = Number<T>::load(x.re + at, x.im + at);
      }
      any_butterfly(numbers, radix, stage.root_re, stage.root_im);
      for (std::int64_t t = 0; t < radix; ++t) {
        const std::int64_t k = q + s * (radix * p + t), w = p * radix + t;
        if constexpr (last) twiddle<1>(numbers + t, twiddles, k, 0);
        else numbers[t] = numbers[t] * constant(stage.re[w], stage.im[w]);
        numbers[t].store(out.re + k * out.stride, out.im + k * out.stride);
      }
    }
}

template <bool first, bool last, class T>
void run_stage(const StageOf<T>& stage, Strided<const T> x, Strided<T> out, const Twiddles<T>& twiddles) {
  switch (stage.radix) {
    case 2:
      return run_stage<2, first, last>(stage, x, out, twiddles);
    case 3:
      return run_stage<3, first, last>(stage, x, out, twiddles);
    case 4:
      return run_stage<4, first, last>(stage, x, out, twiddles);
    case 8:
      return run_stage<8, first, last>(stage, x, out, twiddles);
    case 5:
      return run_stage<5, first, last>(stage, x, out, twiddles);
    default:
      return run_any_stage<last>(stage, x, out, twiddles);
  }
}

std::vector<std::int64_t> factors_of(std::int64_t n) {
  std::vector<std::int64_t> out;
  for (; n % 8 == 0 && n != 16; n /= 8) out.push_back(8);
  for (; n % 4 == 0; n /= 4) out.push_back(4);
  for (std::int64_t p = 2; n > 1; ++p)
    for (; n % p == 0; n /= p) out.push_back(p);
  if (out.empty()) out.push_back(1);
  return out;
}

}  // namespace

template <class T>
SmallFourierTransform<T>::SmallFourierTransform(std::int64_t n) : n_(n) {
  std::int64_t left = n, stride = 1;
  for (const std::int64_t radix : factors_of(n)) {
    stages_.push_back({radix, left / radix, stride, re_.size()});
    for (std::int64_t p = 0; p < left / radix; ++p)
      for (std::int64_t t = 0; t < radix; ++t) {
        const double angle = -2 * std::numbers::pi * static_cast<double>(p * t) / static_cast<double>(left);
        re_.push_back(static_cast<T>(std::cos(angle))), im_.push_back(static_cast<T>(std::sin(angle)));
      }
    root_re_.emplace_back(), root_im_.emplace_back();
    for (std::int64_t k = 0; k < radix; ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(radix);
      root_re_.back().push_back(static_cast<T>(std::cos(angle)));
      root_im_.back().push_back(static_cast<T>(std::sin(angle)));
    }
    left /= radix, stride *= radix;
  }
}

template <class T>
void SmallFourierTransform<T>::run(std::int64_t width, Strided<const T> x, Strided<T> out,
                                   Twiddles<T> twiddles) const {
  constexpr std::int64_t lanes = lane_count<T>;
  if (width < lanes) return run_narrow(width, x, out, twiddles);
  for (std::int64_t c = 0; c < width; c += lanes) {
    // The last vector repeats some columns of the vector before.
    const std::int64_t at = std::min(c, width - lanes);
    Twiddles<T> here = twiddles;
    if (twiddles.each_column) here.re += at, here.im += at;
    run_vector(x + at, out + at, here);
  }
}

template <class T>
void SmallFourierTransform<T>::run_vector(Strided<const T> x, Strided<T> out,
                                          const Twiddles<T>& twiddles) const {
  constexpr std::int64_t lanes = lane_count<T>;
  alignas(64) T scratch[2][2][most * lanes];
  Strided<const T> from = x;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& s = stages_[i];
    const StageOf<T> stage{s.radix,
                           s.groups,
                           s.stride,
                           re_.data() + s.twiddles,
                           im_.data() + s.twiddles,
                           root_re_[i].data(),
                           root_im_[i].data()};
    const bool last = i + 1 == stages_.size();
    const Strided<T> to = last ? out : Strided<T>{scratch[i % 2][0], scratch[i % 2][1], lanes};
    if (i == 0 && last) run_stage<true, true>(stage, from, to, twiddles);
    else if (i == 0) run_stage<true, false>(stage, from, to, twiddles);
    else if (last) run_stage<false, true>(stage, from, to, twiddles);
    else run_stage<false, false>(stage, from, to, twiddles);
    from = to;
  }
}

template <class T>
void SmallFourierTransform<T>::run_narrow(std::int64_t width, Strided<const T> x, Strided<T> out,
                                          Twiddles<T> twiddles) const {
  constexpr std::int64_t lanes = lane_count<T>;
  alignas(64) T in[2][most * lanes] = {}, result[2][most * lanes], factors[2][most * lanes] = {};
  for (std::int64_t j = 0; j < n_; ++j)
    for (std::int64_t c = 0; c < width; ++c) {
      in[0][j * lanes + c] = x.re[j * x.stride + c], in[1][j * lanes + c] = x.im[j * x.stride + c];
      if (!twiddles.each_column) continue;
      factors[0][j * lanes + c] = twiddles.re[j * twiddles.stride + c];
      factors[1][j * lanes + c] = twiddles.im[j * twiddles.stride + c];
    }
  if (twiddles.each_column) twiddles = {factors[0], factors[1], lanes, true};
  run_vector({in[0], in[1], lanes}, {result[0], result[1], lanes}, twiddles);
  for (std::int64_t j = 0; j < n_; ++j)
    for (std::int64_t c = 0; c < width; ++c)
      out.re[j * out.stride + c] = result[0][j * lanes + c],
                              out.im[j * out.stride + c] = result[1][j * lanes + c];
}

template class SmallFourierTransform<float>;
template class SmallFourierTransform<double>;

}  // namespace ktape::kernels
