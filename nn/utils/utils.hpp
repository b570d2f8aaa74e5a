#pragma once
#include <ktape/nn/core/dtype_policy.hpp>
#include <ktape/nn/core/registry.hpp>
#include <ktape/nn/data/formats/images.hpp>
#include <ktape/nn/data/sequences.hpp>
#include <ktape/nn/optimizers/loss_scale_optimizer.hpp>
#include <ktape/nn/plot/model_graph.hpp>
#include <ktape/ops/random/random.hpp>

/// The functions of keras.utils that ktape has, which stand in the namespaces of their subjects, too.
///
///     std::cout << nn::utils::to_categorical(K::constant({0, 1}), 2);
namespace ktape::nn::utils {
using backend::set_random_seed;
using data::image_dataset_from_directory, data::normalize, data::pad_sequences,
    data::timeseries_dataset_from_array, data::to_categorical;
using nn::custom_object_scope, nn::plot_model;
}  // namespace ktape::nn::utils

/// The names of keras.mixed_precision.
///
///     ktape::mixed_precision::set_global_policy("mixed_bfloat16");
///     std::cout << nn::Dense(2).compute_dtype();
///     nn::set_dtype_policy(ktape::None);
namespace ktape::mixed_precision {
using nn::DTypePolicy, nn::LossScaleOptimizer, nn::dtype_policy, nn::set_dtype_policy;
using Policy = nn::DTypePolicy;

/// Set and return the policy of layers whose options have no `dtype`: `nn::set_dtype_policy`, `nn::dtype_policy`.
///
///     ktape::mixed_precision::set_global_policy("float64");
///     std::cout << ktape::mixed_precision::global_policy();
///     nn::set_dtype_policy(ktape::None);
inline void set_global_policy(const DTypePolicy& policy) { nn::set_dtype_policy(policy); }
inline DTypePolicy global_policy() { return nn::dtype_policy(); }
}  // namespace ktape::mixed_precision

namespace ktape::nn {
namespace mixed_precision = ktape::mixed_precision;
}  // namespace ktape::nn
