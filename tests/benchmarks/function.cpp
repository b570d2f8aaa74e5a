// A function against its ops called directly, recorded (as with variables) and unrecorded.
#include <ktape/ktape.hpp>
#include "report.hpp"
#include "train.hpp"

namespace {

using namespace bench;

template <class F>
void compare(const std::string& name, const Tensor& value, F ops) {
  const auto unrecorded = [&] {
    ktape::NoGrad off;
    ops(value);
  };
  const Tensor x = K::placeholder(value.shape());
  const auto f = K::function({x}, {ops(x)});
  bench::report(("direct_" + name).c_str(), [&] { ops(value); });
  bench::report(("unrecorded_" + name).c_str(), unrecorded);
  bench::report(("function_" + name).c_str(), [&] { f({value}); });
}

const bench::Group functions([] {
  compare("chain", K::ones({4}), [](Tensor x) {
    for (int i = 0; i < 25; ++i) x = K::tanh(x * 1.0001f) + x;
    return x;
  });
  const Dense s1(16, 16), s2(16, 4);
  compare("small_mlp", K::random_normal({4, 16}), [&](const Tensor& x) { return s2(K::relu(s1(x))); });
  const Dense d1(784, 512), d2(512, 10);
  compare("mlp", K::random_normal({128, 784}), [&](const Tensor& x) { return d2(K::relu(d1(x))); });
});

/// A chain of twelve element-wise ops, as a function that is compiled and as one that is not.
void compare_chain(const std::string& name, std::int64_t size) {
  const Tensor x = K::placeholder({ktape::None}), value = K::random_normal({size});
  Tensor y = K::tanh(x * 0.5f);
  y = K::relu(y * x - 0.125f) + x;
  y = K::sqrt(K::square(y) + 1.f) * 2.f;
  y = K::maximum(y - x, x);
  const auto eager = K::function({x}, {y}), compiled = K::function({x}, {y}, {.compile = true});
  bench::report(("eager_chain_" + name).c_str(), [&] { eager({value}); });
  bench::report(("compiled_chain_" + name).c_str(), [&] { compiled({value}); });
}

const bench::Group chains([] {
  compare_chain("10m", 10'000'000);
  compare_chain("1m", 1'000'000);
  compare_chain("100k", 100'000);
  compare_chain("1k", 1'000);
});

}  // namespace
