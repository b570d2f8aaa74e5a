// Deep Q-learning on CartPole: a network learns the value of each push (left or right) in a state, from a
// replay memory of past steps; the agent takes the push of higher value.
// Later training can make a good policy worse, so the program keeps the network with the best test.
// Expect 180 of 200 steps, on average over 20 unseen starts.
// Try next: no target network; double DQN, where the online network chooses the best next action; a reward
// for the middle of the track. actor_critic.cpp learns this task without a memory.
#include <ktape/ktape.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <random>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

/// The generator of random numbers of the simulation; tensors have their own, and main seeds both.
static std::mt19937 random_numbers;

/// The cart-pole simulation of Barto, Sutton and Anderson, as in OpenAI's gym. The equations of motion are
/// stepped by Euler's method; a game ends when the cart leaves the track, the pole leans by more than 12
/// degrees, or 200 steps are done.
struct CartPole {
  /// Position and speed of the cart, angle and angular speed of the pole.
  using State = std::array<float, 4>;
  State state;
  int steps = 0;

  CartPole() {
    std::uniform_real_distribution<float> start(-0.05f, 0.05f);
    for (float& s : state) s = start(random_numbers);
  }
  /// Advances by 0.02 s with a push to the left (0) or right (1).
  void push(int direction) {
    auto& [x, dx, angle, turn] = state;
    const float force = direction == 1 ? 10.f : -10.f, c = std::cos(angle), s = std::sin(angle), dt = 0.02f;
    const float pull =
        (force + 0.05f * turn * turn * s) / 1.1f;  // pole: 0.1 kg, 0.5 m to its middle; cart: 1 kg
    const float swing = (9.8f * s - c * pull) / (0.5f * (4.f / 3 - 0.1f * c * c / 1.1f));
    const float push = pull - 0.05f * swing * c / 1.1f;
    x += dt * dx, dx += dt * push, angle += dt * turn, turn += dt * swing;
    ++steps;
  }
  bool fallen() const { return std::abs(state[0]) > 2.4f || std::abs(state[2]) > 0.2095f; }
  bool over() const { return fallen() || steps == 200; }
};

/// A step of a game as the memory keeps it: states before and after, the push, and whether the pole fell.
struct Step {
  CartPole::State before, after = {};
  int push = 0;
  bool fallen = false;
};

/// Returns states as a batch, (n, 4).
static Tensor rows(const std::vector<CartPole::State>& states) {
  return Tensor::from_buffer(states.data(), states.size() * sizeof(CartPole::State), {std::ssize(states), 4},
                             "float32");
}

/// Returns the push of higher value. Playing needs no gradients, so nothing is recorded.
static int best_push(const nn::Model& network, const CartPole& game) {
  const ktape::NoGrad off;
  return K::argmax(network(rows({game.state}))).item<int>();
}

/// Returns the mean number of steps of games that the network plays.
static double played(const nn::Model& network, int games) {
  double sum = 0;
  for (int i = 0; i < games; ++i) {
    CartPole game;
    while (!game.over()) game.push(best_push(network, game));
    sum += game.steps;
  }
  return sum / games;
}

/// Returns the network state -> the value of either push: a single pass gives both, where a network of
/// (state, push) would need two. Values stay float32 under a mixed policy: up to 100, they differ by little.
static nn::Sequential worth() {
  return nn::Sequential({nn::Input({4}), nn::Dense(64, {.activation = "relu"}),
                         nn::Dense(64, {.activation = "relu"}), nn::Dense(2, {.dtype = "float32"})});
}

/// Does a step of gradient descent on 64 random steps of the memory. The target value of a push is the
/// reward, 1, plus 0.99 times the value of the best push in the next state (nothing after a fall). Random
/// steps of many games are nearly independent, unlike consecutive ones. The one-hot product picks the value
/// of the push that was done, and the Huber loss limits the effect of wild targets.
static void learn(const nn::Model& online, const nn::Model& target, const nn::Optimizer& optimizer,
                  const std::deque<Step>& memory) {
  std::vector<CartPole::State> before, after;
  std::vector<int> pushes;
  std::vector<float> goes_on;
  for (int i = 0; i < 64; ++i) {
    const Step& step =
        memory[std::uniform_int_distribution<std::size_t>(0, memory.size() - 1)(random_numbers)];
    before.push_back(step.before), after.push_back(step.after);
    pushes.push_back(step.push), goes_on.push_back(step.fallen ? 0.f : 1.f);
  }
  const Tensor goal = K::stop_gradient(1.f + 0.99f * K::constant(goes_on) * K::max(target(rows(after)), -1));
  const Tensor chosen = K::sum(online(rows(before)) * K::one_hot(pushes, 2), -1);
  optimizer.minimize(K::mean(nn::losses::huber(K::expand_dims(goal), K::expand_dims(chosen))),
                     online.trainable_weights());
}

/// Trains by playing: data come from the network's own games, so better play gives better data.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 500, .quick_epochs = 200});
  K::set_random_seed(run.seed);
  random_numbers.seed(static_cast<unsigned>(run.seed));

  // The target network is a copy that follows every 200 steps. Without the copy, each update would move its
  // own target.
  const nn::Sequential online = worth(), target = worth();
  const nn::Adam adam(0.0005);
  std::deque<Step> memory;
  std::int64_t steps = 0;
  std::vector<double> lengths;
  auto best_weights = online.get_weights();
  double best = 0;

  // At first all pushes are random, later 2 %: without random pushes the network would see only states to
  // which the pushes of the network lead. Every few episodes a test keeps the best network so far, because
  // later training can spoil a good policy.
  for (int episode = 0; episode < run.epochs; ++episode) {
    const double curious = std::max(0.02, 1 - 3.0 * episode / run.epochs);  // probability of a random push
    CartPole game;
    while (!game.over()) {
      Step step{.before = game.state};
      step.push = std::bernoulli_distribution(curious)(random_numbers)
                      ? std::bernoulli_distribution()(random_numbers)
                      : best_push(online, game);
      game.push(step.push);
      step.after = game.state, step.fallen = game.fallen();
      memory.push_back(step);
      if (memory.size() > 20000) memory.pop_front();
      if (memory.size() >= 500) learn(online, target, adam, memory);
      if (steps++ % 200 == 0) target.set_weights(online.get_weights());
    }
    lengths.push_back(game.steps);
    if ((episode + 1) % 20 == 0)
      if (const double tested = played(online, 20); tested > best)
        best = tested, best_weights = online.get_weights();
    if ((episode + 1) % std::max(1, run.epochs / 10) == 0)
      std::printf("episode %3d  %3d steps\n", episode + 1, game.steps);
  }

  // The best network plays 20 new games, without random pushes.
  online.set_weights(best_weights);
  const double mean = played(online, 20);
  if (!run.out.empty())
    ktape::plot::lines(lengths,
                       {.title = "Steps in balance", .x = {.label = "episode"}, .y = {.label = "steps"}})
        .save(run.out + "/steps.svg");

  // Pushes at random keep the pole up for about 20 steps.
  const double expected = run.quick ? 40 : 180;
  std::printf("steps in balance: %.1f of 200 (expected: %.0f or more)\n", mean, expected);
  return mean >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "dqn: %s\n", error.what());
  return 1;
}
