#pragma once
#include <ktape/nn/layers/rnn/recurrent.hpp>
#include <ktape/ops/per_axis.hpp>

/// LSTMs over sequences of pictures: (batch, steps, spatial..., channels) or, with "channels_first", (batch,
/// steps, channels, spatial...). As the recurrent layers, see there for states, masks and what is returned,
/// with convolutions for the matrix products: an output or state is (batch, spatial..., filters).
///
///     nn::ConvLSTM2D(16, 3, {.padding = "same", .return_sequences = true})
///
/// With * for convolution: i = recurrent_activation(x * W_i + h * U_i + b_i), f and o likewise, c' = f c + i
/// activation(x * W_c + h * U_c + b_c), h' = o activation(c'). Padding, strides and dilation are those of the
/// convolution of the inputs; that of the state keeps its extents. `dropout` and `recurrent_dropout` spare
/// other units for each gate. Weights: kernel (size..., channels, 4 * filters), recurrent_kernel (size...,
/// filters, 4 * filters) and bias (4 * filters,), gates in the order i, f, c, o.
///
/// Throws ValueError for what a convolution of the size cannot take, unknown spatial extents, and dropout
/// rates outside [0, 1).
namespace ktape::nn {

struct ConvLSTMOptions {
  backend::PerAxis<std::int64_t> strides = 1;
  std::string padding = "valid";  ///< or "same"
  std::string data_format = {};   ///< K::image_data_format() by default
  backend::PerAxis<std::int64_t> dilation_rate = 1;
  ActivationFunction activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
              bias_initializer = "zeros";
  bool unit_forget_bias = true;  ///< the bias of the forget gate begins with ones
  Regularizer kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {},
              activity_regularizer = {};
  nn::Constraint kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  std::optional<std::int64_t> seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false, unroll = false,
       zero_output_for_mask = false;
  OptionalShape input_shape = {}, batch_input_shape = {};
  std::string name = {};
  bool trainable = true;
  std::optional<DType> dtype = {};
};

class ConvLSTM1D : public RecurrentLayer {
 public:
  ConvLSTM1D(std::int64_t filters, const backend::PerAxis<std::int64_t>& kernel_size,
             const ConvLSTMOptions& options = {});
};
class ConvLSTM2D : public RecurrentLayer {
 public:
  ConvLSTM2D(std::int64_t filters, const backend::PerAxis<std::int64_t>& kernel_size,
             const ConvLSTMOptions& options = {});
};
class ConvLSTM3D : public RecurrentLayer {
 public:
  ConvLSTM3D(std::int64_t filters, const backend::PerAxis<std::int64_t>& kernel_size,
             const ConvLSTMOptions& options = {});
};

}  // namespace ktape::nn
