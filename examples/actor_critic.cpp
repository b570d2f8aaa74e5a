// Actor-critic on CartPole: the actor head of a network gives the probability of each push (left or right),
// the critic head the expected return. Pushes with a better return than expected become more likely.
// Expect 195 of 200 steps, on average over 20 unseen starts.
// Try next: no critic (only the return, REINFORCE); no entropy term; a discount of 0.9. dqn.cpp learns this
// task from the value of each push.
#include <ktape/ktape.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
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

/// The steps of some whole games: states, pushes, and the discounted return from each state on.
struct Experience {
  std::vector<CartPole::State> states;
  std::vector<int> pushes;
  std::vector<float> returns;
};

/// Returns states as a batch, (n, 4).
static Tensor rows(const std::vector<CartPole::State>& states) {
  return Tensor::from_buffer(states.data(), states.size() * sizeof(CartPole::State), {std::ssize(states), 4},
                             "float32");
}

/// Plays a game with pushes drawn from the actor, appends its steps to `seen` and returns their number.
/// Drawing explores on its own: an actor in doubt tries both pushes.
static int play(const nn::Model& network, Experience& seen) {
  const ktape::NoGrad off;
  CartPole game;
  while (!game.over()) {
    const float right = K::softmax(network.predict_on_batch({rows({game.state})})[0]).item(0, 1);
    seen.states.push_back(game.state);
    seen.pushes.push_back(std::bernoulli_distribution(right)(random_numbers));
    game.push(seen.pushes.back());
  }

  // The reward is 1 per step, discounted by 0.99, and summed backwards: return = 1 + 0.99 * next return. A
  // game that ends at 200 steps counts as endless, since a pole that still stands has a future; an endless
  // game has the return 1 / (1 - 0.99) = 100.
  float future = game.fallen() ? 0.f : 1 / (1 - 0.99f);
  seen.returns.resize(seen.states.size());
  for (int i = 1; i <= game.steps; ++i)
    seen.returns[seen.returns.size() - static_cast<std::size_t>(i)] = future = 1 + 0.99f * future;
  return game.steps;
}

/// Does a step of gradient descent. The policy gradient raises log p of pushes whose return was better than
/// the critic expected, and lowers the others. `K::stop_gradient` keeps the actor's loss from changing the
/// critic, and normalized advantages make the step independent of the size of returns.
static void learn(const nn::Model& network, const nn::Optimizer& optimizer, const Experience& seen) {
  const std::vector<Tensor> heads = network.apply(rows(seen.states));
  const Tensor log_p = K::log_softmax(heads[0]), expected = K::squeeze(heads[1], -1);
  const Tensor surprise = K::constant(seen.returns) / 100.f - expected;
  const Tensor advantage = K::stop_gradient(surprise);
  const Tensor weights = (advantage - K::mean(advantage)) / (K::std(advantage) + 1e-6f);

  // Three losses: of the actor, of the critic (the squared surprise), and a bonus for entropy, which keeps
  // the actor from deciding too early.
  const Tensor actor = -K::mean(weights * K::sum(log_p * K::one_hot(seen.pushes, 2), -1));
  const Tensor critic = K::mean(K::square(surprise));
  const Tensor entropy = -K::mean(K::sum(K::exp(log_p) * log_p, -1));  // a bonus for exploration
  optimizer.minimize(actor + critic - 0.01f * entropy, network.trainable_weights());
}

/// Returns the model state -> (logits of both pushes, expected return / 100). The heads share a layer, so
/// the critic's lessons also form the features of the actor. The division keeps the targets near 1. The heads
/// stay float32 under a mixed policy, for losses need more digits than features.
static nn::Model two_heads() {
  const Tensor state = nn::Input({4});
  const Tensor h = nn::Dense(64, {.activation = "tanh"})(state);
  return nn::Model(state, {nn::Dense(2, {.dtype = "float32", .name = "actor"})(h),
                           nn::Dense(1, {.dtype = "float32", .name = "critic"})(h)});
}

/// Trains on whole games: eight games with the current actor, a step, and the games are forgotten, as old
/// games belong to another policy.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 200, .quick_epochs = 40});
  K::set_random_seed(run.seed);
  random_numbers.seed(static_cast<unsigned>(run.seed));

  // The rate of 0.01 is high, because each update has the steps of eight games at once.
  const nn::Model network = two_heads();
  const nn::Adam adam(0.01);
  std::vector<double> lengths;
  for (int epoch = 1; epoch <= run.epochs; ++epoch) {
    Experience seen;
    double steps = 0;
    for (int game = 0; game < 8; ++game) steps += play(network, seen) / 8.0;
    learn(network, adam, seen);
    lengths.push_back(steps);
    if (epoch % std::max(1, run.epochs / 10) == 0)
      std::printf("8 games, %3d times  %5.1f steps\n", epoch, steps);
  }

  // The test takes the more probable push instead of drawing.
  double mean = 0;
  for (int i = 0; i < 20; ++i) {
    CartPole game;
    while (!game.over()) game.push(K::argmax(network.predict_on_batch({rows({game.state})})[0]).item<int>());
    mean += game.steps / 20.0;
  }

  // The learning curve of policy gradients is seldom smooth: a bad step gives bad data for the next.
  if (!run.out.empty())
    ktape::plot::lines(
        lengths,
        {.title = "Steps in balance", .x = {.label = "update, after 8 games each"}, .y = {.label = "steps"}})
        .save(run.out + "/steps.svg");

  // Pushes at random keep the pole up for about 20 steps.
  const double expected = run.quick ? 60 : 195;
  std::printf("steps in balance: %.1f of 200 (expected: %.0f or more)\n", mean, expected);
  return mean >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "actor_critic: %s\n", error.what());
  return 1;
}
