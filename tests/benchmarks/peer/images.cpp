#include "peer.hpp"

namespace peer {
namespace {

void normalization(bool nhwc) {
  const auto layout = [&](Tensor x) { return nhwc ? x.contiguous(at::MemoryFormat::ChannelsLast) : x; };
  const auto name = [&](std::string text) { return nhwc ? text + "_nhwc" : text; };
  const auto train = [&](const std::string& text, at::IntArrayRef shape) {
    const auto channels = shape[1];
    auto x = layout(torch::randn(shape)).requires_grad_();
    auto gamma = torch::ones({channels}, torch::requires_grad()),
         beta = torch::zeros({channels}, torch::requires_grad());
    auto mean = torch::zeros({channels}), var = torch::ones({channels}), slope = layout(torch::randn(shape));
    report(name(text).c_str(), [&] {
      torch::batch_norm(x, gamma, beta, mean, var, true, .1, 1e-3, false).backward(slope);
      x.mutable_grad() = gamma.mutable_grad() = beta.mutable_grad() = Tensor();
    });
  };
  train("batch_norm_grad", {64, 64, 32, 32});
  train("batch_norm_16_grad", {32, 16, 32, 32});
  torch::NoGradGuard off;
  auto x = layout(torch::randn({64, 64, 32, 32})), ones = torch::ones({64}), zeros = torch::zeros({64});
  report(name("batch_norm").c_str(),
         [&] { torch::batch_norm(x, ones, zeros, zeros, ones, true, 0, 1e-3, false); });
  report(name("batch_norm_infer").c_str(),
         [&] { torch::batch_norm(x, ones, zeros, zeros, ones, false, 0, 1e-3, false); });
}

struct ConvCase {
  std::string name;
  std::vector<std::int64_t> x, kernel, stride, padding;
  std::int64_t groups = 1;
  bool transposed = false;
};

void convolution(const ConvCase& c, bool nhwc) {
  const auto format = c.x.size() == 5 ? at::MemoryFormat::ChannelsLast3d : at::MemoryFormat::ChannelsLast;
  const auto layout = [&](Tensor t) { return nhwc && t.dim() > 3 ? t.contiguous(format) : t; };
  auto x = layout(torch::randn(c.x)).requires_grad_(),
       kernel = layout(torch::randn(c.kernel)).requires_grad_();
  const std::vector<std::int64_t> ones(c.stride.size(), 1), zeros(c.stride.size(), 0);
  const auto run = [&] {
    return torch::convolution(x, kernel, {}, c.stride, c.padding, ones, c.transposed, zeros, c.groups);
  };
  auto slope = layout(torch::randn_like(run()));
  const std::string ending = nhwc ? "_nhwc" : "";
  report((c.name + "_grad" + ending).c_str(), [&] {
    run().backward(slope);
    x.mutable_grad() = kernel.mutable_grad() = Tensor();
  });
  torch::NoGradGuard off;
  report((c.name + ending).c_str(), run);
}

void convolutions(bool nhwc) {
  const ConvCase cases[] = {
      {"conv2d_gray", {128, 1, 28, 28}, {32, 1, 3, 3}, {1, 1}, {0, 0}},
      {"conv2d_cnn", {128, 32, 26, 26}, {64, 32, 3, 3}, {1, 1}, {0, 0}},
      {"conv2d_rgb", {32, 3, 32, 32}, {16, 3, 3, 3}, {1, 1}, {1, 1}},
      {"conv2d_16", {32, 16, 32, 32}, {16, 16, 3, 3}, {1, 1}, {1, 1}},
      {"conv2d_32", {32, 32, 16, 16}, {32, 32, 3, 3}, {1, 1}, {1, 1}},
      {"conv2d_64", {32, 64, 8, 8}, {64, 64, 3, 3}, {1, 1}, {1, 1}},
      {"conv2d_down", {32, 16, 32, 32}, {32, 16, 3, 3}, {2, 2}, {1, 1}},
      {"conv2d_shortcut", {32, 16, 32, 32}, {32, 16, 1, 1}, {2, 2}, {0, 0}},
      {"conv2d_first", {32, 64, 32, 32}, {64, 64, 3, 3}, {1, 1}, {1, 1}},
      {"conv2d_last", {32, 64, 32, 32}, {64, 64, 3, 3}, {1, 1}, {1, 1}},
      {"depthwise", {8, 128, 56, 56}, {128, 1, 3, 3}, {1, 1}, {1, 1}, 128},
      {"conv3d", {4, 32, 16, 16, 16}, {32, 32, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}},
      {"conv2d_transpose", {16, 64, 16, 16}, {64, 32, 4, 4}, {2, 2}, {1, 1}, 1, true},
      {"conv1d", {8, 128, 1000}, {128, 128, 3}, {1}, {1}},
  };
  for (const ConvCase& c : cases) convolution(c, nhwc);
}

void pooling(bool nhwc) {
  auto x = torch::randn({64, 64, 56, 56});
  if (nhwc) x = x.contiguous(at::MemoryFormat::ChannelsLast);
  x.requires_grad_();
  const auto train = [&](std::string name, const std::function<Tensor()>& pool) {
    if (nhwc) name += "_nhwc";
    report(name, [&] {
      pool().sum().backward();
      x.mutable_grad() = Tensor();
    });
  };
  train("max_pool_2x2_grad", [&] { return torch::max_pool2d(x, 2, 2); });
  train("max_pool_3x3_grad", [&] { return torch::max_pool2d(x, 3, 2, 1); });
  train("avg_pool_2x2_grad", [&] { return torch::avg_pool2d(x, 2, 2); });
  train("avg_pool_3x3_grad", [&] { return torch::avg_pool2d(x, 3, 2, 1); });
  train("global_avg_pool_grad", [&] { return torch::adaptive_avg_pool2d(x, {1, 1}); });
  train("global_max_pool_grad", [&] { return torch::amax(x, {2, 3}); });
  torch::NoGradGuard off;
  const char* names[][2] = {{"max_pool_2x2", "global_avg_pool"},
                            {"max_pool_2x2_nhwc", "global_avg_pool_nhwc"}};
  report(names[nhwc][0], [&] { torch::max_pool2d(x, 2, 2); });
  report(names[nhwc][1], [&] { torch::adaptive_avg_pool2d(x, {1, 1}); });
}

}  // namespace

void images(bool nhwc) {
  convolutions(nhwc);
  normalization(nhwc);
  pooling(nhwc);
}

}  // namespace peer
