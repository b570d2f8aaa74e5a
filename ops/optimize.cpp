#include <ktape/autograd/arguments.hpp>
#include <ktape/autograd/dispatch.hpp>
#include <ktape/ops/kernels/map.hpp>
#include <ktape/ops/optimize.hpp>

#include <cmath>

namespace ktape::backend {
namespace {

void check_like(const Variable& x, const char* name, const Tensor& other) {
  if (other.shape() != x.shape())
    fail("[adam_update] ", name, " must have the shape ", x.shape(), " of '", x.name(), "': received ", name,
         "=", other.shape());
  if (other.dtype() != x.dtype())
    fail<TypeError>("[adam_update] ", name, " must have the dtype ", x.dtype(), " of '", x.name(),
                    "': received ", name, "=", other.dtype());
}

template <class T>
struct AdamStep {
  using C = kernels::compute_t<T>;
  C rate, beta1, beta2, epsilon;

  void operator()(std::int64_t begin, std::int64_t end, T* x, T* m, T* v, const T* x0, const T* m0,
                  const T* v0, const T* gradient) const {
    using kernels::load_batch, kernels::store_batch;
    for (std::int64_t i = begin; i < end; i += kernels::width<T>) {
      const auto g = load_batch(gradient + i);
      const auto mean = beta1 * load_batch(m0 + i) + (1 - beta1) * g;
      const auto square = beta2 * load_batch(v0 + i) + (1 - beta2) * g * g;
      store_batch(m + i, mean);
      store_batch(v + i, square);
      store_batch(x + i,
                  kernels::batch_t<T>(load_batch(x0 + i) - rate * mean / (xsimd::sqrt(square) + epsilon)));
    }
  }
};

}  // namespace

void adam_update(Assignable x, const Tensor& gradient, Assignable m, Assignable v, std::int64_t step,
                 const AdamOptions& options) {
  expect_defined("adam_update", "gradient", gradient);
  expect_value("adam_update", gradient);
  check_like(x, "gradient", gradient);
  check_like(x, "m", m.value());
  check_like(x, "v", v.value());
  if (!x.dtype().is_floating())
    fail<TypeError>("[adam_update] x must be floating: received dtype=", x.dtype());
  if (x.is(m) || x.is(v) || m.is(v))
    fail("[adam_update] x, m and v must be three variables: received '", x.name(), "', '", m.name(),
         "' and '", v.name(), "', two of which are one");
  if (step < 1) fail("[adam_update] step must be at least 1: received step=", step);
  for (double beta : {options.beta_1, options.beta_2})
    if (!(beta >= 0 && beta < 1)) fail("[adam_update] a beta must be in [0, 1): received beta=", beta);
  const double t = static_cast<double>(step);
  const double rate =
      options.learning_rate * std::sqrt(1 - std::pow(options.beta_2, t)) / (1 - std::pow(options.beta_1, t));
  dispatch_floating(x.dtype(), [&]<class T>() {
    using C = kernels::compute_t<T>;
    const AdamStep<T> update{C(rate), C(options.beta_1), C(options.beta_2), C(options.epsilon)};
    const T* g = gradient.pointer<T>();
    x.modify([&](void* x1, const void* x0) {
      m.modify([&](void* m1, const void* m0) {
        v.modify([&](void* v1, const void* v0) {
          const auto to = [](void* p) { return static_cast<T*>(p); };
          const auto from = [](const void* p) { return static_cast<const T*>(p); };
          parallel_for(x.size(), kernels::map_grain, [&](std::int64_t begin, std::int64_t end) {
            update(begin, end, to(x1), to(m1), to(v1), from(x0), from(m0), from(v0), g);
          });
        });
      });
    });
  });
}

}  // namespace ktape::backend
