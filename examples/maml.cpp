// Model-agnostic meta-learning: finds weights from which one step of gradient descent learns a new task, here
// a sine of random height and phase from ten points. The outer gradient goes through the inner step, so
// second-order gradients are needed.
// Expect a squared error below 1 after one step on a new sine; from ordinary weights the error stays above 2.
// Try next: K::stop_gradient around the inner gradients (first-order MAML); five points; more inner steps.
// `--out FOLDER` draws a new sine before and after the step.
#include <ktape/ktape.hpp>

#include <algorithm>
#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using ktape::Tensor, ktape::Variable;

/// A task: a sine of random height and phase. No single curve fits all tasks, so ordinary training can only
/// find their mean, a flatter wave.
struct Task {
  float height, phase;
  Task()
      : height(K::random_uniform({}, {.minval = 0.1, .maxval = 5}).item()),
        phase(K::random_uniform({}, {.maxval = 3.14159}).item()) {}
  Tensor operator()(const Tensor& x) const { return height * K::sin(x + phase); }
};

/// Returns n random places from -5 to 5, (n, 1).
static Tensor points(std::int64_t n) { return K::random_uniform({n, 1}, {.minval = -5, .maxval = 5}); }

/// Computes the outputs of a network from its weights: kernel, bias, kernel, bias, ... A layer holds
/// variables, but here weights are values that depend on other weights, so the network is a function of
/// both.
static Tensor network(Tensor x, const std::vector<Tensor>& weights) {
  for (std::size_t i = 0; i < weights.size(); i += 2) {
    x = K::bias_add(K::dot(x, weights[i]), weights[i + 1]);
    if (i + 2 < weights.size()) x = K::relu(x);
  }
  return x;
}

/// Returns the squared error of the network with these weights on a task.
static Tensor error(const Task& task, const Tensor& x, const std::vector<Tensor>& weights) {
  return K::mean(K::square(network(x, weights) - task(x)));
}

/// Returns the weights after steps of gradient descent on a task, differentiable in the initial weights:
/// weights - 0.01 * slopes is an expression on the tape, not an update in place.
static std::vector<Tensor> adapted(const Task& task, const Tensor& x, std::vector<Tensor> weights,
                                   int steps) {
  for (int step = 0; step < steps; ++step) {
    const std::vector<Tensor> slopes = K::gradients(error(task, x, weights), weights);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = weights[i] - 0.01f * slopes[i];
  }
  return weights;
}

/// Minimizes the error over many tasks after `inner_steps` steps of adaptation; 0 is ordinary training. The
/// error is measured at points other than those of the adaptation, so the weights learn to generalize from
/// ten points.
static std::vector<Variable> learned(int epochs, int inner_steps) {
  std::vector<Variable> weights;
  const std::int64_t sizes[] = {1, 40, 40, 1};
  for (int i = 0; i < 3; ++i) {
    weights.push_back(Variable(nn::GlorotUniform()({sizes[i], sizes[i + 1]})));
    weights.push_back(K::zeros({sizes[i + 1]}));
  }

  // The inner steps are plain gradient descent, the outer step is Adam's, with the mean gradient of ten
  // tasks.
  const nn::Adam adam(0.003);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const std::vector<Tensor> now(weights.begin(), weights.end());
    Tensor loss = K::zeros({});
    for (int i = 0; i < 10; ++i) {
      const Task task;
      loss = loss + error(task, points(10), adapted(task, points(10), now, inner_steps)) / 10.f;
    }
    adam.minimize(loss, weights);
    if (epoch % std::max(1, epochs / 5) == 0)
      std::printf("%d inner steps, epoch %4d  error %.3f\n", inner_steps, epoch, loss.item<double>());
  }
  return weights;
}

/// Returns the mean error on 100 new tasks after one step of adaptation to ten points each.
static double error_after_a_step(const std::vector<Variable>& weights) {
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    const Task task;
    const std::vector<Tensor> now(weights.begin(), weights.end());
    sum += error(task, points(100), adapted(task, points(10), now, 1)).item<double>() / 100;
  }
  return sum;
}

/// Learns weights twice, for the mean of all tasks and for fast adaptation, and gives both the same single
/// step.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 3000, .quick_epochs = 300});
  K::set_random_seed(run.seed);

  // The meta-learned weights need not be good for any task; their worth is the slope that leads from them
  // to every task.
  const std::vector<Variable> ordinary = learned(run.epochs / 2, 0), meta = learned(run.epochs, 1);

  // A new sine, and the network before the step, after the step and after ten. Do more steps than trained
  // for still help?
  if (!run.out.empty()) {
    const Task task;
    const Tensor line = K::reshape(K::arange(-5.f, 5.f, 0.1f), {-1, 1}), x = points(10);
    const std::vector<Tensor> now(meta.begin(), meta.end());
    plot::lines({{"the new sine", task(line), line},
                 {"before", network(line, now), line},
                 {"after one step", network(line, adapted(task, x, now, 1)), line},
                 {"after ten steps", network(line, adapted(task, x, now, 10)), line}},
                {.title = "A sine from ten points", .x = {.label = "x"}, .y = {.label = "y"}})
        .save(run.out + "/sine.svg");
  }

  // New tasks for both, so the comparison is about learning, not about memory.
  const double plain = error_after_a_step(ordinary), value = error_after_a_step(meta);
  const double expected = run.quick ? 3 : 1;
  std::printf("squared error after one step, from ordinary weights: %.3f\n", plain);
  std::printf("squared error after one step, from meta-learned weights: %.3f (expected: %.1f or less)\n",
              value, expected);
  return value <= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "maml: %s\n", error.what());
  return 1;
}
