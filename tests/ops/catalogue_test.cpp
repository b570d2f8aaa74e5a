// The gradients of every differentiable name of the backend API against central differences, of first and
// second order, for every subset of the inputs. names_test.cpp sees that none is missing.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "catalogue.hpp"

#include <limits>

namespace K = ktape::backend;
using ktape::None, ktape::Tensor;

using In = std::vector<Tensor>;
using Gradient = DifferentiableName;

namespace {

auto of(Tensor (*f)(const Tensor&)) {
  return [f](const In& in) { return f(in[0]); };
}
template <class F>
auto of2(F f) {
  return [f](const In& in) { return f(in[0], in[1]); };
}

Tensor awkward() {  // zero, ties of magnitude, near-saturation, large; away from kinks only where a
                    // derivative does not exist
  return K::constant({{0.5, -0.5, 1.5}, {-12., 30., 0.125}}, {.dtype = "float64"});
}
Tensor positive() { return K::constant({{0.5, 2., 1.5}, {0.25, 30., 1e-2}}, {.dtype = "float64"}); }
Tensor normal(const ktape::Shape& shape, int seed = 1) {
  return K::random_normal(shape, {.dtype = "float64", .seed = seed});
}
/// A call while floatx is float64.
template <class F>
Tensor with_double_floatx(F f) {
  K::set_floatx("float64");
  const Tensor y = f();
  K::set_floatx("float32");
  return y;
}
Tensor probabilities(const ktape::Shape& shape) { return K::softmax(normal(shape, 9)).detach(); }

}  // namespace

std::vector<DifferentiableName> differentiable_names() {
  const Tensor ids = K::constant({2, 0, 2}, {.dtype = "int32"}),
               labels = K::constant({1, 0, 3}, {.dtype = "int32"});
  // clang-format off
  return {
      {"abs", of(K::abs), {awkward()}},
      {"sqrt", of(K::sqrt), {positive()}},
      {"square", of(K::square), {awkward()}},
      {"exp", of(K::exp), {normal({2, 3})}},
      {"expm1", of(K::expm1), {normal({2, 3})}},
      {"log", of(K::log), {positive()}},
      {"log1p", of(K::log1p), {positive()}},
      {"sign", of(K::sign), {awkward()}},
      {"pow", [](const In& in) { return K::pow(in[0], 3); }, {awkward()}},
      {"pow", of2(K::pow), {positive(), normal({3})}},
      {"clip", [](const In& in) { return K::clip(in[0], -1, 1); }, {awkward()}},
      {"sin", of(K::sin), {awkward()}},
      {"cos", of(K::cos), {awkward()}},
      {"sigmoid", of(K::sigmoid), {awkward()}},
      {"hard_sigmoid", of(K::hard_sigmoid), {awkward()}},
      {"tanh", of(K::tanh), {awkward()}},
      {"relu", [](const In& in) { return K::relu(in[0], {.alpha = 0.1, .max_value = 6., .threshold = 0.2}); }, {awkward()}},
      {"elu", [](const In& in) { return K::elu(in[0], 0.7); }, {awkward()}},
      {"softplus", of(K::softplus), {awkward()}},
      {"softsign", of(K::softsign), {awkward()}},
      {"maximum", of2(K::maximum), {awkward(), normal({3})}},
      {"minimum", of2(K::minimum), {awkward(), normal({3})}},
      {"max", [](const In& in) { return K::max(in[0], 1); }, {awkward()}},
      {"min", [](const In& in) { return K::min(in[0], 1, true); }, {awkward()}},
      {"sum", [](const In& in) { return K::sum(in[0], {0, 2}); }, {normal({2, 3, 4})}},
      {"prod", [](const In& in) { return K::prod(in[0], 1); }, {K::constant({{0., 2., 3.}, {0., 0., 1.}}, {.dtype = "float64"})}},
      {"mean", [](const In& in) { return K::mean(in[0], -1); }, {normal({2, 3})}},
      {"var", [](const In& in) { return K::var(in[0], 0); }, {normal({3, 2}) + 100}},
      {"std", [](const In& in) { return K::std(in[0], 0); }, {normal({3, 2})}},
      {"logsumexp", [](const In& in) { return K::logsumexp(in[0], 1); }, {awkward()}},
      {"cumsum", [](const In& in) { return K::cumsum(in[0], 1); }, {normal({2, 3})}},
      {"cumprod", [](const In& in) { return K::cumprod(in[0], 1); }, {normal({2, 3})}},
      {"softmax", [](const In& in) { return K::softmax(in[0]); }, {normal({2, 3})}},
      {"l2_normalize", [](const In& in) { return K::l2_normalize(in[0], 1); }, {normal({2, 3})}},
      {"dot", [](const In& in) { return K::dot(in[0], in[1]); }, {normal({2, 3}), normal({4, 3, 2}, 2)}},
      {"batch_dot", [](const In& in) { return K::batch_dot(in[0], in[1], {2, 1}); }, {normal({2, 2, 3}), normal({2, 3, 2}, 2)}},
      {"transpose", of(K::transpose), {normal({2, 3})}},
      {"gather", [ids](const In& in) { return K::gather(in[0], ids); }, {normal({3, 2})}},
      {"reshape", [](const In& in) { return K::reshape(in[0], {3, -1}); }, {normal({2, 3})}},
      {"permute_dimensions", [](const In& in) { return K::permute_dimensions(in[0], {2, 0, 1}); }, {normal({2, 3, 2})}},
      {"concatenate", [](const In& in) { return K::concatenate({in[0], in[1]}, 1); }, {normal({2, 3}), normal({2, 1}, 2)}},
      {"stack", [](const In& in) { return K::stack({in[0], in[1]}, 1); }, {normal({2, 3}), normal({2, 3}, 2)}},
      {"repeat", [](const In& in) { return K::repeat(in[0], 2); }, {normal({2, 3})}},
      {"repeat_elements", [](const In& in) { return K::repeat_elements(in[0], 2, 1); }, {normal({2, 3})}},
      {"tile", [](const In& in) { return K::tile(in[0], {2, 3}); }, {normal({2, 2})}},
      {"flatten", of(K::flatten), {normal({2, 3})}},
      {"batch_flatten", of(K::batch_flatten), {normal({2, 3, 2})}},
      {"expand_dims", [](const In& in) { return K::expand_dims(in[0], 1); }, {normal({2, 3})}},
      {"squeeze", [](const In& in) { return K::squeeze(in[0], 1); }, {normal({2, 1, 3})}},
      {"reverse", [](const In& in) { return K::reverse(in[0], {0, 1}); }, {normal({2, 3})}},
      {"resize_images",
       [](const In& in) { return K::resize_images(in[0], 2, 3, "channels_last", {.interpolation = "bilinear"}); },
       {normal({1, 2, 2, 1})}},
      {"resize_volumes", [](const In& in) { return K::resize_volumes(in[0], 2, 1, 2, "channels_first"); }, {normal({1, 1, 2, 2, 1})}},
      {"temporal_padding", [](const In& in) { return K::temporal_padding(in[0]); }, {normal({1, 2, 2})}},
      {"spatial_2d_padding", [](const In& in) { return K::spatial_2d_padding(in[0]); }, {normal({1, 2, 2, 1})}},
      {"spatial_3d_padding", [](const In& in) { return K::spatial_3d_padding(in[0]); }, {normal({1, 1, 2, 1, 1})}},
      {"conv1d", [](const In& in) { return K::conv1d(in[0], in[1], {.padding = "causal"}); }, {normal({1, 4, 2}), normal({2, 2, 2}, 2)}},
      {"conv2d", [](const In& in) { return K::conv2d(in[0], in[1], {.strides = {2, 1}, .padding = "same"}); },
       {normal({1, 3, 3, 2}), normal({2, 2, 2, 2}, 2)}},
      {"conv3d", [](const In& in) { return K::conv3d(in[0], in[1]); }, {normal({1, 2, 3, 2, 1}), normal({2, 2, 1, 1, 2}, 2)}},
      {"conv2d_transpose", [](const In& in) { return K::conv2d_transpose(in[0], in[1], {None, 4, 4, 2}, {.strides = {2, 2}}); },
       {normal({1, 2, 2, 1}), normal({2, 2, 2, 1}, 2)}},
      {"conv3d_transpose", [](const In& in) { return K::conv3d_transpose(in[0], in[1], {1, 2, 3, 2, 1}); },
       {normal({1, 1, 2, 1, 2}), normal({2, 2, 2, 1, 2}, 2)}},
      {"depthwise_conv2d", [](const In& in) { return K::depthwise_conv2d(in[0], in[1]); },
       {normal({1, 3, 3, 2}), normal({2, 2, 2, 2}, 2)}},
      {"separable_conv1d", [](const In& in) { return K::separable_conv1d(in[0], in[1], in[2]); },
       {normal({1, 4, 2}), normal({2, 2, 1}, 2), normal({1, 2, 2}, 3)}},
      {"separable_conv2d", [](const In& in) { return K::separable_conv2d(in[0], in[1], in[2], {.data_format = "channels_first"}); },
       {normal({1, 2, 3, 3}), normal({2, 2, 2, 1}, 2), normal({1, 1, 2, 1}, 3)}},
      {"local_conv1d", [](const In& in) { return K::local_conv1d(in[0], in[1], {2}, {1}); }, {normal({2, 3, 2}), normal({2, 4, 2}, 2)}},
      {"local_conv2d", [](const In& in) { return K::local_conv2d(in[0], in[1], {2, 1}, {1, 2}, {2, 1}); },
       {normal({1, 3, 2, 2}), normal({2, 4, 2}, 2)}},
      {"bias_add", [](const In& in) { return K::bias_add(in[0], in[1]); }, {normal({2, 3}), normal({3}, 2)}},
      {"batch_normalization",
       [](const In& in) { return K::batch_normalization(in[0], in[1], K::square(in[2]), in[3], in[4]); },
       {normal({4, 2}), normal({2}, 2), normal({2}, 3), normal({2}, 4), normal({2}, 5)}},
      {"normalize_batch_in_training",
       [](const In& in) { return K::normalize_batch_in_training(in[0], in[1], in[2], {0}).normalized; },
       {normal({4, 2}), normal({2}, 2), normal({2}, 3)}},
      {"pool2d", [](const In& in) { return K::pool2d(in[0], {2, 2}, {.strides = {1, 2}, .padding = "same"}); }, {normal({1, 3, 3, 2})}},
      {"pool3d", [](const In& in) { return K::pool3d(in[0], {2, 2, 1}, {.pool_mode = "avg"}); }, {normal({1, 2, 3, 2, 1})}},
      {"categorical_crossentropy", of2([](const Tensor& t, const Tensor& o) { return K::categorical_crossentropy(t, o); }),
       {probabilities({2, 3}), K::sigmoid(normal({2, 3})).detach()}},
      {"sparse_categorical_crossentropy",
       [labels](const In& in) { return K::sparse_categorical_crossentropy(labels, in[0], {.from_logits = true}); },
       {normal({3, 4})}},
      {"binary_crossentropy",
       [](const In& in) { return K::binary_crossentropy(K::constant({{1., 0., 1.}, {0., 0., 1.}}, {.dtype = "float64"}), in[0]); },
       {probabilities({2, 3})}},
      {"identity", [](const In& in) { return K::identity(in[0], {.name = "y"}); }, {normal({2})}},
      {"cast_to_floatx", [](const In& in) { return with_double_floatx([&] { return K::cast_to_floatx(in[0] * 2); }); }, {normal({2})}},
      {"cast", [](const In& in) { return K::cast(in[0] * 2, "float64"); }, {normal({2})}},
      {"dropout", [](const In& in) { return K::dropout(in[0], 0.4, {.seed = 3}); }, {normal({2, 3})}},
      {"switch", [](const In& in) { return K::switch_(in[0] > 0, in[0] * in[1], in[1]); }, {normal({2, 3}), normal({2, 3}, 2)}},
      {"in_train_phase", [](const In& in) { return K::in_train_phase(K::square(in[0]), in[0], true); }, {normal({2})}},
      {"in_test_phase", [](const In& in) { return K::in_test_phase(K::square(in[0]), in[0], false); }, {normal({2})}},
      {"map_fn", [](const In& in) { return K::map_fn([](const Tensor& e) { return e * e; }, in[0]); }, {normal({3})}},
      {"foldl", [](const In& in) { return K::foldl([](const Tensor& a, const Tensor& e) { return a * e; }, in[0]); }, {normal({3})}},
      {"foldr", [](const In& in) { return K::foldr([](const Tensor& a, const Tensor& e) { return a - e * e; }, in[0]); }, {normal({3})}},
      {"rnn",
       [](const In& in) {
         const auto step = [&](const Tensor& x, const In& s) { return std::pair{K::tanh(K::dot(x, in[2]) + s[0]), In{s[0] * x}}; };
         return K::rnn(step, in[0], {in[1]}, {.mask = K::constant({{1, 0, 1}, {1, 1, 0}})}).outputs;
       },
       {normal({2, 3, 2}), normal({2, 2}, 2), normal({2, 2}, 3)}},
      {"ctc_batch_cost",
       [](const In& in) {
         return K::ctc_batch_cost(K::constant({{0, 0}, {1, 9}}), in[0], K::constant({{4}, {3}}), K::constant({{2}, {1}}));
       },
       {probabilities({2, 4, 3})}},
      {"to_dense",
       [](const In& in) { return K::square(K::to_dense(ktape::SparseTensor({{0, 1}, {2, 0}}, in[0], {3, 2}))); },
       {normal({2})}},
      {"dot",
       [](const In& in) { return K::dot(ktape::SparseTensor({{0, 1}, {2, 0}}, in[0], {3, 2}), in[1]); },
       {normal({2}), normal({2, 3}, 2)}},
      {"concatenate_mixed",
       [](const In& in) { return K::concatenate_mixed({ktape::SparseTensor({{0, 1}, {2, 0}}, in[0], {3, 2}), in[1]}, 1); },
       {normal({2}), normal({3, 1}, 2)}},
      {"where", [](const In& in) { return K::where(in[0] > 0, in[0], in[1]); }, {normal({2, 3}), normal({3}, 2)}},
      {"matmul", [](const In& in) { return K::matmul(in[0], in[1], {.transpose_b = true}); }, {normal({2, 2, 3}), normal({4, 3}, 2)}},
      {"einsum", [](const In& in) { return K::einsum("bij,bkj->bik", {in[0], in[1]}); }, {normal({2, 2, 3}), normal({2, 2, 3}, 2)}},
      {"erf", of(K::erf), {normal({2, 3})}},
      {"gelu", [](const In& in) { return K::gelu(in[0]); }, {normal({2, 3})}},
      {"log_softmax", [](const In& in) { return K::log_softmax(in[0]); }, {normal({2, 3})}},
      {"layer_normalization", [](const In& in) { return K::layer_normalization(in[0], in[1], in[2]); },
       {normal({2, 3}), normal({3}, 2), normal({3}, 3)}},
      {"lstm", [](const In& in) { return K::lstm(in[0], in[1], in[2], in[3]).outputs; },
       {normal({2, 2, 1}), normal({1, 8}, 2), normal({2, 8}, 3), normal({8}, 4)}},
      {"gru", [](const In& in) { return K::gru(in[0], in[1], in[2], in[3]).outputs; },
       {normal({2, 2, 1}), normal({1, 6}, 2), normal({2, 6}, 3), normal({2, 6}, 4)}},
      {"simple_rnn", [](const In& in) { return K::simple_rnn(in[0], in[1], in[2], in[3]).outputs; },
       {normal({2, 2, 1}), normal({1, 2}, 2), normal({2, 2}, 3), normal({2}, 4)}},
      {"scaled_dot_product_attention", [](const In& in) { return K::scaled_dot_product_attention(in[0], in[1], in[2]); },
       {normal({1, 1, 2, 2}), normal({1, 1, 3, 2}, 2), normal({1, 1, 3, 1}, 3)}},
      {"split", [](const In& in) { return K::split(in[0], 2, 1)[1]; }, {normal({2, 4})}},
      {"unstack", [](const In& in) { return K::unstack(in[0], 0)[1]; }, {normal({2, 4})}},
      {"pad", [](const In& in) { return K::pad(in[0], {{1, 0}, {0, 2}}); }, {normal({2, 2})}},
      {"index", [](const In& in) { return K::index(in[0], {1, ktape::Slice(0, None, 2)}); }, {normal({2, 4})}},
      {"broadcast_to", [](const In& in) { return K::broadcast_to(in[0], {2, 3, 2}); }, {normal({3, 1})}},
      {"sum_to", [](const In& in) { return K::sum_to(in[0], {3, 1}); }, {normal({2, 3, 2})}},
      {"slice", [](const In& in) { return K::slice(in[0], {0, 1}, {-1, 2}); }, {normal({2, 4})}},
      {"gather_nd", [](const In& in) { return K::gather_nd(in[0], K::constant({{0, 1}, {1, 1}}, {.dtype = "int32"})); },
       {normal({2, 2})}},
      {"scatter_nd", [](const In& in) { return K::scatter_nd(K::constant({{1}, {1}}, {.dtype = "int32"}), in[0], {3}); }, {normal({2})}},
      {"sort", [](const In& in) { return K::sort(in[0]); }, {normal({2, 3})}},
      {"top_k", [](const In& in) { return K::top_k(in[0], 2).values; }, {normal({2, 3})}},
      {"norm", [](const In& in) { return K::norm(in[0], 1); }, {normal({2, 3})}},
  };
  // clang-format on
}

namespace {

Tensor doubles(const ktape::ArrayLike& value) { return K::constant(value, {.dtype = "float64"}); }
constexpr double inf = std::numeric_limits<double>::infinity();

/// Where exponentials overflow, underflow and are 1 almost exactly.
Tensor saturating() { return doubles({{-700., -40., -1e-3}, {0., 40., 700.}}); }
/// Rows of scores: far apart, tied, impossible.
Tensor scores() { return doubles({{-1000., 0., 1000.}, {3., 3., 3.}, {-inf, 2., 2.}, {-inf, -inf, 5.}}); }
Tensor near_zero() { return doubles({{1e-3, 2e-3, 1e-2}, {5e-3, 3e-3, 4e-3}}); }
/// None, one, several and only zeros in a row.
Tensor zeros_among() { return doubles({{2., -3., .5}, {0., 2., 3.}, {0., 4., 0.}, {0., 0., 0.}}); }
/// Two that tie for the largest and two for the smallest in a row; infinities.
Tensor tied() { return doubles({{2., 2., -1., -1.}, {7., -3., 7., -3.}, {-inf, 1., inf, 0.}}); }
/// Samples that do not vary, or hardly.
Tensor constant_rows() { return doubles({{5., 5., 5.}, {-2., -2., -2.}, {1., 1.001, 1.002}}); }
/// Probabilities next to 0 and 1, and at them.
Tensor nearly_certain() { return doubles({{1e-3, 1 - 2e-3, 1e-3}, {2e-3, 2e-3, 1 - 4e-3}}); }
Tensor certain() { return doubles({{0., 1., 0.}, {1., 0., 0.}}); }

std::vector<Gradient> awkward_gradients() {
  const Tensor labels = K::constant({1, 2}, {.dtype = "int32"});
  const auto sparse = [labels](bool from_logits) {
    return [=](const In& in) {
      return K::sparse_categorical_crossentropy(labels, in[0], {.from_logits = from_logits});
    };
  };
  const auto categorical =
      of2([](const Tensor& t, const Tensor& o) { return K::categorical_crossentropy(t, o); });
  const auto binary = [](const In& in) { return K::binary_crossentropy(certain(), in[0]); };
  // clang-format off
  return {
      {"exp", of(K::exp), {saturating() - 700.}},
      {"sigmoid", of(K::sigmoid), {saturating()}},
      {"tanh", of(K::tanh), {saturating()}},
      {"softplus", of(K::softplus), {saturating()}},
      {"softsign", of(K::softsign), {saturating() + 1.}},
      {"elu", [](const In& in) { return K::elu(in[0], 1.5); }, {saturating() + 1.}},
      {"erf", of(K::erf), {saturating()}},
      {"gelu", [](const In& in) { return K::gelu(in[0]); }, {saturating()}},
      {"gelu", [](const In& in) { return K::gelu(in[0], {.approximate = true}); }, {saturating()}},
      {"sqrt", of(K::sqrt), {near_zero()}},
      {"log", of(K::log), {near_zero()}},
      {"operator /", of2([](const Tensor& x, const Tensor& y) { return x / y; }), {doubles({{0., 1., -1e-3}, {2., -3., 0.}}), near_zero()}},
      {"pow", of2(K::pow), {doubles({0., 1e-3, 0., 2.}), doubles({3., 2., 2., 0.})}},
      {"pow", [](const In& in) { return K::pow(in[0], -2); }, {near_zero()}},
      {"where", [](const In& in) { return K::where(in[0] < 1.5, in[0], K::log(in[1])); }, {tied(), doubles({2., 1., 1e-3, 3.})}},
      {"prod", [](const In& in) { return K::prod(in[0], 1); }, {zeros_among()}},
      {"prod", [](const In& in) { return K::prod(in[0], 0); }, {zeros_among()}},
      {"cumprod", [](const In& in) { return K::cumprod(in[0], 1); }, {zeros_among()}},
      {"max", [](const In& in) { return K::max(in[0], 1); }, {tied()}, 1e-6, false},
      {"min", [](const In& in) { return K::min(in[0], 1); }, {tied()}, 1e-6, false},
      {"logsumexp", [](const In& in) { return K::logsumexp(in[0], 1); }, {scores()}},
      {"logsumexp", [](const In& in) { return K::logsumexp(in[0]); }, {scores()}},
      {"softmax", [](const In& in) { return K::softmax(in[0]); }, {scores()}},
      {"softmax", [](const In& in) { return K::softmax(in[0], 0); }, {saturating()}},
      {"log_softmax", [](const In& in) { return K::log_softmax(in[0]); }, {saturating()}},
      {"var", [](const In& in) { return K::var(in[0], 1); }, {constant_rows()}},
      {"std", [](const In& in) { return K::std(in[0], 1); }, {constant_rows()[{2}].detach().alias({1, 3})}},
      {"norm", [](const In& in) { return K::norm(in[0], 1); }, {near_zero()}},
      {"l2_normalize", [](const In& in) { return K::l2_normalize(in[0], 1); }, {near_zero()}},
      {"l2_normalize", [](const In& in) { return K::l2_normalize(in[0]); }, {doubles({0., 1e-8, -1e-7})}, 1e-9},
      {"layer_normalization", [](const In& in) { return K::layer_normalization(in[0], in[1], in[2]); },
       {constant_rows(), normal({3}, 2), normal({3}, 3)}},
      {"normalize_batch_in_training",
       [](const In& in) { return K::normalize_batch_in_training(in[0], in[1], in[2], {1}).normalized; },
       {constant_rows(), normal({3}, 2), normal({3}, 3)}},
      {"batch_normalization",
       [](const In& in) { return K::batch_normalization(in[0], in[1], K::square(in[2]), in[3], in[4]); },
       {constant_rows(), doubles({5., 0., -5.}), doubles({0., 1e-3, 1e3}), normal({3}, 4), normal({3}, 5)}},
      {"categorical_crossentropy", categorical, {probabilities({2, 3}), nearly_certain()}},
      {"categorical_crossentropy", categorical, {certain(), certain()}, 1e-9, false},
      {"categorical_crossentropy",
       of2([](const Tensor& t, const Tensor& o) { return K::categorical_crossentropy(t, o, {.from_logits = true}); }),
       {probabilities({2, 3}), saturating()}},
      {"categorical_crossentropy", of2([](const Tensor& t, const Tensor& o) { return K::categorical_crossentropy(t, K::softmax(o)); }),
       {probabilities({2, 3}), saturating()}},
      {"sparse_categorical_crossentropy", sparse(false), {nearly_certain()}},
      {"sparse_categorical_crossentropy", sparse(false), {certain()}, 1e-9, false},
      {"sparse_categorical_crossentropy", sparse(true), {saturating()}},
      {"binary_crossentropy", binary, {nearly_certain()}},
      {"binary_crossentropy", binary, {certain()}, 1e-9, false},
      {"binary_crossentropy", of2([](const Tensor& t, const Tensor& o) { return K::binary_crossentropy(t, K::sigmoid(o)); }),
       {probabilities({2, 3}), saturating()}},
  };
  // clang-format on
}

void check(const std::vector<Gradient>& rows) {
  for (const Gradient& g : rows) {
    CAPTURE(g.name);
    const auto report = ktape::gradcheck(
        g.f, g.inputs,
        {.epsilon = g.step, .rtol = 1e-4, .atol = 1e-5, .second_order = g.second_order, .op = g.name});
    CHECK_MESSAGE(report.ok, report.message);
  }
}
}  // namespace

TEST_CASE("every differentiable name agrees with central differences, of first and second order") {
  check(differentiable_names());
}

TEST_CASE("so do those with kinks, ties, saturation and infinities, there") { check(awkward_gradients()); }
