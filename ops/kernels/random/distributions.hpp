#pragma once
#include <ktape/ops/kernels/random/philox.hpp>
#include <ktape/ops/kernels/simd/exp.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

#include <algorithm>
#include <type_traits>

/// Kernels that fill memory with random numbers, a block of the generator at a time.
namespace ktape::kernels {

/// The type in which numbers of T are made.
template <class T>
using random_real = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The numbers of a block: a float takes one word of the generator, a double two words.
template <class C>
inline constexpr int random_block = 256 / sizeof(C);

/// Returns a * b + c, rounded once where the processor can.
template <class C>
Batch<C> fused(const Batch<C>& a, const Batch<C>& b, const Batch<C>& c) {
  return detail::fused(a, b, c);
}

/// The random bits from which numbers of C are made, a vector at a time.
template <class C>
struct RandomBits {
  using Batch = xsimd::batch<C>;
  using Unsigned = std::conditional_t<sizeof(C) == 8, U64, U32>;
  using Signed = xsimd::batch<std::conditional_t<sizeof(C) == 8, std::int64_t, std::int32_t>>;

  static Unsigned of(const U64& vector) { return xsimd::bitwise_cast<Unsigned>(vector); }

  static Unsigned sign() { return xsimd::bitwise_cast<Unsigned>(Batch(-0.0)); }
  /// Returns 1 with the sign of the top bit.
  static Batch plus_or_minus_one(const Unsigned& u) {
    return xsimd::bitwise_cast<Batch>((u & sign()) | xsimd::bitwise_cast<Unsigned>(Batch(1)));
  }
  /// Returns a uniform number in [0, 1): a multiple of 2^-24, or 2^-52 for double.
  static Batch unit(const Unsigned& u) {
    if constexpr (sizeof(C) == 4)
      return xsimd::to_float(xsimd::bitwise_cast<Signed>(u >> 8)) * Batch(0x1p-24f);
    else return one_to_two(u) - Batch(1.0);
  }
  /// Returns a uniform number in (0, 1], at least 2^-32, or 2^-52 for double: the argument of a logarithm.
  static Batch above_zero(const Unsigned& u) {
    if constexpr (sizeof(C) == 4)
      return fused(xsimd::to_float(xsimd::bitwise_cast<Signed>(u >> 1)), Batch(0x1p-31f), Batch(0x1p-32f));
    else return Batch(2.0) - one_to_two(u);
  }
  /// Returns a uniform number in [-1, 1]; the distribution is symmetric.
  static Batch symmetric(const Unsigned& u) {
    if constexpr (sizeof(C) == 4)
      return fused(xsimd::to_float(xsimd::bitwise_cast<Signed>(u)), Batch(0x1p-31f), Batch(0x1p-32f));
    else return fused(one_to_two(u) - Batch(1.5), Batch(2.0), Batch(0x1p-52));
  }

 private:
  static Batch one_to_two(const Unsigned& u) {
    return xsimd::bitwise_cast<Batch>((u >> 12) | Unsigned(std::uint64_t{0x3ff0000000000000}));
  }
};

template <class C, std::size_t N>
xsimd::batch<C> polynomial(const C (&coefficients)[N], const xsimd::batch<C>& x) {
  xsimd::batch<C> sum(coefficients[0]);
  for (std::size_t i = 1; i < N; ++i) sum = fused(sum, x, xsimd::batch<C>(coefficients[i]));
  return sum;
}

/// 2 atanh(s) / s as a polynomial in s^2, for the s that `logarithm` forms: a minimax fit to a rounding
/// error.
template <class C>
struct Atanh;
template <>
struct Atanh<float> {
  static constexpr int fraction_bits = 23;
  static constexpr float coefficients[] = {0.29924530374734702f, 0.39974845375877273f, 0.66666815383477129f,
                                           1.9999999986307639f};
};
template <>
struct Atanh<double> {
  static constexpr int fraction_bits = 52;
  static constexpr double coefficients[] = {
      0.14809867572313062734, 0.15312513114738297881, 0.18183632241617025018, 0.22222197046404272762,
      0.28571428760738280511, 0.39999999999301911985, 0.66666666666667646355, 1.9999999999999999977};
};

/// Returns the natural logarithm of normal (not subnormal) numbers above 0. Uses only operations that every
/// processor rounds equally, so that random numbers do not depend on the width of the vectors.
template <class C>
xsimd::batch<C> logarithm(const xsimd::batch<C>& x) {
  using Batch = xsimd::batch<C>;
  using Unsigned = typename RandomBits<C>::Unsigned;
  constexpr int shift = Atanh<C>::fraction_bits;
  const auto bits = [](const Batch& v) { return xsimd::bitwise_cast<Unsigned>(v); };
  const Batch one(1), magic(static_cast<C>(std::uint64_t{1} << shift)), bias(sizeof(C) == 8 ? 1023 : 127);
  // x = m 2^e with m between sqrt(1/2) and sqrt(2).
  const Unsigned exponent = (bits(x) + bits(one) - bits(Batch(static_cast<C>(0.70710678118654752)))) >> shift;
  const Batch m = xsimd::bitwise_cast<Batch>(bits(x) - (exponent << shift) + bits(one));
  const Batch e = xsimd::bitwise_cast<Batch>(exponent | bits(magic)) - (magic + bias);
  const Batch s = (m - one) / (m + one);
  return fused(e, Batch(static_cast<C>(0.69314718055994531)), s * polynomial(Atanh<C>::coefficients, s * s));
}

/// Stores the vectors of a block as the first `count` numbers of `out`.
template <class T>
void store_block(const xsimd::batch<random_real<T>> (&values)[PhiloxBlock::vectors], T* out,
                 std::int64_t count) {
  using C = random_real<T>;
  constexpr int size = random_block<C>, width = lanes<T>;
  if (count >= size) {
    for (int v = 0; v < PhiloxBlock::vectors; ++v) kernels::store(out + v * width, Vec<C>(values[v].data));
    return;
  }
  alignas(64) C buffer[size];
  std::memcpy(buffer, values, sizeof values);
  std::transform(buffer, buffer + count, out, [](C number) { return static_cast<T>(number); });
}

/// Fills out[0, n) with blocks of vectors; `make(block, values)` writes the vectors of a block.
template <class T, class F>
void generate(std::uint64_t key, std::int64_t n, T* out, const F& make) {
  using C = random_real<T>;
  for_each_block<random_block<C>>(key, n, [&](const PhiloxBlock& block, std::int64_t i) {
    xsimd::batch<C> values[PhiloxBlock::vectors];
    make(block, values);
    store_block(values, out + i, n - i);
  });
}

/// Fills out with uniform numbers in [low, low + range), none above `last`, the largest number of T below the
/// upper bound.
template <class T>
void fill_uniform(std::uint64_t key, std::int64_t n, T* out, random_real<T> low, random_real<T> range,
                  random_real<T> last) {
  using C = random_real<T>;
  using Bits = RandomBits<C>;
  using Batch = typename Bits::Batch;
  generate(key, n, out, [=](const PhiloxBlock& block, Batch* values) {
    for (int i = 0; i < PhiloxBlock::vectors; ++i)
      values[i] =
          xsimd::min(fused(Bits::unit(Bits::of(block.vector[i])), Batch(range), Batch(low)), Batch(last));
  });
}

/// Fills out with whole numbers in [low, low + range), whose probabilities are equal to within 2^-32.
template <class T>
void fill_integers(std::uint64_t key, std::int64_t n, T* out, std::int64_t low, std::uint64_t range) {
  using Wide = unsigned __int128;
  const auto at = [low](std::uint64_t offset) {
    return static_cast<T>(static_cast<std::uint64_t>(low) + offset);
  };
  if (range <= std::uint64_t{1} << 32) {
    for_each_block<32>(key, n, [&](const PhiloxBlock& block, std::int64_t i) {
      alignas(64) std::uint64_t bits[32];
      block.store(bits);
      const int count = static_cast<int>(std::min<std::int64_t>(32, n - i));
      for (int j = 0; j < count; ++j)
        out[i + j] = at(((bits[j] >> 32) * range + ((bits[j] & 0xffffffff) * range >> 32)) >> 32);
    });
  } else {
    for_each_block<16>(key, n, [&](const PhiloxBlock& block, std::int64_t i) {
      alignas(64) std::uint64_t bits[32];
      block.store(bits);
      const int count = static_cast<int>(std::min<std::int64_t>(16, n - i));
      for (int j = 0; j < count; ++j)
        out[i + j] = at(
            static_cast<std::uint64_t>((Wide{bits[j]} * range + (Wide{bits[16 + j]} * range >> 64)) >> 64));
    });
  }
}

/// sin(pi/2 t) / t and cos(pi/2 t) as polynomials in t^2, for t in [-1/2, 1/2]; minimax fits to half a
/// rounding error.
template <class C>
struct QuarterTurn;
template <>
struct QuarterTurn<float> {
  static constexpr float sine[] = {-0.0046021492128141759f, 0.079680217647755413f, -0.64596347766481180f,
                                   1.5707963219532367f};
  static constexpr float cosine[] = {0.00090362806638025049f, -0.020860069504264077f, 0.25366920365511348f,
                                     -1.2337005406331622f, 0.99999999995248942f};
};
template <>
struct QuarterTurn<double> {
  static constexpr double sine[] = {-6.6276249389924723622e-10, 5.6919278504896334155e-8,
                                    -3.5988427171448577997e-6,  0.0001604411847266723001,
                                    -0.0046817541353148270709,  0.07969262624616692448,
                                    -0.64596409750624625222,    1.5707963267948966192};
  static constexpr double cosine[] = {-6.3212568696285884105e-9,   4.7106097267578230119e-7,
                                      -0.000025202036770460258445, 0.00091926027418315572082,
                                      -0.020863480763311209103,    0.2536695079010467091,
                                      -1.2337005501361698118,      0.99999999999999999997};
};

/// Fills out with normal numbers by the transform of Box and Muller: a radius and a direction give two
/// numbers.
template <class T>
void fill_normal(std::uint64_t key, std::int64_t n, T* out, random_real<T> mean, random_real<T> stddev) {
  using C = random_real<T>;
  using Bits = RandomBits<C>;
  using Batch = typename Bits::Batch;
  using Unsigned = typename Bits::Unsigned;
  generate(key, n, out, [=](const PhiloxBlock& block, Batch* values) {
    constexpr int half = PhiloxBlock::vectors / 2;
    for (int i = 0; i < half; ++i) {
      const Unsigned u = Bits::of(block.vector[half + i]);
      const Batch radius =
          xsimd::sqrt(Batch(-2) * logarithm(Bits::above_zero(Bits::of(block.vector[i])))) * Batch(stddev);
      // The direction lies within an eighth of a turn of the first axis; two more bits of u turn and mirror
      // the direction onto the whole circle.
      const Batch t = Bits::symmetric(u << 2) * Batch(C(0.5)), square = t * t;
      const Batch sine = t * polynomial(QuarterTurn<C>::sine, square);
      const Batch cosine = xsimd::bitwise_cast<Batch>(
          xsimd::bitwise_cast<Unsigned>(polynomial(QuarterTurn<C>::cosine, square)) ^ (u & Bits::sign()));
      const auto swap = Bits::plus_or_minus_one(u << 1) < Batch(0);
      values[i] = fused(radius, xsimd::select(swap, sine, cosine), Batch(mean));
      values[half + i] = fused(radius, xsimd::select(swap, cosine, sine), Batch(mean));
    }
  });
}

/// sqrt(2) erfinv(p) / p as a polynomial in -log(1 - p^2), for results up to two standard deviations.
template <class C>
struct NormalQuantile;
template <>
struct NormalQuantile<float> {
  static constexpr float coefficients[] = {
      -4.9920406649194619e-7f, -2.2682054492043412e-6f, 0.000077572839177002943f, -0.00019492135158347406f,
      -0.0032936070394525775f, 0.016330564294256918f,   0.32811718357959872f,     1.2533141314535654f};
};
template <>
struct NormalQuantile<double> {
  static constexpr double coefficients[] = {
      9.6690287030391207425e-15,  6.0239916086469797759e-14,  -3.9075343080644586519e-12,
      3.7642111412314730605e-11,  -8.3306392383869430646e-11, -6.1496502104964277683e-10,
      8.7356407254296611644e-10,  3.2453442411178349877e-8,   -5.2926095866008927585e-8,
      -1.4318563287613047891e-6,  2.8566465495025050864e-6,   0.000065918546107852188543,
      -0.00018108056630163413439, -0.0033023324107229927696,  0.016333236146985289466,
      0.32811687386921765507,     1.2533141373155002488};
};

/// Fills out with normal numbers within two standard deviations of the mean, by the inverse of the
/// distribution function.
template <class T>
void fill_truncated_normal(std::uint64_t key, std::int64_t n, T* out, random_real<T> mean,
                           random_real<T> stddev) {
  using C = random_real<T>;
  using Bits = RandomBits<C>;
  using Batch = typename Bits::Batch;
  constexpr double inside =
      0.9544997361036415855994347;  // the share of the normal distribution that is kept: erf(sqrt(2))
  generate(key, n, out, [=](const PhiloxBlock& block, Batch* values) {
    for (int i = 0; i < PhiloxBlock::vectors; ++i) {
      const Batch p = Bits::symmetric(Bits::of(block.vector[i])) * Batch(static_cast<C>(inside));
      const Batch z = p * polynomial(NormalQuantile<C>::coefficients, -logarithm(fused(-p, p, Batch(1))));
      values[i] = fused(xsimd::max(xsimd::min(z, Batch(2)), Batch(-2)), Batch(stddev), Batch(mean));
    }
  });
}

/// Fills out with `one` where a word of the generator is at most `last`, else with 0. Elements of any type
/// are passed as bits.
template <class Bits>
void fill_bernoulli(std::uint64_t key, std::int64_t n, Bits* out, Bits one, std::uint32_t last) {
  for_each_block<64>(key, n, [&](const PhiloxBlock& block, std::int64_t i) {
    alignas(64) std::uint32_t words[64];
    alignas(64) Bits drawn[64];
    block.store(words);
    for (int j = 0; j < 64; ++j) drawn[j] = static_cast<Bits>(-static_cast<Bits>(words[j] <= last)) & one;
    std::memcpy(out + i, drawn, static_cast<std::size_t>(std::min<std::int64_t>(64, n - i)) * sizeof(Bits));
  });
}

/// out = x * scale where the random bits of the element, as a fraction of 2^32, are at least `first`; else 0.
/// out may be x.
template <class T>
void scale_kept(std::uint64_t key, std::int64_t n, T* out, const T* x, random_real<T> scale,
                std::uint32_t first) {
  using C = random_real<T>;
  using Bits = RandomBits<C>;
  using Batch = typename Bits::Batch;
  using Unsigned = typename Bits::Unsigned;
  constexpr int size = random_block<C>;
  const Unsigned bound(typename Unsigned::value_type{first} << (8 * sizeof(C) - 32));
  for_each_block<size>(key, n, [&](const PhiloxBlock& block, std::int64_t i) {
    alignas(64) T buffer[size] = {};
    const T* source =
        i + size <= n
            ? x + i
            : static_cast<const T*>(std::memcpy(buffer, x + i, static_cast<std::size_t>(n - i) * sizeof(T)));
    Batch values[PhiloxBlock::vectors];
    for (int v = 0; v < PhiloxBlock::vectors; ++v) {
      const Unsigned kept = xsimd::select(Bits::of(block.vector[v]) >= bound, ~Unsigned(0u), Unsigned(0u));
      const Batch scaled = Batch(kernels::load(source + v * lanes<T>)) * Batch(scale);
      values[v] = xsimd::bitwise_cast<Batch>(xsimd::bitwise_cast<Unsigned>(scaled) & kept);
    }
    store_block(values, out + i, n - i);
  });
}

}  // namespace ktape::kernels
