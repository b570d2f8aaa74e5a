#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: element-wise ops are exported") {
  exported::Checks check;
  const Tensor x = normal({3, 4}, 1, "float32"), y = normal({3, 4}, 2, "float32");
  const Tensor n = ints({{7, -7, 5, 3}, {1, -2, 9, 4}}), d = ints({{2, 3, -2, 4}, {1, 3, 4, -5}});
  check("square", {x}, [](In in) { return K::square(in[0]); });
  check("log1p", {x}, [](In in) { return K::log1p(K::square(in[0])); });
  check("expm1", {x}, [](In in) { return K::expm1(in[0]); });
  check("floor", {x}, [](In in) { return ops::floor(in[0] * 3); });
  check("trunc", {x}, [](In in) { return ops::trunc(in[0] * 3); });
  check("clip", {x}, [](In in) { return K::clip(in[0], -0.5, 0.5); });
  check("round", {x}, [](In in) { return K::round(in[0] * 4); });
  check("finite", {x}, [](In in) { return K::cast(K::is_finite(in[0]), "float32"); });
  check("log2", {x}, [](In in) { return ops::log2(K::abs(in[0]) + 1); });
  check("erfc", {x}, [](In in) { return ops::erfc(in[0]); });
  check("like", {x}, [](In in) { return K::ones_like(in[0]) + K::zeros_like(in[0]); });
  check("numbers", {x}, [](In in) { return 2 - in[0] / 3 + 1 / (in[0] * in[0] + 1); });
  check("arithmetic", {x, y}, [](In in) { return in[0] * in[1] - in[0] / (K::abs(in[1]) + 1); });
  check("compare", {x, y},
        [](In in) { return K::cast(in[0] > in[1], "float32") + K::cast(K::equal(in[0], in[0]), "float32"); });
  check("extremes", {x, y}, [](In in) { return K::maximum(in[0], in[1]) - K::minimum(in[0], in[1]); });
  check("where", {x, y}, [](In in) { return K::where(in[0] > in[1], in[0], in[1] * 2); });
  check("logic", {x, y}, [](In in) { return K::cast((in[0] > 0) & ~(in[1] > 0), "int32"); });
  check("hypot", {x, y}, [](In in) { return ops::hypot(in[0], in[1]); });
  check("round_2", {x}, [](In in) { return ops::round(in[0], 2) + ops::round(in[0] * 100, -1); });
  check("nan_to_num", {x}, [](In in) { return ops::nan_to_num(K::log(in[0]) / ops::relu(in[0]), 3, 7); });
  check("signbit", {x}, [](In in) { return K::cast(ops::signbit(in[0] * K::relu(in[0])), "int32"); });
  check("sinc", {x}, [](In in) { return ops::sinc(K::relu(in[0])); });
  check("angle", {x}, [](In in) { return ops::angle(in[0]); });
  check("divide_no_nan", {x, y}, [](In in) { return ops::divide_no_nan(in[0], K::relu(in[1])); });
  check("heaviside", {x, y}, [](In in) { return ops::heaviside(K::relu(in[0]), in[1]); });
  check("logaddexp", {x, y},
        [](In in) { return ops::logaddexp(in[0], in[1]) + ops::logaddexp2(in[0], in[1]); });
  check("isclose", {x, y}, [](In in) { return K::cast(ops::isclose(in[0], in[1], {.rtol = 0.5}), "int32"); });
  check("fmax", {x, y}, [](In in) { return ops::fmax(in[0], in[1]) - ops::fmin(in[0], 2 * in[1]); });
  check("floor_divide", {n, d}, [](In in) { return ops::floor_divide(in[0], in[1]); });
  check("mod", {n, d}, [](In in) { return ops::mod(in[0], in[1]); });
  check("integers", {n, d}, [](In in) { return in[0] * in[1] + in[0]; });
  check.run();
}
