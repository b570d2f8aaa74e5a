// Learns handwritten digits with the K API and the tape.
// Usage: digits [digits.csv.gz] [epochs]
#include <ktape/ktape.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

struct Split {
  Tensor train_x, train_y, test_x, test_y;
};

// The file's rows in a fixed random order; the last fifth is kept unseen. A row is 64 pixels of 0..16, then
// the class.
Split load(const char* path) {
  const Tensor table = ktape::data::load_csv(path);
  const int rows = static_cast<int>(table.shape()[0]), train = rows * 4 / 5;
  std::vector<int> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  const Tensor shuffled = K::gather(table, K::constant(order, {.dtype = "int32"}));
  const Tensor x = K::slice(shuffled, {0, 0}, {-1, 64}) / 16.f;
  const Tensor y = K::cast(K::flatten(K::slice(shuffled, {0, 64}, {-1, 1})), "int32");
  return {K::slice(x, {0, 0}, {train, -1}), K::slice(y, {0}, {train}), K::slice(x, {train, 0}, {-1, -1}),
          K::slice(y, {train}, {-1})};
}

int main(int argc, char** argv) try {
  const Split digits = load(argc > 1 ? argv[1] : "examples/data/digits.csv.gz");
  const int epochs = argc > 2 ? std::atoi(argv[2]) : 30, batch = 32;
  const int train = static_cast<int>(digits.train_x.shape()[0]);

  K::set_random_seed(1);
  Variable w1 = K::random_normal_variable({64, 128}, 0, 0.15), b1 = K::zeros({128});
  Variable w2 = K::random_normal_variable({128, 10}, 0, 0.1), b2 = K::zeros({10});
  std::vector<Variable> weights{w1, b1, w2, b2};
  auto model = [&](const Tensor& x) {
    return K::bias_add(K::dot(K::relu(K::bias_add(K::dot(x, w1), b1)), w2), b2);
  };
  auto accuracy = [&](const Tensor& x, const Tensor& y) {
    ktape::NoGrad off;
    return K::mean(K::cast(K::equal(K::argmax(model(x)), K::cast(y, "int64")), "float32")).item<float>();
  };

  for (int epoch = 1; epoch <= epochs; ++epoch) {
    float total = 0;
    for (int start = 0; start + batch <= train; start += batch) {
      const Tensor x = K::slice(digits.train_x, {start, 0}, {batch, -1});
      const Tensor y = K::slice(digits.train_y, {start}, {batch});
      const Tensor loss = K::mean(K::sparse_categorical_crossentropy(y, model(x), {.from_logits = true}));
      const std::vector<Tensor> slopes = K::gradients(loss, weights);
      for (std::size_t i = 0; i < weights.size(); ++i) K::update_sub(weights[i], 0.2f * slopes[i]);
      total += loss.item<float>();
    }
    std::printf("epoch %2d/%d  loss %.4f  accuracy on unseen digits %.4f\n", epoch, epochs,
                total / static_cast<float>(train / batch), accuracy(digits.test_x, digits.test_y));
  }
  std::printf("accuracy on %d unseen digits: %.4f\n", static_cast<int>(digits.test_x.shape()[0]),
              accuracy(digits.test_x, digits.test_y));
  return 0;
} catch (const ktape::Error& error) {
  std::fprintf(stderr, "digits: %s\n", error.what());
  return 1;
}
