#include <doctest/doctest.h>
#include <ktape/ktape.hpp>
#include <ktape/ops/fusion/element_queue.hpp>

#include "../../ops/check.hpp"

#include <cstring>

using doctest::Contains;
namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

/// Lets ops on small tensors wait, too.
struct AnySize {
  std::int64_t before = ktape::fusion::set_smallest_result(1);
  ~AnySize() { ktape::fusion::set_smallest_result(before); }
};

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.size()) * a.dtype().size()) == 0;
}

}  // namespace

TEST_CASE("jit_compile is true, false or auto") {
  CHECK(nn::CompileOptions().jit_compile.wanted());
  CHECK(nn::JitCompile("auto").wanted());
  CHECK(nn::JitCompile(true).wanted());
  CHECK(!nn::JitCompile(false).wanted());
  CHECK_THROWS_WITH_AS(
      nn::JitCompile("always"),
      Contains("[compile] jit_compile must be true, false or \"auto\": received jit_compile=always"),
      ValueError);
}

TEST_CASE("compiled training steps give the same bits") {
  const AnySize any;
  const auto train = [](const nn::JitCompile& jit_compile) {
    K::set_random_seed(3);
    const nn::Sequential model({nn::Dense(32, {.activation = "gelu", .input_shape = Shape{8}}),
                                nn::BatchNormalization(), nn::LayerNormalization(), nn::Dropout(0.2),
                                nn::Dense(16, {.activation = "softplus", .kernel_regularizer = "l2"}),
                                nn::Dense(2)});
    model.compile({.optimizer = "adam", .loss = "log_cosh", .metrics = {"mae"}, .jit_compile = jit_compile});
    const Tensor x = normal({24, 8}, 1, "float32"), y = normal({24, 2}, 2, "float32");
    model.fit(x, y, {.batch_size = 8, .epochs = 3, .verbose = 0});
    model.train_on_batch(x, y);
    return model.get_weights();
  };
  const std::vector<Tensor> wanted = train(false), always = train(true), by_itself = train("auto");
  REQUIRE(wanted.size() == always.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(same_bits(always[i], wanted[i]));
    CHECK(same_bits(by_itself[i], wanted[i]));
  }
}
