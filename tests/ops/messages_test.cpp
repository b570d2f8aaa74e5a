// Errors about axes, shapes and other arguments that do not fit: each has the called op, the rule and the
// received value.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <functional>

namespace K = ktape::backend;
using ktape::Tensor, ktape::ValueError, ktape::Variable;

namespace {

struct Call {
  const char* op;
  std::function<void()> call;
};

/// Ops along an axis that x, of shape (2, 3, 4), does not have.
std::vector<Call> calls_of_axis(int axis) {
  const Tensor x = K::ones({2, 3, 4}), p = K::placeholder({K::None, 3, 4}), c = K::ones({3});
  std::vector<Call> out;
  for (const Tensor& x : {x, p}) {
    // clang-format off
    for (const Call& call : std::vector<Call>{
      {"max", [=] { K::max(x, axis); }}, {"min", [=] { K::min(x, axis); }}, {"sum", [=] { K::sum(x, axis); }},
      {"prod", [=] { K::prod(x, axis); }}, {"mean", [=] { K::mean(x, axis); }}, {"var", [=] { K::var(x, axis); }},
      {"std", [=] { K::std(x, axis); }}, {"norm", [=] { K::norm(x, axis); }}, {"logsumexp", [=] { K::logsumexp(x, axis); }},
      {"any", [=] { K::any(x, axis); }}, {"all", [=] { K::all(x, axis); }}, {"argmax", [=] { K::argmax(x, axis); }},
      {"argmin", [=] { K::argmin(x, axis); }}, {"cumsum", [=] { K::cumsum(x, axis); }}, {"cumprod", [=] { K::cumprod(x, axis); }},
      {"softmax", [=] { K::softmax(x, axis); }}, {"log_softmax", [=] { K::log_softmax(x, axis); }},
      {"l2_normalize", [=] { K::l2_normalize(x, axis); }}, {"expand_dims", [=] { K::expand_dims(x, axis); }},
      {"squeeze", [=] { K::squeeze(x, axis); }}, {"unstack", [=] { K::unstack(x, axis); }}, {"split", [=] { K::split(x, 2, axis); }},
      {"repeat_elements", [=] { K::repeat_elements(x, 2, axis); }}, {"reverse", [=] { K::reverse(x, axis); }},
      {"concatenate", [=] { K::concatenate({x, x}, axis); }}, {"stack", [=] { K::stack({x, x}, axis); }},
      {"sort", [=] { K::sort(x, axis); }}, {"argsort", [=] { K::argsort(x, axis); }},
      {"batch_dot", [=] { K::batch_dot(x, x, {axis, 1}); }}, {"permute_dimensions", [=] { K::permute_dimensions(x, {0, 1, axis}); }},
      {"batch_normalization", [=] { K::batch_normalization(x, c, c, c, c, {.axis = axis}); }},
      {"normalize_batch_in_training", [=] { K::normalize_batch_in_training(x, {}, {}, {axis}); }},
      {"layer_normalization", [=] { K::layer_normalization(x, {}, {}, {.axis = axis}); }},
      {"categorical_crossentropy", [=] { K::categorical_crossentropy(x, x, {.axis = axis}); }},
      {"sparse_categorical_crossentropy", [=] { K::sparse_categorical_crossentropy(x[0], x, {.axis = axis}); }},
      {"softmax", [=] { K::softmax(K::cast(x, "int32"), axis); }},
    }) out.push_back(call);
    // clang-format on
  }
  return out;
}

/// Ops with other arguments that are wrong.
std::vector<Call> wrong_calls() {
  const Tensor x = K::ones({2, 3, 4}), image = K::ones({1, 4, 4, 2}), kernel = K::ones({2, 2, 2, 3}),
               series = K::ones({1, 4, 2}), volume = K::ones({1, 4, 4, 4, 2}),
               ids = K::ones({2}, {.dtype = "int32"}), column = K::ones({1 << 23, 1});
  // clang-format off
  return {
      {"sum", [=] { K::sum(x, {0, 0}); }}, {"mean", [=] { K::mean(x, {0, -3}); }}, {"max", [=] { K::max(x, {1, 1}); }},
      {"any", [=] { K::any(x, {1, 1}); }}, {"var", [=] { K::var(x, {1, 1}); }}, {"std", [=] { K::std(x, {1, 1}); }},
      {"logsumexp", [=] { K::logsumexp(x, {1, 1}); }}, {"reverse", [=] { K::reverse(x, {1, 1}); }},
      {"norm", [=] { K::norm(x, {1, 1}); }}, {"prod", [=] { K::prod(x, {1, 1}); }},
      {"conv2d", [=] { K::conv2d(image, kernel, {.strides = 0}); }},
      {"conv2d", [=] { K::conv2d(image, kernel, {.strides = {1, 1, 1}}); }},
      {"conv2d", [=] { K::conv2d(image, kernel, {.padding = "odd"}); }},
      {"conv2d", [=] { K::conv2d(image, kernel, {.data_format = "odd"}); }},
      {"conv2d", [=] { K::conv2d(image, kernel, {.dilation_rate = 0}); }},
      {"conv2d", [=] { K::conv2d(image, K::ones({9, 9, 2, 3})); }},
      {"conv1d", [=] { K::conv1d(series, kernel); }},
      {"conv1d", [=] { K::conv1d(series, K::ones({2, 2, 3}), {.padding = "odd"}); }},
      {"conv3d", [=] { K::conv3d(volume, kernel); }},
      {"conv2d_transpose", [=] { K::conv2d_transpose(image, kernel, {1, 2, 3}); }},
      {"conv2d_transpose", [=] { K::conv2d_transpose(image, K::ones({2, 2, 3, 2}), {1, 9, 9, 3}); }},
      {"conv2d_transpose", [=] { K::conv2d_transpose(image, K::ones({2, 2, 3, 2}), {1, -9, 5, 3}); }},
      {"depthwise_conv2d", [=] { K::depthwise_conv2d(image, kernel, {.strides = 0}); }},
      {"separable_conv2d", [=] { K::separable_conv2d(image, K::ones({2, 2, 2, 3}), K::ones({1, 1, 5, 1})); }},
      {"separable_conv1d", [=] { K::separable_conv1d(series, K::ones({2, 2, 3}), K::ones({2, 6, 1})); }},
      {"local_conv1d", [=] { K::local_conv1d(series, K::ones({3, 4, 2}), 0, 1); }},
      {"local_conv2d", [=] { K::local_conv2d(image, K::ones({9, 8, 2}), {2, 2}, {1, 1}, {9, 9}); }},
      {"pool2d", [=] { K::pool2d(image, 0); }}, {"pool2d", [=] { K::pool2d(image, {2, 2}, {.pool_mode = "odd"}); }},
      {"pool2d", [=] { K::pool2d(image, {2, 2}, {.strides = -1}); }}, {"pool3d", [=] { K::pool3d(volume, {9, 9, 9}); }},
      {"pool2d", [=] { K::pool2d(image, {2, 2}, {.data_format = "odd"}); }},
      {"resize_images", [=] { K::resize_images(image, 0, 2, "channels_last"); }},
      {"resize_images", [=] { K::resize_images(image, 2, 2, "odd"); }},
      {"resize_images", [=] { K::resize_images(image, 2, 2, "channels_last", {.interpolation = "odd"}); }},
      {"resize_images", [=] { K::resize_images(image, 1 << 30, 1 << 30, "channels_last"); }},
      {"resize_volumes", [=] { K::resize_volumes(volume, 2, 2, -2, "channels_last"); }},
      {"resize_volumes", [=] { K::resize_volumes(volume, 1 << 30, 1 << 30, 1, "channels_last"); }},
      {"temporal_padding", [=] { K::temporal_padding(series, {.padding = {-1, 1}}); }},
      {"spatial_2d_padding", [=] { K::spatial_2d_padding(image, {.padding = {{-1, 1}, {1, 1}}}); }},
      {"spatial_2d_padding", [=] { K::spatial_2d_padding(image, {.data_format = "odd"}); }},
      {"spatial_3d_padding", [=] { K::spatial_3d_padding(volume, {.padding = {{1, 1}, {1, 1}, {1, -1}}}); }},
      {"pad", [=] { K::pad(x, {{1, 1}}); }}, {"pad", [=] { K::pad(x, {{1, 1}, {-1, 1}, {0, 0}}); }},
      {"bias_add", [=] { K::bias_add(image, K::ones({2}), {.data_format = "odd"}); }},
      {"dropout", [=] { K::dropout(x, 1.5); }}, {"dropout", [=] { K::dropout(x, 0.5, {.noise_shape = {7}}); }},
      {"one_hot", [=] { K::one_hot(ids, -1); }}, {"top_k", [=] { K::top_k(x, 9); }}, {"top_k", [=] { K::top_k(x, -1); }},
      {"gather", [=] { K::gather(x, {9}); }}, {"gather", [=] { K::gather(x, {-1}); }},
      {"gather_nd", [=] { K::gather_nd(x, K::full({1, 4}, 0, "int32")); }},
      {"gather_nd", [=] { K::gather_nd(x, K::full({1, 2}, 9, "int32")); }},
      {"scatter_nd", [=] { K::scatter_nd(K::full({1, 1}, 9, "int32"), K::ones({1}), {3}); }},
      {"slice", [=] { K::slice(x, {0, 0, 9}, {1, 1, 1}); }}, {"index", [=] { static_cast<void>(x[9]); }},
      {"index", [=] { static_cast<void>(x[{0, 0, 0, 0}]); }}, {"index", [=] { static_cast<void>(x[ktape::Slice(0, 1, 0)]); }},
      {"split", [=] { K::split(x, 0); }}, {"split", [=] { K::split(x, {1, 5}, 1); }}, {"split", [=] { K::split(x, 2, 1); }},
      {"tile", [=] { K::tile(x, {2, 2}); }}, {"tile", [=] { K::tile(x, {1 << 30, 1 << 30, 1}); }},
      {"repeat", [=] { K::repeat(K::ones({2, 2}), -1); }}, {"repeat_elements", [=] { K::repeat_elements(x, -1, 0); }},
      {"repeat", [=] { K::repeat(K::ones({2, 2}), std::int64_t{1} << 62); }},
      {"repeat_elements", [=] { K::repeat_elements(x, std::int64_t{1} << 62, 0); }},
      {"reshape", [=] { K::reshape(x, {-1, -1}); }}, {"reshape", [=] { K::reshape(x, {-2, 12}); }}, {"reshape", [=] { K::reshape(x, {7}); }},
      {"concatenate", [=] { K::concatenate(std::vector<Tensor>()); }}, {"stack", [=] { K::stack(std::vector<Tensor>()); }}, {"einsum", [=] { K::einsum("i,j", {ids}); }},
      {"einsum", [=] { K::einsum("ij->k", {K::ones({2, 2})}); }}, {"einsum", [=] { K::einsum("ij,jk->ik", {K::ones({2, 3}), K::ones({2, 3})}); }},
      {"einsum", [=] { K::einsum("i?", {ids}); }},
      {"pow", [=] { K::pow(ids, -1); }}, {"pow", [=] { K::pow(ids, 0.5); }},
      {"add", [=] { static_cast<void>(ids + 0.5); }}, {"multiply", [=] { static_cast<void>(ids * INFINITY); }},
      {"elu", [=] { K::elu(ids); }},
      {"constant", [=] { K::constant(300, {.dtype = "uint8"}); }}, {"constant", [=] { K::constant({1, 2}, {.shape = {3}}); }},
      {"variable", [=] { K::variable(300, {.dtype = "uint8"}); }},
      {"full", [=] { K::full({2}, 300, "uint8"); }}, {"full", [=] { K::full({-2}, 3); }}, {"zeros", [=] { K::zeros({-2}); }},
      {"ones", [=] { K::ones({2, -2}); }}, {"eye", [=] { K::eye(-2); }}, {"eye", [=] { K::eye({2, 2, 2}); }},
      {"zeros", [=] { K::zeros({1 << 30, 1 << 30}); }}, {"ones", [=] { K::ones({1 << 23, 1 << 23}); }},
      {"eye", [=] { K::eye(1 << 30); }}, {"full", [=] { K::full({1 << 23, 1 << 23}, 1); }},
      {"constant", [=] { K::constant(1, {.shape = {-2}}); }}, {"constant", [=] { K::constant(1, {.shape = {1 << 23, 1 << 23}}); }},
      {"arange", [=] { K::arange(0, 5, 0); }}, {"arange", [=] { K::arange(0, 5, -1); }}, {"arange", [=] { K::arange(0, std::int64_t{1} << 46); }},
      {"random_normal", [=] { K::random_normal({-2}); }}, {"random_normal", [=] { K::random_normal({2}, {.dtype = "int32"}); }},
      {"random_normal", [=] { K::random_normal({1 << 23, 1 << 23}); }}, {"random_uniform", [=] { K::random_uniform({2}, {.minval = 2, .maxval = 1.}); }},
      {"random_uniform", [=] { K::random_uniform({-2}); }}, {"truncated_normal", [=] { K::truncated_normal({-2}); }},
      {"random_bernoulli", [=] { K::random_bernoulli({2}, {.p = 2}); }}, {"random_bernoulli", [=] { K::random_bernoulli({-2}); }},
      {"random_uniform_variable", [=] { K::random_uniform_variable({-2}, 0, 1); }}, {"random_normal_variable", [=] { K::random_normal_variable({-2}, 0, 1); }},
      {"placeholder", [=] { K::placeholder({-2, 3}); }}, {"placeholder", [=] { K::placeholder({K::None, 1 << 30, 1 << 30}); }},
      {"batch_normalization", [=] { K::batch_normalization(x, K::ones({3}), K::ones({4}), {}, {}); }},
      {"normalize_batch_in_training", [=] { K::normalize_batch_in_training(x, K::ones({7}), {}, {0}); }},
      {"layer_normalization", [=] { K::layer_normalization(x, K::ones({7}), {}); }},
      {"batch_dot", [=] { K::batch_dot(x, x); }}, {"dot", [=] { K::dot(x, x); }}, {"matmul", [=] { K::matmul(x, x); }},
      {"dot", [=] { K::dot(column, K::transpose(column)); }},
      {"batch_dot", [=] { K::batch_dot(K::reshape(column, {1, -1, 1}), K::reshape(column, {1, 1, -1})); }},
      {"matmul", [=] { K::matmul(column, column, {.transpose_b = true}); }},
      {"multiply", [=] { static_cast<void>(column * K::transpose(column)); }},
      {"where", [=] { K::where(true, column, K::transpose(column)); }},
      {"foldl", [=] { K::foldl(K::maximum, K::ones({0, 2})); }}, {"map_fn", [=] { K::map_fn([](const Tensor& e) { return e; }, K::ones({})); }},
      {"get_value", [=] { K::get_value(K::placeholder({2})); }},
  };
  // clang-format on
}

void check_names(const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    std::string said = "no error";
    try {
      call.call();
    } catch (const ktape::Error& error) {
      said = error.what();
    }
    CHECK_MESSAGE(said.starts_with('[' + std::string(call.op) + "] "), call.op, ": ", said);
  }
}

}  // namespace

TEST_CASE("an axis that a tensor does not have, and other wrong arguments: the op says its own name") {
  for (const int axis : {3, 9, -9}) {
    std::vector<Call> calls = calls_of_axis(axis);
    if (axis == 3)  // an axis more is a place for one
      std::erase_if(calls, [](const Call& c) {
        const std::string op = c.op;
        return op == "expand_dims" || op == "stack";
      });
    check_names(calls);
  }
  check_names(wrong_calls());
}

TEST_CASE("messages name the op that was called, and show the arguments") {
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
       "[switch] shapes must broadcast: received then_expression=(2, 3), else_expression=(4,)");
  CHECK_THROWS_WITH_AS(K::switch_(x > 0, x, K::zeros({2, 3}, {.dtype = "int32"})),
                       "[switch] the expressions must have one dtype: received then_expression=float32, "
                       "else_expression=int32",
                       ktape::TypeError);
  says(
      [&] {
        K::matmul(K::ones({2, 3, 4}), K::ones({3, 4, 5}));
      },
      "[matmul] the axes before the last two must broadcast: received a=(2, 3, 4), b=(3, 4, 5)");
  CHECK_THROWS_WITH_AS(K::zeros({-1, 2}), "[zeros] extents must be at least 0: received shape=(-1, 2)",
                       ValueError);
  says(
      [&] {
        K::reshape(x, {-1, 4});
      },
      "[reshape] the shape must hold the 6 elements of x: received x=(2, 3), shape=(-1, 4)");
  says([&] { K::full({2, -3}, 1); }, "[full] extents must be at least 0: received shape=(2, -3)");
  says([&] { K::eye(-2); }, "[eye] extents must be at least 0: received shape=(-2, -2)");
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

TEST_CASE("a number that a placeholder's dtype cannot hold: the function says its own name") {
  const Tensor n = K::placeholder({.ndim = 1, .dtype = "uint8"});
  const auto f = K::function({n}, {n}), named = K::function({n}, {n}, {}, {.name = "step"});
  CHECK_THROWS_WITH_AS(f({{1, 300}}),
                       "[function] a number must fit the tensor's dtype uint8: received number=300",
                       ktape::TypeError);
  CHECK_THROWS_WITH_AS(named({{1, 300}}),
                       "[step] a number must fit the tensor's dtype uint8: received number=300",
                       ktape::TypeError);
}

TEST_CASE("a result that does not fit in memory is an error of the op that was called") {
  const Tensor x = K::ones({2}), rows = K::zeros({1, 1}, {.dtype = "int32"});
  constexpr std::int64_t many = std::int64_t{1} << 45;
  const auto says = [](auto f, const char* text) {
    CHECK_THROWS_WITH_AS(f(), doctest::Contains(text), ValueError);
  };
  says([&] { K::one_hot(rows, many); }, "[one_hot] the tensor must fit in memory");
  says([&] { K::pad(x, {{many, 0}}); }, "[pad] the tensor must fit in memory");
  says([&] { K::scatter_nd(rows, K::ones({1}), {many}); }, "[scatter_nd] the tensor must fit in memory");
}

TEST_CASE("a scope of a phase that does not exist says its own name") {
  CHECK_THROWS_WITH_AS(
      K::learning_phase_scope(7),
      "[learning_phase_scope] the learning_phase must be 0 (test) or 1 (train): received value=7",
      ValueError);
}
