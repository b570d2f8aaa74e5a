#include "peer.hpp"

#include <cmath>

namespace peer {
namespace {

void layer_norm(const std::string& name, at::IntArrayRef shape) {
  const auto units = shape.back();
  auto x = torch::randn(shape, torch::requires_grad()), gamma = torch::ones({units}, torch::requires_grad()),
       beta = torch::zeros({units}, torch::requires_grad()), slope = torch::randn(shape);
  report(name + "_grad", [&] {
    torch::layer_norm(x, {units}, gamma, beta).backward(slope);
    x.mutable_grad() = gamma.mutable_grad() = beta.mutable_grad() = Tensor();
  });
  torch::NoGradGuard off;
  report(name, [&] { torch::layer_norm(x, {units}, gamma, beta); });
}

void attention(const std::string& name, at::IntArrayRef shape) {
  auto q = torch::randn(shape, torch::requires_grad()), k = torch::randn(shape, torch::requires_grad()),
       v = torch::randn(shape, torch::requires_grad()), slope = torch::randn(shape);
  const auto run = [&] {
    return torch::matmul(
        torch::softmax(torch::matmul(q, k.transpose(-1, -2)) / std::sqrt(double(shape.back())), -1), v);
  };
  report(name + "_grad", [&] {
    run().backward(slope);
    q.mutable_grad() = k.mutable_grad() = v.mutable_grad() = Tensor();
  });
  torch::NoGradGuard off;
  report(name, run);
}

}  // namespace

void layers() {
  layer_norm("layer_norm", {64, 32, 512});
  layer_norm("layer_norm_small", {32, 128});
  attention("attention", {16, 4, 128, 32});
  attention("attention_long", {2, 8, 512, 64});
}

}  // namespace peer
