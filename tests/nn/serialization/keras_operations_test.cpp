#include "../../hdf5.hpp"

#include <ktape/nn/serialization/keras_objects.hpp>
#include <ktape/nn/serialization/model_config.hpp>

#include "../data/files.hpp"
#include "../saving/keras_configs.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using namespace keras_configs;
using ktape::Tensor, ktape::ValueError;

TEST_CASE("operations among the layers of a model load with equal results") {
  const auto made = [](const std::string& node, const std::string& call) {
    return nn::model_from_config(graph(node + R"(, "name": "op", "inbound_nodes": [)" + call + "]}", "op"));
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
  const auto same = [&](const nn::Model& model, const Tensor& expected) {
    const Tensor y = model(image);
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
  same(made(keras3("Max", R"({"name": "op", "axis": [1, 2], "initial": 5.0})"),
            R"({"args": [)" + x + R"(], "kwargs": {}})"),
       K::maximum(K::max(image, {1, 2}), 5.f));
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

  same(made(lambda("math.add"), R"(["x", 0, 0, {"y": ["x", 0, 0]}])"), image + image);
  same(made(lambda("concat"), R"([["x", 0, 0, {"axis": -1}], ["x", 0, 0, {"axis": -1}]])"),
       K::concatenate({image, image}));
  same(made(node("ConcatV2", R"({"2": 3})"), R"([["x", 0, 0, {}], ["x", 0, 0, {}]])"),
       K::concatenate({image, image}));
  same(made(keras3("Multiply", R"({"name": "op"})"), R"({"args": [)" + x + ", " + x + R"(], "kwargs": {}})"),
       image * image);
  same(made(node("Pack", "{}"), R"([["x", 0, 0, {}], ["x", 0, 0, {}]])"), K::stack({image, image}));
  same(made(node("Pow", R"({"1": 2.0})"), R"([["x", 0, 0, {}]])"), K::square(image));
  same(made(lambda("nn.gelu"), R"(["x", 0, 0, {"name": null}])"), K::gelu(image));
  same(made(lambda("math.cumsum"), R"(["x", 0, 0, {"axis": 1, "exclusive": false}])"), K::cumsum(image, 1));
  same(made(lambda("pad"), R"(["x", 0, 0, {"paddings": [[0, 0], [1, 1], [2, 0], [0, 0]], "mode": "CONSTANT",
            "constant_values": 0}])"),
       K::pad(image, {{0, 0}, {1, 1}, {2, 0}, {0, 0}}));
}

TEST_CASE("operations that the library lacks are errors that name them") {
  const auto read = [](const std::string& function, const std::string& arguments) {
    return [=] {
      canonical(graph(R"({"class_name": "TFOpLambda", "name": "op", "config": {"name": "op", "function": ")" +
                          function + R"("}, "inbound_nodes": [["x", 0, 0, )" + arguments + "]]}",
                      "op"));
    };
  };
  check_throws<ValueError>(read("math.betainc", "{}"),
                           "[op] an operation must be one that the library has, too: received "
                           "function=\"math.betainc\"; none of its operations does that");
  check_throws<ValueError>(read("math.cumsum", R"({"reverse": true})"), "it has reverse=true");
  check_throws<ValueError>(read("math.add", R"({"z": 1.0})"), "it has the argument z=1.0");
  check_throws<ValueError>(read("linalg.matmul", R"({"b": ["x", 0, 0], "adjoint_a": true})"),
                           "it has adjoint_a=true");
  const auto load = [](const std::string& arguments) {
    return [=] {
      nn::model_from_config(graph(
          R"({"class_name": "TFOpLambda", "name": "op", "config": {"name": "op", "function": "math.add"},
                    "inbound_nodes": [["x", 0, 0, )" +
              arguments + "]]}",
          "op"));
    };
  };
  check_throws<ValueError>(load("{}"), "[m] the layer 'op': Add must have the argument x2: received none");
  check_throws<ValueError>(load(R"({"y": [[1.0], [1.0, 2.0]]})"), "must be lists of one length each");
  check_throws<ktape::TypeError>(load(R"({"y": "one"})"),
                                 "[Add] x2 must be a tensor or a number: received \"one\"");
}

namespace {

/// The model in a file of this folder.
nn::Model model_in(const std::string& name) {
  std::stringstream text;
  text << std::ifstream("tests/nn/serialization/" + name).rdbuf();
  return nn::model_from_json(text.str());
}

/// Checks that a model survives all formats.
void check_formats(const nn::Model& model, const Tensor& x) {
  const Files files;
  const std::vector<Tensor> wanted = model.apply({x});
  for (const char* name : {"/m.keras", "/m.ktape", "/m.h5", "/model.json"}) {
    CAPTURE(name);
    model.save(files.folder() + name);
    const nn::Model again = nn::load_model(files.folder() + name);
    CHECK(again.impl().output_names() == model.impl().output_names());
    CHECK(again.to_json() == model.to_json());
    const std::vector<Tensor> got = again.apply({x});
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(values(got[i]) == values(wanted[i]));
  }
}

}  // namespace

TEST_CASE("a model of Keras 3 with operations between its layers loads" * needs_hdf5) {
  using ktape::All, ktape::Slice, ktape::Ellipsis, ktape::NewAxis, ktape::None;
  const nn::Model model = model_in("operations_keras3.json");
  const Tensor x = K::random_normal({2, 3, 4});
  const Tensor first = x[{All, 0}] + K::constant({1., 2., 3., 4.});
  const Tensor products = K::einsum("bij,bj->bi", {x, first}), odd = x[{Ellipsis, Slice(1, None, 2)}];
  const Tensor kept = K::where(K::not_equal(products, 0), products, -1.f);
  const Tensor joined = K::concatenate({K::expand_dims(kept), odd});
  const Tensor mean = K::mean(joined, 1), clipped = K::clip(mean, -0.5, 0.5),
               both = K::stack({clipped, mean}, 1);
  const Tensor score = K::sum(1.f / K::abs(both + K::square(both)), {1, 2});
  const Tensor soft = K::softmax(K::reshape(K::matmul(odd, K::permute_dimensions(odd, {0, 2, 1})), {-1, 9}));
  const std::vector<Tensor> outputs = model.apply({x});
  CHECK(close(outputs[0], score, {.rtol = 1e-5}));
  CHECK(close(outputs[1], soft, {.rtol = 1e-5}));
  CHECK(close(outputs[2], clipped, {.rtol = 1e-5, .atol = 1e-6}));
  CHECK(model.impl().output_names() == std::vector<std::string>{"score", "softmax", "clip"});
  check_formats(model, x);
}

TEST_CASE("a model of Keras 2 with functions of TensorFlow between its layers loads" * needs_hdf5) {
  using ktape::All;
  const nn::Model model = model_in("operations_keras2.json");
  const Tensor x = K::random_normal({2, 3, 4});
  const Tensor first = x[{All, 0}] + K::constant({1., 2., 3., 4.});
  const Tensor products = K::squeeze(K::matmul(x, K::expand_dims(first)), -1);
  const Tensor kept = products * K::cast(products > 0.f, "float32");
  const std::vector<Tensor> parts = K::split(x, {1, 3}, -1);
  const Tensor joined = K::concatenate({parts[1], parts[0]});
  const std::vector<Tensor> outputs = model.apply({x});
  CHECK(close(outputs[0], K::abs(1.f - kept), {.rtol = 1e-5}));
  CHECK(close(outputs[1], K::softmax(K::sum(joined, 1)), {.rtol = 1e-5}));
  const Tensor flat = K::reshape(joined, {-1, 12});
  CHECK(close(outputs[2], K::stack({flat[{All, 0}], flat[{All, 11}]}, 1)));
  CHECK(close(outputs[3], K::clip(K::max(K::permute_dimensions(x, {0, 2, 1}), 2, true), -0.5, 0.5)));
  check_formats(model, x);
}
