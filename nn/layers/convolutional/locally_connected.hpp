#pragma once
#include <ktape/nn/core/activations.hpp>
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/base/weighted_layers.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

/// Locally connected layers of Keras 2: convolutions without padding, with separate weights at each position;
/// see ops/nn/convolution.hpp.
namespace ktape::nn {

using backend::PerAxis;

struct LocallyConnectedOptions {
  ByName by_name = {};
  std::optional<std::int64_t> filters = {};  ///< required: the number of output channels
  PerAxis<std::int64_t> kernel_size = {};    ///< required: the extent of the window along each spatial axis
  PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< only "valid" is allowed
  std::string data_format = {};   ///< K::image_data_format() by default
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", bias_initializer = "zeros";
  Regularizer kernel_regularizer = {}, bias_regularizer = {}, activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, bias_constraint = {};
  std::int64_t implementation = 1;  ///< accepted and ignored
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// A locally connected layer over one spatial axis. Weights: kernel (positions, elements of a patch,
/// filters) and bias (positions, filters). Throws ValueError for an input whose spatial extents are
/// unknown or smaller than a window.
///
///     nn::LocallyConnected1D layer(4, 3, {.strides = 2});
///     std::cout << layer(K::random_normal({2, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class LocallyConnected1D : public KernelLayer {
 public:
  explicit LocallyConnected1D(const LocallyConnectedOptions& options);
  LocallyConnected1D(std::int64_t filters, const LocallyConnectedOptions& options)
      : LocallyConnected1D(internal::with("LocallyConnected1D", "filters", options,
                                          &LocallyConnectedOptions::filters, filters)) {}
  template <class = void>
  LocallyConnected1D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                     const LocallyConnectedOptions& options = {})
      : LocallyConnected1D(filters, internal::with("LocallyConnected1D", "kernel_size", options,
                                                   &LocallyConnectedOptions::kernel_size, kernel_size)) {}
};

/// A locally connected layer over two spatial axes. Weights: kernel (positions, elements of a patch,
/// filters) and bias (rows, columns, filters). Throws ValueError for an input whose spatial extents are
/// unknown or smaller than a window.
///
///     nn::LocallyConnected2D layer(4, 3, {.use_bias = false});
///     std::cout << layer(K::random_normal({2, 6, 6, 3})).shape()
///               << " weights: " << layer.count_params();
class LocallyConnected2D : public KernelLayer {
 public:
  explicit LocallyConnected2D(const LocallyConnectedOptions& options);
  LocallyConnected2D(std::int64_t filters, const LocallyConnectedOptions& options)
      : LocallyConnected2D(internal::with("LocallyConnected2D", "filters", options,
                                          &LocallyConnectedOptions::filters, filters)) {}
  template <class = void>
  LocallyConnected2D(std::int64_t filters, const PerAxis<std::int64_t>& kernel_size,
                     const LocallyConnectedOptions& options = {})
      : LocallyConnected2D(filters, internal::with("LocallyConnected2D", "kernel_size", options,
                                                   &LocallyConnectedOptions::kernel_size, kernel_size)) {}
};

}  // namespace ktape::nn
