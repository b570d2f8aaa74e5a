#pragma once
#include <ktape/autograd/base/dispatch.hpp>
#include <ktape/autograd/base/memory.hpp>
#include <ktape/autograd/variable.hpp>
#include <ktape/ops/half_precision.hpp>
#include <ktape/ops/kernels/copy/gather_scatter.hpp>
#include <ktape/ops/kernels/elementwise/elementwise.hpp>
#include <ktape/ops/kernels/parallel/parallel_rows.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

/// The steps of optimizers: one pass, in place, over a variable, its gradient and its optimizer state.
namespace ktape::op_helpers {

/// The preparation of an update: the gradient is multiplied by `scale`, then clipped to between -bound and
/// bound; the variable is multiplied by `keep`.
struct Preparation {
  double scale = 1;
  double bound = std::numeric_limits<double>::infinity();
  double keep = 1;
  /// The rows (int64, each once) of the variable, slices along axis 0, that the gradient has; undefined: all
  /// rows. The gradient of other rows is 0; these rows change only with `all_rows`.
  Tensor rows = {};
  bool all_rows = false;
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
  using B = kernels::Batch<T>;
  const B scale(static_cast<T>(how.scale)), keep(static_cast<T>(how.keep)), bound(static_cast<T>(how.bound));
  const bool clips = std::isfinite(how.bound);
  for (std::int64_t i = begin; i < end; i += kernels::lanes<T>) {
    B g = B(kernels::load(at.gradient + i)) * scale;
    if (clips) g = xsimd::select(g > bound, bound, xsimd::select(g < -bound, -bound, g));
    std::array<B, N> state;
    for (std::size_t k = 0; k < N; ++k) state[k] = kernels::load(at.old_state[k] + i);
    const B x = step(B(kernels::load(at.old_x + i)) * keep, g, state);
    for (std::size_t k = 0; k < N; ++k) kernels::store<T>(at.state[k] + i, state[k]);
    kernels::store<T>(at.x + i, x);
  }
}

/// The elements of a variable as T while they change: in place, or for half precision in a copy that is rounded
/// at the end.
template <class T>
class ChangingElements {
 public:
  ChangingElements(const Variable& x, void* to, const void* from)
      : dtype_(x.dtype()),
        size_(x.size()),
        memory_(to),
        to_(static_cast<T*>(to)),
        from_(static_cast<const T*>(from)) {
    if (!dtype_.is_half()) return;
    copy_.resize(
        static_cast<std::size_t>(size_ + kernels::lanes<T>));  // vectors may end after the last element
    convert(copy_.data(), dtype_of<T>(), from, dtype_, size_);
    from_ = to_ = copy_.data();
  }
  ~ChangingElements() {
    if (dtype_.is_half()) convert(memory_, dtype_, copy_.data(), dtype_of<T>(), size_);
  }
  ChangingElements(const ChangingElements&) = delete;
  T* to() const { return to_; }
  const T* from() const { return from_; }

 private:
  DType dtype_;
  std::int64_t size_;
  void* memory_;
  T* to_;
  const T* from_;
  WorkVector<T> copy_;
};

/// Calls f with the memory of the state variables from `k` on, opened one inside the other.
template <class T, std::size_t N, class F>
void open_state(std::span<const Variable> variables, UpdateArrays<T, N>& at, std::size_t k, const F& f) {
  if (k == N) return f();
  Variable variable = variables[k];
  variable.modify([&](void* to, const void* from) {
    const ChangingElements<T> elements(variable, to, from);
    at.state[k] = elements.to();
    at.old_state[k] = elements.from();
    open_state(variables, at, k + 1, f);
  });
}

/// Returns the arrays of variable and states from an element on, with another gradient.
template <class T, std::size_t N>
UpdateArrays<T, N> from_element(std::int64_t first, const UpdateArrays<T, N>& at, const T* gradient) {
  UpdateArrays<T, N> rest{at.x + first, at.old_x + first, gradient, {}, {}};
  for (std::size_t k = 0; k < N; ++k)
    rest.state[k] = at.state[k] + first, rest.old_state[k] = at.old_state[k] + first;
  return rest;
}

/// Updates a row of any length: the elements that fill no vector are updated in copies.
template <class T, std::size_t N, class Step>
void update_row(std::int64_t count, const UpdateArrays<T, N>& at, const Preparation& how, const Step& step) {
  const std::int64_t whole = count / kernels::lanes<T> * kernels::lanes<T>, rest = count - whole;
  update_range(0, whole, at, how, step);
  if (rest == 0) return;
  T x[kernels::lanes<T>] = {}, gradient[kernels::lanes<T>] = {}, state[N + 1][kernels::lanes<T>] = {};
  UpdateArrays<T, N> copies{x, x, gradient, {}, {}};
  std::copy_n(at.old_x + whole, rest, x);
  std::copy_n(at.gradient + whole, rest, gradient);
  for (std::size_t k = 0; k < N; ++k) {
    std::copy_n(at.old_state[k] + whole, rest, state[k]);
    copies.old_state[k] = copies.state[k] = state[k];
  }
  update_range(0, rest, copies, how, step);
  std::copy_n(x, rest, at.x + whole);
  for (std::size_t k = 0; k < N; ++k) std::copy_n(state[k], rest, at.state[k] + whole);
}

/// Updates the rows of `count` elements that the gradient has.
template <class T, std::size_t N, class Step>
void update_some_rows(std::int64_t size, std::int64_t count, UpdateArrays<T, N> at, const Preparation& how,
                      const Step& step) {
  const auto bring_along = [size](T* to, const T*& from) {
    if (to != from) std::copy_n(from, size, to);
    from = to;
  };
  bring_along(at.x, at.old_x);
  for (std::size_t k = 0; k < N; ++k) bring_along(at.state[k], at.old_state[k]);
  const std::int64_t* const rows = how.rows.pointer<std::int64_t>();
  kernels::parallel_rows(how.rows.size(), count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      update_row(count, from_element(rows[i] * count, at, at.gradient + i * count), how, step);
  });
}

/// Updates all rows; rows without a gradient are updated with a gradient of 0.
template <class T, std::size_t N, class Step>
void update_all_rows(std::int64_t size, std::int64_t count, const UpdateArrays<T, N>& at,
                     const Preparation& how, const Step& step) {
  if (size == 0) return;
  const std::vector<T> zeros(static_cast<std::size_t>(count), T(0));
  std::vector<const T*> gradients(static_cast<std::size_t>(size / count), zeros.data());
  for (std::int64_t i = 0; i < how.rows.size(); ++i)
    gradients[static_cast<std::size_t>(how.rows.pointer<std::int64_t>()[i])] = at.gradient + i * count;
  kernels::parallel_rows(size / count, count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      update_row(count, from_element(row * count, at, gradients[static_cast<std::size_t>(row)]), how, step);
  });
}

/// Updates whole variables of one floating dtype and size, split over the threads. `step` is a generic
/// lambda (x, gradient, state) on vectors, which returns the new x.
template <std::size_t N, class Step>
void update(Variable x, const Tensor& gradient, std::span<const Variable> state, const Preparation& how,
            const Step& step) {
  const Tensor slopes = widened(gradient);
  dispatch_native_floating(slopes.dtype(), [&]<class T>() {
    x.modify([&](void* to, const void* from) {
      const ChangingElements<T> elements(x, to, from);
      UpdateArrays<T, N> at{elements.to(), elements.from(), slopes.pointer<T>(), {}, {}};
      open_state(state, at, 0, [&] {
        if (how.rows.defined())
          return how.all_rows ? update_all_rows(x.size(), x.shape().count(1), at, how, step)
                              : update_some_rows(x.size(), x.shape().count(1), at, how, step);
        parallel_for(x.size(), kernels::map_grain,
                     [&](std::int64_t begin, std::int64_t end) { update_range(begin, end, at, how, step); });
      });
    });
  });
}

/// Adam: state m and v; `rate` includes the bias correction.
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

/// Returns the learning rate with the bias correction of Adam's step number `step`, from 1.
inline double adam_rate(double learning_rate, double beta_1, double beta_2, double step) {
  return learning_rate * std::sqrt(1 - std::pow(beta_2, step)) / (1 - std::pow(beta_1, step));
}

/// Adds values[i] to sum[rows[i]] for i < count. No other tensor may share the memory of `sum`.
inline void add_rows(const Tensor& sum, const std::int64_t* rows, const Tensor& values, std::int64_t count) {
  if (values.size() == 0) return;
  const Tensor sums = widened(sum), terms = widened(values);
  dispatch_native_floating(sums.dtype(), [&]<class T>() {
    kernels::scatter_add_rows(sums.pointer<T>(), rows, terms.pointer<T>(), 1, sum.shape()[0], count,
                              values.size() / count);
  });
  if (sum.dtype().is_half()) convert(sum.raw(), sum.dtype(), sums.raw(), sums.dtype(), sum.size());
}

}  // namespace ktape::op_helpers
