#include <ktape/nn/saving/onnx/writing/translation.hpp>
#include <ktape/ops/nn/attention.hpp>
#include <ktape/ops/schema/described_call.hpp>

#include <cmath>

namespace ktape::nn::onnx {
namespace {

const Integers heads_first{0, 2, 1, 3};

/// Returns 0, 1, 2, ... for an axis of a tensor.
std::string positions(const Translation& t, const std::string& x, int axis) {
  const std::string count = t.graph.squeezed(t.graph.extent(x, axis), {0});
  return t.node("Range", {t.graph.integer(0), count, t.graph.integer(1)});
}

/// Returns which keys each query may see; an empty name: all keys.
std::string visible(const Translation& t, const backend::AttentionOptions& options, const std::string& query,
                    const std::string& key) {
  std::string mask;
  if (t.operand(3).defined()) mask = t.graph.cast(t(3), t.operand(3).dtype(), DType::Bool);
  if (!options.causal) return mask;
  const std::string past =
      t.node("GreaterOrEqual", {t.graph.unsqueezed(positions(t, query, 2), {1}), positions(t, key, 2)});
  return mask.empty() ? past : t.node("And", {mask, past});
}

/// Returns the options that follow query, key, value and mask in the description of the symbol.
backend::AttentionOptions options_of(const Translation& t) {
  const std::vector<DescribedArgument>* const described = described_arguments(t.symbol);
  if (!described) t.fail("its arguments are not recorded");
  return {.causal = std::any_cast<bool>(described->at(5).value),
          .scale = std::any_cast<const std::optional<double>&>(described->at(4).value),
          .heads_last = described->size() == 6};
}

Names attention(const Translation& t) {
  const backend::AttentionOptions options = options_of(t);
  const auto moved = [&](const std::string& x) {
    return options.heads_last ? t.graph.transposed(x, heads_first) : x;
  };
  const std::int64_t dim = t.operand(0).shape()[3];
  if (!options.scale && dim == None) t.fail("the size of the heads is unknown");
  const double scale =
      options.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(dim, 1))));
  const std::string query = moved(t(0)), key = moved(t(1)), value = moved(t(2));
  std::string scores = t.node("MatMul", {query, t.graph.transposed(key, {0, 1, 3, 2})});
  scores = t.node("Mul", {scores, t.graph.number(scale, t.dtype())});
  const std::string mask = visible(t, options, query, key);
  const std::int64_t last = 3;
  if (mask.empty()) return {moved(t.node("MatMul", {t.node("Softmax", {scores}, {{"axis", last}}), value}))};
  const std::string hidden = t.node("Where", {mask, scores, t.graph.number(-INFINITY, t.dtype())});
  const std::string weights =
      t.node("Where", {mask, t.node("Softmax", {hidden}, {{"axis", last}}), t.graph.number(0, t.dtype())});
  return {moved(t.node("MatMul", {weights, value}))};
}

}  // namespace

void add_attention_symbols(RowTable& rows) { rows["scaled_dot_product_attention"] = attention; }

}  // namespace ktape::nn::onnx
