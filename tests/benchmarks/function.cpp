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

}  // namespace
