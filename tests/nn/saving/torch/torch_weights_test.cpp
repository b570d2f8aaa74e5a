#include "../../../ops/check.hpp"
#include "../../files/torch_files.hpp"

#include <ktape/ktape.hpp>

#include <cmath>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::Shape;
using ktape::Tensor;
using ktape::ValueError;

namespace {

/// Returns the tensors of a file by name.
Tensor tensor(const std::string& file, const std::string& name) {
  for (const auto& [key, value] : ktape::data::load_torch(torch_files() + '/' + file))
    if (key == name) return value;
  FAIL("no tensor " << name);
  return {};
}

}  // namespace

TEST_CASE("load_torch_weights transposes kernels and matches by path and by order") {
  if (torch_files().empty()) return;
  const std::string path = torch_files() + "/net.pt";
  for (const bool named : {true, false}) {
    CAPTURE(named);
    nn::Sequential model({nn::Conv2D(4, {2, 5}, {.name = named ? "conv" : "a"}),
                          nn::BatchNormalization({.name = named ? "bn" : "b"}),
                          nn::DepthwiseConv2D(2, {.depth_multiplier = 2, .name = named ? "depthwise" : "c"}),
                          nn::Conv2DTranspose(2, {3, 2}, {.name = named ? "up" : "d"}), nn::Flatten(),
                          nn::Dense(5, {.name = named ? "fc" : "e"})});
    model.build(Shape{ktape::None, 3, 6, 3});
    const std::size_t inputs = static_cast<std::size_t>(model.layers().back().weight("kernel").shape()[0]);
    if (inputs !=
        6) {  // the extents of the flat image differ: the error names both shapes, and nothing changes
      const auto before = values(model.weights()[0].value());
      CHECK_THROWS_WITH_AS(nn::load_torch_weights(model, path), Contains("must fit the weight"), ValueError);
      CHECK(values(model.weights()[0].value()) == before);
    }
    const nn::TorchWeightsReport report =
        nn::load_torch_weights(model, path, {.rename = {{"fc\\..*", ""}}, .strict = false});
    CHECK(report.matched.size() == 10);
    CHECK(report.missing.size() == 2);
    CHECK(report.unused.empty());
    CHECK(report.matched[0] ==
          std::pair<std::string, std::string>{named ? "conv/kernel" : "a/kernel", "conv.weight"});
    const std::vector<ktape::Variable> w = model.weights();
    CHECK(values(w[0].value()) ==
          values(K::permute_dimensions(tensor("net.pt", "conv.weight"), {2, 3, 1, 0})));
    const auto layer = [&](int i) { return model.get_layer(i); };
    CHECK(values(layer(1).weight("moving_variance").value()) == values(tensor("net.pt", "bn.running_var")));
    CHECK(values(layer(1).weight("gamma").value()) == values(tensor("net.pt", "bn.weight")));
    const Tensor depthwise = K::reshape(tensor("net.pt", "depthwise.weight"), {4, 2, 2, 2});
    CHECK(values(layer(2).weight("kernel").value()) ==
          values(K::permute_dimensions(depthwise, {2, 3, 0, 1})));
    CHECK(values(layer(3).weight("kernel").value()) ==
          values(K::permute_dimensions(tensor("net.pt", "up.weight"), {2, 3, 1, 0})));
  }
}

TEST_CASE("load_torch_weights reads recurrent modules with several layers and both directions") {
  if (torch_files().empty()) return;
  const nn::Sequential model({nn::Bidirectional(nn::LSTM(2, {.return_sequences = true})),
                              nn::Bidirectional(nn::LSTM(2, {.return_sequences = true})), nn::GRU(2)});
  model.build(Shape{ktape::None, 4, 3});
  const nn::TorchWeightsReport report = nn::load_torch_weights(model, torch_files() + "/rnn.pt");
  CHECK(report.matched.size() == 15);
  const auto weights = model.weights();
  CHECK(values(weights[0].value()) == values(K::transpose(tensor("rnn.pt", "lstm.weight_ih_l0"))));
  CHECK(values(weights[2].value()) ==
        values(tensor("rnn.pt", "lstm.bias_ih_l0") + tensor("rnn.pt", "lstm.bias_hh_l0")));
  CHECK(values(weights[4].value()) == values(K::transpose(tensor("rnn.pt", "lstm.weight_hh_l0_reverse"))));
  CHECK(values(weights[6].value()) == values(K::transpose(tensor("rnn.pt", "lstm.weight_ih_l1"))));
  // PyTorch's gates are r, z, n.
  const auto gates = K::split(tensor("rnn.pt", "gru.weight_ih_l0"), 3, 0);
  CHECK(values(weights[12].value()) ==
        values(K::transpose(K::concatenate({gates[1], gates[0], gates[2]}, 0))));
  CHECK(weights[14].shape() == Shape{2, 6});
}

namespace {

/// Computes PyTorch's MultiheadAttention over the steps of x, (samples, steps, features).
Tensor torch_attention(const Tensor& x, const std::string& file, int heads) {
  const auto linear = [](const Tensor& h, const Tensor& weight, const Tensor& bias) {
    return K::dot(h, K::transpose(weight)) + bias;
  };
  const auto weight = K::split(tensor(file, "attn.in_proj_weight"), 3, 0),
             bias = K::split(tensor(file, "attn.in_proj_bias"), 3, 0);
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < 3; ++i) {
    const Tensor h = linear(x, weight[i], bias[i]);
    const Shape split{x.shape()[0], x.shape()[1], heads, h.shape()[2] / heads};
    parts.push_back(K::permute_dimensions(K::reshape(h, split), {0, 2, 1, 3}));
  }
  const double dim = static_cast<double>(parts[0].shape()[3]);
  const Tensor scores = K::softmax(K::matmul(parts[0], parts[1], {.transpose_b = true}) / std::sqrt(dim));
  const Tensor attended = K::permute_dimensions(K::matmul(scores, parts[2]), {0, 2, 1, 3});
  return linear(K::reshape(attended, x.shape()), tensor(file, "attn.out_proj.weight"),
                tensor(file, "attn.out_proj.bias"));
}

}  // namespace

TEST_CASE("load_torch_weights splits the packed projections of MultiheadAttention") {
  if (torch_files().empty()) return;
  const Tensor in = nn::Input({5, 4}), x = normal({2, 5, 4}, 1, "float32");
  const std::string path = torch_files() + "/attention.pt";
  for (const char* name : {"attn", "other"}) {
    CAPTURE(name);
    const nn::Model model(
        in, nn::Dense(3, {.name = "fc"})(nn::MultiHeadAttention(2, 2, {.name = name})({in, in})));
    const nn::TorchWeightsReport report = nn::load_torch_weights(model, path);
    CHECK(report.matched.size() == 10);
    CHECK(report.unused.empty());
    const Tensor wanted =
        K::dot(torch_attention(x, "attention.pt", 2), K::transpose(tensor("attention.pt", "fc.weight"))) +
        tensor("attention.pt", "fc.bias");
    const auto got = values(model(x)), expected = values(wanted);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  }
  const nn::Model wide(in, nn::Dense(3)(nn::MultiHeadAttention(3, 2)({in, in})));
  CHECK_THROWS_WITH_AS(nn::load_torch_weights(wide, path), Contains("'attn.in_proj_weight'"), ValueError);
}

TEST_CASE("load_torch_weights follows rules") {
  if (torch_files().empty()) return;
  const nn::Sequential model({nn::Input({6}), nn::Dense(5, {.name = "head"})});
  const std::string path = torch_files() + "/net.pt";
  const nn::TorchWeightsReport report = nn::load_torch_weights(
      model, path, {.rename = {{"fc\\.weight", "head/kernel"}, {"fc\\.bias", "head/bias"}, {".*", ""}}});
  CHECK(report.matched.size() == 2);
  CHECK(values(model.weights()[0].value()) == values(K::transpose(tensor("net.pt", "fc.weight"))));
  CHECK_THROWS_WITH_AS(nn::load_torch_weights(model, path, {.rename = {{"fc\\.weight", "tail/kernel"}}}),
                       Contains("received 'tail/kernel' for the tensor 'fc.weight'"), ValueError);
  CHECK_THROWS_WITH_AS(nn::load_torch_weights(model, path, {.rename = {{"(", "x"}}}),
                       Contains("rename must have regular expressions"), ValueError);
  CHECK_THROWS_WITH_AS(nn::load_torch_weights(model, path, {.layout = "tf"}),
                       Contains("layout must be \"torch\" or \"keras\": received layout=\"tf\""), ValueError);
  CHECK_THROWS_WITH_AS(nn::load_torch_weights(model, path),
                       Contains("the modules of the file must be as many as the layers with weights"),
                       ValueError);
}

TEST_CASE("load_torch_weights reads safetensors, too") {
  const Files files;
  const Tensor kernel = counted({5, 6}, "float32"), bias = counted({5}, "float32");
  const std::string path = files.folder() + "/model.safetensors";
  nn::save_safetensors(path, {{"fc.weight", kernel}, {"fc.bias", bias}});
  const nn::Sequential model({nn::Input({6}), nn::Dense(5)});
  nn::load_torch_weights(model, path);
  CHECK(values(model.weights()[0].value()) == values(K::transpose(kernel)));
  nn::save_safetensors(path, {{"fc.kernel", K::transpose(kernel)}});
  CHECK_THROWS_WITH_AS(nn::load_torch_weights(model, path), Contains("each weight must get a tensor"),
                       ValueError);
}
