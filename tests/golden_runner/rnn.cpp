#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/rnn/recurrent.hpp>
#include <ktape/ops/rnn/rnn.hpp>
#include <ktape/ops/shape.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

using Step = std::function<std::pair<Tensor, Results>(const Tensor&, const Results&)>;

/// Returns x W + s U + b.
Tensor dense(const Call& c, const Tensor& x, const Tensor& s) {
  return K::dot(x, c["W"]) + K::dot(s, c["U"]) + c["b"];
}

std::pair<Tensor, Results> lstm(const Call& c, const Tensor& x, const Results& s) {
  const Results z = K::split(dense(c, x, s[0]), 4, 1);
  const Tensor memory = K::sigmoid(z[1]) * s[1] + K::sigmoid(z[0]) * K::tanh(z[2]);
  const Tensor h = K::sigmoid(z[3]) * K::tanh(memory);
  return {h, {h, memory}};
}

std::pair<Tensor, Results> gru(const Call& c, const Tensor& x, const Results& s) {
  const Results w = K::split(c["W"], 3, 1), u = K::split(c["U"], 3, 1), b = K::split(c["b"], 3, 0);
  const Tensor z = K::sigmoid(K::dot(x, w[0]) + K::dot(s[0], u[0]) + b[0]);
  const Tensor r = K::sigmoid(K::dot(x, w[1]) + K::dot(s[0], u[1]) + b[1]);
  const Tensor fresh = K::tanh(K::dot(x, w[2]) + K::dot(r * s[0], u[2]) + b[2]);
  const Tensor h = z * s[0] + (1 - z) * fresh;
  return {h, {h}};
}

Step step_of(const Call& c) {
  const auto alone = [](const Tensor& h) { return std::pair{h, Results{h}}; };
  const std::map<std::string, Step> steps = {
      {"simple", [&c, alone](auto& x, auto& s) { return alone(K::tanh(dense(c, x, s[0]))); }},
      {"simple_const", [&c, alone](auto& x, auto& s) { return alone(K::tanh(dense(c, x, s[0]) + s[1])); }},
      {"lstm", [&c](auto& x, auto& s) { return lstm(c, x, s); }},
      {"gru", [&c](auto& x, auto& s) { return gru(c, x, s); }},
      {"leaky", [alone](auto& x, auto& s) { return alone(0.5 * s[0] + x); }},
      {"double_out",
       [](auto& x, auto& s) {
         return std::pair{2 * (s[0] + x), Results{s[0] + x}};
       }},
      {"identity",
       [](auto& x, auto& s) {
         return std::pair{x, s};
       }},
  };
  return steps.at(c.get<std::string>("step_function"));
}

Results rnn(const Call& c) {
  K::RnnOptions options;
  c.set("go_backwards", options.go_backwards);
  c.set("unroll", options.unroll);
  c.set("time_major", options.time_major);
  c.set("zero_output_for_mask", options.zero_output_for_mask);
  options.mask = c.optional("mask");
  options.constants = c.list("constants");
  if (c.given("input_length")) options.input_length = c["input_length"];
  else if (c.has("input_length") && !c.none("input_length"))
    options.input_length = c.get<std::int64_t>("input_length");
  const auto [last, outputs, states] = K::rnn(step_of(c), c["inputs"], c.list("initial_states"), options);
  Results results{last, outputs};
  results.insert(results.end(), states.begin(), states.end());
  return results;
}

Results all_of(const K::RnnResult<Tensor>& result) {
  Results out{result.last_output, result.outputs};
  out.insert(out.end(), result.new_states.begin(), result.new_states.end());
  return out;
}

/// Reads the options that the three layers share.
template <class Options>
Options sequence_options(const Call& c) {
  Options options;
  options.mask = c.optional("mask");
  c.set("go_backwards", options.go_backwards);
  c.set("zero_output_for_mask", options.zero_output_for_mask);
  return options;
}

template <class F, class Options>
Results layer(const Call& c, F f, const Options& options) {
  return all_of(f(c["x"], c["kernel"], c["recurrent_kernel"], c["bias"], c.list("initial_states"), options));
}

Results lstm_layer(const Call& c) { return layer(c, K::lstm, sequence_options<K::LstmOptions>(c)); }

Results gru_layer(const Call& c) {
  auto options = sequence_options<K::GruOptions>(c);
  c.set("reset_after", options.reset_after);
  return layer(c, K::gru, options);
}

Results simple_rnn_layer(const Call& c) {
  auto options = sequence_options<K::SimpleRnnOptions>(c);
  c.set("activation", options.activation);
  return layer(c, K::simple_rnn, options);
}

}  // namespace

void add_rnn(Table& table) {
  table.ops["rnn"] = rnn;
  table.ops["lstm"] = lstm_layer;
  table.ops["gru"] = gru_layer;
  table.ops["simple_rnn"] = simple_rnn_layer;
}

}  // namespace golden
