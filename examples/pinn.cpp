// A physics-informed network solves the heat equation du/dt = a d2u/dx2. The loss is the residual of the
// equation, with derivatives of the network with respect to its inputs, and the error of the temperatures at
// the start.
// Expect a relative error of 0.02 at most against the exact solution, exp(-a pi^2 t) sin(pi x).
// One seed gives one result, with any number of threads.
// Try next: a start of sin(3 pi x), which cools nine times as fast; Burgers' equation, with u du/dx on the
// left; a as a Variable, learned from some temperatures. `--out FOLDER` draws both solutions.
#include <ktape/ktape.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using ktape::Tensor, ktape::Variable;

/// The constants of the problem; the rod has the length 1.
static constexpr double pi = 3.14159265358979, conductivity = 0.2;

/// Returns the exact solution, a sine that fades. Its values at t = 0 are the start; later ones are for the
/// test alone.
static Tensor exact(const Tensor& x, const Tensor& t) {
  return K::exp(-conductivity * pi * pi * t) * K::sin(pi * x);
}

/// Returns the network (x, t) -> a number. The activation must be smooth: the second derivative of a ReLU
/// network is 0 wherever it exists, which leaves no curvature to learn. All layers stay float32 under a mixed
/// policy: derivatives of second order lose the digits that 16 bits lack.
static nn::Sequential perceptron() {
  return nn::Sequential({
      nn::Input({2}),
      nn::Dense(24, {.activation = "tanh", .dtype = "float32"}),
      nn::Dense(24, {.activation = "tanh", .dtype = "float32"}),
      nn::Dense(24, {.activation = "tanh", .dtype = "float32"}),
      nn::Dense(1, {.dtype = "float32"}),
  });
}

/// Trains without data: the loss asks only whether the network obeys the equation.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 3000, .quick_epochs = 500});
  K::set_random_seed(run.seed);

  // u(x, t) for x and t from 0 to 1. The factor x (1 - x) keeps the ends of the rod at 0, so the boundary
  // needs no term of the loss.
  const nn::Sequential network = perceptron();
  const auto u = [&](const Tensor& x, const Tensor& t) {
    return x * (1.0 - x) * network(K::concatenate({x, t}, 1));
  };

  // Each step draws random points in space and time. K::gradients gives du/dx and du/dt, and once more
  // d2u/dx2; the weights then get the gradient of all that, a third derivative. The start weighs ten times
  // as much as the equation, which has many solutions, the zero function among them.
  const std::int64_t points = 128;
  const std::vector<Variable> weights = network.trainable_weights();
  const nn::Adam adam({.learning_rate = nn::CosineDecay(0.005, run.epochs)});
  for (int step = 1; step <= run.epochs; ++step) {
    Variable x = K::random_uniform({points, 1}), t = K::random_uniform({points, 1});
    const Tensor value = u(x, t);
    const std::vector<Tensor> slopes = K::gradients(value, {x, t});
    const Tensor curvature = K::gradients(slopes[0], {x})[0];
    const Tensor physics = K::mean(K::square(slopes[1] - conductivity * curvature));

    const Tensor start = K::random_uniform({points, 1}), zero = K::zeros({points, 1});
    const Tensor beginning = K::mean(K::square(u(start, zero) - exact(start, zero)));

    const Tensor loss = physics + 10.0 * beginning;
    adam.minimize(loss, weights);
    if (step % std::max(1, run.epochs / 10) == 0)
      std::printf("step %4d  equation %.2e  start %.2e\n", step, physics.item<double>(),
                  beginning.item<double>());
  }

  // Both solutions on a grid, a row for each time. Nothing is differentiated from here on, so `NoGrad`
  // keeps the ops off the tape.
  const std::int64_t grid = 41;
  const Tensor line = K::cast(K::arange(0, grid), "float32") / static_cast<float>(grid - 1);
  const Tensor x = K::reshape(K::tile(line, grid), {-1, 1}),
               t = K::reshape(K::repeat_elements(line, grid, 0), {-1, 1});
  const ktape::NoGrad off;
  const Tensor found = u(x, t), truth = exact(x, t);

  // The temperature of the rod over place and time, and four moments beside the exact solution.
  if (!run.out.empty()) {
    plot::heat_map(K::reshape(found, {grid, grid}), {.title = "Temperature of the rod",
                                                     .x_label = "place",
                                                     .y_label = "time",
                                                     .annotate = false,
                                                     .colors = "magma"})
        .save(run.out + "/heat.svg");
    std::vector<plot::Series> moments;
    for (const std::int64_t row : {0, 10, 20, 40}) {
      const std::string name = "t = " + std::to_string(row / 10) + "/4";
      const int color = static_cast<int>(moments.size() / 2);
      moments.push_back(
          {.name = name, .y = K::reshape(found, {grid, grid})[{row}], .x = line, .color = color});
      moments.push_back({.name = name + ", exact",
                         .y = K::reshape(truth, {grid, grid})[{row}],
                         .x = line,
                         .line = "dotted",
                         .marker = "none",
                         .color = color + 4});
    }
    plot::lines(moments, {.title = "The rod cools", .x = {.label = "x"}, .y = {.label = "u"}})
        .save(run.out + "/moments.svg");
  }

  // The relative error in the L2 norm: |found - truth| / |truth| over the grid.
  const double error = K::norm(found - truth).item<double>() / K::norm(truth).item<double>();
  const double expected = run.quick ? 0.1 : 0.02;
  std::printf("relative error of the solution: %.4f (expected: %.2f or less)\n", error, expected);
  return error <= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "pinn: %s\n", error.what());
  return 1;
}
