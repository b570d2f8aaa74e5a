#include <ktape/ops/nn/bias.hpp>
#include <ktape/ops/nn/normalization.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

Results bias_add(const Call& c) {
  K::BiasOptions options;
  if (c.has("data_format") && !c.none("data_format")) c.set("data_format", options.data_format);
  return {K::bias_add(c["x"], c["bias"], options)};
}

Results batch_normalization(const Call& c) {
  K::BatchNormalizationOptions options;
  c.set("axis", options.axis);
  c.set("epsilon", options.epsilon);
  return {
      K::batch_normalization(c["x"], c["mean"], c["var"], c.optional("beta"), c.optional("gamma"), options)};
}

Results normalize_batch_in_training(const Call& c) {
  K::NormalizationOptions options;
  c.set("epsilon", options.epsilon);
  const auto [normalized, mean, variance] = K::normalize_batch_in_training(
      c["x"], c.optional("gamma"), c.optional("beta"), c.get<Axes>("reduction_axes"), options);
  return {normalized, mean, variance};
}

Results layer_normalization(const Call& c) {
  K::LayerNormalizationOptions options;
  c.set("axis", options.axis);
  c.set("epsilon", options.epsilon);
  return {K::layer_normalization(c["x"], c["gamma"], c["beta"], options)};
}

}  // namespace

void add_normalization(Table& table) {
  table.ops["bias_add"] = bias_add;
  table.ops["layer_normalization"] = layer_normalization;
  table.ops["batch_normalization"] = batch_normalization;
  table.ops["normalize_batch_in_training"] = normalize_batch_in_training;
}

}  // namespace golden
