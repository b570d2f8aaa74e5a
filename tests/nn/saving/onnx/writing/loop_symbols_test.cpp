#include "../../../../ops/check.hpp"
#include "onnx_runtime.hpp"

#include <filesystem>

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice, ktape::Tensor;
using In = const std::vector<Tensor>&;

TEST_CASE("onnx: cells under mixed policies are exported") {
  const Tensor x = normal({2, 5, 3}, 1, "float32");
  const std::string path = std::filesystem::temp_directory_path() / "ktape_loop_symbols_test.onnx";
  for (const char* policy : {"mixed_float16", "mixed_bfloat16", "bfloat16", "float32"}) {
    CAPTURE(policy);
    const nn::Layer layers[] = {
        nn::RNN({nn::LSTMCell(4, {.dtype = policy}), nn::GRUCell(3, {.dtype = policy})}, {.dtype = policy}),
        nn::RNN({nn::SimpleRNNCell(4, {.dtype = policy}), nn::GRUCell(3, {.dtype = policy})},
                {.return_sequences = true, .go_backwards = true, .dtype = policy}),
        nn::RNN(nn::LSTMCell(4, {.activation = "relu", .dtype = policy}), {.dtype = policy}),
        nn::LSTM(4, {.activation = "elu", .dtype = policy}),
        nn::Bidirectional(nn::RNN({nn::GRUCell(4, {.dtype = policy}), nn::LSTMCell(3, {.dtype = policy})},
                                  {.dtype = policy}),
                          {.dtype = policy})};
    for (const nn::Layer& layer : layers)
      for (const bool masks : {false, true}) {
        const Tensor in = nn::Input({5, 3});
        const nn::Model model(in, nn::Dense(2)(layer(masks ? nn::Masking()(in) : in)));
        model.export_to(path);
        const nn::Model again = nn::onnx::load(path);
        const double difference = K::max(K::abs(again(x) - model(x))).item<double>();
        CHECK(difference <= (std::string(policy) == "float32" ? 1e-5 : 0.05));
      }
  }
  std::filesystem::remove(path);
}

TEST_CASE("onnx: loops over time steps are exported") {
  exported::Checks check;
  const Tensor x = normal({2, 5, 3}, 1, "float32"), w = normal({3, 3}, 2, "float32"),
               seen = K::cast(normal({2, 5}, 3, "float32") > 0, "float32");
  const auto step = [&](const Tensor& in, const std::vector<Tensor>& states) {
    const Tensor h = K::tanh(K::dot(in, w) + states[0]);
    return std::pair{h, std::vector{h * 0.5}};
  };
  check("plain", {x}, [&](In in) {
    auto [last, all, states] = K::rnn(step, in[0], {K::zeros_like(in[0][{All, 0}])});
    return std::vector{last, all, states[0]};
  });
  check("masked", {x, seen}, [&](In in) {
    auto [last, all, states] = K::rnn(step, in[0], {K::zeros_like(in[0][{All, 0}])}, {.mask = in[1]});
    return std::vector{last, all, states[0]};
  });
  check("backwards", {x}, [&](In in) {
    return K::rnn(step, in[0], {K::zeros_like(in[0][{All, 0}])}, {.go_backwards = true}).outputs;
  });
  check.run();
}
