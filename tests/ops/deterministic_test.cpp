#include <omp.h>
#include <ktape/ktape.hpp>

#include <cstring>

#include "check.hpp"

using namespace ktape;
namespace K = ktape::backend;

namespace {

/// A scope that sets the number of OpenMP threads.
class Threads {
 public:
  explicit Threads(int count) : before_(omp_get_max_threads()) { omp_set_num_threads(count); }
  ~Threads() { omp_set_num_threads(before_); }

 private:
  int before_;
};

class Deterministic {
 public:
  Deterministic() { K::set_deterministic(true); }
  ~Deterministic() { K::set_deterministic(false); }
};

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.size()) * a.dtype().size()) == 0;
}

/// Checks that the tensors of f are equal, to the last bit, to the tensors of one thread.
template <class F>
void check_threads(const F& f) {
  const Deterministic on;
  const auto with = [&](int threads) {
    const Threads some(threads);
    return f();
  };
  const std::vector<Tensor> wanted = with(1);
  for (const int threads : {2, 3, 4, 7}) {
    const std::vector<Tensor> got = with(threads);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK_MESSAGE(same_bits(got[i], wanted[i]), threads, " threads, tensor ", i);
  }
}

Tensor drawn(const Shape& shape, const char* dtype, int seed) {
  return K::random_normal(shape, {.dtype = dtype, .seed = seed});
}

}  // namespace

TEST_CASE("deterministic: products and their gradients do not depend on the threads") {
  for (const char* dtype : {"float32", "float64"})
    for (const auto& [rows, inner, columns] :
         {std::array<std::int64_t, 3>{300, 700, 1}, {1, 700, 300}, {257, 129, 65}, {64, 3000, 10}, {5, 4, 3}})
      check_threads([&, rows = rows, inner = inner, columns = columns] {
        const Variable a = drawn({rows, inner}, dtype, 1), b = drawn({inner, columns}, dtype, 2);
        const Tensor product = K::dot(a, b);
        std::vector<Tensor> all = K::gradients(K::sum(K::square(product)), {a, b});
        all.push_back(product);
        return all;
      });
  check_threads([] {
    const Variable a = drawn({3, 100, 70}, "float32", 1), b = drawn({3, 90, 70}, "float32", 2);
    return K::gradients(K::sum(K::square(K::matmul(a, b, {.transpose_b = true}))), {a, b});
  });
}

TEST_CASE("deterministic: attention of one head does not depend on the threads") {
  for (const bool causal : {false, true})
    check_threads([=] {
      const Variable q = drawn({1, 1, 200, 32}, "float32", 1), k = drawn({1, 1, 520, 32}, "float32", 2);
      const Tensor y = K::scaled_dot_product_attention(q, k, k, {.causal = causal});
      std::vector<Tensor> all = K::gradients(K::sum(K::square(y)), {q, k});
      all.push_back(y);
      return all;
    });
}

TEST_CASE("deterministic: recurrent layers of few and of many samples do not depend on the threads") {
  for (const std::int64_t samples : {1, 2, 9})
    for (const std::int64_t units : {128, 150})
      check_threads([=] {
        const Variable x = drawn({samples, 7, 20}, "float32", 1),
                       kernel = drawn({20, 4 * units}, "float32", 2),
                       recurrent = drawn({units, 4 * units}, "float32", 3);
        const Tensor mask = K::greater(drawn({samples, 7}, "float32", 4), 0);
        const K::RnnResult<Tensor> y =
            K::lstm(x, kernel * 0.1, recurrent * 0.05, K::zeros({4 * units}), {}, {.mask = mask});
        std::vector<Tensor> all = K::gradients(K::sum(K::square(y.outputs)), {x, kernel, recurrent});
        all.push_back(y.outputs);
        return all;
      });
}

TEST_CASE("deterministic: convolutions and their gradients do not depend on the threads") {
  const auto check = [](const char* dtype, const Shape& image, const Shape& filters, const auto& convolve) {
    check_threads([&] {
      const Variable x = drawn(image, dtype, 1), kernel = drawn(filters, dtype, 2);
      const Tensor y = convolve(x, kernel);
      std::vector<Tensor> all = K::gradients(K::sum(K::square(y)), {x, kernel});
      all.push_back(y);
      return all;
    });
  };
  const auto plain = [](const Tensor& x, const Tensor& kernel) {
    return K::conv2d(x, kernel, {.padding = "same"});
  };
  const auto depthwise = [](const Tensor& x, const Tensor& kernel) { return K::depthwise_conv2d(x, kernel); };
  for (const char* dtype : {"float32", "float64"}) {
    check(dtype, {19, 14, 14, 8}, {3, 3, 8, 16}, plain);
    check(dtype, {19, 14, 14, 1}, {3, 3, 1, 16}, plain);
    check(dtype, {19, 14, 14, 8}, {3, 3, 8, 1}, depthwise);
  }
  check("float32", {8, 100, 16}, {3, 16, 32},
        [](const Tensor& x, const Tensor& kernel) { return K::conv1d(x, kernel, {.padding = "causal"}); });
}

TEST_CASE("deterministic: a convolutional network trains to equal weights with any number of threads") {
  check_threads([] {
    const Tensor x = drawn({32, 12, 12, 3}, "float32", 1);
    const Tensor y = K::cast(K::random_uniform({32}, {.minval = 0, .maxval = 10, .seed = 2}), "int32");
    std::vector<Variable> weights;
    for (const Shape& shape : {Shape{3, 3, 3, 16}, {3, 3, 16, 16}, {144, 10}})
      weights.push_back(0.1f * drawn(shape, "float32", 3));
    for (int step = 0; step < 5; ++step) {
      const Tensor wide = K::relu(K::conv2d(x, weights[0], {.padding = "same"}));
      const Tensor pooled = K::pool2d(wide, {2, 2}, {.strides = {2, 2}});
      const Tensor features =
          K::pool2d(K::relu(K::conv2d(pooled, weights[1], {.padding = "same"})), {2, 2}, {.strides = {2, 2}});
      const Tensor scores = K::dot(K::batch_flatten(features), weights[2]);
      const Tensor loss = K::mean(K::sparse_categorical_crossentropy(y, scores, {.from_logits = true}));
      const auto gradients = K::gradients(loss, {weights[0], weights[1], weights[2]});
      for (std::size_t i = 0; i < weights.size(); ++i) K::update_sub(weights[i], 0.1f * gradients[i]);
    }
    return std::vector<Tensor>(weights.begin(), weights.end());
  });
}

TEST_CASE("deterministic returns the argument of set_deterministic") {
  CHECK_FALSE(K::deterministic());
  K::set_deterministic(true);
  CHECK(K::deterministic());
  K::set_deterministic(false);
}
