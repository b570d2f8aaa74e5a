// A neural ordinary differential equation: a network gives the velocity dy/dt = f(y), the Runge-Kutta method
// integrates it, and gradients flow back through all steps. The network learns a spiral from short pieces.
// Expect the whole spiral, computed from its start, within 0.2 of the true spiral on average.
// Try next: Euler's method in place of Runge-Kutta; a pendulum; an f that depends on t, too. `--out FOLDER`
// draws both spirals.
#include <ktape/ktape.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using ktape::All, ktape::Tensor;

/// The right side of dy/dt = f(y), for points (n, 2): either the truth or a network.
using Velocity = std::function<Tensor(const Tensor&)>;

/// Returns the positions at 0, dt, 2 dt, ..., (steps + 1, n, 2), by the Runge-Kutta method. Every op is on
/// the tape, so the gradient of a position reaches the weights of f through all steps before; the solver
/// needs no adjoint equation.
static Tensor path(const Velocity& f, Tensor y, int steps, float dt) {
  std::vector<Tensor> places{y};
  for (int i = 0; i < steps; ++i) {
    const Tensor k1 = f(y), k2 = f(y + 0.5f * dt * k1), k3 = f(y + 0.5f * dt * k2), k4 = f(y + dt * k3);
    y = y + dt / 6 * (k1 + 2.f * k2 + 2.f * k3 + k4);
    places.push_back(y);
  }
  return K::stack(places);
}

/// Returns the network point -> velocity. The activation is smooth, since the accuracy of the Runge-Kutta
/// method (errors of order dt^4) needs a smooth f.
static nn::Sequential velocity() {
  return nn::Sequential(
      {nn::Input({2}), nn::Dense(50, {.activation = "tanh"}), nn::Dense(2, {.dtype = "float32"})});
}

/// Learns an equation from its solution: velocities are never shown, only positions.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 4000, .quick_epochs = 400});
  K::set_random_seed(run.seed);

  // The true spiral: dy/dt = y^3 A, from (2, 0), at 400 steps. The solver that computes the truth is the
  // solver of the training.
  const Tensor A = K::constant({{-0.1f, 2.f}, {-2.f, -0.1f}});
  const Velocity spiral = [&](const Tensor& y) { return K::dot(K::pow(y, 3), A); };
  const int moments = 400, piece = 10;
  const float dt = 10.f / moments;
  const Tensor begin = K::constant({{2.f, 0.f}});
  const Tensor truth = K::squeeze(path(spiral, begin, moments, dt), 1);

  // The network gets y^3, which makes the task easy: a linear map would do. Pieces of ten steps are enough
  // to learn from, while gradients through all 400 steps would be long and unstable. 64 pieces with random
  // starts run as a batch.
  const nn::Sequential network = velocity();
  const Velocity learned = [&](const Tensor& y) { return network(K::pow(y, 3)); };
  const nn::Adam adam({.learning_rate = nn::CosineDecay(0.01, run.epochs)});
  const auto weights = network.trainable_weights();
  for (int step = 1; step <= run.epochs; ++step) {
    const Tensor starts =
        K::cast(K::random_uniform({64}, {.maxval = static_cast<double>(moments - piece)}), "int32");
    std::vector<Tensor> true_places;
    for (int i = 0; i <= piece; ++i) true_places.push_back(K::gather(truth, starts + i));
    const Tensor loss =
        K::mean(K::square(path(learned, K::gather(truth, starts), piece, dt) - K::stack(true_places)));
    adam.minimize(loss, weights);
    if (step % std::max(1, run.epochs / 10) == 0)
      std::printf("step %4d  loss %.5f\n", step, loss.item<double>());
  }

  // The test is harder than the training: from the start alone, errors of 400 steps add up.
  const ktape::NoGrad off;
  const Tensor found = K::squeeze(path(learned, begin, moments, dt), 1);
  if (!run.out.empty())
    plot::lines({{"true", truth[{All, 1}], truth[{All, 0}]}, {"learned", found[{All, 1}], found[{All, 0}]}},
                {.title = "The spiral",
                 .x = {.label = "x"},
                 .y = {.label = "y"},
                 .width = 560,
                 .height = 560,
                 .equal = true})
        .save(run.out + "/spiral.svg");

  // The mean distance over all moments; the spiral begins with a radius of 2.
  const double distance = K::mean(K::norm(found - truth, -1)).item(), expected = run.quick ? 0.8 : 0.2;
  std::printf("mean distance from the true spiral: %.4f (expected: %.1f or less)\n", distance, expected);
  return distance <= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "neural_ode: %s\n", error.what());
  return 1;
}
