// Samples that a program does not take change no gradient of other samples or of weights, of the first or second order,
// whatever numbers they hold. Ops are those that compute each sample alone, or each step from itself and earlier steps.
#include <ktape/ktape.hpp>

#include "../close.hpp"
#include "untaken.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using namespace untaken;
using ktape::All, ktape::None, ktape::Shape, ktape::Slice;

namespace untaken_samples {

constexpr DType::Kind all_dtypes[] = {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16};

/// A function of x, whose first axis are samples, and of weights.
struct Row {
  std::string name;
  std::function<Tensor(const Tensors&)> f;
  Shape sample;
  std::vector<Shape> weights = {};
};

std::vector<Row> convolutions() {
  return {
      {"conv1d", [](const Tensors& in) { return K::conv1d(in[0], in[1]); }, {5, 2}, {{2, 2, 3}}},
      {"conv1d, dilated",
       [](const Tensors& in) { return K::conv1d(in[0], in[1], {.dilation_rate = 2}); },
       {5, 2},
       {{2, 2, 3}}},
      {"conv2d", [](const Tensors& in) { return K::conv2d(in[0], in[1]); }, {4, 4, 2}, {{2, 2, 2, 3}}},
      {"conv2d, same, strides",
       [](const Tensors& in) {
         return K::conv2d(in[0], in[1], {.strides = {2, 1}, .padding = "same"});
       },
       {4, 3, 2},
       {{3, 2, 2, 3}}},
      {"conv2d, channels first",
       [](const Tensors& in) { return K::conv2d(in[0], in[1], {.data_format = "channels_first"}); },
       {2, 4, 4},
       {{2, 2, 2, 3}}},
      {"conv2d of one pixel",
       [](const Tensors& in) { return K::conv2d(in[0], in[1]); },
       {2, 2, 9},
       {{1, 1, 9, 10}}},
      {"conv3d", [](const Tensors& in) { return K::conv3d(in[0], in[1]); }, {2, 3, 3, 2}, {{2, 2, 1, 2, 2}}},
      {"conv2d_transpose",
       [](const Tensors& in) {
         return K::conv2d_transpose(in[0], in[1], {None, 5, 5, 3}, {.strides = {2, 2}});
       },
       {2, 2, 2},
       {{3, 3, 3, 2}}},
      {"conv3d_transpose",
       [](const Tensors& in) {
         return K::conv3d_transpose(in[0], in[1], {None, 2, 3, 2, 2});
       },
       {1, 2, 1, 2},
       {{2, 2, 2, 2, 2}}},
      {"depthwise_conv2d",
       [](const Tensors& in) { return K::depthwise_conv2d(in[0], in[1]); },
       {3, 3, 3},
       {{2, 2, 3, 1}}},
      {"depthwise_conv2d, multiplier",
       [](const Tensors& in) { return K::depthwise_conv2d(in[0], in[1]); },
       {3, 3, 2},
       {{2, 2, 2, 3}}},
      {"separable_conv1d",
       [](const Tensors& in) { return K::separable_conv1d(in[0], in[1], in[2]); },
       {5, 2},
       {{2, 2, 2}, {1, 4, 3}}},
      {"separable_conv2d",
       [](const Tensors& in) { return K::separable_conv2d(in[0], in[1], in[2]); },
       {3, 4, 2},
       {{2, 2, 2, 1}, {1, 1, 2, 3}}},
      {"local_conv1d",
       [](const Tensors& in) { return K::local_conv1d(in[0], in[1], {2}, {1}); },
       {3, 2},
       {{2, 4, 2}}},
      {"local_conv2d",
       [](const Tensors& in) {
         return K::local_conv2d(in[0], in[1], {2, 1}, {1, 2}, {2, 1});
       },
       {3, 2, 2},
       {{2, 4, 2}}},
      {"ops::conv, groups",
       [](const Tensors& in) { return ops::conv(in[0], in[1]); },
       {3, 3, 4},
       {{2, 2, 2, 6}}},
      {"ops::conv_transpose",
       [](const Tensors& in) { return ops::conv_transpose(in[0], in[1], {.strides = 2}); },
       {3, 2},
       {{3, 4, 2}}},
  };
}

std::vector<Row> recurrences() {
  const auto list = [](const K::RnnResult<Tensor>& r) { return r.outputs; };
  // The initial states are steps of x, so that they are not taken either.
  const auto first = [](const Tensor& x) { return x[{All, 0}]; };
  std::vector<Row> rows{
      {"lstm",
       [=](const Tensors& in) { return list(K::lstm(in[0], in[1], in[2], in[3])); },
       {4, 3},
       {{3, 12}, {3, 12}, {12}}},
      {"lstm, hard",
       [=](const Tensors& in) {
         return list(K::lstm(in[0], in[1], in[2], {}, {}, {.recurrent_activation = "hard_sigmoid"}));
       },
       {4, 3},
       {{3, 12}, {3, 12}}},
      {"lstm, 17 units",
       [=](const Tensors& in) { return list(K::lstm(in[0], in[1], in[2], in[3])); },
       {2, 3},
       {{3, 68}, {17, 68}, {68}}},
      {"gru",
       [=](const Tensors& in) { return list(K::gru(in[0], in[1], in[2], in[3])); },
       {4, 3},
       {{3, 9}, {3, 9}, {2, 9}}},
      {"gru, reset before",
       [=](const Tensors& in) {
         return list(K::gru(in[0], in[1], in[2], in[3], {}, {.reset_after = false}));
       },
       {4, 3},
       {{3, 9}, {3, 9}, {9}}},
      {"simple_rnn",
       [=](const Tensors& in) { return list(K::simple_rnn(in[0], in[1], in[2], in[3])); },
       {4, 3},
       {{3, 3}, {3, 3}, {3}}},
      {"simple_rnn, relu",
       [=](const Tensors& in) {
         return list(K::simple_rnn(in[0], in[1], in[2], in[3], {}, {.activation = "relu"}));
       },
       {4, 3},
       {{3, 3}, {3, 3}, {3}}},
      {"rnn",
       [=](const Tensors& in) {
         const auto step = [&](const Tensor& x, const Tensors& states) {
           const Tensor h = K::tanh(K::dot(x, in[1]) + K::dot(states[0], in[2]));
           return std::pair{h, Tensors{h}};
         };
         return K::rnn(step, in[0], {first(in[0])}).outputs;
       },
       {4, 3},
       {{3, 3}, {3, 3}}},
  };
  return rows;
}

std::vector<Row> ends_of_recurrences() {
  const auto first = [](const Tensor& x) { return x[{All, 0}]; };
  return {
      {"last output of lstm",
       [](const Tensors& in) { return K::lstm(in[0], in[1], in[2], {}).last_output; },
       {3, 3},
       {{3, 12}, {3, 12}}},
      {"states of lstm",
       [=](const Tensors& in) {
         const auto result = K::lstm(in[0], in[1], in[2], in[3], {first(in[0]), in[0][{All, 1}]});
         return K::concatenate({result.new_states[0], result.new_states[1]}, 1);
       },
       {3, 3},
       {{3, 12}, {3, 12}, {12}}},
      {"gru, time first, backwards",
       [=](const Tensors& in) {
         const Tensor x = K::permute_dimensions(in[0], {1, 0, 2});
         return K::permute_dimensions(
             K::gru(x, in[1], in[2], {}, {first(in[0])}, {.go_backwards = true, .time_major = true}).outputs,
             {1, 0, 2});
       },
       {3, 3},
       {{3, 9}, {3, 9}}},
  };
}

std::vector<Row> other_rows() {
  const auto heads = [](const Tensor& x) {
    return K::reshape(x, {x.shape()[0], x.shape()[1], 1, x.shape()[2]});
  };
  return {
      {"dot", [](const Tensors& in) { return K::dot(in[0], in[1]); }, {3}, {{3, 4}}},
      {"matmul", [](const Tensors& in) { return K::matmul(in[0], in[1]); }, {4, 3}, {{3, 2}}},
      {"batch_dot", [](const Tensors& in) { return K::batch_dot(in[0], in[0] * 2.); }, {3, 3}},
      {"einsum",
       [](const Tensors& in) {
         return ops::einsum("bij,jk->bik", {in[0], in[1]});
       },
       {2, 3},
       {{3, 2}}},
      {"attention",
       [=](const Tensors& in) {
         const Tensor x = heads(in[0]);
         return K::squeeze(K::scaled_dot_product_attention(x, x * 2., x * x, {.heads_last = true}), 2);
       },
       {4, 3}},
      {"attention, keys of weights",
       [=](const Tensors& in) {
         const Tensor key = K::repeat_elements(K::expand_dims(in[1], 0), in[0].shape()[0], 0);
         return K::squeeze(K::scaled_dot_product_attention(heads(in[0]), heads(key), heads(key * key),
                                                           {.heads_last = true}),
                           2);
       },
       {4, 3},
       {{5, 3}}},
      {"attention with a bias",
       [=](const Tensors& in) {
         const Tensor x = heads(in[0]);
         return K::squeeze(ops::dot_product_attention(x, x * 2., x * x, {.bias = in[1]}), 2);
       },
       {4, 3},
       {{1, 1, 4, 4}}},
      {"batch_normalization",
       [](const Tensors& in) {
         return K::batch_normalization(in[0], in[1], K::square(in[2]) + 1., in[3], in[4]);
       },
       {3},
       {{3}, {3}, {3}, {3}}},
      {"batch_normalization of images",
       [](const Tensors& in) {
         return K::batch_normalization(in[0], in[1], K::square(in[2]) + 1., in[3], in[4], {.axis = 1});
       },
       {3, 2, 2},
       {{3}, {3}, {3}, {3}}},
      {"layer_normalization",
       [](const Tensors& in) { return K::layer_normalization(in[0], in[1], in[2]); },
       {2, 3},
       {{3}, {3}}},
      {"layer_normalization of steps",
       [](const Tensors& in) { return K::layer_normalization(in[0], in[1], in[2], {.axis = 1}); },
       {3, 2},
       {{3}, {3}}},
      {"svd",
       [](const Tensors& in) {
         const ops::SVD d = ops::svd(in[0], false);
         return ops::matmul(d.u * in[1], d.vh) + K::expand_dims(d.s, 1);
       },
       {3, 2},
       {{3, 2}}},
      {"eigh",
       [](const Tensors& in) { return ops::eigh(in[0] + ops::swapaxes(in[0], 1, 2)).v * in[1]; },
       {3, 3},
       {{3, 3}}},
      {"qr",
       [](const Tensors& in) { return ops::matmul(ops::qr(in[0]).q * in[1], ops::qr(in[0]).r); },
       {3, 2},
       {{3, 2}}},
      {"qr of wide matrices",
       [](const Tensors& in) { return ops::matmul(ops::qr(in[0]).q * in[1], ops::qr(in[0]).r); },
       {2, 3},
       {{2, 2}}},
  };
}

/// The gradients of the chosen results, and those of their sum, weighed.
Tensors found(const Row& row, const Tensors& in, const Tensor& taken) {
  GradientTape tape;
  tape.watch(in);
  const Tensor y = row.f(in);
  Tensor chosen = taken;
  while (chosen.ndim() < y.ndim()) chosen = K::expand_dims(chosen);
  Tensors first =
      tape.gradient(K::sum(K::where(chosen, K::square(y), 0.)), in, {.unconnected_gradients = "zero"});
  Tensor sum = K::sum(first[0] * 0.5);
  for (std::size_t i = 1; i < first.size(); ++i)
    sum = sum + K::sum(first[i] * (0.5 + static_cast<double>(i)));
  for (const Tensor& g : tape.gradient(sum, in, {.unconnected_gradients = "zero"})) first.push_back(g);
  return first;
}

/// Compares the gradients where x holds bad numbers with those where it holds ordinary ones.
void check(const Row& row, DType dtype, const Tensor& x,
           const std::function<Tensor(const Tensor&, double)>& spoiled, const Tensor& taken) {
  Tensors in{K::cast(x, dtype)};
  int seed = 2;
  for (const Shape& shape : row.weights) in.push_back(K::cast(normal(shape, seed++), dtype));
  const Tensors want = found(row, in, taken);
  const bool half = dtype.is_half();
  const double largest = dtype == DType::Float64   ? 1.7976931348623157e308
                         : dtype == DType::Float16 ? 65504
                                                   : 3.3895313892515355e38;
  for (const double bad : std::vector<double>{0, not_a_number, inf, -inf, largest}) {
    Tensors other = in;
    other[0] = spoiled(in[0], bad);
    Tensors got;
    try {
      got = found(row, other, taken);
    } catch (const ktape::LinAlgError&) {
      continue;  // a matrix without factors
    }
    const double rtol = dtype == DType::Float64 ? 1e-9 : half ? 0.1 : 2e-4;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const Closeness same = close(got[i], want[i], {.rtol = rtol, .atol = rtol});
      CHECK_MESSAGE(same, row.name, ", ", dtype, ", ", bad, ", gradient ", i, ": ", same.wrong);
    }
  }
}

/// Three samples, of which the second is not taken: it is bad as a whole, and in its first number.
void check_samples(const Row& row, DType dtype) {
  Shape shape = row.sample;
  shape.insert(0, 3);
  const Tensor x = normal(shape, 1), taken = K::constant({true, false, true});
  Tensor place = K::reshape(K::arange(x.size()), shape);
  const std::int64_t size = row.sample.count();
  for (const std::int64_t last : {size, std::int64_t{1}}) {
    const Tensor bad = (place >= size) & (place < size + last);
    check(
        row, dtype, x, [&](const Tensor& good, double number) { return K::where(bad, number, good); }, taken);
  }
}

/// Sequences whose last steps are not taken.
void check_steps(const Row& row, DType dtype) {
  Shape shape = row.sample;
  shape.insert(0, 2);
  const std::int64_t steps = row.sample[0];
  const Tensor taken = K::expand_dims(K::arange(steps) < steps - 1, 0);
  check(
      row, dtype, normal(shape, 1),
      [&](const Tensor& good, double number) { return K::where(K::expand_dims(taken), good, number); },
      taken);
}

}  // namespace untaken_samples

using namespace untaken_samples;

TEST_CASE("samples that are not taken do not reach the gradients of convolutions") {
  for (const DType dtype : all_dtypes)
    for (const auto& row : convolutions()) check_samples(row, dtype);
}
TEST_CASE("samples that are not taken do not reach the gradients of recurrent networks") {
  for (const DType dtype : all_dtypes) {
    for (const auto& row : recurrences()) check_samples(row, dtype);
    for (const auto& row : ends_of_recurrences()) check_samples(row, dtype);
  }
}
TEST_CASE(
    "samples that are not taken do not reach the gradients of products, attention, normalizations, "
    "factorizations") {
  for (const DType dtype : all_dtypes)
    for (const auto& row : other_rows()) check_samples(row, dtype);
}
TEST_CASE("steps that are not taken do not reach the gradients of the steps before") {
  std::vector<untaken_samples::Row> rows = recurrences();
  rows.push_back({"conv1d, causal",
                  [](const Tensors& in) { return K::conv1d(in[0], in[1], {.padding = "causal"}); },
                  {5, 2},
                  {{2, 2, 3}}});
  rows.push_back({"attention, causal",
                  [](const Tensors& in) {
                    const Tensor x = K::expand_dims(in[0], 1);
                    return K::squeeze(K::scaled_dot_product_attention(x, x * 2., x * x, {.causal = true}), 1);
                  },
                  {4, 3}});
  for (const DType dtype : all_dtypes)
    for (const auto& row : rows) check_steps(row, dtype);
}
