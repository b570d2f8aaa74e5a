#include <ktape/nn/operations/operation_tables.hpp>
#include <ktape/ops/creation.hpp>
#include <ktape/ops/inspection.hpp>
#include <ktape/ops/nn/attention.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/nn/ctc.hpp>
#include <ktape/ops/nn/normalization.hpp>

/// Functions of K that have no operation in Keras 3.
namespace ktape::nn {
namespace K = backend;

namespace {

/// Returns a shape: numbers, or a tensor of rank 1.
K::ShapeLike shape_like(const OperationCall& call, const char* name) {
  if (call.value(name).is_null()) return call.tensor(name);
  return call.shape(name);
}

Tensor filled(const OperationCall& call) {
  return K::full(shape_like(call, "shape"), call.scalar("value"), call.dtype());
}

Tensor eye(const OperationCall& call) { return K::eye(shape_like(call, "size"), {.dtype = call.dtype()}); }

Tensor attention(const OperationCall& call) {
  K::AttentionOptions options{
      .causal = call.flag("causal"),
      .scale = call.value("scale").as<std::optional<double>>("[scaled_dot_product_attention] scale"),
      .heads_last = call.flag("heads_last")};
  if (call.has("mask")) options.mask = call.tensor("mask");
  return K::scaled_dot_product_attention(call.tensor("query"), call.tensor("key"), call.tensor("value"),
                                         options);
}

Tensor batch_normalization(const OperationCall& call) {
  return K::batch_normalization(call.tensor("x"), call.tensor("mean"), call.tensor("var"),
                                call.optional("beta"), call.optional("gamma"),
                                {.axis = call.axis(), .epsilon = call.number("epsilon")});
}

std::vector<Tensor> normalize_batch(const OperationCall& call) {
  const auto [normalized, mean, variance] =
      K::normalize_batch_in_training(call.tensor("x"), call.optional("gamma"), call.optional("beta"),
                                     call.axes("reduction_axes"), {.epsilon = call.number("epsilon")});
  return {normalized, mean, variance};
}

std::vector<Tensor> ctc_decode(const OperationCall& call) {
  auto [paths, log_prob] = K::ctc_decode(call.tensor("y_pred"), call.tensor("input_length"),
                                         {.greedy = call.flag("greedy"),
                                          .beam_width = call.axis("beam_width"),
                                          .top_paths = call.axis("top_paths")});
  paths.push_back(log_prob);
  return paths;
}

Tensor local_conv(const OperationCall& call) {
  const Shape window = call.shape("kernel_size"), strides = call.shape("strides"),
              output = call.shape("output_shape");
  const K::LocalConvOptions options{.data_format = call.text("data_format")};
  const Tensor inputs = call.tensor("inputs"), kernel = call.tensor("kernel");
  return window.rank() == 1 ? K::local_conv1d(inputs, kernel, window, strides, options)
                            : K::local_conv2d(inputs, kernel, window, strides, output, options);
}

}  // namespace

void add_backend_operations(std::vector<Operation>& all) {
  const std::vector<Operation> operations{
      {"full", "", "shape; value, dtype", filled, "full zeros ones"},
      {"eye", "", "size; dtype=null", eye},
      {"print_tensor", "", "x; message, summarize",
       [](const OperationCall& call) {
         return K::print_tensor(call.tensor("x"), call.text("message"),
                                {.summarize = call.axis("summarize")});
       }},
      {"scaled_dot_product_attention", "", "query, key, value, mask=null; scale, causal, heads_last",
       attention},
      {"batch_normalization", "", "x, mean, var, beta=null, gamma=null; axis, epsilon", batch_normalization},
      {"normalize_batch_in_training", "", "x, gamma=null, beta=null; reduction_axes, epsilon",
       normalize_batch},
      {"ctc_batch_cost", "", "y_true, y_pred, input_length, label_length;",
       [](const OperationCall& call) {
         return K::ctc_batch_cost(call.tensor("y_true"), call.tensor("y_pred"), call.tensor("input_length"),
                                  call.tensor("label_length"));
       },
       "", "y_true, y_pred, input_length, label_length, -"},
      {"ctc_decode", "", "y_pred, input_length; greedy, beam_width, top_paths", ctc_decode},
      {"local_conv", "", "inputs, kernel; kernel_size, strides, output_shape, data_format", local_conv,
       "local_conv1d local_conv2d"},
  };
  all.insert(all.end(), operations.begin(), operations.end());
}

}  // namespace ktape::nn
