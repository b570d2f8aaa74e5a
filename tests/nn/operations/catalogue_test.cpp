// Every differentiable name of the backend API between the inputs and the outputs of a model, which is made
// again from its JSON.
#include <ktape/ktape.hpp>

#include "../../ops/catalogue.hpp"

#include <set>

namespace K = ktape::backend;
namespace nn = ktape::nn;
using ktape::Tensor;

namespace {

/// Returns whether a model with the op cannot be written.
bool has_no_config(const std::string& name) {
  static const std::set<std::string> names{
      // callables, which no config holds
      "foldl", "foldr", "map_fn", "rnn", "switch", "in_train_phase", "in_test_phase",
      // random numbers
      "dropout",
      // parts of layers, whose weights are no constants
      "batch_normalization", "normalize_batch_in_training", "layer_normalization", "ctc_batch_cost",
      "ctc_decode", "local_conv1d", "local_conv2d", "separable_conv1d", "separable_conv2d",
      "scaled_dot_product_attention", "categorical_crossentropy", "sparse_categorical_crossentropy",
      "binary_crossentropy",
      // results without axes of a batch, or sparse tensors
      "to_dense", "print_tensor"};
  return names.contains(name);
}

}  // namespace

TEST_CASE("every name of the catalogue is kept between layers, or is known not to be") {
  for (const CatalogueRow& row : Catalogue::differentiable()) {
    CAPTURE(row.name);
    std::vector<Tensor> inputs;
    for (const Tensor& x : row.inputs)
      inputs.push_back(K::placeholder({.shape = x.shape(), .dtype = x.dtype()}));
    const Tensor output = row.f(inputs);
    if (!K::is_tensor(output) || inputs.empty()) continue;
    std::string json;
    try {
      json = nn::Model(inputs, output).to_json();
    } catch (const ktape::ValueError& error) {
      CHECK_MESSAGE(has_no_config(row.name), error.what());
      continue;
    }
    CHECK_FALSE(has_no_config(row.name));
    const nn::Model again = nn::model_from_json(json);
    CHECK(close(again.apply(row.inputs).at(0), row.f(row.inputs),
                {.rtol = 1e-12, .atol = 1e-12, .equal_nan = true}));
  }
}
