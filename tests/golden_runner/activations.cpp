#include <ktape/ops/nn/activations.hpp>

#include "families.hpp"

namespace golden {
namespace {

namespace K = ktape::backend;

template <class F>
auto unary(F f) {
  return [f](const Call& c) -> Results { return {f(c["x"])}; };
}

Results relu(const Call& c) {
  K::ReluOptions options;
  c.set("alpha", options.alpha);
  c.set("max_value", options.max_value);
  c.set("threshold", options.threshold);
  return {K::relu(c["x"], options)};
}

Results elu(const Call& c) {
  if (c.has("alpha")) return {K::elu(c["x"], c.get<double>("alpha"))};
  return {K::elu(c["x"])};
}

Results softmax(const Call& c) {
  if (c.has("axis")) return {K::softmax(c["x"], c.get<int>("axis"))};
  return {K::softmax(c["x"])};
}

Results log_softmax(const Call& c) {
  if (c.has("axis")) return {K::log_softmax(c["x"], c.get<int>("axis"))};
  return {K::log_softmax(c["x"])};
}

Results gelu(const Call& c) {
  K::GeluOptions options;
  c.set("approximate", options.approximate);
  return {K::gelu(c["x"], options)};
}

Results l2_normalize(const Call& c) {
  if (c.has("axis")) return {K::l2_normalize(c["x"], c.get<Axes>("axis"))};
  return {K::l2_normalize(c["x"])};
}

}  // namespace

void add_activations(Table& table) {
  auto& ops = table.ops;
  ops["sigmoid"] = unary([](const Tensor& x) { return K::sigmoid(x); });
  ops["hard_sigmoid"] = unary([](const Tensor& x) { return K::hard_sigmoid(x); });
  ops["softplus"] = unary([](const Tensor& x) { return K::softplus(x); });
  ops["softsign"] = unary([](const Tensor& x) { return K::softsign(x); });
  ops["relu"] = relu;
  ops["elu"] = elu;
  ops["softmax"] = softmax;
  ops["log_softmax"] = log_softmax;
  ops["gelu"] = gelu;
  ops["l2_normalize"] = l2_normalize;
  ops["in_top_k"] = [](const Call& c) -> Results {
    return {K::in_top_k(c["predictions"], c["targets"], c.get<int>("k"))};
  };
}

}  // namespace golden
