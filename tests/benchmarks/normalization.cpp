#include <ktape/ktape.hpp>
#include "report.hpp"

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

namespace {

const bench::Group batch_norm([] {
  const auto train = [](const char* name, const ktape::Shape& shape, const ktape::Axes& axes,
                        std::int64_t channels) {
    const Variable x = K::random_normal_variable(shape, 0, 1), gamma = K::ones({channels}),
                   beta = K::zeros({channels});
    const Tensor slope = K::random_normal(shape);
    bench::report(name, [&] {
      K::gradients(K::normalize_batch_in_training(x, gamma, beta, axes).normalized, {x, gamma, beta},
                   {slope});
    });
  };
  train("batch_norm_grad", {64, 32, 32, 64}, {0, 1, 2}, 64);
  train("batch_norm_first_grad", {64, 64, 32, 32}, {0, 2, 3}, 64);
  train("batch_norm_16_grad", {32, 32, 32, 16}, {0, 1, 2}, 16);
  const Tensor x = K::random_normal({64, 32, 32, 64}), ones = K::ones({64}), zeros = K::zeros({64});
  bench::report("batch_norm", [&] { K::normalize_batch_in_training(x, ones, zeros, {0, 1, 2}); });
  bench::report("batch_norm_infer", [&] { K::batch_normalization(x, zeros, ones, zeros, ones); });
});

const bench::Group layer_norm([] {
  const auto run = [](const std::string& name, const ktape::Shape& shape, std::int64_t units) {
    const Variable x = K::random_normal_variable(shape, 0, 1), gamma = K::ones({units}),
                   beta = K::zeros({units});
    const Tensor slope = K::random_normal(shape);
    const auto normalized = [&] { return K::layer_normalization(x, gamma, beta); };
    bench::report((name + "_grad").c_str(), [&] { K::gradients(normalized(), {x, gamma, beta}, {slope}); });
    bench::report(name.c_str(), [&] {
      ktape::NoGrad off;
      normalized();
    });
  };
  run("layer_norm", {64, 32, 512}, 512);
  run("layer_norm_small", {32, 128}, 128);
});

}  // namespace
