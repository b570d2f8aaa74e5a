#include <ktape/nn/saving/onnx/operator.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/rnn/recurrent.hpp>
#include <ktape/ops/shape.hpp>

#include <algorithm>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// The tensors of one direction of a recurrent node, as the library's recurrent ops take them.
struct Direction {
  Tensor kernel, recurrent_kernel, bias, recurrent_bias;
  Tensor peepholes;  ///< of the gates i, o and f of an LSTM, or undefined
  std::vector<Tensor> states;
  bool backwards;
};

/// Puts the gates, which stand in blocks along axis 0, into another order.
Tensor reordered(const Tensor& x, const std::vector<std::int64_t>& order) {
  const std::int64_t units = x.shape()[0] / static_cast<std::int64_t>(order.size());
  Tensors gates;
  for (const std::int64_t gate : order) gates.push_back(strided(x, 0, gate * units, units));
  return gates.size() == 1 ? x : K::concatenate(gates, 0);
}

Tensor row(const Tensor& x, std::int64_t i) { return K::squeeze(strided(x, 0, i, 1), 0); }

void expect_plain(const Call& call, const std::string& activations) {
  const std::string given = call.text("activations", "");
  for (std::string rest = given; !rest.empty() && rest != activations;
       rest = rest.substr(activations.size() + 1))
    if (!rest.starts_with(activations + ','))
      fail("[onnx] a ", call.node.op, " must have the activations ", activations, ": received ", given);
  if (call.find("clip") || call.flag("input_forget"))
    fail("[onnx] a ", call.node.op, " must be without clip and input_forget: received such a node");
}

/// Returns the activation of the gates, which stands before `others` in the list of activations.
std::string gate_activation(const Call& call, const std::string& others) {
  const bool hard = call.text("activations", "").starts_with("HardSigmoid");
  expect_plain(call, (hard ? "HardSigmoid," : "Sigmoid,") + others);
  if (!hard) return "sigmoid";
  for (const auto& [name, wanted] : {std::pair("activation_alpha", 0.2F), std::pair("activation_beta", 0.5F)})
    if (const Attribute* const given = call.find(name))
      for (const float value : given->reals)
        if (value != wanted)
          fail("[onnx] HardSigmoid must have ", name, '=', wanted, " in a ", call.node.op, ": received ",
               value);
  return "hard_sigmoid";
}

Direction direction_of(const Call& call, std::int64_t i, bool backwards,
                       const std::vector<std::int64_t>& order, std::size_t states) {
  Direction d;
  const Tensor w = row(call[1], i), r = row(call[2], i);
  if (w.ndim() != 2 || r.ndim() != 2 ||
      r.shape()[0] != static_cast<std::int64_t>(order.size()) * r.shape()[1] || w.shape()[0] != r.shape()[0])
    fail("[onnx] W and R must fit each other: received shapes ", call[1].shape(), " and ", call[2].shape());
  d.kernel = K::transpose(reordered(w, order)), d.recurrent_kernel = K::transpose(reordered(r, order));
  if (call.has(3)) {
    const Tensor both = row(call[3], i);
    const std::int64_t half = both.size() / 2;
    if (half != w.shape()[0])
      fail("[onnx] B must have two numbers for each row of W: received shape=", call[3].shape());
    d.bias = reordered(strided(both, 0, 0, half), order),
    d.recurrent_bias = reordered(strided(both, 0, half, half), order);
  }
  for (std::size_t k = 0; k < states; ++k)
    if (call.has(5 + k))
      d.states.push_back(call.flag("layout") ? K::squeeze(strided(call[5 + k], 1, i, 1), 1)
                                             : row(call[5 + k], i));
  if (!d.states.empty() && d.states.size() < states)
    d.states.insert(call.has(5) ? d.states.end() : d.states.begin(), d.states[0] - d.states[0]);
  d.backwards = backwards;
  if (states == 2 && call.has(7)) d.peepholes = row(call[7], i);
  return d;
}

/// Returns (time, samples) flags of the steps that the sequences have; undefined if all have all.
Tensor mask_of(const Call& call, std::int64_t time) {
  if (!call.has(4)) return {};
  return K::less(K::expand_dims(K::arange(0, time, 1, {.dtype = DType::Int64}), 0),
                 K::expand_dims(K::cast(call[4], DType::Int64), 1));
}

/// Runs each direction and joins the results in the layout of the node.
template <class F>
Tensors run_directions(const Call& call, const std::vector<std::int64_t>& order, std::size_t states, F run) {
  const std::string way = call.text("direction", "forward");
  const std::int64_t directions = way == "bidirectional" ? 2 : 1;
  const bool batch_first = call.flag("layout");
  if (call[0].ndim() != 3 || call[1].ndim() != 3 || call[2].ndim() != 3 || call[1].shape()[0] != directions ||
      call[2].shape()[0] != directions)
    fail("[onnx] X, W and R must have rank 3 and fit the direction: received shapes ", call[0].shape(),
         " and ", call[1].shape());
  const Tensor x = batch_first ? call[0] : K::permute_dimensions(call[0], {1, 0, 2});
  const Tensor mask = mask_of(call, x.shape()[1]);
  Tensors outputs;
  std::vector<Tensors> last(states);
  for (std::int64_t i = 0; i < directions; ++i) {
    const bool backwards = way == "reverse" || i == 1;
    const K::RnnResult<Tensor> result = run(x, direction_of(call, i, backwards, order, states), mask);
    const Tensor y = backwards ? K::reverse(result.outputs, 1) : result.outputs;
    outputs.push_back(batch_first ? y : K::permute_dimensions(y, {1, 0, 2}));
    for (std::size_t k = 0; k < states; ++k) last[k].push_back(result.new_states[k]);
  }
  Tensors all{K::stack(outputs, batch_first ? 2 : 1)};
  for (const Tensors& state : last) all.push_back(K::stack(state, batch_first ? 1 : 0));
  return all;
}

Tensor summed(const Direction& d) { return d.bias.defined() ? d.bias + d.recurrent_bias : Tensor(); }

/// Runs an LSTM whose gates also see the cell state, step by step.
K::RnnResult<Tensor> with_peepholes(const Tensor& x, const Direction& d, const Tensor& mask,
                                    const std::string& gate) {
  const std::int64_t units = d.recurrent_kernel.shape()[0];
  if (d.peepholes.size() != 3 * units)
    fail("[onnx] P must have three numbers for each unit: received shape=", d.peepholes.shape());
  const Tensors peepholes = K::split(d.peepholes, 3, 0);
  const auto open = [gate](const Tensor& z) {
    return gate == "sigmoid" ? K::sigmoid(z) : K::hard_sigmoid(z);
  };
  const auto step = [=, bias = summed(d)](const Tensor& in, const Tensors& states) {
    const Tensor sums = K::dot(in, d.kernel) + K::dot(states[0], d.recurrent_kernel);
    const Tensors z = K::split(bias.defined() ? sums + bias : sums, 4, 1);
    const Tensor &before = states[1], i = open(z[0] + peepholes[0] * before),
                 f = open(z[1] + peepholes[2] * before);
    const Tensor c = f * before + i * K::tanh(z[2]), h = open(z[3] + peepholes[1] * c) * K::tanh(c);
    return std::pair{h, Tensors{h, c}};
  };
  Tensors states = d.states;
  if (states.empty()) {
    const Tensor first = K::squeeze(strided(x, 1, 0, 1), 1);
    states = Tensors(2, K::zeros_like(K::dot(first, strided(d.kernel, 1, 0, units))));
  }
  return K::rnn(step, x, states, {.go_backwards = d.backwards, .mask = mask, .zero_output_for_mask = true});
}

Tensors lstm(const Call& call) {
  const std::string gate = gate_activation(call, "Tanh,Tanh");
  return run_directions(call, {0, 2, 3, 1}, 2, [&](const Tensor& x, const Direction& d, const Tensor& mask) {
    if (d.peepholes.defined()) return with_peepholes(x, d, mask, gate);
    return K::lstm(x, d.kernel, d.recurrent_kernel, summed(d), d.states,
                   {.recurrent_activation = gate,
                    .go_backwards = d.backwards,
                    .mask = mask,
                    .zero_output_for_mask = true});
  });
}

Tensors gru(const Call& call) {
  const std::string gate = gate_activation(call, "Tanh");
  const bool after = call.flag("linear_before_reset");
  return run_directions(call, {0, 1, 2}, 1, [&](const Tensor& x, const Direction& d, const Tensor& mask) {
    const Tensor bias = after && d.bias.defined() ? K::stack({d.bias, d.recurrent_bias}, 0) : summed(d);
    return K::gru(x, d.kernel, d.recurrent_kernel, bias, d.states,
                  {.reset_after = after,
                   .recurrent_activation = gate,
                   .go_backwards = d.backwards,
                   .mask = mask,
                   .zero_output_for_mask = true});
  });
}

Tensors rnn(const Call& call) {
  const std::string given = call.text("activations", "Tanh"), name = given.substr(0, given.find(','));
  if (name != "Tanh" && name != "Relu")
    fail("[onnx] an RNN must have the activation Tanh or Relu: received ", given);
  expect_plain(call, name);
  return run_directions(call, {0}, 1, [&](const Tensor& x, const Direction& d, const Tensor& mask) {
    return K::simple_rnn(x, d.kernel, d.recurrent_kernel, summed(d), d.states,
                         {.activation = name == "Tanh" ? "tanh" : "relu",
                          .go_backwards = d.backwards,
                          .mask = mask,
                          .zero_output_for_mask = true});
  });
}

}  // namespace

void add_recurrent(OperatorTable& t) { t["LSTM"] = lstm, t["GRU"] = gru, t["RNN"] = rnn; }

}  // namespace ktape::nn::onnx
