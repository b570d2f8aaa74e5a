#include <ktape/ktape.hpp>
#include <ktape/nn/operations/operation.hpp>

#include "../../ops/check.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
using doctest::Contains;
using ktape::All, ktape::Ellipsis, ktape::NewAxis, ktape::Slice, ktape::Tensor, ktape::ValueError;
using nn::OperationArgument, nn::Value;

namespace {

using Arguments = std::vector<std::pair<std::string, OperationArgument>>;

OperationArgument of(const Tensor& x) { return {.tensors = {x}}; }
OperationArgument list(const std::vector<Tensor>& xs) { return {.tensors = xs, .is_list = true}; }
OperationArgument value(const char* json) { return {.value = nn::from_json(json)}; }

std::vector<Tensor> all_of(const char* name, const Arguments& arguments) {
  const nn::Operation* const operation = nn::find_operation(name);
  REQUIRE_MESSAGE(operation, name);
  return operation->run(nn::OperationCall::by_name(*operation, arguments, "[test]"));
}
Tensor run(const char* name, const Arguments& arguments) { return all_of(name, arguments).at(0); }

/// Checks value, shape and dtype.
void check_same(const Tensor& got, const Tensor& wanted) {
  REQUIRE(got.shape() == wanted.shape());
  CHECK(got.dtype() == wanted.dtype());
  CHECK(close(got, wanted, {.rtol = 1e-5, .atol = 1e-6}));
}

}  // namespace

TEST_CASE("operations of elements that Keras writes have the values of their formulas") {
  const Tensor x = K::constant({{0.5, -2.}, {3., 1.}}), y = K::constant({{2., 0.}, {-1., 4.}});
  check_same(run("Reciprocal", {{"x", of(x)}}), 1.f / x);
  check_same(run("Rsqrt", {{"x", of(K::square(x))}}), 1.f / K::abs(x));
  check_same(run("TrueDivide", {{"x1", of(x)}, {"x2", value("4.0")}}), x / 4.f);
  check_same(run("DivideNoNan", {{"x1", of(x)}, {"x2", of(y)}}), K::constant({{0.25, 0.}, {-3., 0.25}}));
  check_same(run("Round", {{"x", of(K::constant({1.234, -2.718}))}, {"decimals", value("1")}}),
             K::constant({1.2, -2.7}));
  check_same(run("Isinf", {{"x", of(K::constant({1., -INFINITY, INFINITY}))}}),
             K::constant({false, true, true}, {.dtype = "bool"}));
  check_same(run("Isnan", {{"x", of(K::constant({1., NAN}))}}),
             K::constant({false, true}, {.dtype = "bool"}));
  check_same(run("LogicalAnd", {{"x1", of(x)}, {"x2", of(y)}}),
             K::constant({{true, false}, {true, true}}, {.dtype = "bool"}));
  check_same(run("LogicalNot", {{"x", of(y)}}),
             K::constant({{false, true}, {false, false}}, {.dtype = "bool"}));
  check_same(run("LogicalOr", {{"x1", of(y)}, {"x2", value("true")}}), K::cast(K::ones({2, 2}), "bool"));
  check_same(run("Copy", {{"x", of(x)}}), x);
  check_same(run("Size", {{"x", of(x)}}), K::constant(4, {.dtype = "int32"}));
  check_same(run("StopGradient", {{"variable", of(x)}}), x);
  check_same(run("ConvertToTensor", {{"x", of(x)}, {"dtype", value("\"int32\"")}}), K::cast(x, "int32"));
  check_same(run("PSNR", {{"x1", of(x)}, {"x2", of(y)}, {"max_val", value("2.0")}}),
             K::constant(10 * std::log10(4 / ((2.25 + 4 + 16 + 9) / 4))));
}

TEST_CASE("reductions that Keras writes have the values of their formulas") {
  const Tensor x = normal({2, 3, 4}, 3, "float32");
  check_same(run("Amax", {{"x", of(x)}, {"axis", value("1")}}), K::max(x, 1));
  check_same(run("Amin", {{"x", of(x)}}), K::min(x));
  check_same(run("Max", {{"x", of(x)}, {"axis", value("[0, 1]")}, {"initial", value("0.5")}}),
             K::maximum(K::max(x, {0, 1}), 0.5f));
  check_same(run("Argmax", {{"x", of(x)}}), K::argmax(K::flatten(x)));
  check_same(run("Argmin", {{"x", of(x)}, {"axis", value("1")}, {"keepdims", value("true")}}),
             K::expand_dims(K::argmin(x, 1), 1));
  check_same(run("Argmax", {{"x", of(x)}, {"keepdims", value("true")}}),
             K::reshape(K::argmax(K::flatten(x)), {1, 1, 1}));
  check_same(run("Cumsum", {{"x", of(x)}}), K::cumsum(K::flatten(x)));
  check_same(run("Prod", {{"x", of(x)}, {"dtype", value("\"float64\"")}}), K::cast(K::prod(x), "float64"));
  check_same(run("Norm", {{"x", of(x)}, {"ord", value("2")}, {"axis", value("-1")}}), K::norm(x, -1));
  CHECK_THROWS_WITH_AS(run("Norm", {{"x", of(x)}, {"ord", value("1")}, {"axis", value("-1")}}),
                       Contains("[Norm] ord must be null, or 2 over one axis: received ord=1"), ValueError);
  const std::vector<Tensor> moments = all_of("Moments", {{"x", of(x)}, {"axes", value("[0]")}});
  check_same(moments.at(0), K::mean(x, 0));
  check_same(moments.at(1), K::var(x, 0));
  check_same(run("Normalize", {{"x", of(x)}}), K::l2_normalize(x, -1));
  check_same(run("Normalize", {{"x", of(x)}, {"order", value("1")}, {"axis", value("1")}}),
             x / K::sum(K::abs(x), 1, true));
}

TEST_CASE("operations on shapes that Keras writes have the values of their formulas") {
  const Tensor x = normal({2, 3, 4}, 4, "float32");
  check_same(run("Moveaxis", {{"x", of(x)}, {"source", value("0")}, {"destination", value("-1")}}),
             K::permute_dimensions(x, {1, 2, 0}));
  check_same(run("Moveaxis", {{"x", of(x)}, {"source", value("[0, 1]")}, {"destination", value("[1, 0]")}}),
             K::permute_dimensions(x, {1, 0, 2}));
  check_same(run("Swapaxes", {{"x", of(x)}, {"axis1", value("0")}, {"axis2", value("2")}}),
             K::permute_dimensions(x, {2, 1, 0}));
  check_same(run("Transpose", {{"x", of(x)}}), K::transpose(x));
  check_same(run("Squeeze", {{"x", of(K::reshape(x, {1, 24, 1}))}}), K::flatten(x));
  check_same(run("Squeeze", {{"x", of(K::reshape(x, {1, 24, 1}))}, {"axis", value("[0, -1]")}}),
             K::flatten(x));
  check_same(run("ExpandDims", {{"x", of(x)}, {"axis", value("[0, -1]")}}), K::reshape(x, {1, 2, 3, 4, 1}));
  check_same(run("Hstack", {{"xs", list({x, x})}}), K::concatenate({x, x}, 1));
  check_same(run("Vstack", {{"xs", list({K::flatten(x), K::flatten(x)})}}),
             K::stack({K::flatten(x), K::flatten(x)}));
  check_same(run("Concatenate", {{"xs", list({x, x})}, {"axis", value("null")}}),
             K::concatenate({K::flatten(x), K::flatten(x)}, 0));
  check_same(run("Repeat", {{"x", of(x)}, {"repeats", value("2")}}), K::repeat_elements(K::flatten(x), 2, 0));
  check_same(run("Tile", {{"x", of(x)}, {"repeats", value("[2]")}}), K::tile(x, {1, 1, 2}));
  check_same(run("Tile", {{"x", of(K::flatten(x))}, {"repeats", value("[2, 1]")}}),
             K::stack({K::flatten(x), K::flatten(x)}));
  check_same(
      all_of("Split", {{"x", of(x)}, {"indices_or_sections", value("[1, 3]")}, {"axis", value("-1")}}).at(1),
      x[{Ellipsis, Slice(1, 3)}]);
  check_same(run("Pad", {{"x", of(x)}, {"pad_width", value("1")}}), K::pad(x, {1, 1, 1}));
  check_same(run("Pad", {{"x", of(x)}, {"pad_width", value("[0, 1]")}}), K::pad(x, {{0, 1}, {0, 1}, {0, 1}}));
  check_same(run("DepthToSpace",
                 {{"x", of(K::reshape(counted({8}, "float32"), {1, 1, 2, 4}))}, {"block_size", value("2")}}),
             K::reshape(K::constant({0., 1., 4., 5., 2., 3., 6., 7.}), {1, 2, 4, 1}));
  const Tensor image = normal({2, 4, 6, 3}, 2, "float32");
  check_same(
      run("DepthToSpace", {{"x", of(run("SpaceToDepth", {{"x", of(image)}, {"block_size", value("2")}}))},
                           {"block_size", value("2")}}),
      image);
  CHECK_THROWS_WITH_AS(all_of("Unstack", {{"x", of(x)}, {"num", value("3")}}),
                       Contains("[Unstack] num must be the extent of the axis, 2: received num=3"),
                       ValueError);
  CHECK_THROWS_WITH_AS(run("Swapaxes", {{"x", of(x)}, {"axis1", value("3")}, {"axis2", value("0")}}),
                       Contains("[Swapaxes] axis1 must be in [-3, 3): received axis1=3"), ValueError);
}

TEST_CASE("operations with indices that Keras writes have the values of their formulas") {
  const Tensor x = normal({2, 3, 4}, 4, "float32"), rows = K::constant({2, 0}, {.dtype = "int32"});
  check_same(run("Take", {{"x", of(x)}, {"indices", of(rows)}, {"axis", value("1")}}),
             K::stack({x[{All, 2}], x[{All, 0}]}, 1));
  check_same(run("Take", {{"x", of(x)}, {"indices", value("2")}, {"axis", value("-1")}}), x[{Ellipsis, 2}]);
  check_same(run("Take", {{"x", of(x)}, {"indices", of(rows)}}), K::gather(K::flatten(x), rows));
  const Tensor hot = run("OneHot", {{"x", of(rows)}, {"num_classes", value("3")}, {"axis", value("0")}});
  check_same(hot, K::transpose(K::one_hot(rows, 3)));
  check_same(run("Sort", {{"x", of(x)}, {"axis", value("null")}}), K::sort(K::flatten(x)));
  check_same(run("GetItem", {{"x", of(x)},
                             {"key", value("[null, \"...\", {\"start\": 1, \"stop\": null, \"step\": 2}]")}}),
             x[{NewAxis, Ellipsis, Slice(1, ktape::None, 2)}]);
  check_same(run("GetItem", {{"x", of(x)}, {"key", value("1")}}), x[1]);
}

TEST_CASE("mistakes in the arguments of an operation name the operation and the argument") {
  const Tensor x = normal({2, 3, 4}, 4, "float32");
  CHECK_THROWS_WITH_AS(run("GetItem", {{"x", of(x)}, {"key", value("[\"first\"]")}}),
                       Contains("[GetItem] key must be an integer: received \"first\""), ktape::TypeError);
  CHECK_THROWS_WITH_AS(run("Sum", {{"x", of(x)}, {"keepdims", value("1")}}),
                       Contains("[Sum] keepdims must be true or false: received 1"), ktape::TypeError);
  CHECK_THROWS_WITH_AS(run("Sum", {{"x", of(x)}, {"axes", value("1")}}),
                       Contains("[test] an argument of Sum must be known: received axes=1"), ValueError);
  CHECK_THROWS_WITH_AS(run("Equal", {{"x1", of(x)}}),
                       Contains("[test] Equal must have the argument x2: received none"), ValueError);
  CHECK_THROWS_WITH_AS(run("Equal", {{"x1", of(x)}, {"x2", value("\"zero\"")}}),
                       Contains("[Equal] x2 must be a tensor or a number: received \"zero\""),
                       ktape::TypeError);
  CHECK_THROWS_WITH_AS(run("Concatenate", {{"xs", value("3")}}),
                       Contains("[Concatenate] xs must be tensors: received 3"), ktape::TypeError);
}

TEST_CASE("functions that layers compute, too, have the values of the layers") {
  const Tensor x = normal({2, 3, 4}, 4, "float32"), gamma = normal({4}, 1, "float32"),
               beta = normal({4}, 2, "float32");
  check_same(
      run("LayerNorm", {{"x", of(x)}, {"gamma", of(gamma)}, {"beta", of(beta)}, {"epsilon", value("0.001")}}),
      K::layer_normalization(x, gamma, beta));
  check_same(run("RMSNorm", {{"x", of(x)}, {"scale", of(gamma)}, {"epsilon", value("0.1")}}),
             x / K::sqrt(K::mean(K::square(x), -1, true) + 0.1f) * gamma);
  const Tensor mean = normal({3}, 1, "float32"), variance = K::square(normal({3}, 2, "float32"));
  check_same(
      run("BatchNorm", {{"x", of(x)}, {"mean", of(mean)}, {"variance", of(variance)}, {"axis", value("1")}}),
      (x - K::reshape(mean, {3, 1})) / K::sqrt(K::reshape(variance, {3, 1}) + 0.001f));
  const Tensor image = normal({2, 5, 6, 3}, 2, "float32");
  for (const char* padding : {"valid", "same"}) {
    const nn::Conv2DTranspose layer(4, 3, {.strides = 2, .padding = padding, .use_bias = false});
    const Tensor wanted = layer(image);
    check_same(run("ConvTranspose", {{"inputs", of(image)},
                                     {"kernel", of(layer.weights()[0].value())},
                                     {"strides", value("2")},
                                     {"padding", {.value = padding}}}),
               wanted);
  }
  const nn::SeparableConv2D separable(4, 3, {.use_bias = false});
  const Tensor separated = separable(image);
  check_same(run("SeparableConv", {{"inputs", of(image)},
                                   {"depthwise_kernel", of(separable.weights()[0].value())},
                                   {"pointwise_kernel", of(separable.weights()[1].value())}}),
             separated);
  const Tensor q = normal({2, 5, 2, 4}, 1, "float32"), k = normal({2, 6, 2, 4}, 2, "float32");
  check_same(run("DotProductAttention", {{"query", of(q)}, {"key", of(k)}, {"value", of(k)}}),
             K::scaled_dot_product_attention(q, k, k, {.heads_last = true}));
  check_same(run("MaxPool", {{"inputs", of(image)}, {"pool_size", value("2")}}), nn::MaxPooling2D(2)(image));
  check_same(run("AveragePool", {{"inputs", of(normal({2, 6, 3}, 1, "float32"))}, {"pool_size", value("2")}}),
             nn::AveragePooling1D(2)(normal({2, 6, 3}, 1, "float32")));
  check_same(
      run("BinaryCrossentropy", {{"target", of(K::ones({2, 4}))}, {"output", of(K::sigmoid(x[{All, 0}]))}}),
      K::binary_crossentropy(K::ones({2, 4}), K::sigmoid(x[{All, 0}])));
}

TEST_CASE("the activations that Keras writes are those of the library") {
  const Tensor x = normal({2, 6}, 4, "float32");
  for (const auto& [operation, name] :
       std::vector<std::pair<const char*, const char*>>{{"Relu", "relu"},
                                                        {"Relu6", "relu6"},
                                                        {"Sigmoid", "sigmoid"},
                                                        {"Silu", "silu"},
                                                        {"Softplus", "softplus"},
                                                        {"Softsign", "softsign"},
                                                        {"Selu", "selu"},
                                                        {"Elu", "elu"},
                                                        {"Celu", "celu"},
                                                        {"Glu", "glu"},
                                                        {"HardSigmoid", "hard_sigmoid"},
                                                        {"HardSilu", "hard_silu"},
                                                        {"HardTanh", "hard_tanh"},
                                                        {"HardShrink", "hard_shrink"},
                                                        {"SoftShrink", "soft_shrink"},
                                                        {"TanhShrink", "tanh_shrink"},
                                                        {"LogSigmoid", "log_sigmoid"},
                                                        {"LeakyRelu", "leaky_relu"},
                                                        {"Squareplus", "squareplus"},
                                                        {"SparsePlus", "sparse_plus"},
                                                        {"SparseSigmoid", "sparse_sigmoid"},
                                                        {"Softmax", "softmax"},
                                                        {"LogSoftmax", "log_softmax"},
                                                        {"Sparsemax", "sparsemax"}}) {
    CAPTURE(operation);
    check_same(run(operation, {{"x", of(x)}}), nn::ActivationFunction(name)(x));
  }
  check_same(run("Gelu", {{"x", of(x)}}), K::gelu(x, {.approximate = true}));
}
