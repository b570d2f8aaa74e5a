#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/rnn/recorded_rnn.hpp>
#include <ktape/ops/shape.hpp>

#include <string_view>

namespace ktape::nn::onnx {
namespace {

namespace K = backend;

/// Returns whether a tensor is zero whatever the inputs of the model are: the initial states of recurrent layers.
bool is_zero(const Tensor& x) {
  if (!is_symbolic(x)) {
    const Tensor values = x.detach();
    for (std::int64_t i = 0; i < values.size(); ++i)
      if (values.alias(Shape{values.size()}).element(&i, 1).real() != 0) return false;
    return true;
  }
  const Symbol& symbol = *x.get()->symbol;
  const std::string_view op = symbol.op();
  if (op == "zeros_like" || op == "zeros") return true;
  const auto operand = [&](std::size_t i) { return is_zero(symbol.operands()[i].value()); };
  if (op == "add") return symbol.operands().size() == 2 && operand(0) && operand(1);
  return (op == "sum" || op == "expand_dims" || op == "identity" || op == "cast") && operand(0);
}

/// Puts the gates, which stand side by side along the last axis, into the order of ONNX.
Tensor reordered(const Tensor& x, const std::vector<int>& order) {
  if (order.size() == 1) return x;
  const std::vector<Tensor> gates = K::split(x, static_cast<std::int64_t>(order.size()), -1);
  std::vector<Tensor> sorted;
  for (const int gate : order) sorted.push_back(gates[static_cast<std::size_t>(gate)]);
  return K::concatenate(sorted, -1);
}

/// The form of a recurrence in ONNX.
struct Form {
  const char* op;
  std::vector<int> order;  ///< for each gate of ONNX the place of the gate in the library
  Names activations;
};

Form form_of(const Translation& t, const K::RecordedRecurrence& r) {
  const std::string_view op = t.symbol.op();
  const std::string gate = r.activation == "hard_sigmoid" ? "HardSigmoid" : "Sigmoid";
  if (op == "lstm") return {"LSTM", {0, 3, 1, 2}, {gate, "Tanh", "Tanh"}};
  if (op == "gru") return {"GRU", {0, 1, 2}, {gate, "Tanh"}};
  return {"RNN", {0}, {r.activation == "relu" ? "Relu" : "Tanh"}};
}

/// Returns the biases of inputs and states as one vector.
Tensor biases(const Tensor& bias, const Form& form) {
  const Tensor values = bias.detach();
  if (values.ndim() == 1) {
    const Tensor own = reordered(values, form.order);
    return K::reshape(K::concatenate({own, K::zeros_like(own)}, 0), {1, -1});
  }
  const std::vector<Tensor> both = K::unstack(values);
  return K::reshape(K::concatenate({reordered(both[0], form.order), reordered(both[1], form.order)}, 0),
                    {1, -1});
}

Attributes attributes_of(const Form& form, const K::RecordedRecurrence& r, std::int64_t units) {
  Attributes attributes{{"hidden_size", units}, {"activations", form.activations}};
  if (r.activation == "hard_sigmoid") {
    attributes.emplace_back("activation_alpha", std::vector<float>{0.2F});
    attributes.emplace_back("activation_beta", std::vector<float>{0.5F});
  }
  if (r.go_backwards) attributes.emplace_back("direction", std::string("reverse"));
  if (std::string_view(form.op) == "GRU")
    attributes.emplace_back("linear_before_reset", std::int64_t{r.reset_after});
  return attributes;
}

std::vector<Tensor> operands(const Translation& t) {
  std::vector<Tensor> all;
  for (const Operand& operand : t.symbol.operands()) all.push_back(operand.value());
  return all;
}

/// Translates the recurrence as a loop: with a mask, which ONNX does not have, or computed weights.
Names by_steps(const Translation& t, const K::RecordedRecurrence& r) {
  Names names;
  for (const Tensor& result : r.by_steps(operands(t))) names.push_back(t.name(result));
  return names;
}

Names recurrence(const Translation& t) {
  const K::RecordedRecurrence* const r = K::recorded_recurrence(t.symbol);
  if (!r) t.fail("its arguments are not recorded");
  const std::vector<Tensor> all = operands(t);
  const Tensor &kernel = all[1], &recurrent = all[2], &bias = all[3];
  if (all.back().defined() || is_symbolic(kernel) || is_symbolic(recurrent) || is_symbolic(bias))
    return by_steps(t, *r);
  const Form form = form_of(t, *r);
  const auto matrix = [&](const Tensor& weights) {
    return t.derived(weights, form.op, [&] {
      return K::expand_dims(K::transpose(reordered(weights.detach(), form.order)), 0);
    });
  };
  const std::string x = r->time_major ? t(0) : t.graph.transposed(t(0), {1, 0, 2});
  Names inputs{x, matrix(kernel), matrix(recurrent), "", ""};
  if (bias.defined()) inputs[3] = t.derived(bias, form.op, [&] { return biases(bias, form); });
  bool zeros = true;
  for (std::size_t i = 0; i < r->states; ++i) zeros = zeros && (i + 5 > all.size() || is_zero(all[4 + i]));
  for (std::size_t i = 0; !zeros && i < r->states; ++i) inputs.push_back(t.graph.unsqueezed(t(4 + i), {0}));
  const Names results =
      t.graph.nodes(form.op, inputs, attributes_of(form, *r, recurrent.shape()[0]), 1 + r->states);

  std::string outputs = t.graph.squeezed(results[0], {1});
  const int time = r->time_major ? 0 : 1;
  if (!r->time_major) outputs = t.graph.transposed(outputs, {1, 0, 2});
  if (r->go_backwards)
    outputs = t.graph.sliced(outputs, time, -1, std::numeric_limits<std::int64_t>::min(), -1);
  Names names{outputs, t.graph.squeezed(results[1], {0})};
  for (std::size_t i = 1; i <= r->states; ++i)
    names.push_back(i == 1 ? names[1] : t.graph.squeezed(results[i], {0}));
  return names;
}

}  // namespace

void add_recurrent_symbols(RowTable& rows) {
  for (const char* op : {"lstm", "gru", "simple_rnn"}) rows[op] = recurrence;
}

}  // namespace ktape::nn::onnx
