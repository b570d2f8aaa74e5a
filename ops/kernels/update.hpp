#pragma once
#include <ktape/autograd/dispatch.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/kernels/map.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <span>

/// The steps of optimizers: one pass, in place, over a variable, its gradient and the state that belongs to
/// it.
namespace ktape::kernels {

/// What happens on the way: the gradient is multiplied by `scale`, then brought between -bound and bound; the
/// variable is multiplied by `keep`.
struct Preparation {
  double scale = 1;
  double bound = std::numeric_limits<double>::infinity();
  double keep = 1;
};

template <class T, std::size_t N>
struct UpdateArrays {
  T* x;
  const T* old_x;
  const T* gradient;
  std::array<T*, N> state;
  std::array<const T*, N> old_state;
};

/// x = step(x, gradient, state) for the elements of a range, by vectors; `step` changes the state.
template <class T, std::size_t N, class Step>
void update_range(std::int64_t begin, std::int64_t end, const UpdateArrays<T, N>& at, const Preparation& how,
                  const Step& step) {
  using C = compute_t<T>;
  using B = batch_t<T>;
  const B scale(static_cast<C>(how.scale)), keep(static_cast<C>(how.keep)), bound(static_cast<C>(how.bound));
  const bool clips = std::isfinite(how.bound);
  for (std::int64_t i = begin; i < end; i += width<T>) {
    B g = load_batch(at.gradient + i) * scale;
    if (clips) g = xsimd::select(g > bound, bound, xsimd::select(g < -bound, -bound, g));
    std::array<B, N> state;
    for (std::size_t k = 0; k < N; ++k) state[k] = load_batch(at.old_state[k] + i);
    const B x = step(B(load_batch(at.old_x + i) * keep), g, state);
    for (std::size_t k = 0; k < N; ++k) store_batch(at.state[k] + i, state[k]);
    store_batch(at.x + i, x);
  }
}

/// Opens the memory of the variables from `k` on, one inside the other, then runs `f`.
template <class T, std::size_t N, class F>
void open_state(std::span<const Variable> variables, UpdateArrays<T, N>& at, std::size_t k, const F& f) {
  if (k == N) return f();
  Variable variable = variables[k];
  variable.modify([&](void* to, const void* from) {
    at.state[k] = static_cast<T*>(to);
    at.old_state[k] = static_cast<const T*>(from);
    open_state(variables, at, k + 1, f);
  });
}

/// The same for whole variables of one floating dtype and size, split over the threads. `step` is a generic
/// lambda (x, gradient, state) on vectors, which returns the new x.
template <std::size_t N, class Step>
void update(Variable x, const Tensor& gradient, std::span<const Variable> state, const Preparation& how,
            const Step& step) {
  dispatch_floating(x.dtype(), [&]<class T>() {
    x.modify([&](void* to, const void* from) {
      UpdateArrays<T, N> at{static_cast<T*>(to), static_cast<const T*>(from), gradient.pointer<T>(), {}, {}};
      open_state(state, at, 0, [&] {
        parallel_for(x.size(), map_grain,
                     [&](std::int64_t begin, std::int64_t end) { update_range(begin, end, at, how, step); });
      });
    });
  });
}

/// Adam: state m and v; `rate` has the bias correction in it.
struct AdamStep {
  double rate, beta_1, beta_2, epsilon;

  template <class B, class State>
  B operator()(const B& x, const B& g, State& state) const {
    auto& [m, v] = state;
    m = m * beta_1 + g * (1 - beta_1);
    v = v * beta_2 + g * g * (1 - beta_2);
    return x - m * rate / (xsimd::sqrt(v) + epsilon);
  }
};

/// The rate of Adam's step number `step`, from 1.
inline double adam_rate(double learning_rate, double beta_1, double beta_2, double step) {
  return learning_rate * std::sqrt(1 - std::pow(beta_2, step)) / (1 - std::pow(beta_1, step));
}

}  // namespace ktape::kernels
