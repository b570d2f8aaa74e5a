// Learns handwritten digits with the K API and the tape alone: weights, a loss, gradients, updates.
// Expect 0.94 of unseen digits, in a second.
// One seed gives one result, with any number of threads.
// Try next: other widths of the hidden layer; momentum, in a Variable for each weight; K::elu; then
// digits_cnn.cpp, which learns the digits with layers.
#include <ktape/ktape.hpp>

#include <cstdio>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace data = ktape::data;
using ktape::All, ktape::Slice, ktape::Tensor, ktape::Variable;

/// Writes out the work of `model.fit`: batches, predictions, a loss, gradients, updates.
int main(int argc, char** argv) try {
  const auto run = nn::program_options(
      argc, argv, {.epochs = 30, .quick_epochs = 10, .data = "examples/data/digits.csv.gz"});
  K::set_random_seed(run.seed);

  // A row is 64 pixels of 0..16, then the class. A fifth of the rows is held out for testing.
  const Tensor table = data::load_csv(run.data);
  const auto split =
      data::train_test_split({table[{All, Slice(0, 64)}] / 16.f, K::cast(table[{All, 64}], "int32")},
                             {.test_size = 0.2, .seed = run.seed});

  // A hidden layer of 128 units and ten logits. Random kernels make the units differ; biases may start at
  // zero. A softmax is missing on purpose: the loss computes softmax and logarithm together
  // (`from_logits`), which is stable for large logits.
  Variable w1 = K::random_normal_variable({64, 128}, 0, 0.15), b1 = K::zeros({128});
  Variable w2 = K::random_normal_variable({128, 10}, 0, 0.1), b2 = K::zeros({10});
  const std::vector<Variable> weights{w1, b1, w2, b2};
  const auto model = [&](const Tensor& x) {
    return K::bias_add(K::dot(K::relu(K::bias_add(K::dot(x, w1), b1)), w2), b2);
  };

  // Predictions need no gradients, so nothing is recorded on the tape while `NoGrad` lives.
  const auto accuracy_on = [&](const data::Element& part) {
    const ktape::NoGrad off;
    return K::mean(K::cast(K::argmax(model(part[0])) == K::cast(part[1], "int64"), "float32")).item();
  };

  // Stochastic gradient descent: for each batch of 32 digits, every weight moves by 0.2 times its slope
  // downhill. `shuffle` gives new batches in each epoch.
  const auto batches = data::Dataset::from_tensor_slices(split.train).shuffle(2000).batch(32);
  for (int epoch = 1; epoch <= run.epochs; ++epoch) {
    float loss_of_batch = 0;
    for (const data::Element& batch : batches) {
      const Tensor loss =
          K::mean(K::sparse_categorical_crossentropy(batch[1], model(batch[0]), {.from_logits = true}));
      const std::vector<Tensor> slopes = K::gradients(loss, weights);
      for (std::size_t i = 0; i < weights.size(); ++i) K::update_sub(weights[i], 0.2f * slopes[i]);
      loss_of_batch = loss.item();
    }
    std::printf("epoch %2d/%d  loss %.4f  accuracy on unseen digits %.4f\n", epoch, run.epochs, loss_of_batch,
                accuracy_on(split.test));
  }

  // Only digits that no gradient has seen tell how well the network reads new ones.
  const double accuracy = accuracy_on(split.test), expected = run.quick ? 0.9 : 0.94;
  std::printf("accuracy on %d unseen digits: %.4f (expected: %.2f or more)\n",
              static_cast<int>(split.test[0].shape()[0]), accuracy, expected);
  return accuracy >= expected ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "digits: %s\n", error.what());
  return 1;
}
