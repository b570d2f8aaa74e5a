#include <ktape/ops/keras/nn/activations.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/keras/nn/losses.hpp>
#include <ktape/ops/keras/nn/patches.hpp>

#include "arguments.hpp"
#include "families.hpp"

namespace golden_ops {
namespace {

namespace ops = ktape::ops;
using ops::Extents;

/// A function of x and a number under a name, with a default.
auto with_number(Tensor (*f)(const Tensor&, double), const char* name, double otherwise) {
  return [=](const Call& c) -> Results { return {f(c["x"], get_or(c, name, otherwise))}; };
}

Axes last_axes(const Call& c) { return get_or(c, "axis", Axes(-1)); }
int axis(const Call& c) { return get_or(c, "axis", -1); }

template <class Options>
Options convolution(const Call& c) {
  Options o;
  c.set("strides", o.strides), c.set("padding", o.padding), c.set("data_format", o.data_format);
  c.set("dilation_rate", o.dilation_rate);
  return o;
}

using Pool = Tensor (*)(const Tensor&, const Extents&, const ops::PoolOptions&);
auto pool(Pool f) {
  return [f](const Call& c) -> Results {
    ops::PoolOptions o;
    c.set("strides", o.strides), c.set("padding", o.padding), c.set("data_format", o.data_format);
    return {f(c["inputs"], c.get<Extents>("pool_size"), o)};
  };
}

using AdaptivePool = Tensor (*)(const Tensor&, const Extents&, const ops::AdaptivePoolOptions&);
auto adaptive_pool(AdaptivePool f) {
  return [f](const Call& c) -> Results {
    ops::AdaptivePoolOptions o;
    c.set("data_format", o.data_format);
    return {f(c["inputs"], c.get<Extents>("output_size"), o)};
  };
}

ops::UnfoldOptions windows(const Call& c) {
  ops::UnfoldOptions o;
  c.set("dilation", o.dilation), c.set("padding", o.padding), c.set("stride", o.stride);
  return o;
}

std::string data_format(const Call& c) { return get_or(c, "data_format", std::string("channels_last")); }

void add_activations(Table& table) {
  const std::pair<const char*, Tensor (*)(const Tensor&)> functions[] = {
      {"relu", ops::relu},
      {"relu6", ops::relu6},
      {"selu", ops::selu},
      {"sigmoid", ops::sigmoid},
      {"log_sigmoid", ops::log_sigmoid},
      {"silu", ops::silu},
      {"swish", ops::swish},
      {"hard_sigmoid", ops::hard_sigmoid},
      {"hard_silu", ops::hard_silu},
      {"hard_swish", ops::hard_swish},
      {"hard_tanh", ops::hard_tanh},
      {"tanh_shrink", ops::tanh_shrink},
      {"softplus", ops::softplus},
      {"softsign", ops::softsign},
      {"sparse_plus", ops::sparse_plus},
      {"sparse_sigmoid", ops::sparse_sigmoid}};
  for (const auto& [name, f] : functions) table[name] = unary(f);
  table["leaky_relu"] = with_number(ops::leaky_relu, "negative_slope", 0.2);
  table["elu"] = with_number(ops::elu, "alpha", 1), table["celu"] = with_number(ops::celu, "alpha", 1);
  table["hard_shrink"] = with_number(ops::hard_shrink, "threshold", 0.5);
  table["soft_shrink"] = with_number(ops::soft_shrink, "threshold", 0.5);
  table["squareplus"] = with_number(ops::squareplus, "b", 4);
  table["gelu"] = [](const Call& c) -> Results {
    return {ops::gelu(c["x"], get_or(c, "approximate", true))};
  };
  table["glu"] = [](const Call& c) -> Results { return {ops::glu(c["x"], axis(c))}; };
  table["threshold"] = [](const Call& c) -> Results {
    return {ops::threshold(c["x"], c.get<double>("threshold"), c.get<double>("default_value"))};
  };
  table["softmax"] = [](const Call& c) -> Results { return {ops::softmax(c["x"], last_axes(c))}; };
  table["log_softmax"] = [](const Call& c) -> Results { return {ops::log_softmax(c["x"], last_axes(c))}; };
  table["sparsemax"] = [](const Call& c) -> Results { return {ops::sparsemax(c["x"], axis(c))}; };
}

void add_convolutions(Table& table) {
  table["conv"] = [](const Call& c) -> Results {
    return {ops::conv(c["inputs"], c["kernel"], convolution<ops::ConvOptions>(c))};
  };
  table["conv_transpose"] = [](const Call& c) -> Results {
    auto o = convolution<ops::ConvTransposeOptions>(c);
    c.set("output_padding", o.output_padding);
    return {ops::conv_transpose(c["inputs"], c["kernel"], o)};
  };
  table["depthwise_conv"] = [](const Call& c) -> Results {
    return {ops::depthwise_conv(c["inputs"], c["kernel"], convolution<ops::ConvOptions>(c))};
  };
  table["separable_conv"] = [](const Call& c) -> Results {
    return {ops::separable_conv(c["inputs"], c["depthwise_kernel"], c["pointwise_kernel"],
                                convolution<ops::ConvOptions>(c))};
  };
  table["max_pool"] = pool(ops::max_pool), table["average_pool"] = pool(ops::average_pool);
  table["adaptive_max_pool"] = adaptive_pool(ops::adaptive_max_pool);
  table["adaptive_average_pool"] = adaptive_pool(ops::adaptive_average_pool);
  table["unfold"] = [](const Call& c) -> Results {
    return {ops::unfold(c["x"], c.get<Extents>("kernel_size"), windows(c))};
  };
  table["fold"] = [](const Call& c) -> Results {
    return {ops::fold(c["x"], c.get<Extents>("output_size"), c.get<Extents>("kernel_size"), windows(c))};
  };
  table["depth_to_space"] = [](const Call& c) -> Results {
    return {ops::depth_to_space(c["x"], c.get<int>("block_size"), data_format(c))};
  };
  table["space_to_depth"] = [](const Call& c) -> Results {
    return {ops::space_to_depth(c["x"], c.get<int>("block_size"), data_format(c))};
  };
}

std::optional<double> epsilon(const Call& c) { return get_or(c, "epsilon", std::optional<double>()); }

void add_normalizations(Table& table) {
  table["moments"] = [](const Call& c) -> Results {
    const auto [mean, variance] = ops::moments(c["x"], c.get<Axes>("axes"), keepdims(c));
    return {mean, variance};
  };
  table["normalize"] = [](const Call& c) -> Results {
    return {ops::normalize(c["x"], last_axes(c), get_or(c, "order", 2.0), epsilon(c))};
  };
  table["batch_normalization"] = [](const Call& c) -> Results {
    return {ops::batch_normalization(c["x"], c["mean"], c["variance"], c.get<int>("axis"),
                                     c.optional("offset"), c.optional("scale"), get_or(c, "epsilon", 1e-3))};
  };
  table["layer_normalization"] = [](const Call& c) -> Results {
    return {ops::layer_normalization(
        c["x"], c.optional("gamma"), c.optional("beta"),
        {.axis = last_axes(c), .epsilon = epsilon(c), .rms_scaling = get_or(c, "rms_scaling", false)})};
  };
  table["rms_normalization"] = [](const Call& c) -> Results {
    return {ops::rms_normalization(c["x"], c.optional("scale"), last_axes(c), epsilon(c))};
  };
  table["dot_product_attention"] = [](const Call& c) -> Results {
    ops::DotProductAttentionOptions o{.bias = c.optional("bias"), .mask = c.optional("mask")};
    c.set("scale", o.scale), c.set("is_causal", o.is_causal),
        c.set("attn_logits_soft_cap", o.attn_logits_soft_cap);
    return {ops::dot_product_attention(c["query"], c["key"], c["value"], o)};
  };
}

void add_losses(Table& table) {
  const auto logits = [](const Call& c) { return get_or(c, "from_logits", false); };
  table["categorical_crossentropy"] = [logits](const Call& c) -> Results {
    return {ops::categorical_crossentropy(c["target"], c["output"], logits(c), axis(c))};
  };
  table["sparse_categorical_crossentropy"] = [logits](const Call& c) -> Results {
    return {ops::sparse_categorical_crossentropy(c["target"], c["output"], logits(c), axis(c))};
  };
  table["binary_crossentropy"] = [logits](const Call& c) -> Results {
    return {ops::binary_crossentropy(c["target"], c["output"], logits(c))};
  };
  table["ctc_loss"] = [](const Call& c) -> Results {
    return {ops::ctc_loss(c["target"], c["output"], c["target_length"], c["output_length"],
                          get_or(c, "mask_index", 0))};
  };
  table["ctc_decode"] = [](const Call& c) -> Results {
    ops::CtcDecodeOptions o;
    c.set("strategy", o.strategy), c.set("beam_width", o.beam_width), c.set("top_paths", o.top_paths);
    c.set("merge_repeated", o.merge_repeated), c.set("mask_index", o.mask_index);
    const auto [decoded, scores] = ops::ctc_decode(c["inputs"], c["sequence_lengths"], o);
    return {decoded, scores};
  };
  table["polar"] = [](const Call& c) -> Results {
    const auto [real, imag] = ops::polar(c["abs_"], c["angle"]);
    return {real, imag};
  };
  table["psnr"] = [](const Call& c) -> Results {
    return {ops::psnr(c["x1"], c["x2"], c.get<double>("max_val"))};
  };
}

}  // namespace

void add_nn(Table& table) {
  add_activations(table);
  add_convolutions(table);
  add_normalizations(table);
  add_losses(table);
}

}  // namespace golden_ops
