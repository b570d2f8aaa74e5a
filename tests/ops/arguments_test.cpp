// Errors about undefined tensors: each names the op and the argument.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <sstream>

namespace K = ktape::backend;
using ktape::Tensor, ktape::TensorList, ktape::ValueError, ktape::Variable;

namespace {

using In = const std::vector<Tensor>&;

struct Row {
  const char* op;
  const char* names;  ///< the names of its tensor arguments
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
  const auto first = [](const Tensor& a, const Tensor&) { return a; };
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
      {"gather", "reference, indices",
       [](In x) {
         if (!x[1].defined() || x[1].dtype() != "bool") static_cast<void>(x[0][x[1]]);  // bools are a mask
       }},
      {"boolean_mask", "tensor, mask", [](In x) { K::boolean_mask(x[0], x[1]); }},
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
      {"foldl", "elems", [first](In x) { K::foldl(first, x[0]); }},
      {"foldr", "elems", [first](In x) { K::foldr(first, x[0]); }},
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

namespace {

/// Returns an error of the op, for one combination of arguments, that does not begin with the op's name; or
/// nothing.
std::string other_name(const Row& row, const std::vector<Tensor>& x) {
  const std::string own = "[" + std::string(row.op) + "] ";
  std::string said;
  try {
    row.call(x);
    return "";
  } catch (const ktape::Error& error) {
    said = error.what();
  } catch (const std::exception& error) {
    said = std::string("not an error of the library: ") + error.what();
  }
  if (said.starts_with(own)) return "";
  std::ostringstream given;
  for (const Tensor& t : x) given << ' ' << t.dtype() << t.shape();
  return own + "of" + given.str() + ": " + said;
}

/// Returns tensors that few ops accept beside others of this rank.
std::vector<Tensor> odd_tensors(int rank) {
  std::vector<Tensor> out;
  const auto shape = [](std::int64_t n, int rank) {
    return ktape::Shape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), n));
  };
  for (const char* dtype : {"bool", "uint8", "int32", "int64", "float16", "bfloat16", "float64"})
    out.push_back(K::ones(shape(2, rank), {.dtype = dtype}));
  for (const int other : {0, 1, 2, 3, 4, 5, 8})
    if (other != rank) out.push_back(K::ones(shape(other == 8 ? 1 : 2, other)));
  for (const std::int64_t extent : {0, 1, 3, 7}) out.push_back(K::ones(shape(extent, rank)));
  out.push_back(K::full(shape(2, rank), -3, "int32"));
  out.push_back(K::full(shape(2, rank), std::numeric_limits<double>::quiet_NaN()));
  return out;
}

bool changes_a_variable(const std::string& op) { return op.find("update") != op.npos || op == "set_value"; }

}  // namespace

TEST_CASE("an error about the arguments of an op begins with the op's name") {
  std::set<std::string> found;
  for (const Row& row : rows()) {
    if (std::string(row.op) == "print_tensor") continue;
    const std::size_t count = split(row.names).size();
    for (int rank = 0; rank <= 5; ++rank) {
      const ktape::Shape shape(std::vector<std::int64_t>(static_cast<std::size_t>(rank), 2));
      for (const char* dtype : {"float32", "int32"})
        for (const Tensor& odd : odd_tensors(rank))
          for (std::size_t i = 0; i <= count; ++i)  // one after another, then all
            for (const bool symbolic : {false, true}) {
              if (symbolic && changes_a_variable(row.op)) continue;
              std::vector<Tensor> x(count, i == count ? odd : K::ones(shape, {.dtype = dtype}));
              if (i < count) x[i] = odd;
              if (symbolic)
                for (Tensor& t : x) t = K::placeholder({.shape = t.shape(), .dtype = t.dtype()});
              found.insert(other_name(row, x));
            }
    }
  }
  found.erase("");
  for (const std::string& text : found) FAIL_CHECK(text);
}

TEST_CASE("an op that uses a gradient of None throws an error about the gradient") {
  const Variable w = K::ones({2}), other = K::ones({2});
  const Tensor none = K::gradients(K::sum(K::square(w)), {other})[0];
  CHECK_THROWS_WITH_AS(0.1f * none,
                       "[multiply] x must be a tensor: received an undefined gradient (None): the loss does "
                       "not depend on the tensor, or the tensor was not recorded: a Variable, or tape.watch",
                       ValueError);
  CHECK_THROWS_WITH_AS(K::update_sub(other, 0.1f * none), doctest::Contains("[multiply] x must be a tensor"),
                       ValueError);
}

TEST_CASE("shapes and bounds that are undefined are errors, not unknown extents or zeros") {
  const Tensor x = K::ones({2, 3}), none;
  const auto says = [](auto f, const char* text) { CHECK_THROWS_WITH_AS(f(), text, ValueError); };
  const char* const shape =
      "[shape] what stands in the place of a shape must be a tensor: received an undefined tensor (None)";
  says([&] { K::zeros(none); }, shape);
  says([&] { K::reshape(x, none); }, shape);
  says(
      [&] {
        K::reshape(x, {none, 3});
      },
      "[shape] an extent must be a tensor: received an undefined tensor (None)");
  says([&] { K::arange(none); },
       "[arange] an argument must be a tensor: received an undefined tensor (None)");
  says([&] { K::arange(0, none); },
       "[arange] an argument must be a tensor: received an undefined tensor (None)");
}

TEST_CASE("an output or an update that is undefined is named, and why a gradient is None") {
  const Tensor p = K::placeholder({K::None}), none;
  const Tensor gradient = K::gradients(K::sum(p), {K::variable(1.f)})[0];
  const auto says = [](auto f, const char* text) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), ValueError);
  };
  says(
      [&] {
        K::function({p}, {p, gradient});
      },
      "[function] outputs[1] must be a tensor: received an undefined gradient (None)");
  says([&] { K::function({p}, {p}, {none}); },
       "[function] updates[0] must be a tensor: received an undefined tensor (None)");
}

TEST_CASE("an op names an argument that is an undefined variable") {
  const Tensor x = K::ones({2, 2});
  const Variable none;
  const auto says = [](auto f, const char* text) { CHECK_THROWS_WITH_AS(f(), text, ValueError); };
  says([&] { K::dot(x, none); }, "[dot] y must be a tensor: received an undefined tensor (None)");
  says([&] { none + 1.f; }, "[add] x must be a tensor: received an undefined tensor (None)");
  says([&] { K::maximum(1.f, none); }, "[maximum] y must be a tensor: received an undefined tensor (None)");
  says([&] { K::stack({x, none}); }, "[stack] x[1] must be a tensor: received an undefined tensor (None)");
  says([&] { K::gradients(K::sum(x), {none}); },
       "[gradients] variables[0] must be a tensor: received an undefined tensor (None)");
  says([&] { K::symbolic([&] { return K::exp(none); })(); },
       "[exp] x must be a tensor: received an undefined tensor (None)");
  says([&] { K::update(none, x); }, "[update] x must be a variable: received an undefined variable");
  says([&] { K::update_add(none, 1.f); },
       "[update_add] x must be a variable: received an undefined variable");
  says([&] { K::moving_average_update(none, x, 0.9); },
       "[moving_average_update] x must be a variable: received an undefined variable");
  says([&] { K::set_value(none, x); }, "[set_value] x must be a variable: received an undefined variable");
  says(
      [&] {
        K::batch_set_value({{none, x}});
      },
      "[batch_set_value] x must be a variable: received an undefined variable");
}
