#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/control/control_flow.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/keras/math/math.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/keras/nn/losses.hpp>
#include <ktape/ops/keras/nn/patches.hpp>

/// Functions of keras.ops.nn and keras.ops.math that K lacks.
namespace ktape::nn {
namespace K = backend;

namespace {

using Extents = ops::Extents;

Extents extents(const OperationCall& call, const char* name) {
  return call.value(name).as<Extents>(call.what(name));
}

std::optional<std::string> data_format(const OperationCall& call) {
  return call.value("data_format").as<std::optional<std::string>>(call.what("data_format"));
}

std::optional<double> optional_number(const OperationCall& call, const char* name) {
  return call.value(name).as<std::optional<double>>(call.what(name));
}

Tensor layer_norm(const OperationCall& call) {
  return ops::layer_normalization(call.tensor("x"), call.optional("gamma"), call.optional("beta"),
                                  {.axis = call.axes("axis"),
                                   .epsilon = optional_number(call, "epsilon"),
                                   .rms_scaling = call.flag("rms_scaling")});
}

Tensor attention(const OperationCall& call) {
  ops::DotProductAttentionOptions options{
      .is_causal = call.flag("is_causal"),
      .attn_logits_soft_cap = optional_number(call, "attn_logits_soft_cap")};
  if (call.has("bias")) options.bias = call.tensor("bias");
  if (call.has("mask")) options.mask = call.tensor("mask");
  options.scale = optional_number(call, "scale");
  options.flash_attention =
      call.value("flash_attention").as<std::optional<bool>>("[DotProductAttention] flash_attention");
  return ops::dot_product_attention(call.tensor("query"), call.tensor("key"), call.tensor("value"), options);
}

Tensor separable_conv(const OperationCall& call) {
  return ops::separable_conv(call.tensor("inputs"), call.tensor("depthwise_kernel"),
                             call.tensor("pointwise_kernel"),
                             {.strides = extents(call, "strides"),
                              .padding = call.text("padding"),
                              .data_format = data_format(call),
                              .dilation_rate = extents(call, "dilation_rate")});
}

Tensor conv_transpose(const OperationCall& call) {
  ops::ConvTransposeOptions options{.strides = extents(call, "strides"),
                                    .padding = call.text("padding"),
                                    .output_padding = {},
                                    .data_format = data_format(call),
                                    .dilation_rate = extents(call, "dilation_rate")};
  if (call.has("output_padding")) options.output_padding = extents(call, "output_padding");
  return ops::conv_transpose(call.tensor("inputs"), call.tensor("kernel"), options);
}

template <Tensor (*f)(const Tensor&, const Extents&, const ops::AdaptivePoolOptions&)>
Tensor adaptive(const OperationCall& call) {
  return f(call.tensor("inputs"), extents(call, "output_size"), {.data_format = data_format(call)});
}

template <Tensor (*f)(const Tensor&, std::int64_t, const std::string&)>
Tensor blocks(const OperationCall& call) {
  return f(call.tensor("x"), call.integer("block_size"), call.text("data_format"));
}

ops::UnfoldOptions patches(const OperationCall& call) {
  return {.dilation = extents(call, "dilation"),
          .padding = extents(call, "padding"),
          .stride = extents(call, "stride")};
}

Tensor ctc_loss(const OperationCall& call) {
  return ops::ctc_loss(call.tensor("target"), call.tensor("output"), call.tensor("target_length"),
                       call.tensor("output_length"), call.axis("mask_index"));
}

std::vector<Tensor> ctc_decode(const OperationCall& call) {
  const auto [decoded, scores] = ops::ctc_decode(call.tensor("inputs"), call.tensor("sequence_lengths"),
                                                 {.strategy = call.text("strategy"),
                                                  .beam_width = call.axis("beam_width"),
                                                  .top_paths = call.axis("top_paths"),
                                                  .merge_repeated = call.flag("merge_repeated"),
                                                  .mask_index = call.axis("mask_index")});
  return {decoded, scores};
}

std::vector<Tensor> polar(const OperationCall& call) {
  const auto [real, imag] = ops::polar(call.tensor("abs_"), call.tensor("angle"));
  return {real, imag};
}

template <Tensor (*f)(const Tensor&, const Tensor&, std::optional<std::int64_t>, bool)>
Tensor segments(const OperationCall& call) {
  return f(call.tensor("data"), call.tensor("segment_ids"),
           call.value("num_segments").as<std::optional<std::int64_t>>(call.what("num_segments")),
           call.flag("sorted"));
}

Tensor converted(const OperationCall& call) {
  const Tensor x = call.tensor("x");
  return call.has("dtype") ? K::cast(x, *call.dtype()) : x;
}

void add_normalizations(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"LayerNorm", "nn", "x, gamma=null, beta=null; axis=-1, epsilon=null, rms_scaling=false", layer_norm,
       "layer_normalization", "x, gamma, beta"},
      {"RMSNorm", "nn", "x, scale=null; axis=-1, epsilon=null",
       [](const OperationCall& call) {
         return ops::rms_normalization(call.tensor("x"), call.optional("scale"), call.axes("axis"),
                                       optional_number(call, "epsilon"));
       }},
      {"BatchNorm", "nn", "x, mean, variance, offset=null, scale=null; axis, epsilon=0.001",
       [](const OperationCall& call) {
         return ops::batch_normalization(call.tensor("x"), call.tensor("mean"), call.tensor("variance"),
                                         call.axis(), call.optional("offset"), call.optional("scale"),
                                         call.number("epsilon"));
       }},
      {"Normalize", "nn", "x; axis=-1, order=2, epsilon=null",
       [](const OperationCall& call) {
         return ops::normalize(call.tensor("x"), call.axes("axis"), call.number("order"),
                               optional_number(call, "epsilon"));
       },
       "-"},
      {"Moments", "nn", "x; axes, keepdims=false, synchronized=false",
       [](const OperationCall& call) {
         if (call.flag("synchronized"))
           fail("[Moments] synchronized must be false: received synchronized=true");
         const auto [mean, variance] =
             ops::moments(call.tensor("x"), call.axes("axes"), call.flag("keepdims"));
         return std::vector{mean, variance};
       },
       "-"},
      {"DotProductAttention", "nn",
       "query, key, value, bias=null, mask=null, scale!=null; is_causal=false, flash_attention=null, "
       "attn_logits_soft_cap=null",
       attention, "scaled_dot_product_attention", "query, key, value, mask, scale, is_causal"},
      {"PSNR", "nn", "x1, x2; max_val",
       [](const OperationCall& call) {
         return ops::psnr(call.tensor("x1"), call.tensor("x2"), call.number("max_val"));
       }},
      {"Polar", "nn", "abs_, angle;", polar},
      {"CTCLoss", "nn", "target, output, target_length, output_length; mask_index=0", ctc_loss},
      {"CTCDecode", "nn",
       "inputs, sequence_lengths; strategy=\"greedy\", beam_width=100, top_paths=1, merge_repeated=true, "
       "mask_index=0",
       ctc_decode},
      {"StopGradient", "core", "variable;",
       [](const OperationCall& call) { return K::stop_gradient(call.tensor("variable")); }},
      {"ConvertToTensor", "core", "x; dtype=null, sparse=null, ragged=null", converted},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace

void add_layer_operations(std::vector<Operation>& all) {
  add_normalizations(all);
  const char* const adaptive_pooling = "inputs; output_size, data_format=null";
  const char* const of_segments = "data, segment_ids; num_segments=null, sorted=false";
  const char* const recorded_segments = "data, segment_ids, num_segments";
  const std::vector<Operation> operations{
      {"SeparableConv", "nn",
       "inputs, depthwise_kernel, pointwise_kernel; strides=1, padding=\"valid\", data_format=null, "
       "dilation_rate=1",
       separable_conv},
      {"ConvTranspose", "nn",
       "inputs, kernel; strides=1, padding=\"valid\", output_padding=null, data_format=null, dilation_rate=1",
       conv_transpose, "conv_transpose"},
      {"AdaptiveMaxPool", "nn", adaptive_pooling, adaptive<ops::adaptive_max_pool>},
      {"AdaptiveAveragePool", "nn", adaptive_pooling, adaptive<ops::adaptive_average_pool>},
      {"DepthToSpace", "nn", "x; block_size, data_format=\"channels_last\"", blocks<ops::depth_to_space>},
      {"SpaceToDepth", "nn", "x; block_size, data_format=\"channels_last\"", blocks<ops::space_to_depth>},
      {"Unfold", "nn", "x; kernel_size, dilation=1, padding=0, stride=1",
       [](const OperationCall& call) {
         return ops::unfold(call.tensor("x"), extents(call, "kernel_size"), patches(call));
       }},
      {"Fold", "nn", "x; output_size, kernel_size, dilation=1, padding=0, stride=1",
       [](const OperationCall& call) {
         return ops::fold(call.tensor("x"), extents(call, "output_size"), extents(call, "kernel_size"),
                          patches(call));
       }},
      {"SegmentSum", "math", of_segments, segments<ops::segment_sum>, "", recorded_segments},
      {"SegmentProd", "math", of_segments, segments<ops::segment_prod>, "", recorded_segments},
      {"SegmentMax", "math", of_segments, segments<ops::segment_max>, "", recorded_segments},
      {"SegmentMin", "math", of_segments, segments<ops::segment_min>, "", recorded_segments},
      {"ExtractSequences", "math", "x; sequence_length, sequence_stride",
       [](const OperationCall& call) {
         return ops::extract_sequences(call.tensor("x"), call.integer("sequence_length"),
                                       call.integer("sequence_stride"));
       }},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
