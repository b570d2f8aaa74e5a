#include <doctest/doctest.h>
#include "together.hpp"

using namespace together;

namespace {
const int size = [] {
  distributed::init();
  return distributed::size();
}();
float sum_of_ranks() { return static_cast<float>(size * (size - 1)) / 2; }

/// Returns the text of the error that f throws.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const ktape::Error& error) {
    return error.what();
  }
  return "no error";
}
}  // namespace

TEST_CASE("allreduce sums or averages") {
  const Tensor x = K::constant({{1.f, static_cast<float>(distributed::rank())}});
  const float ranks = sum_of_ranks();
  CHECK(distance({distributed::allreduce(x, {.op = "sum"})},
                 {K::constant({{static_cast<float>(size), ranks}})}) == 0);
  CHECK(close({distributed::allreduce(x)}, {K::constant({{1.f, ranks / static_cast<float>(size)}})},
              {.ulps = 0, .atol = 1e-6}));
  for (const char* dtype : {"float16", "float64", "int32", "uint8"}) {
    const Tensor ones = K::ones({3}, {.dtype = dtype});
    CHECK(distributed::allreduce(ones, {.op = "sum"}).item(2) == static_cast<float>(size));
  }
}

TEST_CASE("the gradient of allreduce is that of all losses") {
  const ktape::Variable x(K::constant({2.f, static_cast<float>(distributed::rank() + 1)}));
  const Tensor y = distributed::allreduce(x, {.op = "sum"});
  const float weight = static_cast<float>(distributed::rank() + 1);  // of the loss of this process
  const Tensor gradient = K::gradients(K::sum(y * y) * weight, {x})[0];
  const float weights = sum_of_ranks() + static_cast<float>(size);
  CHECK(close({gradient}, {2.f * weights * y.detach()}, {.ulps = 0, .atol = 1e-4}));
  // The mean of means, and the gradient of a gradient.
  CHECK(close(K::gradients(K::sum(distributed::allreduce(x)), {x})[0].item(0), 1.f));
  const Tensor first = K::gradients(K::sum(K::square(distributed::allreduce(x, {.op = "sum"}))), {x})[0];
  const auto p = static_cast<float>(size);
  CHECK(close(K::gradients(K::sum(first), {x})[0].item(0), 2 * p * p));
}

TEST_CASE("allgather joins tensors of different lengths, and each process gets its part of the gradient") {
  const ktape::Variable x(K::ones({distributed::rank() + 1, 2}) * static_cast<float>(distributed::rank()));
  const Tensor all = distributed::allgather(x);
  CHECK(all.shape() == ktape::Shape{size * (size + 1) / 2, 2});
  CHECK(all.item(0, 0) == 0);
  CHECK(all.item(-1, 1) == static_cast<float>(size - 1));
  const Tensor weights = K::reshape(K::cast(K::arange(all.size()), "float32"), all.shape());
  const Tensor gradient = K::gradients(K::sum(all * weights), {x})[0];
  const int begin = distributed::rank() * (distributed::rank() + 1) / 2;
  CHECK(gradient.shape() == x.shape());
  CHECK(gradient.item(0, 1) == static_cast<float>(size * (2 * begin + 1)));
}

TEST_CASE("broadcast returns the root's tensor, and the root gets all gradients") {
  for (int root = 0; root < size; ++root) {
    const ktape::Variable x(K::constant({static_cast<float>(distributed::rank()), 1.f}));
    const Tensor y = distributed::broadcast(x, root);
    CHECK(y.item(0) == static_cast<float>(root));
    const Tensor gradient = K::gradients(K::sum(y), {x})[0];
    CHECK(gradient.item(1) == (distributed::rank() == root ? static_cast<float>(size) : 0.f));
  }
  const std::vector<ktape::Variable> variables{K::variable(static_cast<float>(distributed::rank() + 7))};
  distributed::broadcast(variables);
  CHECK(variables[0].item() == 7);
  distributed::barrier();
}

TEST_CASE("calls that differ are errors in all processes") {
  const Tensor x = K::zeros({2, distributed::rank() == size - 1 ? 3 : 4});
  const std::string error = error_of([&] { distributed::allreduce(x); });
  CHECK(error.find("[allreduce] all processes must agree: received allreduce of a "
                   "tensor of "
                   "float32 and shape (2, 3), mean in rank " +
                   std::to_string(size - 1) + " on ") == 0);
  CHECK(error.find(", allreduce of a tensor of float32 and shape (2, 4), mean in rank 0 on ") !=
        std::string::npos);
  CHECK(error_of([&] { distributed::allreduce(x, {.op = "max"}); }) ==
        "[allreduce] op must be mean or sum: received op='max'");
  CHECK(error_of([&] { distributed::allreduce(K::ones({1}, {.dtype = "int32"})); }) ==
        "[allreduce] a mean needs a floating dtype: received dtype=int32");
  CHECK(error_of([&] { distributed::allgather(K::constant(1.f)); }) ==
        "[allgather] x must have an axis to gather along: received a scalar");
  CHECK(error_of([&] { distributed::broadcast(x, size); }) == "[broadcast] root must be in [0, " +
                                                                  std::to_string(size) +
                                                                  "): received root=" + std::to_string(size));
  CHECK(error_of([] { distributed::init({.timeout = 0}); }) ==
        "[init] timeout must be above 0: received timeout=0");
  CHECK(error_of([] { distributed::Optimizer(nn::Optimizer()); }) ==
        "[Optimizer] the optimizer must be given: received None");
  CHECK(error_of([] { distributed::Optimizer(nn::SGD(), {.bucket_bytes = 0}); }) ==
        "[Optimizer] bucket_bytes must be at least 1: received bucket_bytes=0");
}

TEST_CASE("in a symbolic model, collective operations are deferred") {
  const Tensor x = K::placeholder({K::None, 2});
  const auto f = K::function({x}, {distributed::allreduce(x, {.op = "sum"}), distributed::allgather(x)});
  const std::vector<Tensor> out = f({K::ones({1, 2})});
  CHECK(out[0].item(0, 0) == static_cast<float>(size));
  CHECK(out[1].shape()[0] == size);
}
