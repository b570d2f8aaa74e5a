#pragma once
#include <ktape/autograd/base/memory.hpp>
#include <ktape/ops/kernels/simd/vector.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

/// Connectionist temporal classification by the forward-backward algorithm. Internal.
///
/// A path is spelled by states: blank, label 0, blank, label 1, ..., blank. The probabilities of the paths to
/// a state leave the range of a double after some dozens of steps. They are kept as mantissas and exponents,
/// which is as safe as logarithms and needs no exp and log for each state and step.
namespace ktape::kernels {
namespace detail {

/// The exponent of zero, below the exponent of any other number.
inline constexpr std::int64_t no_exponent = -(std::int64_t{1} << 40);

/// The numbers mantissa[s] * 2^exponent[s] of the states; two zeros stand before the first and after the last
/// state.
struct States {
  double* mantissa;
  std::int64_t* exponent;
};

/// Returns 2^k for k <= 1023, and 0 where 2^k is subnormal.
inline double power_of_two(std::int64_t k) {
  return std::bit_cast<double>(k < -1022 ? std::int64_t{0} : (k + 1023) << 52);
}
inline std::int64_t exponent_of(double x) { return (std::bit_cast<std::int64_t>(x) >> 52) - 1023; }

/// to[s] = emission[s] * (from[s] + from[s + Step] + from[s + 2 Step]); `skip` is added to the exponent of
/// the last: 0 or no_exponent.
template <int Step>
void advance(States from, States to, const double* emission, const std::int64_t* skip, std::int64_t states) {
  const double* m = from.mantissa;
  const std::int64_t* e = from.exponent;
#pragma omp simd
  for (std::int64_t s = 0; s < states; ++s) {
    const std::int64_t e0 = e[s], e1 = e[s + Step], e2 = e[s + 2 * Step] + skip[s];
    const std::int64_t top = std::max(e0, std::max(e1, e2));
    const double p = emission[s] * (m[s] * power_of_two(e0 - top) + m[s + Step] * power_of_two(e1 - top) +
                                    m[s + 2 * Step] * power_of_two(e2 - top));
    const bool zero = p < std::numeric_limits<double>::min();
    const std::int64_t k = exponent_of(p);
    to.mantissa[s] = zero ? 0 : p * power_of_two(-k);
    to.exponent[s] = zero ? no_exponent : top + k;
  }
}

}  // namespace detail

/// The computation for one sample: a label sequence and its predictions, whose last class is the blank. The
/// next sample reuses the memory.
template <class T>
class Ctc {
 public:
  Ctc(std::int64_t classes, double epsilon) : classes_(classes), epsilon_(epsilon), occupied_(classes) {}

  /// Returns -log of the probability of the labels under y + epsilon, (steps, classes), normalized at each
  /// step. Unless `slope` is null, `slope` gets the derivative with respect to y.
  double cost(const T* y, const std::int64_t* labels, std::int64_t count, std::int64_t steps, T* slope) {
    y_ = y;
    spell(labels, count);
    reserve(steps, slope ? std::max<std::int64_t>(1, steps) : 1);
    detail::States state = forward(0);
    state.mantissa[0] = 1, state.exponent[0] = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
      emit(t);
      detail::advance<-1>(forward(t), forward(t + 1), emission(t), skip_.data(), states_);
    }
    state = forward(steps);
    const std::int64_t last = states_ - 1, top = std::max(state.exponent[last], state.exponent[last - 1]);
    const double total = state.mantissa[last] * detail::power_of_two(state.exponent[last] - top) +
                         state.mantissa[last - 1] * detail::power_of_two(state.exponent[last - 1] - top);
    if (slope) backward(steps, total, top, slope);
    return -(std::log(total) + static_cast<double>(top) * std::log(2.));
  }

 private:
  void spell(const std::int64_t* labels, std::int64_t count) {
    states_ = 2 * count + 1;
    class_.assign(states_, classes_ - 1);
    skip_.assign(states_ + 2, detail::no_exponent);
    for (std::int64_t i = 0; i < count; ++i) {
      class_[2 * i + 1] = labels[i];
      if (i > 0 && labels[i] != labels[i - 1]) skip_[2 * i + 1] = 0;
    }
  }

  void reserve(std::int64_t steps, std::int64_t history) {
    history_ = history;
    const std::int64_t size = (history + 3) * (states_ + 4);
    mantissas_.assign(size, 0), exponents_.assign(size, detail::no_exponent);
    emissions_.resize(history * states_), scales_.resize(steps), posterior_.resize(states_);
  }

  detail::States row(std::int64_t i) {
    const std::int64_t at = i * (states_ + 4) + 2;
    return {mantissas_.data() + at, exponents_.data() + at};
  }
  /// Returns the sums over all paths up to step t (`forward`, kept for history + 1 steps), or over all paths
  /// from step t on (kept for two steps).
  detail::States forward(std::int64_t t) { return row(t % (history_ + 1)); }
  detail::States backward(std::int64_t t) { return row(history_ + 1 + t % 2); }
  double* emission(std::int64_t t) { return emissions_.data() + t % history_ * states_; }

  double prediction(std::int64_t t, std::int64_t k) const {
    return static_cast<double>(element(y_ + t * classes_ + k)) + epsilon_;
  }

  /// Stores the probability of each state's class at step t.
  void emit(std::int64_t t) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < classes_; ++k) {
      const double p = prediction(t, k);
      sum += p < 0 ? std::numeric_limits<double>::quiet_NaN() : p;
    }
    scales_[t] = 1 / sum;
    double* p = emission(t);
    for (std::int64_t s = 0; s < states_; ++s) p[s] = prediction(t, class_[s]) * scales_[t];
  }

  void backward(std::int64_t steps, double total, std::int64_t top, T* slope) {
    detail::States state = backward(steps);
    state.mantissa[states_ - 1] = 1, state.exponent[states_ - 1] = 0;
    for (std::int64_t t = steps - 1; t >= 0; --t) {
      detail::advance<1>(backward(t + 1), backward(t), emission(t), skip_.data() + 2, states_);
      weigh(forward(t + 1), backward(t), emission(t), total, top);
      write_slope(t, slope + t * classes_);
    }
  }

  /// Computes the probability, given the labels, that a path is in each state. The forward and the backward
  /// probability both contain the state's emission.
  void weigh(detail::States before, detail::States after, const double* emission, double total,
             std::int64_t top) {
    double* weight = posterior_.data();
#pragma omp simd
    for (std::int64_t s = 0; s < states_; ++s) {
      const std::int64_t k = detail::exponent_of(emission[s]);
      const double mantissa =
          before.mantissa[s] * after.mantissa[s] / (emission[s] * detail::power_of_two(-k) * total);
      weight[s] = mantissa * detail::power_of_two(before.exponent[s] + after.exponent[s] - top - k);
    }
  }

  void write_slope(std::int64_t t, T* slope) {
    std::fill_n(slope, classes_, static_cast<T>(scales_[t]));
    for (std::int64_t s = 0; s < states_; ++s) occupied_[class_[s]] += posterior_[s];
    for (std::int64_t s = 0; s < states_; ++s)
      slope[class_[s]] = static_cast<T>(scales_[t] - occupied_[class_[s]] / prediction(t, class_[s]));
    for (std::int64_t s = 0; s < states_; ++s) occupied_[class_[s]] = 0;
  }

  const std::int64_t classes_;
  const double epsilon_;
  const T* y_ = nullptr;
  std::int64_t states_ = 0, history_ = 0;
  std::vector<std::int64_t> class_, skip_, exponents_;
  WorkVector<double> mantissas_, emissions_, scales_, posterior_, occupied_;
};

}  // namespace ktape::kernels
