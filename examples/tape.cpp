// The tape: every op runs at once and records its backward closure, so gradients are values like any others.
// Expect the derivatives of three functions to agree with calculus to six digits.
// One seed gives one result, with any number of threads.
// Try next: a third derivative; K::stop_gradient inside a product; ktape::custom_gradient;
// `dot -Tsvg tape.dot > tape.svg` draws the graph that --out writes.
#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using ktape::Tensor, ktape::Variable;

/// Returns the largest absolute difference of two tensors, the error of a derivative against calculus.
static double largest_difference(const Tensor& a, const Tensor& b) {
  return K::max(K::abs(a - b)).item<double>();
}

/// Differentiates three functions whose derivatives are known. With float64 as `floatx` the errors are
/// those of rounding, about 1e-15; float32 would leave 1e-7.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv);
  K::set_random_seed(run.seed);
  K::set_floatx("float64");

  // First order. The loss is a tensor whose history is on the tape; `K::gradients` walks the history back
  // and returns a slope for each variable, of the variable's shape.
  Variable w = K::random_normal({3}), x = K::random_normal({3});
  Tensor loss = K::sum(K::square(w) * K::exp(x));
  std::vector<Tensor> slopes = K::gradients(loss, {w, x});
  const double first = std::max(largest_difference(slopes[0], 2.0 * w * K::exp(x)),
                                largest_difference(slopes[1], K::square(w) * K::exp(x)));
  std::printf("d/dw, d/dx of sum(w^2 e^x)         error %.1e\n", first);

  // Second order. The ops of a gradient are recorded, too, so a gradient can be differentiated again. The
  // gradient of a tensor is that of its sum; each element of the sine depends on its own t only, so the
  // slopes are those of the single elements.
  Variable t = K::cast(K::arange(-3.0, 3.0, 0.05), "float64");
  Tensor sine = K::sin(t);
  Tensor velocity = K::gradients(sine, {t})[0];
  Tensor acceleration = K::gradients(velocity, {t})[0];
  const double second = largest_difference(acceleration, -sine);
  std::printf("d2/dt2 of sin(t)                   error %.1e\n", second);

  // Hessian times vector v without the Hessian: the gradient of (gradient' v). For f(u) = u' A u the
  // product is (A + A') v. Two gradients suffice for any number of weights, while the whole Hessian needs a
  // gradient for each weight.
  Variable u = K::random_normal({4, 1});
  const Tensor A = K::random_normal({4, 4}), v = K::random_normal({4, 1});
  Tensor gradient = K::gradients(K::sum(u * K::dot(A, u)), {u})[0];
  Tensor product = K::gradients(K::sum(gradient * v), {u})[0];
  const double hessian = largest_difference(product, K::dot(A + K::transpose(A), v));
  std::printf("Hessian times vector of u'Au       error %.1e\n", hessian);

  // An op stays on the tape as long as a tensor could be differentiated through the op, so the list shows
  // the ops of all tensors above.
  std::printf("\n%s\n", ktape::tape().summary().c_str());

  // The tape as a graph in the language of Graphviz, and the three curves: sin, cos and -sin.
  if (!run.out.empty()) {
    std::ofstream(run.out + "/tape.dot") << ktape::tape().graphviz();
    plot::lines({{"sin", sine, t}, {"its slope", velocity, t}, {"the slope of that", acceleration, t}},
                {.title = "A function and its first two derivatives",
                 .x = {.label = "t"},
                 .horizontal = {{0, "", "solid"}}})
        .save(run.out + "/derivatives.svg");
  }

  // Results own their history. Once the last tensor of a computation is gone, the ops leave the tape, and
  // training needs no call that clears the tape.
  const std::size_t held = ktape::tape().size();
  loss = sine = velocity = acceleration = gradient = product = Tensor();
  slopes.clear();
  std::printf("ops on the tape: %zu, and %zu once nobody holds the results\n", held, ktape::tape().size());

  // Derivatives on a tape differ from calculus only by rounding, so the bound is far above the errors.
  const double error = std::max({first, second, hessian}), expected = 1e-6;
  std::printf("largest error of a derivative: %.1e (expected: %.0e or less)\n", error, expected);
  return error <= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "tape: %s\n", error.what());
  return 1;
}
