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

TEST_CASE("onnx::load: nodes out of order are sorted, also in the graphs of nodes") {
  const Files files;
  const std::string ends = onnx_input("x") + onnx_output("y"), cast = onnx_node("Neg", {"x"}, "h");
  const std::string sum = onnx_node("Add", {"h", "g"}, "y"), twice = onnx_node("Mul", {"h", "h"}, "g");
  for (const std::string& nodes :
       {sum + twice + cast, sum + cast + twice, twice + sum + cast, cast + twice + sum}) {
    const nn::Model model = nn::onnx::load(files.write("m.onnx", onnx_file(nodes + ends)));
    CHECK(values(model(K::constant({2., 3.}))) == Values{2, 6});
  }
  const auto branch = [](const char* name, const std::string& nodes) {
    return bytes_field(5,
                       bytes_field(1, name) + bytes_field(6, nodes + onnx_output("b")) + number_field(20, 5));
  };
  const std::string inside = onnx_node("Exp", {"late"}, "b") + onnx_node("Neg", {"h"}, "late");
  const std::string chosen =
      onnx_node("If", {"any"}, "y",
                branch("then_branch", inside) + branch("else_branch", onnx_node("Neg", {"h"}, "b")));
  const std::string yes = onnx_node("Less", {"x", "zero"}, "any");
  const nn::Model model = nn::onnx::load(
      files.write("m.onnx", onnx_file(chosen + cast + yes + onnx_weight("zero", {}, {0}) + ends)));
  CHECK(values(model(K::constant(2.))) == Values{2});
  CHECK(std::abs(model(K::constant(-1.)).item<float>() - std::exp(-1.f)) < 1e-6);
  CHECK_THROWS_WITH_AS(nn::onnx::load(files.write(
                           "m.onnx", onnx_file(onnx_node("Neg", {"b"}, "a") + onnx_node("Neg", {"a"}, "b") +
                                               onnx_node("Neg", {"x"}, "y") + ends))),
                       Contains("without cycles: received"), IOError);
}

TEST_CASE("onnx::load: a chain of float16 computes in float32 and rounds at its end") {
  const Files files;
  const auto halves = [](const std::string& name, const Tensor& x) {
    const Tensor half = K::cast(x, "float16");
    std::string fields;
    for (const std::int64_t extent : x.shape()) fields += number_field(1, extent);
    return bytes_field(5, fields + number_field(2, 10) + bytes_field(8, name) +
                              bytes_field(9, {static_cast<const char*>(half.raw()),
                                              static_cast<std::size_t>(half.size()) * 2}));
  };
  // The sum of the squares of 300 is beyond float16, and its root is not.
  const nn::Model model = nn::onnx::load(files.write(
      "m.onnx", onnx_file(onnx_node("Mul", {"x", "w"}, "a") + onnx_node("MatMul", {"a", "v"}, "b") +
                          onnx_node("Sqrt", {"b"}, "y") + halves("w", K::ones({4}) * 300.) +
                          halves("v", K::ones({4, 1}) * 300.) + onnx_input("x", 10) + onnx_output("y"))));
  const Tensor y = model(K::ones({1, 4}, {.dtype = "float16"}));
  CHECK(y.dtype() == "float16");
  CHECK(values(y) == Values{600});

  // Ten layers whose weights are exact in float16 differ from float32 by the rounding of the result.
  std::string nodes, weights;
  Tensor wanted = K::round(normal({2, 64}, 1, "float32") * 16.) / 16.;
  const Tensor x = wanted;
  for (int i = 0; i < 10; ++i) {
    const std::string w = "w" + std::to_string(i), in = i == 0 ? "x" : "h" + std::to_string(i - 1);
    const Tensor weight = K::cast(K::cast(normal({64, 64}, i + 2, "float32") * 0.125, "float16"), "float32");
    nodes += onnx_node("MatMul", {in, w}, "h" + std::to_string(i)), weights += halves(w, weight);
    wanted = K::dot(wanted, weight);
  }
  const nn::Model deep = nn::onnx::load(
      files.write("deep.onnx", onnx_file(nodes + weights + onnx_input("x", 10) + onnx_output("h9"))));
  const Tensor got = K::cast(deep(K::cast(x, "float16")), "float32");
  CHECK(K::max(K::abs(got - wanted)).item<float>() <= 5e-4 * K::max(K::abs(wanted)).item<float>());
}

TEST_CASE("onnx::load: dtypes of half precision are seen by casts, graphs and outputs") {
  const Files files;
  const auto model = [&](const std::string& nodes) {
    return nn::onnx::load(files.write("m.onnx", onnx_file(nodes + onnx_input("x", 10) + onnx_output("y"))));
  };
  const Tensor x = K::constant({0.5, -2.}, {.dtype = "float16"});
  CHECK(
      model(onnx_node("Neg", {"x"}, "h") + onnx_node("Cast", {"h"}, "y", onnx_integer("to", 1)))(x).dtype() ==
      "float32");
  CHECK(model(onnx_node("Neg", {"x"}, "h") + onnx_node("CastLike", {"w", "h"}, "y") +
              onnx_weight("w", {1}, {3}))(x)
            .dtype() == "float16");
  CHECK(
      model(onnx_node("Cast", {"x"}, "h", onnx_integer("to", 1)) + onnx_node("Exp", {"h"}, "y"))(x).dtype() ==
      "float32");
  CHECK(model(onnx_node("Neg", {"x"}, "h") + onnx_node("Greater", {"h", "x"}, "y"))(x).dtype() == "bool");
}

namespace {

/// Returns a model of images with padding, pooling, branches that meet, depthwise windows and channels as axis 1 in ONNX.
nn::Model residual_model() {
  const Tensor in = nn::Input({12, 10, 3});
  Tensor x = nn::ReLU()(nn::BatchNormalization()(nn::Conv2D(8, 3, {.strides = 2, .padding = "same"})(in)));
  x = nn::MaxPooling2D({.pool_size = 3, .strides = 1, .padding = "same"})(x);
  const Tensor side = nn::Conv2D(8, 1)(x);
  Tensor y = nn::DepthwiseConv2D(3, {.padding = "same", .activation = "relu6"})(x);
  y = nn::Conv2D(8, 1, {.activation = "tanh"})(nn::LeakyReLU({.negative_slope = 0.1})(y));
  const Tensor joined = nn::Concatenate()({nn::Add()({side, y}), x});
  const Tensor gate = nn::Dense(16, {.activation = "sigmoid"})(nn::GlobalAveragePooling2D()(joined));
  const Tensor scaled = joined * nn::Reshape({1, 1, 16})(gate);
  return nn::Model(in,
                   nn::Dense(4, {.activation = "softmax"})(nn::Flatten()(nn::AveragePooling2D()(scaled))));
}

double distance(const Tensor& a, const Tensor& b) { return K::max(K::abs(a - b)).item<double>(); }

}  // namespace

TEST_CASE("onnx::load: predictions by a plan are those of the operators, also after changes of weights") {
  const Files files;
  K::set_random_seed(4);
  const nn::Model model = residual_model();
  const std::string path = files.folder() + "/m.onnx";
  model.export_to(path);
  const nn::Model loaded = nn::onnx::load(path);
  const Tensor x = normal({4, 12, 10, 3}, 1, "float32");
  for (const std::int64_t batch : {4, 1}) {
    const Tensor part = x[ktape::Slice(0, batch)];
    for (int run = 0; run < 2; ++run) CHECK(distance(loaded.predict_on_batch(part)[0], model(part)) < 1e-5);
    CHECK(distance(loaded(part), model(part)) < 1e-5);
  }
  CHECK(nn::explain(loaded).find("called") == std::string::npos);
  loaded.compile({.optimizer = nn::SGD(0.5), .loss = "mse"});
  loaded.train_on_batch(x, K::zeros({4, 4}));
  const Tensor now = loaded(x);
  CHECK(distance(now, model(x)) > 1e-4);
  CHECK(distance(loaded.predict_on_batch(x)[0], now) < 1e-5);
}

TEST_CASE("onnx::load: numbers are drawn anew by each prediction, and shapes may depend on values") {
  const Files files;
  const nn::Model places = nn::onnx::load(files.write(
      "n.onnx", onnx_file(onnx_node("NonZero", {"x"}, "y") + onnx_input("x", 1) + onnx_output("y"))));
  CHECK(places.predict_on_batch(K::constant({{1, 0, 2}}))[0].shape() == ktape::Shape{2, 2});
  CHECK(places.predict_on_batch(K::constant({{0, 0, 2}}))[0].shape() == ktape::Shape{2, 1});
}

TEST_CASE("load_model reads .onnx, and save names export_to") {
  const Files files;
  const std::string path = files.folder() + "/m.onnx";
  const nn::Sequential model({nn::Input({3}), nn::Dense(2)});
  model.export_to(path);
  const Tensor x = normal({4, 3}, 1, "float32");
  CHECK(values(nn::load_model(path)(x)) == values(nn::onnx::load(path)(x)));
  CHECK_THROWS_WITH_AS(model.save(path), Contains("(export_to writes .onnx, load_model reads)"), ValueError);
  CHECK_THROWS_WITH_AS(model.load_weights(path), Contains("(export_to writes .onnx, load_model reads)"),
                       ValueError);
}
