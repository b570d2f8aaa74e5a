#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/rnn/internal/recurrent_arguments.hpp>
#include <ktape/ops/shape.hpp>

namespace ktape::op_helpers {
namespace {

using namespace backend;
using Tensors = std::vector<Tensor>;
using Arguments = RecurrentArguments;

Tensor activated(const std::string& name, const Tensor& x) {
  if (name == "hard_sigmoid") return hard_sigmoid(x);
  if (name == "relu") return relu(x);
  return name == "tanh" ? tanh(x) : sigmoid(x);
}

Tensor with_bias(const Tensor& x, const Tensor& bias) { return bias.defined() ? x + bias : x; }

backend::RnnStep lstm_step(const Arguments& a) {
  return [a](const Tensors& in, const Tensors& states) {
    const Tensors z =
        split(with_bias(dot(in[0], a.kernel) + dot(states[0], a.recurrent_kernel), a.bias), 4, 1);
    const auto gate = [&](const Tensor& t) { return activated(a.kind.activation, t); };
    const Tensor c = gate(z[1]) * states[1] + gate(z[0]) * tanh(z[2]), h = gate(z[3]) * tanh(c);
    return std::pair{Tensors{h}, Tensors{h, c}};
  };
}

backend::RnnStep gru_step(const Arguments& a) {
  const bool reset_after = a.kind.reset_after;
  const Tensors biases = a.bias.defined() && reset_after ? unstack(a.bias) : Tensors{a.bias, Tensor()};
  const std::int64_t units = a.units();
  return [=](const Tensors& in, const Tensors& states) {
    const auto gate = [&](const Tensor& t) { return activated(a.kind.activation, t); };
    const Tensor& h = states[0];
    const Tensors x = split(with_bias(dot(in[0], a.kernel), biases[0]), 3, 1);
    const Tensor kernel =
        reset_after ? a.recurrent_kernel : slice(a.recurrent_kernel, {0, 0}, {units, 2 * units});
    const Tensors y = split(with_bias(dot(h, kernel), biases[1]), reset_after ? 3 : 2, 1);
    const Tensor z = gate(x[0] + y[0]), r = gate(x[1] + y[1]);
    const Tensor rest =
        reset_after ? r * y[2] : dot(r * h, slice(a.recurrent_kernel, {0, 2 * units}, {units, units}));
    const Tensor out = z * h + (1 - z) * tanh(x[2] + rest);
    return std::pair{Tensors{out}, Tensors{out}};
  };
}

backend::RnnStep simple_step(const Arguments& a) {
  return [a](const Tensors& in, const Tensors& states) {
    const Tensor h = activated(a.kind.activation,
                               with_bias(dot(in[0], a.kernel) + dot(states[0], a.recurrent_kernel), a.bias));
    return std::pair{Tensors{h}, Tensors{h}};
  };
}

}  // namespace

RnnResult<Tensor> composed(const Arguments& a) {
  const backend::RnnStep step = a.kind.states == 2  ? lstm_step(a)
                                : a.kind.gates == 3 ? gru_step(a)
                                                    : simple_step(a);
  auto [last, outputs, states] = backend::rnn(step, a.x, a.states, a.options);
  return {last[0], outputs[0], states};
}

}  // namespace ktape::op_helpers
