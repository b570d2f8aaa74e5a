#include <ktape/ktape.hpp>

#include <algorithm>

#include "../../../ops/check.hpp"
#include "../../data/files.hpp"
#include "onnx_bytes.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::IOError;
using ktape::Tensor;
using ktape::TypeError;
using ktape::ValueError;

TEST_CASE("onnx::load: the model computes, and has names and weights") {
  const Files files;
  const nn::Model model = nn::onnx::load(files.write("m.onnx", onnx_model()));
  const Tensor y = model.predict(K::constant({{1, 2}}));
  CHECK(y.shape() == ktape::Shape{1, 3});
  CHECK(values(y) == Values{9, 0, 16});
  CHECK(values(model({{"x", K::constant({{1, 2}})}})) == Values{9, 0, 16});
  REQUIRE(model.trainable_weights().size() == 2);
  CHECK(model.count_params() == 9);
  CHECK(values(model.weight("b")) == Values{0, -20, 1});
  CHECK(values(model(ints({{1, 2}}))) == Values{9, 0, 16});  // integers become the dtype of the input
}

TEST_CASE("onnx::load: the model can be trained on") {
  const Files files;
  const nn::Model model = nn::onnx::load(files.write("m.onnx", onnx_model()));
  const Tensor x = normal({64, 2}, 1, "float32"), y = K::relu(K::dot(x, K::constant({{1, 0, 2}, {0, 1, 1}})));
  model.compile({.optimizer = nn::Adam({.learning_rate = 0.05}), .loss = "mse"});
  const double before = model.evaluate(x, y)["loss"];
  model.fit(x, y, {.epochs = 20, .verbose = 0});
  CHECK(model.evaluate(x, y)["loss"] < 0.5 * before);
}

TEST_CASE("onnx::load: gradients of a loaded model") {
  const Files files;
  const nn::Model model = nn::onnx::load(files.write(
      "m.onnx", onnx_file(onnx_node("Conv", {"x", "w"}, "h") + onnx_node("Tanh", {"h"}, "t") +
                          onnx_node("Resize", {"t", "", "s"}, "y", onnx_text("mode", "linear")) +
                          onnx_weight("w", {2, 1, 2, 2}, {1, -2, 3, 4, 0.5, 1, -1, 2}) +
                          onnx_weight("s", {4}, {1, 1, 2, 1.5}) + onnx_input("x", 11) + onnx_output("y"))));
  check_gradients([&](In in) { return model(in[0]); }, {normal({1, 1, 3, 3})});
}

TEST_CASE("onnx::load: a call with inputs that do not fit names the node") {
  const Files files;
  const nn::Model model = nn::onnx::load(files.write("m.onnx", onnx_model()));
  CHECK_THROWS_WITH_AS(model(K::ones({2, 5})), Contains("in the node 'h' (Gemm)"), ValueError);
  const nn::Model tokens = nn::onnx::load(files.write(
      "t.onnx", onnx_file(onnx_node("Identity", {"x"}, "y") + onnx_input("x", 7) + onnx_output("y"))));
  CHECK_THROWS_WITH_AS(tokens(K::ones({2})), Contains("the input 'x' must be int64: received dtype=float32"),
                       TypeError);
}

TEST_CASE("onnx::load: unknown operators, opsets and inputs") {
  const Files files;
  const auto load = [&](const std::string& content) {
    return nn::onnx::load(files.write("m.onnx", content));
  };
  const std::string rest = onnx_input("x") + onnx_output("y");
  CHECK_THROWS_WITH_AS(
      load(onnx_file(onnx_node("Magic", {"x"}, "h") + onnx_node("Magic", {"h"}, "g") +
                     onnx_node("Relu", {"g"}, "y", bytes_field(7, "com.other")) + rest)),
      Contains("m.onnx with Magic of the domain ai.onnx (2 nodes), Relu of the domain com.other (1 node)"),
      ValueError);
  for (const int opset : {0, 5, 22})
    CHECK_THROWS_WITH_AS(load(onnx_file(onnx_node("Relu", {"x"}, "y") + rest, opset)),
                         Contains("the opset must be in [6, 21]: received"), ValueError);
  CHECK_THROWS_WITH_AS(load(onnx_file(onnx_node("Relu", {"x"}, "y") + onnx_input("x", 8) + onnx_output("y"))),
                       Contains("the inputs must be tensors of numbers"), ValueError);
  const std::vector<std::string> names = nn::onnx::operators();
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(names.size() >= 150);
}
