#pragma once
#include <ktape/ops/rnn/rnn.hpp>

#include <string>

/// Recurrent layers over whole sequences. Each layer is one op: one product projects the inputs of all steps,
/// and every step computes its gates while the recurrent product is in registers; the gradient is computed in
/// this way, too. The results are equal, to rounding, to the results of `rnn` with the step that the layer's
/// formula describes, including masks, direction and order of the outputs; the layers are many times faster
/// than `rnn`.
///
/// x is (samples, time, features), or (time, samples, features) with `time_major`. `kernel` is (features,
/// gates * units), `recurrent_kernel` (units, gates * units) and `bias` (gates * units,), with the gates side
/// by side; an undefined bias means no bias. `initial_states` are (samples, units) each; an empty list means
/// zeros. In the formulas, xg, hg and bg are the columns of gate g in dot(x_t, kernel), dot(h,
/// recurrent_kernel) and the bias; h and c are the states before the step; * multiplies element by element.
/// The results are those of `rnn`: the last output, the outputs of all steps in the order in which the steps
/// ran, and the final states.
///
/// Differentiable to any order with respect to all tensors but the mask; only second and higher derivatives
/// run step by step. float16 and bfloat16 are computed in float32. Throws ValueError for shapes that do not fit each other,
/// a sequence without steps and unknown activations, TypeError for dtypes that differ or are not floating.
namespace ktape::backend {

struct LstmOptions {
  std::string recurrent_activation = "sigmoid";  ///< "sigmoid" or "hard_sigmoid"
  bool go_backwards = false;
  TensorArgument mask = {};  ///< (samples, time) or (samples, time, 1), as in `rnn`
  bool time_major = false;
  bool zero_output_for_mask = false;
};

/// Runs a long short-term memory layer, with the gates in the order i, f, c, o; s is the recurrent
/// activation. The states are h and c. Computes Keras's layer LSTM.
///
///   i = s(xi + hi + bi)   f = s(xf + hf + bf)   o = s(xo + ho + bo)
///   c' = f * c + i * tanh(xc + hc + bc)
///   h' = o * tanh(c')
///
///     auto [last, outputs, states] = K::lstm(K::ones({1, 4, 2}), K::ones({2, 12}),
///                                            K::ones({3, 12}), K::zeros({12}));
///     std::cout << last << " " << states.size() << "\n"
///               << K::lstm(K::ones({1, 4, 2}), K::ones({2, 12}), K::ones({3, 12}),
///                          K::zeros({12}), {}, {.mask = K::constant({{1, 0, 0, 0}})})
///                      .last_output;
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

/// Runs a gated recurrent unit, with the gates in the order z, r, h; s is the recurrent activation. The state
/// is h. With `reset_after` the bias is (2, 3 * units): b for the inputs and b' for the recurrent product.
/// Without `reset_after` the steps run one by one, as in `rnn`. Computes Keras's layer GRU.
///
///   z = s(xz + hz + bz + b'z)   r = s(xr + hr + br + b'r)
///   n = tanh(xh + bh + r * (hh + b'h))                                 with reset_after
///   n = tanh(xh + bh + dot(r * h, columns h of recurrent_kernel))      without
///   h' = z * h + (1 - z) * n
///
///     auto [last, outputs, states] = K::gru(K::ones({1, 4, 2}), K::ones({2, 9}),
///                                           K::ones({3, 9}), K::zeros({2, 9}));
///     std::cout << last << "\n"
///               << K::gru(K::ones({1, 4, 2}), K::ones({2, 9}), K::ones({3, 9}),
///                         K::zeros({2, 9}), {},
///                         {.recurrent_activation = "hard_sigmoid"})
///                      .last_output;
RnnResult<Tensor> gru(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                      const Tensor& bias, const TensorList& initial_states = {},
                      const GruOptions& options = {});

struct SimpleRnnOptions {
  std::string activation = "tanh";  ///< "tanh" or "relu"
  bool go_backwards = false;
  TensorArgument mask = {};
  bool time_major = false;
  bool zero_output_for_mask = false;
};

/// Runs a simple recurrent layer with a single gate: h' = activation(x + h + b). Computes Keras's layer
/// SimpleRNN.
///
///     auto [last, outputs, states] = K::simple_rnn(K::ones({1, 4, 2}), K::ones({2, 3}),
///                                                  K::zeros({3, 3}), K::zeros({3}));
///     std::cout << last << "\n"
///               << K::simple_rnn(K::ones({1, 4, 2}), K::ones({2, 3}), K::zeros({3, 3}),
///                                K::zeros({3}), {}, {.activation = "relu"})
///                      .last_output;
RnnResult<Tensor> simple_rnn(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                             const Tensor& bias, const TensorList& initial_states = {},
                             const SimpleRnnOptions& options = {});

}  // namespace ktape::backend
