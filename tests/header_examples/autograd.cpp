#include "header_examples.hpp"

namespace {

[[maybe_unused]] void derivatives(const Tensor& x, Tensor velocity, const std::vector<Tensor>& grads) {
  using backend::square;
  GradientTape tape;
  tape.jacobian(x * x, x), tape.batch_jacobian(square(x), x);
  velocity = 0.9f * velocity + grads[0];
  auto reverse = custom_gradient([](const Tensor& x) {
    return std::pair{x * 1.f, [](const Tensor& dy) { return dy * -1.f; }};
  });
  const auto f = [](const Tensor& x, const Tensor& w) { return x * w; };
  auto checkpoint = custom_gradient([f](const Tensor& x, const Tensor& w) {
    return std::pair{f(x, w), [f, x, w](const Tensor& dy) { return gradients(f(x, w), {x, w}, {dy}); }};
  });
}

[[maybe_unused]] void number_of_threads() {
  namespace K = backend;
  K::set_num_threads(1);
  CHECK(K::num_threads() == 1);
}

struct Groups {
  Groups(const char*, const Tensor& x, const Axes&, bool) : shape(x.shape()) {}
  Shape shape;
};

void expect_number(const char*, const Tensor&) {}

[[maybe_unused]] Tensor sum(const Tensor& x, const Axes& axis, bool keepdims) {
  expect_number("sum", x);
  const Groups groups("sum", x, axis, keepdims);
  if (is_symbolic(x)) return defer("sum", {groups.shape, x.dtype()}, sum, x, axis, keepdims);
  return x;
}

[[maybe_unused]] void recorded(const Tensor& x, const Tensor& y, Tensor& out) {
  if (recording(x, y))
    record("multiply", out, {x, y}, [x, y](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return g * y; });
      grads.to(1, [&] { return g * x; });
    });
}

}  // namespace
