// A function against the same ops called directly: it should cost the same.
#include <ktape/ktape.hpp>
#include "report.hpp"
#include "train.hpp"

namespace {

using namespace bench;

template <class F>
void compare(const char* direct, const char* through, const Tensor& value, F ops) {
  bench::report(direct, [&] {
    ktape::NoGrad off;
    ops(value);
  });
  const Tensor x = K::placeholder(value.shape());
  const auto f = K::function({x}, {ops(x)});
  bench::report(through, [&] { f({value}); });
}

const bench::Group functions([] {
  compare("direct_chain", "function_chain", K::ones({4}), [](Tensor x) {
    for (int i = 0; i < 25; ++i) x = K::tanh(x * 1.0001f) + x;
    return x;
  });
  const Dense d1(784, 512), d2(512, 10);
  compare("direct_mlp", "function_mlp", K::random_normal({128, 784}), [&](const Tensor& x) { return d2(K::relu(d1(x))); });
});

}  // namespace
