// A Wasserstein GAN with gradient penalty: a generator makes points, a critic tells them from real points,
// and a penalty keeps the norm of the critic's gradient at 1, which needs second-order gradients. Real points
// lie in eight spots on a circle, some of which plain GANs miss.
// Expect all eight spots, and 0.8 of the generated points in a spot.
// Try next: no penalty (weight 0); clipped weights in place of the penalty; one critic step per generator
// step; 25 spots on a grid. `--out FOLDER` draws the points.
#include <ktape/ktape.hpp>

#include <cmath>
#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::Slice, ktape::Tensor, ktape::Variable;

/// The standard deviation of the points of a spot, in a circle of radius 1.
static constexpr float spread = 0.05f;

/// Returns the centers of the eight spots, (8, 2).
static Tensor centers() {
  const Tensor angles = K::cast(K::arange(0, 8), "float32") * static_cast<float>(std::acos(-1) / 4);
  return K::stack({K::cos(angles), K::sin(angles)}, 1);
}

/// Returns a network for generator and critic alike. The critic's output has no sigmoid: its score is any
/// real number, whose mean difference between real and made points estimates the Wasserstein distance.
static nn::Sequential perceptron(std::int64_t inputs, std::int64_t outputs) {
  return nn::Sequential({nn::Input({inputs}), nn::Dense(64, {.activation = "relu"}),
                         nn::Dense(64, {.activation = "relu"}), nn::Dense(64, {.activation = "relu"}),
                         nn::Dense(outputs, {.dtype = "float32"})});
}

/// A model of two networks, trained by turns. As in Keras, `fit` calls an overridden `train_step` for each
/// batch, so the loop over epochs, the progress and the history stay those of every model. `add_layer`
/// registers the networks' weights for saving.
struct WganImpl : nn::ModelImpl {
  static constexpr std::int64_t noise = 8;
  static constexpr int critic_steps = 4;
  static constexpr float penalty_weight = 1;
  nn::Sequential generator = add_layer(perceptron(noise, 2)), critic = add_layer(perceptron(2, 1));
  nn::Adam generator_optimizer, critic_optimizer;

  explicit WganImpl(double rate)
      : generator_optimizer({.learning_rate = rate, .beta_1 = 0.5, .beta_2 = 0.9}),
        critic_optimizer({.learning_rate = rate, .beta_1 = 0.5, .beta_2 = 0.9}) {}

  Tensor call(const Tensor& x) override { return generator(x); }

  /// Returns the mean of (|gradient of the critic| - 1)^2 at random points between real and generated
  /// points. The penalty is a part of the loss and contains a gradient, so its own gradient is of second
  /// order. The `Variable` makes the points a place to differentiate at; 1e-12 keeps the root
  /// differentiable at 0.
  Tensor penalty(const Tensor& real, const Tensor& made) {
    const Tensor part = K::random_uniform({real.shape()[0], 1});
    const Variable between = part * real + (1.f - part) * made;
    const Tensor slope = K::gradients(critic(between), {between})[0];
    return K::mean(K::square(K::sqrt(K::sum(K::square(slope), -1) + 1e-12f) - 1.f));
  }

  /// Trains the critic for `critic_steps` steps, each on its part of the batch, then the generator for one.
  /// The critic must be nearly optimal before its slope is worth following. `K::stop_gradient` keeps the
  /// critic's loss from reaching the generator, and each optimizer gets the weights of its own network.
  nn::Logs train_step(const nn::Batch& batch) override {
    Tensor critic_loss, generator_loss;
    for (const Tensor& real : K::split(batch.x[0], critic_steps)) {
      const Tensor made = K::stop_gradient(generator(K::random_normal({real.shape()[0], noise})));
      critic_loss = K::mean(critic(made)) - K::mean(critic(real)) + penalty_weight * penalty(real, made);
      critic_optimizer.minimize(critic_loss, critic.trainable_weights());
    }
    generator_loss = -K::mean(critic(generator(K::random_normal({128, noise}))));
    generator_optimizer.minimize(generator_loss, generator.trainable_weights());
    return {{"critic_loss", critic_loss}, {"generator_loss", generator_loss}};
  }
};
using Wgan = nn::ModelOf<WganImpl>;

/// Trains the pair and counts the spots. Plain GANs often settle on a few spots (mode collapse), so the
/// count matters as much as the quality.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(argc, argv, {.epochs = 40, .quick_epochs = 20});
  K::set_random_seed(run.seed);

  // Real points: a random spot for each, and a normal distribution around its center. A batch holds the
  // points of all critic steps.
  const std::int64_t points = 128 * WganImpl::critic_steps * 100;  // 100 generator steps per epoch
  const Tensor spot = K::cast(K::random_uniform({points}, {.maxval = 8}), "int32");
  const Tensor real = K::gather(centers(), spot) + spread * K::random_normal({points, 2});

  // `compile` needs neither a loss nor an optimizer, since the training step has its own. The data have no
  // targets either, hence the empty `y`.
  const Wgan model(0.001);
  model.compile();
  model.fit(real, {}, {.batch_size = 128 * WganImpl::critic_steps, .epochs = run.epochs, .verbose = 2});

  // A point lies in a spot if the distance to the center is below four standard deviations. A spot counts
  // as found with more than 2 % of the points; an equal share would be 12.5 %.
  const Tensor made =
      model.predict(K::random_normal({2000, WganImpl::noise}), {.batch_size = 500, .verbose = 0});
  const Tensor distances = K::norm(K::expand_dims(made, 1) - centers(), -1);  // (2000, 8)
  const Tensor within = K::cast(distances < 4 * spread, "float32");
  const double part = K::mean(K::max(within, -1)).item();
  const int spots = K::sum(K::cast(K::mean(within, 0) > 0.02f, "int32")).item<int>();

  // A thousand points of either kind, drawn with equal axes so that the circle stays round.
  if (!run.out.empty()) {
    const auto cloud = [](const char* name, const Tensor& at) {
      return ktape::plot::Series{name, at[{ktape::All, 1}], at[{ktape::All, 0}]};
    };
    ktape::plot::scatter({cloud("real", real[{Slice(0, 1000)}]), cloud("made", made[{Slice(0, 1000)}])},
                         {.title = "Real and made points", .width = 600, .height = 600, .equal = true})
        .save(run.out + "/points.svg");
  }

  // Points between the spots remain: a continuous generator has to bridge the gaps.
  const double expected = run.quick ? 0.3 : 0.8;
  const int expected_spots = run.quick ? 5 : 8;
  std::printf("spots found: %d of 8 (expected: %d)\n", spots, expected_spots);
  std::printf("points in a spot: %.3f (expected: %.1f or more)\n", part, expected);
  return part >= expected && spots >= expected_spots ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "wgan_gp: %s\n", error.what());
  return 1;
}
