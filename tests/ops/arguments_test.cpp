// What every op says of a tensor that is undefined: its own name, and that of the argument.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <functional>
#include <sstream>

namespace K = ktape::backend;
using ktape::Tensor, ktape::TensorList, ktape::ValueError, ktape::Variable;

namespace {

using In = const std::vector<Tensor>&;

struct Row {
  const char* op;
  const char* names;  ///< of the tensors that it takes
  std::function<void(In)> call;
};

std::vector<std::string> split(const std::string& names) {
  std::vector<std::string> out;
  std::istringstream in(names);
  for (std::string name; std::getline(in >> std::ws, name, ',');) out.push_back(name);
  return out;
}

std::vector<Row> rows() {
  const Variable w = K::ones({1});
  const auto step = [](const Tensor& x, In states) { return std::pair{x, states}; };
  // clang-format off
  return {
      {"abs", "x", [](In x) { K::abs(x[0]); }},
      {"sqrt", "x", [](In x) { K::sqrt(x[0]); }},
      {"square", "x", [](In x) { K::square(x[0]); }},
      {"exp", "x", [](In x) { K::exp(x[0]); }},
      {"expm1", "x", [](In x) { K::expm1(x[0]); }},
      {"log", "x", [](In x) { K::log(x[0]); }},
      {"log1p", "x", [](In x) { K::log1p(x[0]); }},
      {"round", "x", [](In x) { K::round(x[0]); }},
      {"sign", "x", [](In x) { K::sign(x[0]); }},
      {"sin", "x", [](In x) { K::sin(x[0]); }},
      {"cos", "x", [](In x) { K::cos(x[0]); }},
      {"tanh", "x", [](In x) { K::tanh(x[0]); }},
      {"erf", "x", [](In x) { K::erf(x[0]); }},
      {"is_nan", "x", [](In x) { K::is_nan(x[0]); }},
      {"is_finite", "x", [](In x) { K::is_finite(x[0]); }},
      {"log_softmax", "x", [](In x) { K::log_softmax(x[0]); }},
      {"sigmoid", "x", [](In x) { K::sigmoid(x[0]); }},
      {"hard_sigmoid", "x", [](In x) { K::hard_sigmoid(x[0]); }},
      {"softplus", "x", [](In x) { K::softplus(x[0]); }},
      {"softsign", "x", [](In x) { K::softsign(x[0]); }},
      {"softmax", "x", [](In x) { K::softmax(x[0]); }},
      {"relu", "x", [](In x) { K::relu(x[0]); }},
      {"elu", "x", [](In x) { K::elu(x[0]); }},
      {"gelu", "x", [](In x) { K::gelu(x[0]); }},
      {"l2_normalize", "x", [](In x) { K::l2_normalize(x[0]); }},
      {"max", "x", [](In x) { K::max(x[0]); }},
      {"min", "x", [](In x) { K::min(x[0]); }},
      {"sum", "x", [](In x) { K::sum(x[0]); }},
      {"prod", "x", [](In x) { K::prod(x[0]); }},
      {"mean", "x", [](In x) { K::mean(x[0]); }},
      {"var", "x", [](In x) { K::var(x[0]); }},
      {"std", "x", [](In x) { K::std(x[0]); }},
      {"norm", "x", [](In x) { K::norm(x[0]); }},
      {"logsumexp", "x", [](In x) { K::logsumexp(x[0]); }},
      {"any", "x", [](In x) { K::any(x[0]); }},
      {"all", "x", [](In x) { K::all(x[0]); }},
      {"argmax", "x", [](In x) { K::argmax(x[0]); }},
      {"argmin", "x", [](In x) { K::argmin(x[0]); }},
      {"cumsum", "x", [](In x) { K::cumsum(x[0]); }},
      {"cumprod", "x", [](In x) { K::cumprod(x[0]); }},
      {"transpose", "x", [](In x) { K::transpose(x[0]); }},
      {"flatten", "x", [](In x) { K::flatten(x[0]); }},
      {"batch_flatten", "x", [](In x) { K::batch_flatten(x[0]); }},
      {"expand_dims", "x", [](In x) { K::expand_dims(x[0]); }},
      {"zeros_like", "x", [](In x) { K::zeros_like(x[0]); }},
      {"ones_like", "x", [](In x) { K::ones_like(x[0]); }},
      {"identity", "x", [](In x) { K::identity(x[0]); }},
      {"shape", "x", [](In x) { K::shape(x[0]); }},
      {"size", "x", [](In x) { K::size(x[0]); }},
      {"print_tensor", "x", [](In x) { K::print_tensor(x[0]); }},
      {"temporal_padding", "x", [](In x) { K::temporal_padding(x[0]); }},
      {"spatial_2d_padding", "x", [](In x) { K::spatial_2d_padding(x[0]); }},
      {"spatial_3d_padding", "x", [](In x) { K::spatial_3d_padding(x[0]); }},
      {"unstack", "x", [](In x) { K::unstack(x[0]); }},
      {"int_shape", "x", [](In x) { K::int_shape(x[0]); }},
      {"ndim", "x", [](In x) { K::ndim(x[0]); }},
      {"dtype", "x", [](In x) { K::dtype(x[0]); }},
      {"count_params", "x", [](In x) { K::count_params(x[0]); }},
      {"get_value", "x", [](In x) { K::get_value(x[0]); }},
      {"eval", "x", [](In x) { K::eval(x[0]); }},
      {"cast_to_floatx", "x", [](In x) { K::cast_to_floatx(x[0]); }},
      {"constant", "value", [](In x) { K::constant(x[0]); }},
      {"variable", "value", [](In x) { K::variable(x[0]); }},
      {"top_k", "x", [](In x) { K::top_k(x[0]); }},
      {"sort", "values", [](In x) { K::sort(x[0]); }},
      {"argsort", "values", [](In x) { K::argsort(x[0]); }},
      {"stop_gradient", "variables", [](In x) { K::stop_gradient(x[0]); }},
      {"stop_gradient", "variables[0], variables[1]", [](In x) { K::stop_gradient({x[0], x[1]}); }},
      {"clip", "x", [](In x) { K::clip(x[0], 0, 1); }},
      {"maximum", "x, y", [](In x) { K::maximum(x[0], x[1]); }},
      {"minimum", "x, y", [](In x) { K::minimum(x[0], x[1]); }},
      {"equal", "x, y", [](In x) { K::equal(x[0], x[1]); }},
      {"not_equal", "x, y", [](In x) { K::not_equal(x[0], x[1]); }},
      {"greater", "x, y", [](In x) { K::greater(x[0], x[1]); }},
      {"greater_equal", "x, y", [](In x) { K::greater_equal(x[0], x[1]); }},
      {"less", "x, y", [](In x) { K::less(x[0], x[1]); }},
      {"less_equal", "x, y", [](In x) { K::less_equal(x[0], x[1]); }},
      {"dot", "x, y", [](In x) { K::dot(x[0], x[1]); }},
      {"batch_dot", "x, y", [](In x) { K::batch_dot(x[0], x[1]); }},
      {"maximum", "x", [](In x) { K::maximum(x[0], 1); }},
      {"less", "y", [](In x) { K::less(1, x[0]); }},
      {"pow", "x, a", [](In x) { K::pow(x[0], x[1]); }},
      {"pow", "x", [](In x) { K::pow(x[0], 2); }},
      {"pow", "a", [](In x) { K::pow(2, x[0]); }},
      {"where", "condition, x, y", [](In x) { K::where(x[0], x[1], x[2]); }},
      {"add", "x, y", [](In x) { static_cast<void>(x[0] + x[1]); }},
      {"subtract", "x, y", [](In x) { static_cast<void>(x[0] - x[1]); }},
      {"multiply", "x, y", [](In x) { static_cast<void>(x[0] * x[1]); }},
      {"divide", "x, y", [](In x) { static_cast<void>(x[0] / x[1]); }},
      {"logical_and", "x, y", [](In x) { static_cast<void>(x[0] & x[1]); }},
      {"logical_or", "x, y", [](In x) { static_cast<void>(x[0] | x[1]); }},
      {"logical_xor", "x, y", [](In x) { static_cast<void>(x[0] ^ x[1]); }},
      {"add", "x", [](In x) { static_cast<void>(x[0] + 2.f); }},
      {"add", "x", [](In x) { static_cast<void>(2.f + x[0]); }},
      {"subtract", "x", [](In x) { static_cast<void>(x[0] - 2.f); }},
      {"subtract", "y", [](In x) { static_cast<void>(2.f - x[0]); }},
      {"multiply", "x", [](In x) { static_cast<void>(x[0] * 2.f); }},
      {"multiply", "x", [](In x) { static_cast<void>(2.f * x[0]); }},
      {"divide", "x", [](In x) { static_cast<void>(x[0] / 2.f); }},
      {"divide", "y", [](In x) { static_cast<void>(2.f / x[0]); }},
      {"equal", "x", [](In x) { static_cast<void>(x[0] == 1.f); }},
      {"less", "x, y", [](In x) { static_cast<void>(x[0] < x[1]); }},
      {"negative", "x", [](In x) { static_cast<void>(-x[0]); }},
      {"logical_not", "x", [](In x) { static_cast<void>(~x[0]); }},
      {"cast", "x", [](In x) { K::cast(x[0], "int32"); }},
      {"reshape", "x", [](In x) { K::reshape(x[0], {1}); }},
      {"permute_dimensions", "x", [](In x) { K::permute_dimensions(x[0], {0}); }},
      {"concatenate", "tensors[0], tensors[1]", [](In x) { K::concatenate({x[0], x[1]}); }},
      {"stack", "x[0], x[1]", [](In x) { K::stack({x[0], x[1]}); }},
      {"repeat", "x", [](In x) { K::repeat(x[0], 2); }},
      {"repeat_elements", "x", [](In x) { K::repeat_elements(x[0], 2, 0); }},
      {"tile", "x", [](In x) { K::tile(x[0], 2); }},
      {"squeeze", "x", [](In x) { K::squeeze(x[0], 0); }},
      {"reverse", "x", [](In x) { K::reverse(x[0], 0); }},
      {"slice", "x", [](In x) { K::slice(x[0], {0}, {1}); }},
      {"split", "x", [](In x) { K::split(x[0], 1); }},
      {"pad", "x", [](In x) { K::pad(x[0], {1}); }},
      {"index", "x", [](In x) { static_cast<void>(x[0][0]); }},
      {"gather", "reference, indices", [](In x) { K::gather(x[0], x[1]); }},
      {"gather", "reference, indices", [](In x) { static_cast<void>(x[0][x[1]]); }},
      {"gather", "reference", [](In x) { K::gather(x[0], {0}); }},
      {"one_hot", "indices", [](In x) { K::one_hot(x[0], 2); }},
      {"gather_nd", "params, indices", [](In x) { K::gather_nd(x[0], x[1]); }},
      {"scatter_nd", "indices, updates", [](In x) { K::scatter_nd(x[0], x[1], {2}); }},
      {"matmul", "a, b", [](In x) { K::matmul(x[0], x[1]); }},
      {"einsum", "operands[0], operands[1]", [](In x) { K::einsum("i,i->i", {x[0], x[1]}); }},
      {"bias_add", "x, bias", [](In x) { K::bias_add(x[0], x[1]); }},
      {"in_top_k", "predictions, targets", [](In x) { K::in_top_k(x[0], x[1], 1); }},
      {"dropout", "x", [](In x) { K::dropout(x[0], 0.5); }},
      {"resize_images", "x", [](In x) { K::resize_images(x[0], 1, 1, "channels_last"); }},
      {"resize_volumes", "x", [](In x) { K::resize_volumes(x[0], 1, 1, 1, "channels_last"); }},
      {"conv1d", "x, kernel", [](In x) { K::conv1d(x[0], x[1]); }},
      {"conv2d", "x, kernel", [](In x) { K::conv2d(x[0], x[1]); }},
      {"conv3d", "x, kernel", [](In x) { K::conv3d(x[0], x[1]); }},
      {"conv2d_transpose", "x, kernel", [](In x) { K::conv2d_transpose(x[0], x[1], {1}); }},
      {"conv3d_transpose", "x, kernel", [](In x) { K::conv3d_transpose(x[0], x[1], {1}); }},
      {"depthwise_conv2d", "x, depthwise_kernel", [](In x) { K::depthwise_conv2d(x[0], x[1]); }},
      {"separable_conv1d", "x, depthwise_kernel, pointwise_kernel", [](In x) { K::separable_conv1d(x[0], x[1], x[2]); }},
      {"separable_conv2d", "x, depthwise_kernel, pointwise_kernel", [](In x) { K::separable_conv2d(x[0], x[1], x[2]); }},
      {"local_conv1d", "inputs, kernel", [](In x) { K::local_conv1d(x[0], x[1], 1, 1); }},
      {"local_conv2d", "inputs, kernel", [](In x) { K::local_conv2d(x[0], x[1], 1, 1, {1, 1}); }},
      {"pool2d", "x", [](In x) { K::pool2d(x[0], 2); }},
      {"pool3d", "x", [](In x) { K::pool3d(x[0], 2); }},
      {"batch_normalization", "x, mean, var", [](In x) { K::batch_normalization(x[0], x[1], x[2], {}, {}); }},
      {"normalize_batch_in_training", "x", [](In x) { K::normalize_batch_in_training(x[0], {}, {}, 0); }},
      {"layer_normalization", "x", [](In x) { K::layer_normalization(x[0], {}, {}); }},
      {"categorical_crossentropy", "target, output", [](In x) { K::categorical_crossentropy(x[0], x[1]); }},
      {"sparse_categorical_crossentropy", "target, output", [](In x) { K::sparse_categorical_crossentropy(x[0], x[1]); }},
      {"binary_crossentropy", "target, output", [](In x) { K::binary_crossentropy(x[0], x[1]); }},
      {"ctc_batch_cost", "y_true, y_pred, input_length, label_length", [](In x) { K::ctc_batch_cost(x[0], x[1], x[2], x[3]); }},
      {"ctc_decode", "y_pred, input_length", [](In x) { K::ctc_decode(x[0], x[1]); }},
      {"ctc_label_dense_to_sparse", "labels, label_lengths", [](In x) { K::ctc_label_dense_to_sparse(x[0], x[1]); }},
      {"switch", "condition, then_expression, else_expression", [](In x) { K::switch_(x[0], x[1], x[2]); }},
      {"in_train_phase", "x, alt", [](In x) { K::in_train_phase(x[0], x[1]); }},
      {"in_test_phase", "x, alt", [](In x) { K::in_test_phase(x[0], x[1]); }},
      {"map_fn", "elems", [](In x) { K::map_fn([](const Tensor& e) { return e; }, x[0]); }},
      {"map_fn", "elems[0], elems[1]", [](In x) { K::map_fn([](In e) { return e[0]; }, {x[0], x[1]}); }},
      {"foldl", "elems", [](In x) { K::foldl(K::maximum, x[0]); }},
      {"foldr", "elems", [](In x) { K::foldr(K::maximum, x[0]); }},
      {"rnn", "inputs[0], initial_states[0]", [step](In x) { K::rnn(step, x[0], {x[1]}); }},
      {"lstm", "x, kernel, recurrent_kernel", [](In x) { K::lstm(x[0], x[1], x[2], {}); }},
      {"gru", "x, kernel, recurrent_kernel", [](In x) { K::gru(x[0], x[1], x[2], {}); }},
      {"simple_rnn", "x, kernel, recurrent_kernel", [](In x) { K::simple_rnn(x[0], x[1], x[2], {}); }},
      {"scaled_dot_product_attention", "query, key, value", [](In x) { K::scaled_dot_product_attention(x[0], x[1], x[2]); }},
      {"set_value", "value", [w](In x) { K::set_value(w, x[0]); }},
      {"batch_set_value", "value", [w](In x) { K::batch_set_value({{w, x[0]}}); }},
      {"update", "new_x", [w](In x) { K::update(w, x[0]); }},
      {"update_add", "increment", [w](In x) { K::update_add(w, x[0]); }},
      {"update_sub", "decrement", [w](In x) { K::update_sub(w, x[0]); }},
      {"moving_average_update", "value", [w](In x) { K::moving_average_update(w, x[0], 0.9); }},
      {"adam_update", "gradient", [w](In x) { K::adam_update(w, x[0], w, w, 1); }},
      {"gradients", "losses[0], variables[0]", [](In x) { K::gradients({x[0]}, {x[1]}); }},
      {"SparseTensor", "indices, values", [](In x) { ktape::SparseTensor(x[0], x[1], {1}); }},
      {"watch", "tensor", [](In x) { ktape::GradientTape().watch(x[0]); }},
  };
  // clang-format on
}

std::string message(const Row& row, const std::vector<Tensor>& x) {
  try {
    row.call(x);
  } catch (const ValueError& error) {
    return error.what();
  } catch (const ktape::Error& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("every op names an argument that is undefined") {
  for (const Row& row : rows()) {
    const std::vector<std::string> names = split(row.names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::vector<Tensor> x(names.size(), K::ones({1}));
      x[i] = Tensor();
      const std::string rule = "[" + std::string(row.op) + "] " + names[i] + " must be a tensor: received ";
      CHECK(message(row, x) == rule + "an undefined tensor (None)");
    }
  }
}

TEST_CASE("a gradient that is None says so to the op that uses it") {
  const Variable w = K::ones({2}), other = K::ones({2});
  const Tensor none = K::gradients(K::sum(K::square(w)), {other})[0];
  CHECK_THROWS_WITH_AS(
      0.1f * none,
      "[multiply] x must be a tensor: received an undefined gradient (None): the loss does "
      "not depend on what it was taken of, or that was not recorded: a Variable, or tape.watch",
      ValueError);
  CHECK_THROWS_WITH_AS(K::update_sub(other, 0.1f * none), doctest::Contains("[multiply] x must be a tensor"),
                       ValueError);
}

TEST_CASE("messages name the op that was called, and show what was given") {
  const Tensor x = K::ones({2, 3}), deep = K::ones({1, 1, 1, 1, 1, 1, 1, 1});
  const auto says = [](auto f, const char* text) { CHECK_THROWS_WITH_AS(f(), text, ValueError); };
  says([&] { K::stack({deep, deep}); }, "[stack] a tensor has at most 8 dimensions: received rank=9");
  says([&] { K::expand_dims(deep); }, "[expand_dims] a tensor has at most 8 dimensions: received rank=9");
  says([&] { K::dot(deep, K::ones({1, 1, 1})); }, "[dot] a tensor has at most 8 dimensions: received rank=9");
  says(
      [&] {
        K::batch_dot(deep, K::ones({1, 1, 1, 1}));
      },
      "[batch_dot] a tensor has at most 8 dimensions: received rank=9");
  says(
      [&] {
        K::einsum("abcdefgh,i", {deep, K::ones({1})});
      },
      "[einsum] a tensor has at most 8 dimensions: received rank=9");
  says([&] { K::gather(deep, {{0}}); }, "[gather] a tensor has at most 8 dimensions: received rank=9");
  says([&] { deep[ktape::NewAxis]; }, "[index] a tensor has at most 8 dimensions: received rank=9");
  says([&] { K::switch_(x > 0, x, K::ones({4})); },
       "[switch] shapes must broadcast: received x=(2, 3), y=(4,)");
  CHECK_THROWS_WITH_AS(K::switch_(x > 0, x, K::zeros({2, 3}, {.dtype = "int32"})),
                       "[switch] the expressions must have one dtype: received then_expression=float32, "
                       "else_expression=int32",
                       ktape::TypeError);
  says(
      [&] {
        K::matmul(K::ones({2, 3, 4}), K::ones({3, 4, 5}));
      },
      "[matmul] the axes before the last two must broadcast: received a=(2, 3, 4), b=(3, 4, 5)");
  CHECK_THROWS_WITH_AS(K::zeros({-1, 2}), doctest::Contains("must be at least 0: received shape=(-1, 2)"),
                       ValueError);
  says(
      [&] {
        K::reshape(x, {-1, 4});
      },
      "[reshape] the shape must hold the 6 elements of x: received x=(2, 3), shape=(-1, 4)");
  says([&] { K::slice(x, {0}, {-1}); },
       "[slice] start and size must have one entry per axis: received x=(2, 3), start=(0,), size=(-1,)");
  says([&] { K::tile(x, {-1, 1}); }, "[tile] n must be at least 0: received n=(-1, 1)");
  const Tensor p = K::placeholder({K::None, 3});
  says(
      [&] {
        K::dot(p, K::ones({4, 2}));
      },
      "[dot] the last axis of x must have the extent of the second to last of y: received x=(None, 3), y=(4, "
      "2)");
  const auto f = K::function({p, K::learning_phase()}, {p * 2.f});
  says([&] { f({x, 3}); }, "[function] the learning phase must be 0 or 1: received 3");
}
