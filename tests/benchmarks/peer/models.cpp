#include "peer.hpp"

namespace peer {
namespace {

void mlp() {
  nn::Sequential m(nn::Linear(784, 512), nn::ReLU(), nn::Linear(512, 512), nn::ReLU(), nn::Linear(512, 10));
  torch::optim::Adam opt(m->parameters(), 1e-3);
  auto x = torch::randn({128, 784});
  auto y = torch::randint(10, {128});
  report("mlp_train", [&] {
    opt.zero_grad();
    F::cross_entropy(m->forward(x), y).backward();
    opt.step();
  });
  report("mlp_infer", [&] {
    torch::NoGradGuard off;
    m->forward(x);
  });
}

void cnn(bool nhwc) {
  nn::Conv2d c1(1, 32, 3), c2(32, 64, 3);
  nn::Linear d1(9216, 128), d2(128, 10);
  auto x = torch::randn({128, 1, 28, 28});
  auto y = torch::randint(10, {128});
  if (nhwc) {
    channels_last(*c2);
    x = x.contiguous(at::MemoryFormat::ChannelsLast);
  }
  torch::optim::Adam opt(parameters({c1.ptr(), c2.ptr(), d1.ptr(), d2.ptr()}), 1e-3);
  report(nhwc ? "cnn_train_nhwc" : "cnn_train", [&] {
    opt.zero_grad();
    auto h = torch::max_pool2d(torch::relu(c2(torch::relu(c1(x)))), 2);
    h = torch::dropout(h, .25, true).flatten(1);
    h = torch::dropout(torch::relu(d1(h)), .5, true);
    F::cross_entropy(d2(h), y).backward();
    opt.step();
  });
}

struct Block : nn::Module {
  nn::Conv2d c1{nullptr}, c2{nullptr}, shortcut{nullptr};
  nn::BatchNorm2d b1{nullptr}, b2{nullptr}, bs{nullptr};
  Block(int in, int out, int stride) {
    c1 = register_module("c1",
                         nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)));
    c2 = register_module("c2", nn::Conv2d(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)));
    b1 = register_module("b1", nn::BatchNorm2d(out));
    b2 = register_module("b2", nn::BatchNorm2d(out));
    if (stride != 1 || in != out) {
      shortcut = register_module("s", nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)));
      bs = register_module("bs", nn::BatchNorm2d(out));
    }
  }
  Tensor forward(Tensor x) {
    auto y = b2(c2(torch::relu(b1(c1(x)))));
    if (!shortcut.is_empty()) x = bs(shortcut(x));
    return torch::relu(y + x);
  }
};

void resnet20(bool nhwc) {
  nn::Sequential m;
  m->push_back(nn::Conv2d(nn::Conv2dOptions(3, 16, 3).padding(1).bias(false)));
  m->push_back(nn::BatchNorm2d(16));
  m->push_back(nn::ReLU());
  int in = 16;
  for (int stage = 0; stage < 3; ++stage)
    for (int block = 0; block < 3; ++block) {
      const int out = 16 << stage;
      m->push_back(Block(in, out, stage && !block ? 2 : 1));
      in = out;
    }
  m->push_back(nn::AdaptiveAvgPool2d(1));
  m->push_back(nn::Flatten());
  m->push_back(nn::Linear(64, 10));
  auto x = torch::randn({32, 3, 32, 32});
  auto y = torch::randint(10, {32});
  if (nhwc) {
    channels_last(*m);
    x = x.contiguous(at::MemoryFormat::ChannelsLast);
  }
  torch::optim::SGD opt(m->parameters(), torch::optim::SGDOptions(.1).momentum(.9));
  report(nhwc ? "resnet20_train_nhwc" : "resnet20_train", [&] {
    opt.zero_grad();
    F::cross_entropy(m->forward(x), y).backward();
    opt.step();
  });
}

void lstm() {
  nn::Embedding e(20000, 128);
  nn::LSTM r(nn::LSTMOptions(128, 128).batch_first(true));
  nn::Linear d(128, 1);
  auto ids = torch::randint(20000, {32, 80});
  auto x = torch::randn({32, 80, 128});
  auto y = torch::randint(2, {32, 1}).to(torch::kFloat);
  torch::optim::Adam all(parameters({e.ptr(), r.ptr(), d.ptr()}), 1e-3),
      some(parameters({r.ptr(), d.ptr()}), 1e-3);
  auto loss = [&](const Tensor& in) {
    return F::binary_cross_entropy_with_logits(d(std::get<0>(r(in)).select(1, 79)), y);
  };
  report("lstm_train", [&] {
    some.zero_grad();
    loss(x).backward();
    some.step();
  });
  report("embedding_lstm_train", [&] {
    all.zero_grad();
    loss(e(ids)).backward();
    all.step();
  });
}

void gru() {
  nn::GRU r(nn::GRUOptions(128, 128).batch_first(true));
  nn::Linear d(128, 1);
  auto x = torch::randn({32, 80, 128});
  auto y = torch::randint(2, {32, 1}).to(torch::kFloat);
  torch::optim::Adam opt(parameters({r.ptr(), d.ptr()}), 1e-3);
  report("gru_train", [&] {
    opt.zero_grad();
    F::binary_cross_entropy_with_logits(d(std::get<0>(r(x)).select(1, 79)), y).backward();
    opt.step();
  });
}

struct Encoder : nn::Module {
  nn::Linear qkv{nullptr}, out{nullptr}, f1{nullptr}, f2{nullptr};
  nn::LayerNorm n1{nullptr}, n2{nullptr};
  int heads;
  Encoder(int d, int heads, int ff) : heads(heads) {
    qkv = register_module("qkv", nn::Linear(d, 3 * d));
    out = register_module("out", nn::Linear(d, d));
    f1 = register_module("f1", nn::Linear(d, ff));
    f2 = register_module("f2", nn::Linear(ff, d));
    n1 = register_module("n1", nn::LayerNorm(nn::LayerNormOptions({d})));
    n2 = register_module("n2", nn::LayerNorm(nn::LayerNormOptions({d})));
  }
  Tensor forward(Tensor x) {
    const auto B = x.size(0), T = x.size(1), D = x.size(2);
    auto p = qkv(x).view({B, T, 3, heads, D / heads}).permute({2, 0, 3, 1, 4});
    auto a = torch::softmax(torch::matmul(p[0], p[1].transpose(-1, -2)) / std::sqrt(double(D / heads)), -1);
    x = n1(x + out(torch::matmul(a, p[2]).transpose(1, 2).reshape({B, T, D})));
    return n2(x + f2(torch::gelu(f1(x))));
  }
};

void transformer() {
  nn::Sequential m(Encoder(128, 4, 512), Encoder(128, 4, 512));
  torch::optim::Adam opt(m->parameters(), 1e-3);
  auto x = torch::randn({16, 128, 128});
  report("transformer_train", [&] {
    opt.zero_grad();
    m->forward(x).square().mean().backward();
    opt.step();
  });
}

}  // namespace

void models() {
  mlp();
  cnn(false);
  cnn(true);
  resnet20(false);
  resnet20(true);
  lstm();
  gru();
  transformer();
}

}  // namespace peer
