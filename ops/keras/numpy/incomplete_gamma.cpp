#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/arithmetic.hpp>
#include <ktape/ops/keras/numpy/elementwise.hpp>
#include <ktape/ops/keras/unary.hpp>
#include <ktape/ops/kernels/simd/math.hpp>
#include <ktape/ops/schema/typed_call.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

/// The incomplete gamma function with its derivatives with respect to both arguments. A derivative with respect to the
/// first argument is a coefficient of a power series: the function is computed for a + e, with numbers that are
/// polynomials of e.
namespace ktape::ops {

namespace K = backend;
using op_helpers::promoted_floating, op_helpers::smooth_binary, op_helpers::smooth_unary;

namespace {

/// The highest order of a derivative with respect to the first argument.
constexpr int most_order = 7;

double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

/// Returns the derivative of order m of the digamma function, for a > 0.
double polygamma(int m, double a) {
  if (!(a > 0)) return NAN;
  if (std::isinf(a)) return m == 0 ? a : 0;
  const double sign = m % 2 == 0 ? -1 : 1;
  double sum = 0;
  for (; a < 16 + m; ++a) sum += std::pow(a, -m - 1);
  const double inverse = 1 / (a * a);
  // B(2k) (2k + m - 1)! / (2k)! / a^(2k + m), the terms of the asymptotic series.
  constexpr double bernoulli[] = {1 / 6.,  -1 / 30.,     1 / 42., -1 / 30.,
                                  5 / 66., -691 / 2730., 7 / 6.,  -3617 / 510.};
  double series = 0;
  for (int k = 8; k >= 1; --k)
    series = series * inverse + bernoulli[k - 1] * std::tgamma(2 * k + m) / std::tgamma(2 * k + 1);
  series *= inverse;
  if (m == 0) return std::log(a) - 0.5 / a - series - sum;
  const double first = factorial(m - 1) + 0.5 * factorial(m) / a + series;
  return sign * (first * std::pow(a, -m) + factorial(m) * sum);
}

/// A polynomial of e, without the powers above `order`.
template <int order>
struct Jet {
  std::array<double, order + 1> c{};

  explicit Jet(double constant = 0, double slope = 0) {
    c[0] = constant;
    if constexpr (order > 0) c[1] = slope;
  }
  double& operator[](int i) { return c[static_cast<std::size_t>(i)]; }
  double operator[](int i) const { return c[static_cast<std::size_t>(i)]; }
};

template <int order>
Jet<order> operator+(Jet<order> x, const Jet<order>& y) {
  for (int i = 0; i <= order; ++i) x[i] += y[i];
  return x;
}
template <int order>
Jet<order> operator*(Jet<order> x, double y) {
  for (int i = 0; i <= order; ++i) x[i] *= y;
  return x;
}
template <int order>
Jet<order> operator*(const Jet<order>& x, const Jet<order>& y) {
  Jet<order> out;
  for (int i = 0; i <= order; ++i)
    for (int j = 0; j <= i; ++j) out[i] += x[j] * y[i - j];
  return out;
}
template <int order>
Jet<order> operator/(const Jet<order>& x, const Jet<order>& y) {
  Jet<order> out;
  for (int i = 0; i <= order; ++i) {
    double rest = x[i];
    for (int j = 0; j < i; ++j) rest -= out[j] * y[i - j];
    out[i] = rest / y[0];
  }
  return out;
}

/// Returns the function whose value at 0 is `start` and whose derivative is factor * slope(x) x'.
template <int order>
Jet<order> integrated(const Jet<order>& x, double start, const Jet<order>& slope) {
  Jet<order> out(start);
  for (int i = 1; i <= order; ++i)
    for (int j = 1; j <= i; ++j) out[i] += j * x[j] * slope[i - j] / i;
  return out;
}

template <int order>
Jet<order> exp(const Jet<order>& x) {
  Jet<order> out(std::exp(x[0]));
  for (int i = 1; i <= order; ++i)
    for (int j = 1; j <= i; ++j) out[i] += j * x[j] * out[i - j] / i;
  return out;
}

template <int order>
Jet<order> sqrt(const Jet<order>& x) {
  Jet<order> out(std::sqrt(x[0]));
  for (int i = 1; i <= order; ++i) {
    double rest = x[i];
    for (int j = 1; j < i; ++j) rest -= out[j] * out[i - j];
    out[i] = rest / (2 * out[0]);
  }
  return out;
}

template <int order>
Jet<order> erfc(const Jet<order>& x) {
  return integrated(x, std::erfc(x[0]), exp(x * x * -1.) * (-2 / std::sqrt(std::numbers::pi)));
}

double log_gamma_of(double a) {
  int sign;
  return lgamma_r(a, &sign);
}

/// Returns x^a e^-x / gamma(a + 1).
template <int order>
Jet<order> scale_of(const Jet<order>& a, double x) {
  Jet<order> power(a[0] * std::log(x) - x - log_gamma_of(a[0] + 1));
  for (int i = 1; i <= order; ++i)
    power[i] = (i == 1 ? std::log(x) : 0) - polygamma(i - 1, a[0] + 1) / factorial(i);
  return exp(power);
}

/// Returns whether a change of y is below its rounding errors. A coefficient near 0 has those of the coefficients
/// before, and a coefficient is smaller than the one before by at most 1 + a.
template <int order>
bool negligible(const Jet<order>& change, const Jet<order>& y, double a) {
  double least = std::fabs(y[0]);
  for (int i = 0; i <= order; ++i, least /= 1 + a)
    if (std::fabs(change[i]) > 2e-16 * (std::fabs(y[i]) + least)) return false;
  return true;
}

/// Returns the regularized lower function by its series 1 + x / (a + 1) + x^2 / (a + 1) / (a + 2) + ...
template <int order>
Jet<order> lower_by_series(const Jet<order>& a, double x) {
  Jet<order> term(1), sum = term;
  for (double n = a[0] + 1; !negligible(term, sum, a[0]); ++n) {
    term[0] *= x / n;
    for (int i = 1; i <= order; ++i) term[i] = (term[i] * x - term[i - 1]) / n;
    sum = sum + term;
  }
  return scale_of(a, x) * sum;
}

/// Returns the regularized upper function by its continued fraction, with Lentz's method.
template <int order>
Jet<order> upper_by_fraction(const Jet<order>& a, double x) {
  constexpr double tiny = 1e-300;
  Jet<order> b = Jet<order>(x + 1) + a * -1., c(1 / tiny), d = Jet<order>(1) / b, h = d;
  for (int i = 1; i < 100000; ++i) {
    Jet<order> numerator = a * i;
    numerator[0] -= static_cast<double>(i) * i;
    b[0] += 2;
    Jet<order> below = numerator * d + b;
    c = b + numerator / c;
    if (std::fabs(below[0]) < tiny) below[0] = tiny;
    if (std::fabs(c[0]) < tiny) c[0] = tiny;
    d = Jet<order>(1) / below;
    const Jet<order> before = h, change = c * d;
    h = h * change;
    if (negligible(h + before * -1., h, a[0])) break;
  }
  return a * scale_of(a, x) * h;
}

/// Returns the lower function for a large a: Temme's uniform expansion, first two terms.
template <int order>
Jet<order> lower_of_large(const Jet<order>& a, double x) {
  const Jet<order> mu = Jet<order>(x) / a + Jet<order>(-1);
  if (std::fabs(mu[0]) > 0.05) return Jet<order>(mu[0] > 0 ? 1 : 0);
  // (mu - log(1 + mu)) / mu^2 and its root, by the series of the logarithm.
  Jet<order> share;
  for (int k = 14; k >= 2; --k) share = share * mu * -1. + Jet<order>(1. / k);
  const Jet<order> half_square = mu * mu * share, eta = mu * sqrt(share * 2.);
  const Jet<order> correction = mu * (1 / 12.) + Jet<order>(-1 / 3.);
  return erfc(eta * sqrt(a * 0.5) * -1.) * 0.5 +
         exp(a * half_square * -1.) / sqrt(a * (2 * std::numbers::pi)) * correction * -1.;
}

/// Returns the derivative of the given order, with respect to a, of the regularized lower incomplete gamma function.
template <int order>
double lower_gamma(double a, double x) {
  if (!(a > 0) || !(x >= 0)) return NAN;
  if (std::isinf(a) && std::isinf(x)) return NAN;
  if (x == 0 || std::isinf(a)) return 0;
  if (std::isinf(x) || a < 1e-300) return order == 0 ? 1 : 0;
  const Jet<order> at(a, 1);
  if (a > 1e6) return factorial(order) * lower_of_large(at, x)[order];
  if (x < a + 1) return factorial(order) * lower_by_series(at, x)[order];
  const double upper = upper_by_fraction(at, x)[order];
  return order == 0 ? 1 - upper : -factorial(order) * upper;
}

// --- Ops --------------------------------------------------------------------------------------------------

template <class A, class F>
xsimd::batch<A> pair_by_pair_of(const xsimd::batch<A>& x, const xsimd::batch<A>& y, F f) {
  A a[xsimd::batch<A>::size], b[xsimd::batch<A>::size];
  x.store_unaligned(a), y.store_unaligned(b);
  for (std::size_t i = 0; i < xsimd::batch<A>::size; ++i) a[i] = static_cast<A>(f(a[i], b[i]));
  return xsimd::batch<A>::load_unaligned(a);
}

template <class F>
auto each_of(F f) {
  return [f](auto batch) {
    return kernels::functions::one_by_one(batch, [f](auto t) { return static_cast<decltype(t)>(f(t)); });
  };
}

/// Returns the polygamma function of order m, -1 for the logarithm of the gamma function.
template <int m>
Tensor polygamma_of(const Tensor& a) {
  const auto value = [](double t) { return m < 0 ? log_gamma_of(t) : polygamma(m, t); };
  if constexpr (m == most_order) return smooth_unary("polygamma", a, each_of(value), nullptr);
  else
    return smooth_unary("polygamma", a, each_of(value),
                        [](const Tensor& a, const Tensor&) { return polygamma_of<m + 1>(a); });
}

double binomial(int n, int k) { return factorial(n) / factorial(k) / factorial(n - k); }

/// Returns the derivative of order n, with respect to a, of x^(a - 1) e^-x / gamma(a).
template <int n>
Tensor density(const Tensor& a, const Tensor& x) {
  if constexpr (n == 0) {
    const Tensor power = K::where(K::equal(a, 1), 0, (a - 1) * log(x));
    return ops::exp(power - x - polygamma_of<-1>(a));
  } else {
    // The density is the exponential of a function whose derivatives are log(x) - digamma(a), -polygamma(1, a), ...
    Tensor sum = density<n - 1>(a, x) * (log(x) - polygamma_of<0>(a));
    [&]<int... k>(std::integer_sequence<int, k...>) {
      ((sum = sum - binomial(n - 1, k) * polygamma_of<n - 1 - k>(a) * density<k>(a, x)), ...);
    }
    (std::make_integer_sequence<int, n - 1>());
    return K::where(K::equal(x, 0), 0, sum);
  }
}

/// Returns the derivative of order n, with respect to a, of the lower function.
template <int n>
Tensor lower_gamma_of(const Tensor& given_a, const Tensor& given_x) {
  constexpr auto by_a = [] {
    if constexpr (n == most_order) return nullptr;
    else return [](const Tensor& a, const Tensor& x, const Tensor&) { return lower_gamma_of<n + 1>(a, x); };
  }();
  return smooth_binary(
      "gammainc", {given_a, given_x},
      [](auto a, auto x) {
        return pair_by_pair_of(a, x, [](double s, double t) { return lower_gamma<n>(s, t); });
      },
      by_a, [](const Tensor& a, const Tensor& x, const Tensor&) { return density<n>(a, x); });
}

}  // namespace

Tensor gammainc(const TensorOrNumber& x1, const TensorOrNumber& x2) {
  const auto [a, x] = promoted_floating("gammainc", x1, x2);
  return lower_gamma_of<0>(a, x);
}

}  // namespace ktape::ops

namespace ktape::nn {

Operations incomplete_gamma_operations() {
  static constexpr Operation rows[] = {
      {"Gammainc", "math", "x1, x2;", calls<ops::gammainc>},
  };
  return rows;
}

}  // namespace ktape::nn
