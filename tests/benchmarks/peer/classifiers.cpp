#include "peer.hpp"

namespace peer {
namespace {

/// Returns a convolution and its normalization, as an image classifier has them.
nn::Sequential normalized(int in, int out, int size, int stride, int groups = 1) {
  const auto options =
      nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).groups(groups).bias(false);
  return nn::Sequential(nn::Conv2d(options), nn::BatchNorm2d(out));
}

struct Bottleneck : nn::Module {
  nn::Sequential body, shortcut;
  Bottleneck(int in, int filters, int stride) {
    body->extend(*normalized(in, filters, 1, stride));
    body->push_back(nn::ReLU());
    body->extend(*normalized(filters, filters, 3, 1));
    body->push_back(nn::ReLU());
    body->extend(*normalized(filters, 4 * filters, 1, 1));
    if (stride != 1 || in != 4 * filters) shortcut = normalized(in, 4 * filters, 1, stride);
    register_module("body", body);
    register_module("shortcut", shortcut);
  }
  Tensor forward(Tensor x) {
    const Tensor y = body->forward(x);
    return torch::relu(y + (shortcut->is_empty() ? x : shortcut->forward(x)));
  }
};

nn::Sequential resnet50() {
  nn::Sequential m;
  m->extend(*normalized(3, 64, 7, 2));
  m->push_back(nn::ReLU());
  m->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  const int blocks[] = {3, 4, 6, 3};
  int in = 64;
  for (int stage = 0; stage < 4; ++stage)
    for (int block = 0; block < blocks[stage]; ++block) {
      m->push_back(Bottleneck(in, 64 << stage, stage && !block ? 2 : 1));
      in = 256 << stage;
    }
  m->push_back(nn::AdaptiveAvgPool2d(1));
  m->push_back(nn::Flatten());
  m->push_back(nn::Linear(2048, 1000));
  m->push_back(nn::Softmax(-1));
  return m;
}

struct InvertedBlock : nn::Module {
  nn::Sequential body;
  bool adds;
  InvertedBlock(int in, int out, int stride, int expansion) : adds(stride == 1 && in == out) {
    if (expansion > 1) {
      body->extend(*normalized(in, in * expansion, 1, 1));
      body->push_back(nn::ReLU6());
    }
    body->extend(*normalized(in * expansion, in * expansion, 3, stride, in * expansion));
    body->push_back(nn::ReLU6());
    body->extend(*normalized(in * expansion, out, 1, 1));
    register_module("body", body);
  }
  Tensor forward(Tensor x) { return adds ? x + body->forward(x) : body->forward(x); }
};

nn::Sequential mobilenet_v2() {
  nn::Sequential m;
  m->extend(*normalized(3, 32, 3, 2));
  m->push_back(nn::ReLU6());
  const int stages[][4] = {{1, 16, 1, 1}, {2, 24, 2, 6},  {3, 32, 2, 6}, {4, 64, 2, 6},
                           {3, 96, 1, 6}, {3, 160, 2, 6}, {1, 320, 1, 6}};
  int in = 32;
  for (const auto& [blocks, filters, stride, expansion] : stages)
    for (int block = 0; block < blocks; ++block) {
      m->push_back(InvertedBlock(in, filters, block ? 1 : stride, expansion));
      in = filters;
    }
  m->extend(*normalized(320, 1280, 1, 1));
  m->push_back(nn::ReLU6());
  m->push_back(nn::AdaptiveAvgPool2d(1));
  m->push_back(nn::Flatten());
  m->push_back(nn::Linear(1280, 1000));
  m->push_back(nn::Softmax(-1));
  return m;
}

}  // namespace

void classifiers(bool nhwc) {
  torch::NoGradGuard off;
  const std::pair<std::string, nn::Sequential (*)()> models[] = {{"resnet50", resnet50},
                                                                 {"mobilenet_v2", mobilenet_v2}};
  for (const auto& [name, make] : models) {
    if (!only.empty() && only.find(name + "_infer") != 0) continue;
    nn::Sequential m = make();
    m->eval();
    if (nhwc) channels_last(*m);
    for (int batch : {1, 8}) {
      auto x = torch::randn({batch, 3, 224, 224});
      if (nhwc) x = x.contiguous(at::MemoryFormat::ChannelsLast);
      report((name + "_infer_" + std::to_string(batch) + (nhwc ? "_nhwc" : "")).c_str(),
             [&] { m->forward(x); });
    }
  }
}

}  // namespace peer
