#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/layers/base/masks.hpp>
#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/nn/losses.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>

namespace ktape::nn {
namespace K = backend;

namespace {

Tensor along_axis(const OperationCall& call, Tensor (*f)(const Tensor&, const activations::AxisOptions&)) {
  return f(call.tensor("x"), {.axis = call.axis()});
}

Tensor relu(const OperationCall& call) {
  const Value most = call.value("max_value");
  return K::relu(call.tensor("x"), {.alpha = call.number("alpha"),
                                    .max_value = most.as<std::optional<double>>("[relu] max_value"),
                                    .threshold = call.number("threshold")});
}

/// Writes the forms of relu that Keras has as operations of their own.
const char* written_relu(const std::vector<OperationArgument>&, Config& attributes) {
  const double alpha = attributes.at("alpha").number(), threshold = attributes.at("threshold").number();
  const Value most = attributes.at("max_value");
  if (threshold != 0 || (alpha != 0 && !most.is_null())) return nullptr;
  if (!most.is_null() && most != Value(6.0)) return nullptr;
  attributes = {};
  if (alpha == 0) return most.is_null() ? "Relu" : "Relu6";
  attributes.set("negative_slope", alpha);
  return "LeakyRelu";
}

Tensor hard_sigmoid_with_slope(const OperationCall& call) {
  const double slope = call.number("slope");
  return slope == 0.2 ? K::hard_sigmoid(call.tensor("x"))
                      : activations::hard_sigmoid(call.tensor("x"), {.slope = slope});
}

Tensor l2_normalize(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  return x / K::sqrt(K::maximum(K::sum(K::square(x), call.axes("axis"), true), call.number("epsilon")));
}

Tensor binary_crossentropy(const OperationCall& call) {
  return K::binary_crossentropy(call.tensor("target"), call.tensor("output"),
                                {.from_logits = call.flag("from_logits")});
}

template <Tensor (*f)(const Tensor&, const Tensor&, const K::LossOptions&)>
Tensor crossentropy(const OperationCall& call) {
  return f(call.tensor("target"), call.tensor("output"),
           {.from_logits = call.flag("from_logits"), .axis = call.axis()});
}

void add_activations_of_keras(std::vector<Operation>& all) {
  using namespace activations;
  const std::vector<Operation> operations{
      {"Relu", "nn", "x;", [](const OperationCall& call) { return K::relu(call.tensor("x")); }, "-"},
      {"Relu6", "nn", "x;", unary<relu6>, "-"},
      {"LeakyRelu", "nn", "x; negative_slope=0.2",
       [](const OperationCall& call) {
         return leaky_relu(call.tensor("x"), {.negative_slope = call.number("negative_slope")});
       },
       "-"},
      {"relu", "", "x; alpha, max_value, threshold", nn::relu, "", "", written_relu},
      {"Elu", "nn", "x; alpha=1.0",
       [](const OperationCall& call) { return elu(call.tensor("x"), {.alpha = call.number("alpha")}); }},
      {"Celu", "nn", "x; alpha=1.0",
       [](const OperationCall& call) { return celu(call.tensor("x"), {.alpha = call.number("alpha")}); }},
      {"Selu", "nn", "x;", unary<selu>},
      {"Gelu", "nn", "x; approximate=true",
       [](const OperationCall& call) {
         return gelu(call.tensor("x"), {.approximate = call.flag("approximate")});
       }},
      {"Glu", "nn", "x; axis=-1", [](const OperationCall& call) { return along_axis(call, glu); }},
      {"Silu", "nn", "x;", unary<silu>},
      {"Sigmoid", "nn", "x;", unary<sigmoid>},
      {"HardSigmoid", "nn", "x;", [](const OperationCall& call) { return hard_sigmoid(call.tensor("x")); }},
      {"hard_sigmoid", "", "x; slope", hard_sigmoid_with_slope},
      {"HardSilu", "nn", "x;", unary<hard_silu>},
      {"HardTanh", "nn", "x;", unary<hard_tanh>},
      {"HardShrink", "nn", "x; threshold=0.5",
       [](const OperationCall& call) {
         return hard_shrink(call.tensor("x"), {.threshold = call.number("threshold")});
       }},
      {"SoftShrink", "nn", "x; threshold=0.5",
       [](const OperationCall& call) {
         return soft_shrink(call.tensor("x"), {.threshold = call.number("threshold")});
       }},
      {"Threshold", "nn", "x; threshold, default_value",
       [](const OperationCall& call) {
         return threshold(call.tensor("x"), {.threshold = call.number("threshold"),
                                             .default_value = call.number("default_value")});
       }},
      {"TanhShrink", "nn", "x;", unary<tanh_shrink>},
      {"LogSigmoid", "nn", "x;", unary<log_sigmoid>},
      {"Softplus", "nn", "x;", unary<softplus>},
      {"Softsign", "nn", "x;", unary<softsign>},
      {"SparsePlus", "nn", "x;", unary<sparse_plus>},
      {"SparseSigmoid", "nn", "x;", unary<sparse_sigmoid>},
      {"Squareplus", "nn", "x; b=4",
       [](const OperationCall& call) { return squareplus(call.tensor("x"), {.b = call.number("b")}); }},
      {"Softmax", "nn", "x; axis=-1", [](const OperationCall& call) { return along_axis(call, softmax); }},
      {"LogSoftmax", "nn", "x; axis=-1",
       [](const OperationCall& call) { return along_axis(call, log_softmax); }},
      {"Sparsemax", "nn", "x; axis=-1",
       [](const OperationCall& call) { return along_axis(call, sparsemax); }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace

void add_nn_operations(std::vector<Operation>& all) {
  add_activations_of_keras(all);
  const char* const loss = "target, output; from_logits=false, axis=-1";
  const std::vector<Operation> operations{
      {"l2_normalize", "", "x; axis=null, epsilon=1e-12", l2_normalize, "-"},
      {"BinaryCrossentropy", "nn", "target, output; from_logits=false", binary_crossentropy},
      {"CategoricalCrossentropy", "nn", loss, crossentropy<K::categorical_crossentropy>},
      {"SparseCategoricalCrossentropy", "nn", loss, crossentropy<K::sparse_categorical_crossentropy>},
      {"mask_of", "", "x;", [](const OperationCall& call) { return mask_of(call.tensor("x")); }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
