#pragma once
#include <ktape/nn/core/by_name.hpp>
#include <ktape/nn/layers/rnn/recurrent.hpp>
#include <ktape/ops/arguments/per_axis.hpp>

/// Convolutional LSTM layers over sequences of images: (batch, steps, spatial..., channels) or, with
/// "channels_first", (batch, steps, channels, spatial...). States, masks and outputs are as in the recurrent
/// layers (recurrent.hpp), with convolutions instead of matrix products: an output or state is (batch,
/// spatial..., filters).
///
///     nn::ConvLSTM2D(16, 3, {.padding = "same", .return_sequences = true})
///
/// The formulas of a step, in which * is a convolution, and the gates f and o have the form of i:
///
///   i = recurrent_activation(x * W_i + h * U_i + b_i)
///   c' = f c + i activation(x * W_c + h * U_c + b_c)
///   h' = o activation(c')
///
/// Padding, strides and dilation apply to the convolution of the inputs; the convolution of the state keeps
/// the extents. `dropout` and `recurrent_dropout` draw a separate mask for each gate. Weights: kernel
/// (size..., channels, 4 * filters), recurrent_kernel (size..., filters, 4 * filters) and bias (4 *
/// filters,), with the gates in the order i, f, c, o.
///
/// All layers throw ValueError for arguments that a convolution over as many spatial axes does not accept,
/// for unknown spatial extents, and for dropout rates outside [0, 1).
namespace ktape::nn {

struct ConvLSTMOptions {
  ByName by_name = {};
  std::optional<std::int64_t> filters = {};  ///< required: the number of output channels
  backend::PerAxis<std::int64_t> kernel_size =
      {};  ///< required: the extent of the window along each spatial axis
  backend::PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< "valid" or "same"
  std::string data_format = {};   ///< K::image_data_format() by default
  backend::PerAxis<std::int64_t> dilation_rate = 1;
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  bool unit_forget_bias = true;  ///< whether the bias of the forget gate begins with ones
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  std::optional<std::int64_t> seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false, unroll = false,
       zero_output_for_mask = false;
  OptionalShape input_shape = {}, batch_input_shape = {};
  bool trainable = true;
  std::optional<DTypePolicy> dtype = {};
  std::string name = {};
};

/// An LSTM over sequences (batch, time, width, channels), whose products are convolutions over one spatial
/// axis.
///
///     nn::ConvLSTM1D layer(4, 3);
///     std::cout << layer(K::random_normal({2, 5, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class ConvLSTM1D : public RecurrentLayer {
 public:
  explicit ConvLSTM1D(const ConvLSTMOptions& options);
  ConvLSTM1D(std::int64_t filters, const ConvLSTMOptions& options)
      : ConvLSTM1D(internal::with("ConvLSTM1D", "filters", options, &ConvLSTMOptions::filters, filters)) {}
  template <class = void>
  ConvLSTM1D(std::int64_t filters, const backend::PerAxis<std::int64_t>& kernel_size,
             const ConvLSTMOptions& options = {})
      : ConvLSTM1D(filters, internal::with("ConvLSTM1D", "kernel_size", options,
                                           &ConvLSTMOptions::kernel_size, kernel_size)) {}
};

/// An LSTM over sequences of images (batch, time, height, width, channels), whose products are
/// convolutions over two spatial axes.
///
///     nn::ConvLSTM2D layer(4, 3, {.padding = "same", .return_sequences = true});
///     std::cout << layer(K::random_normal({1, 3, 8, 8, 3})).shape()
///               << " weights: " << layer.count_params();
class ConvLSTM2D : public RecurrentLayer {
 public:
  explicit ConvLSTM2D(const ConvLSTMOptions& options);
  ConvLSTM2D(std::int64_t filters, const ConvLSTMOptions& options)
      : ConvLSTM2D(internal::with("ConvLSTM2D", "filters", options, &ConvLSTMOptions::filters, filters)) {}
  template <class = void>
  ConvLSTM2D(std::int64_t filters, const backend::PerAxis<std::int64_t>& kernel_size,
             const ConvLSTMOptions& options = {})
      : ConvLSTM2D(filters, internal::with("ConvLSTM2D", "kernel_size", options,
                                           &ConvLSTMOptions::kernel_size, kernel_size)) {}
};

/// An LSTM over sequences of volumes (batch, time, depth, height, width, channels), whose products are
/// convolutions over three spatial axes.
///
///     nn::ConvLSTM3D layer(2, 2);
///     std::cout << layer(K::random_normal({1, 2, 4, 4, 4, 1})).shape()
///               << " weights: " << layer.count_params();
class ConvLSTM3D : public RecurrentLayer {
 public:
  explicit ConvLSTM3D(const ConvLSTMOptions& options);
  ConvLSTM3D(std::int64_t filters, const ConvLSTMOptions& options)
      : ConvLSTM3D(internal::with("ConvLSTM3D", "filters", options, &ConvLSTMOptions::filters, filters)) {}
  template <class = void>
  ConvLSTM3D(std::int64_t filters, const backend::PerAxis<std::int64_t>& kernel_size,
             const ConvLSTMOptions& options = {})
      : ConvLSTM3D(filters, internal::with("ConvLSTM3D", "kernel_size", options,
                                           &ConvLSTMOptions::kernel_size, kernel_size)) {}
};

}  // namespace ktape::nn
