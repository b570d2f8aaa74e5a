#pragma once
#include <ktape/ops/rnn.hpp>

#include <string>

/// Recurrent layers over whole sequences, each one op: the inputs of all steps are projected by one product,
/// every step makes its gates while the recurrent product is in registers, and so does the gradient. They are
/// equal, to rounding, to `rnn` with the step that their formula describes, masks, direction and order of the
/// outputs included, and many times faster.
///
/// In all of them x is (samples, time, features), or (time, samples, features) with `time_major`. `kernel` is
/// (features, gates * units), `recurrent_kernel` (units, gates * units) and `bias` (gates * units,), or
/// undefined for none, the gates side by side. `initial_states` are (samples, units) each; zeros when the
/// list is empty. Below, xg, hg and bg are the columns of gate g in dot(x_t, kernel), dot(h,
/// recurrent_kernel) and the bias, h and c the states before the step, and * multiplies element by element.
/// Results are those of `rnn`: the last output, the outputs of all steps in the order in which they ran, and
/// the final states.
///
/// Differentiable to any order with respect to all tensors but the mask; only second and higher derivatives
/// run step by step. float16 is computed in float32. Throws ValueError for shapes that do not fit each other,
/// a sequence without steps and unknown activations, TypeError for dtypes that differ or are not floating.
namespace ktape::backend {

struct LstmOptions {
  std::string recurrent_activation = "sigmoid";  ///< or "hard_sigmoid"
  bool go_backwards = false;
  TensorArgument mask = {};  ///< (samples, time) or (samples, time, 1), as `rnn` takes it
  bool time_major = false;
  bool zero_output_for_mask = false;
};

/// Long short-term memory, with the gates in the order i, f, c, o; s is the recurrent activation. States: h
/// and c.
///
///     i = s(xi + hi + bi)   f = s(xf + hf + bf)   o = s(xo + ho + bo)
///     c' = f * c + i * tanh(xc + hc + bc)
///     h' = o * tanh(c')
///
/// As Keras's layer LSTM.
RnnResult<Tensor> lstm(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                       const Tensor& bias, const TensorList& initial_states = {},
                       const LstmOptions& options = {});

struct GruOptions {
  bool reset_after = true;
  std::string recurrent_activation = "sigmoid";
  bool go_backwards = false;
  TensorArgument mask = {};
  bool time_major = false;
  bool zero_output_for_mask = false;
};

/// Gated recurrent unit, with the gates in the order z, r, h. State: h. With `reset_after` the bias is (2, 3
/// * units): one for the inputs, b, and one for the recurrent product, b'. Without it the steps run one by
/// one, as in `rnn`.
///
///     z = s(xz + hz + bz + b'z)   r = s(xr + hr + br + b'r)
///     n = tanh(xh + bh + r * (hh + b'h))                                 with reset_after
///     n = tanh(xh + bh + dot(r * h, columns h of recurrent_kernel))      without
///     h' = z * h + (1 - z) * n
///
/// As Keras's layer GRU.
RnnResult<Tensor> gru(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                      const Tensor& bias, const TensorList& initial_states = {},
                      const GruOptions& options = {});

struct SimpleRnnOptions {
  std::string activation = "tanh";  ///< or "relu"
  bool go_backwards = false;
  TensorArgument mask = {};
  bool time_major = false;
  bool zero_output_for_mask = false;
};

/// h' = activation(x + h + b), with a single gate. As Keras's layer SimpleRNN.
RnnResult<Tensor> simple_rnn(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                             const Tensor& bias, const TensorList& initial_states = {},
                             const SimpleRnnOptions& options = {});

}  // namespace ktape::backend
