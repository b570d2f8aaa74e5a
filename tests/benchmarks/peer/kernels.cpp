#include "peer.hpp"

namespace peer {
namespace {

void tiny() {
  auto a = torch::randn({4}, torch::requires_grad()), b = torch::randn({4}, torch::requires_grad());
  report("tiny_chain_grad", [&] {  // 1000 recorded ops on 4 elements, forward and backward
    auto t = a;
    for (int i = 0; i < 500; ++i) t = torch::tanh(t * b);
    t.sum().backward();
    a.mutable_grad() = Tensor();
    b.mutable_grad() = Tensor();
  });
  report("tiny_chain_forward", [&] {
    torch::NoGradGuard off;
    auto t = a;
    for (int i = 0; i < 500; ++i) t = torch::tanh(t * b);
  });
  nn::Sequential m(nn::Linear(4, 8), nn::Tanh(), nn::Linear(8, 1));
  torch::optim::SGD opt(m->parameters(), .1);
  auto x = torch::randn({1, 4}), y = torch::randn({1, 1});
  report("tiny_mlp_train", [&] {
    opt.zero_grad();
    (m->forward(x) - y).square().mean().backward();
    opt.step();
  });
}

void large() {
  auto a = torch::randn({10000000}, torch::requires_grad());
  auto b = torch::randn({10000000});
  report("elementwise_10M_grad", [&] {
    (torch::tanh(a * b) + torch::exp(-a.square())).mean().backward();
    a.mutable_grad() = Tensor();
  });
  auto s = torch::randn({64, 1024}, torch::requires_grad());
  auto g = torch::randn({1024}, torch::requires_grad());
  report("bias_gelu_grad", [&] {
    torch::gelu(s + g).sum().backward();
    s.mutable_grad() = Tensor();
    g.mutable_grad() = Tensor();
  });
  auto lp = torch::randn({100, 32, 64}, torch::requires_grad());
  auto targets = torch::randint(1, 64, {32, 20});
  auto il = torch::full({32}, 100, torch::kLong), tl = torch::full({32}, 20, torch::kLong);
  report("ctc_grad", [&] {
    F::ctc_loss(torch::log_softmax(lp, -1), targets, il, tl).backward();
    lp.mutable_grad() = Tensor();
  });
  torch::NoGradGuard off;
  auto z = torch::randn({4096, 4096});
  report("sum_axis0", [&] { z.sum(0); });
  report("sum_axis1", [&] { z.sum(1); });
  report("max_axis0", [&] { z.amax(0); });
  report("softmax", [&] { torch::softmax(z, -1); });
  report("transpose", [&] { z.t().contiguous(); });
  report("cumsum", [&] { z.cumsum(1); });
  auto p = torch::randn({32, 64, 56, 56});
  report("permute_nchw_nhwc", [&] { p.permute({0, 2, 3, 1}).contiguous(); });
}

void small() {
  torch::NoGradGuard off;
  auto x = torch::randn({64, 128}), y = torch::randn({64, 64}), row = torch::randn({128});
  auto column = torch::randn({64, 1}), qkv = torch::randn({64, 192});
  auto heads = torch::randn({16, 16, 4, 16}), square = torch::randn({128, 128});
  report("permute_small", [&] { heads.permute({0, 2, 1, 3}).contiguous(); });
  report("transpose_small", [&] { square.t().contiguous(); });
  report("concatenate_small", [&] { torch::cat({x, y}, 1); });
  report("split_small", [&] {
    for (const auto& part : qkv.chunk(3, 1)) part.contiguous();
  });
  report("slice_small", [&] { x.slice(1, 32, 96).contiguous(); });
  report("broadcast_row_small", [&] { x + row; });
  report("broadcast_column_small", [&] { x* column; });
  report("softmax_small", [&] { torch::softmax(x, -1); });
  auto queries = torch::randn({16, 64, 12, 64});
  report("permute_queries", [&] { queries.permute({0, 2, 1, 3}).contiguous(); });
  auto wide = torch::randn({256, 1000}), narrow = torch::randn({256, 500});
  report("concatenate", [&] { torch::cat({wide, narrow}, 1); });
}

}  // namespace

void kernels() {
  tiny();
  large();
  small();
}

}  // namespace peer
