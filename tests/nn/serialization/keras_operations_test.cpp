#include "../saving/keras_configs.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace keras_configs;
using ktape::Tensor, ktape::ValueError;

TEST_CASE("operations among the layers become layers with equal results") {
  const auto made = [](const std::string& node, const std::string& call) {
    const Value model = canonical(graph(node + R"(, "name": "op", "inbound_nodes": [)" + call + "]}", "op"));
    const Config& layer = layer_in(model, "op");
    return nn::Layer::from_value(
        Config{{"class_name", layer.at("class_name")}, {"config", layer.at("config")}});
  };
  const auto lambda = [](const std::string& function) {
    return R"({"class_name": "TFOpLambda", "config": {"name": "tf.x", "trainable": true, "dtype": "float32",
               "function": ")" +
           function + "\"}";
  };
  const auto node = [](const std::string& op, const std::string& constants) {
    return R"({"class_name": "TensorFlowOpLayer", "config": {"name": "x", "trainable": true, "dtype": "float32",
               "node_def": {"name": "x", "op": ")" +
           op + R"(", "input": ["a", "b"], "attr": {"T": {"type": "DT_FLOAT"},
               "keep_dims": {"b": true}}}, "constants": )" +
           constants + "}";
  };
  const auto keras3 = [](const std::string& name, const std::string& config) {
    return R"({"module": "keras.src.ops.numpy", "class_name": ")" + name + R"(", "registered_name": ")" +
           name + R"(", "config": )" + config;
  };
  const std::string x = R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 8, 8, 3],
      "dtype": "float32", "keras_history": ["x", 0, 0]}})";
  const Tensor image = K::random_normal({2, 8, 8, 3});
  const auto same = [&](const nn::Layer& layer, const Tensor& expected) {
    CAPTURE(layer.class_name());
    const Tensor y = layer(image);
    REQUIRE(y.shape() == expected.shape());
    REQUIRE(y.dtype() == expected.dtype());
    CHECK(close(K::cast(y, "float32"), K::cast(expected, "float32"), {.atol = 1e-6}));
  };

  same(made(lambda("math.multiply"), R"(["x", 0, 0, {"y": 2.0, "name": null}])"), image * 2.f);
  same(made(lambda("__operators__.add"), R"(["x", 0, 0, {"y": [[[[1.0, 2.0, 3.0]]]]}])"),
       image + K::constant({1.f, 2.f, 3.f}));
  same(made(lambda("math.subtract"), R"(["_CONSTANT_VALUE", -1, 1.0, {"y": ["x", 0, 0]}])"), 1.f - image);
  same(made(lambda("math.truediv"), R"(["x", 0, 0, {"y": 4}])"), image / 4.f);
  same(made(lambda("math.reduce_mean"), R"(["x", 0, 0, {"axis": [1, 2], "keepdims": true}])"),
       K::mean(image, {1, 2}, true));
  same(made(lambda("nn.relu"), R"(["x", 0, 0, {"name": null}])"), K::relu(image));
  same(made(lambda("compat.v1.transpose"), R"(["x", 0, 0, {"perm": [0, 3, 1, 2]}])"),
       K::permute_dimensions(image, {0, 3, 1, 2}));
  same(made(node("Sub", R"({"1": 0.5})"), R"([["x", 0, 0, {}]])"), image - 0.5f);
  same(made(node("Mean", R"({"1": [1, 2]})"), R"([["x", 0, 0, {}]])"), K::mean(image, {1, 2}, true));
  same(made(node("Relu6", "{}"), R"([["x", 0, 0, {}]])"), K::clip(image, 0, 6));
  same(made(keras3("Divide", R"({"name": "op"})"), R"({"args": [)" + x + R"(, 4.0], "kwargs": {}})"),
       image / 4.f);
  same(made(keras3("Max", R"({"name": "op", "axis": [-3, -2], "keepdims": false})"),
            R"({"args": [)" + x + R"(], "kwargs": {}})"),
       K::max(image, {1, 2}));
  same(made(keras3("Elu", R"({"name": "op", "alpha": 0.5})"), R"({"args": [)" + x + R"(], "kwargs": {}})"),
       K::elu(image, 0.5));
  CHECK_THROWS_WITH_AS(made(keras3("Max", R"({"name": "op", "axis": [1, 2], "initial": 5.0})"),
                            R"({"args": [)" + x + R"(], "kwargs": {}})"),
                       doctest::Contains("it begins with an initial value"), ValueError);
  same(made(keras3("Reshape", R"({"name": "op", "newshape": [null, 64, 3]})"),
            R"({"args": [)" + x + R"(], "kwargs": {}})"),
       K::reshape(image, {2, 64, 3}));

  const Tensor zero = K::zeros_like(image);
  same(made(keras3("NotEqual", R"({"name": "op"})"), R"({"args": [)" + x + R"(, 0.0], "kwargs": {}})"),
       K::not_equal(image, zero));
  same(made(keras3("LessEqual", R"({"name": "op"})"), R"({"args": [0.5, )" + x + R"(], "kwargs": {}})"),
       K::less_equal(0.5, image));
  same(made(keras3("LogicalNot", R"({"name": "op"})"), R"({"args": [)" + x + R"(], "kwargs": {}})"),
       K::equal(image, zero));
  same(made(keras3("Any", R"({"name": "op", "axis": [-1], "keepdims": true})"),
            R"({"args": [)" + x + R"(], "kwargs": {}})"),
       K::any(image, -1, true));
  same(made(keras3("Cast", R"({"name": "op", "dtype": "int32"})"),
            R"({"args": [)" + x + R"(], "kwargs": {}})"),
       K::cast(image, "int32"));
  same(
      made(keras3("ExpandDims", R"({"name": "op", "axis": 1})"), R"({"args": [)" + x + R"(], "kwargs": {}})"),
      K::expand_dims(image, 1));
  same(made(keras3("GetItem", R"({"name": "op"})"),
            R"({"args": [)" + x + R"(, {"class_name": "__tuple__", "items": [
            {"class_name": "__slice__", "config": {"start": null, "stop": null, "step": null}}, 2,
            {"class_name": "__ellipsis__", "config": {}}, null,
            {"class_name": "__slice__", "config": {"start": null, "stop": null, "step": -1}}]}], "kwargs": {}})"),
       image[{ktape::All, 2, ktape::Ellipsis, ktape::NewAxis, ktape::Slice(ktape::None, ktape::None, -1)}]);
  same(made(lambda("math.not_equal"), R"(["x", 0, 0, {"y": 0.0, "name": null}])"), K::not_equal(image, zero));
  same(
      made(
          R"({"class_name": "SlicingOpLambda", "config": {"name": "tf.x", "function": "__operators__.getitem"})",
          R"(["x", 0, 0, {"slice_spec": [{"start": null, "stop": null, "step": null}, {"start": 1, "stop": 3,
               "step": null}]}])"),
      image[{ktape::All, ktape::Slice(1, 3)}]);

  const auto merged = [&](const std::string& json, const std::string& call) {
    const Value model = canonical(graph(json + R"(, "name": "op", "inbound_nodes": [)" + call + "]}", "op"));
    return layer_in(model, "op").at("class_name").string() + " of " +
           std::to_string(calls(model, "op").list()[0].config().at("args").list()[0].list().size());
  };
  CHECK(merged(lambda("math.add"), R"(["x", 0, 0, {"y": ["x", 0, 0]}])") == "Add of 2");
  CHECK(merged(lambda("concat"),
               R"([["x", 0, 0, {"axis": -1}], ["x", 0, 0, {"axis": -1}], ["x", 0, 0, {"axis": -1}]])") ==
        "Concatenate of 3");
  CHECK(merged(node("ConcatV2", R"({"2": 3})"), R"([["x", 0, 0, {}], ["x", 0, 0, {}]])") ==
        "Concatenate of 2");
  CHECK(merged(keras3("Multiply", R"({"name": "op"})"),
               R"({"args": [)" + x + ", " + x + R"(], "kwargs": {}})") == "Multiply of 2");
}

TEST_CASE("operations that no layer computes are errors that name them") {
  const auto read = [](const std::string& function, const std::string& arguments) {
    return [=] {
      canonical(graph(R"({"class_name": "TFOpLambda", "name": "op", "config": {"name": "op", "function": ")" +
                          function + R"("}, "inbound_nodes": [["x", 0, 0, )" + arguments + "]]}",
                      "op"));
    };
  };
  check_throws<ValueError>(read("math.cumsum", "{}"),
                           "[op] an operation must be one that a layer computes, too: received "
                           "function=\"math.cumsum\"; none does");
  check_throws<ValueError>(read("math.truediv", R"({"y": ["x", 0, 0]})"), "no layer divides tensors");
  check_throws<ValueError>(read("math.reduce_mean", R"({"axis": [1, 3]})"), "its axes are not in a row");
  check_throws<ValueError>(read("math.reduce_mean", "{}"), "it reduces the batch axis");
  check_throws<ValueError>(read("reshape", R"({"shape": [-1, 3]})"),
                           "it is not known to leave the batch as it is");
  check_throws<ValueError>(read("math.maximum", R"({"y": 1.0})"), "a constant is among its operands");
  check_throws<ValueError>(read("math.add", "{}"), "it has 1 operands");
}
