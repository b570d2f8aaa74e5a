#include <ktape/ktape.hpp>
#include "report.hpp"

namespace K = ktape::backend;
using ktape::Shape, ktape::Tensor, ktape::Variable;

namespace {

/// Reports `name`, the op, and `name_grad`, the op with its gradients with respect to both inputs.
template <class F>
void both(const std::string& name, const Shape& x_shape, const Shape& kernel_shape, const F& op) {
  const Variable x = K::random_normal_variable(x_shape, 0, 1),
                 kernel = K::random_normal_variable(kernel_shape, 0, 1);
  const Tensor slope = K::random_normal(op(x, kernel).shape());
  bench::report((name + "_grad").c_str(), [&] { K::gradients(op(x, kernel), {x, kernel}, {slope}); });
  ktape::NoGrad off;
  bench::report(name.c_str(), [&] { op(x, kernel); });
}

const bench::Group convolutions([] {
  const auto conv2d = [](const K::Conv2dOptions& options) {
    return [options](const Tensor& x, const Tensor& kernel) { return K::conv2d(x, kernel, options); };
  };
  const auto valid = conv2d({}), same = conv2d({.padding = "same"}),
             half = conv2d({.strides = {2, 2}, .padding = "same"});
  both("conv2d_gray", {128, 28, 28, 1}, {3, 3, 1, 32}, valid);  // the convolutions of cnn_train
  both("conv2d_cnn", {128, 26, 26, 32}, {3, 3, 32, 64}, valid);
  both("conv2d_rgb", {32, 32, 32, 3}, {3, 3, 3, 16}, same);  // and of resnet20_train
  both("conv2d_16", {32, 32, 32, 16}, {3, 3, 16, 16}, same);
  both("conv2d_32", {32, 16, 16, 32}, {3, 3, 32, 32}, same);
  both("conv2d_64", {32, 8, 8, 64}, {3, 3, 64, 64}, same);
  both("conv2d_down", {32, 32, 32, 16}, {3, 3, 16, 32}, half);
  both("conv2d_shortcut", {32, 32, 32, 16}, {1, 1, 16, 32}, half);
  both("conv2d_first", {32, 64, 32, 32}, {3, 3, 64, 64},
       conv2d({.padding = "same", .data_format = "channels_first"}));
  both("conv2d_last", {32, 32, 32, 64}, {3, 3, 64, 64}, same);
  both("depthwise", {8, 56, 56, 128}, {3, 3, 128, 1}, [](const Tensor& x, const Tensor& kernel) {
    return K::depthwise_conv2d(x, kernel, {.padding = "same"});
  });
  both("conv3d", {4, 16, 16, 16, 32}, {3, 3, 3, 32, 32},
       [](const Tensor& x, const Tensor& kernel) { return K::conv3d(x, kernel, {.padding = "same"}); });
  both("conv2d_transpose", {16, 16, 16, 64}, {4, 4, 32, 64}, [](const Tensor& x, const Tensor& kernel) {
    return K::conv2d_transpose(x, kernel, {16, 32, 32, 32}, {.strides = {2, 2}, .padding = "same"});
  });
  both("conv1d", {8, 1000, 128}, {3, 128, 128},
       [](const Tensor& x, const Tensor& kernel) { return K::conv1d(x, kernel, {.padding = "same"}); });
});

}  // namespace
