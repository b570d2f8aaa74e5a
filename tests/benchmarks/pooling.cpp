#include <ktape/ktape.hpp>
#include "report.hpp"

namespace K = ktape::backend;
using ktape::Tensor, ktape::Variable;

namespace {

const bench::Group pooling([] {
  const Variable x = K::random_normal_variable({64, 56, 56, 64}, 0, 1);
  const auto train = [&](const char* name, std::array<std::int64_t, 2> size,
                         const K::Pool2dOptions& options) {
    bench::report(name, [&] { K::gradients(K::sum(K::pool2d(x, size, options)), {x}); });
  };
  train("max_pool_2x2_grad", {2, 2}, {.strides = {2, 2}});
  train("max_pool_3x3_grad", {3, 3}, {.strides = {2, 2}, .padding = "same"});
  train("avg_pool_2x2_grad", {2, 2}, {.strides = {2, 2}, .pool_mode = "avg"});
  train("avg_pool_3x3_grad", {3, 3}, {.strides = {2, 2}, .padding = "same", .pool_mode = "avg"});
  train("global_avg_pool_grad", {56, 56}, {.pool_mode = "avg"});
  train("global_max_pool_grad", {56, 56}, {});
  bench::report("max_pool_2x2", [&] {
    ktape::NoGrad off;
    K::pool2d(x, {2, 2}, {.strides = {2, 2}});
  });
  bench::report("global_avg_pool", [&] {
    ktape::NoGrad off;
    K::pool2d(x, {56, 56}, {.pool_mode = "avg"});
  });
});

}  // namespace
