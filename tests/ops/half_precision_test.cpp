#include "../products.hpp"
#include "check.hpp"

#include <ktape/autograd/graph/gradients.hpp>
#include <ktape/autograd/tape.hpp>
#include <ktape/autograd/xtensor.hpp>
#include <ktape/ops/broadcasting.hpp>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/nn/convolution.hpp>
#include <ktape/ops/nn/normalization.hpp>
#include <ktape/ops/nn/pooling.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>
#include <ktape/ops/settings/config.hpp>
#include <ktape/ops/settings/engine.hpp>
#include <ktape/ops/settings/threads.hpp>
#include <ktape/ops/updates.hpp>

#include <algorithm>
#include <cmath>

namespace K = ktape::backend;
using doctest::Contains;
using ktape::bfloat16, ktape::Tensor, ktape::TypeError, ktape::Variable;

namespace {

using Tensors = std::vector<Tensor>;
using Op = std::function<Tensor(In)>;

struct Row {
  const char* name;
  Op f;
  Tensors inputs;
  double second = 1;  ///< the error of gradients of the second order; 0: they vanish up to rounding errors
};

Tensors cast_all(In tensors, const char* dtype) {
  Tensors out;
  for (const Tensor& x : tensors) out.push_back(K::cast(x, dtype));
  return out;
}

Tensor numbers(const ktape::Shape& shape, int seed) { return normal(shape, seed, "float32"); }

Tensor weighted_sum(const Tensor& y) { return K::sum(K::cast(y, "float32") * numbers(y.shape(), 7)); }

/// Returns the gradients of a weighted sum of f, and the gradient of the first input for the sum of their squares.
std::pair<Tensors, Tensor> slopes(const Op& f, In inputs) {
  ktape::GradientTape tape;
  for (const Tensor& x : inputs) tape.watch(x);
  const Tensors first = ktape::gradients(weighted_sum(f(inputs)), inputs);
  Tensor total = K::zeros({});
  for (const Tensor& dx : first) total = total + K::sum(K::square(K::cast(dx, "float32")));
  return {first, ktape::gradients(total, {inputs[0]})[0]};
}

/// Compares with float32 results, rounded. The errors are in units of 2^-7: of a number, or of the largest number.
Closeness close_to_float32(const Tensor& got, const Tensor& wide, double relative, double absolute) {
  double largest = 0;
  for (const double x : values(wide)) largest = std::max(largest, std::abs(x));
  return close(got, K::cast(wide, got.dtype()),
               {.rtol = relative * 0x1p-7, .atol = absolute * 0x1p-7 * largest});
}

std::vector<Row> rows() {
  const Tensor x = numbers({37, 61}, 1), y = numbers({37, 61}, 2), b = numbers({61}, 3),
               c = numbers({37, 1}, 4), few = numbers({37, 5}, 9), images = numbers({2, 9, 9, 6}, 6);
  const auto third = K::constant({1, 1, 3}, {.dtype = "int32"});
  return {
      {"add", [](In in) { return in[0] + in[1]; }, {x, y}},
      {"a row", [](In in) { return in[0] + in[1]; }, {x, b}},
      {"a column", [](In in) { return in[0] * in[1]; }, {x, c}},
      {"outer", [](In in) { return in[0] / (in[1] * in[1] + 1.); }, {c, b}},
      {"numbers", [](In in) { return 2.5 * in[0]; }, {x}},
      {"tanh", [](In in) { return K::tanh(in[0]); }, {x}},
      {"exp", [](In in) { return K::exp(in[0]); }, {x}},
      {"sqrt", [](In in) { return K::sqrt(K::abs(in[0])); }, {x}},
      {"pow", [](In in) { return K::pow(K::abs(in[0]), in[1]); }, {x, y}, 10},
      {"maximum", [](In in) { return K::maximum(in[0], in[1]); }, {x, y}},
      {"sum", [](In in) { return K::sum(in[0], 0); }, {x}},
      {"mean", [](In in) { return K::mean(in[0]); }, {x}},
      {"var", [](In in) { return K::var(in[0], 1); }, {x}},
      {"std", [](In in) { return K::std(in[0], 0); }, {x}, 0},
      {"norm", [](In in) { return K::norm(in[0], 1); }, {x}, 0},
      {"max", [](In in) { return K::max(in[0], 1); }, {x}},
      {"prod", [](In in) { return K::prod(in[0], 1); }, {few}},
      {"logsumexp", [](In in) { return K::logsumexp(in[0], 1); }, {x}, 2},
      {"cumsum", [](In in) { return K::cumsum(in[0], 1); }, {x}},
      {"cumprod", [](In in) { return K::cumprod(in[0], 1); }, {few}, 2},
      {"dot", [](In in) { return K::dot(in[0], in[1]); }, {x, numbers({61, 20}, 5)}},
      {"gather", [third](In in) { return K::gather(in[0], third); }, {x}},
      {"where", [](In in) { return K::where(in[0] > 0.5, in[0], in[1]); }, {x, y}},
      {"clip", [](In in) { return K::clip(in[0], -1, 1); }, {x}},
      {"dropout", [](In in) { return K::dropout(in[0], 0.3, {.seed = 3}); }, {x}},
      {"transpose", [](In in) { return K::transpose(in[0]); }, {x}},
      {"concatenate",
       [](In in) {
         return K::concatenate({in[0], in[1]}, 0);
       },
       {x, y}},
      {"conv2d", [](In in) { return K::conv2d(in[0], in[1]); }, {images, numbers({3, 3, 6, 5}, 8)}},
      {"max pooling",
       [](In in) {
         return K::pool2d(in[0], {2, 2});
       },
       {images}},
      {"mean pooling",
       [](In in) {
         return K::pool2d(in[0], {2, 2}, {.pool_mode = "avg"});
       },
       {images}},
      {"layers", [](In in) { return K::layer_normalization(in[0], in[1], {}); }, {x, b}},
      {"batches",
       [](In in) { return K::normalize_batch_in_training(in[0], in[1], {}, {0}).normalized; },
       {x, b}},
  };
}

}  // namespace

TEST_CASE(
    "ops of half precision give the rounded results and gradients of float32, of the first and second "
    "order") {
  for (const char* dtype : {"float16", "bfloat16"})
    for (const Row& row : rows()) {
      CAPTURE(std::string(dtype));
      CAPTURE(std::string(row.name));
      const Tensors half = cast_all(row.inputs, dtype), wide = cast_all(half, "float32");
      const Tensor y = row.f(half);
      CHECK(y.dtype() == dtype);
      CHECK(close_to_float32(y, row.f(wide), 1, 0.02));
      const auto [first, second] = slopes(row.f, half);
      const auto [wide_first, wide_second] = slopes(row.f, wide);
      // Gradients are sums of products that are rounded one by one.
      for (std::size_t i = 0; i < half.size(); ++i) {
        CHECK(first[i].dtype() == dtype);
        CHECK(close_to_float32(first[i], wide_first[i], 1, 1));
      }
      if (row.second > 0 && wide_second.defined())
        CHECK(close_to_float32(second, wide_second, 1, row.second));
    }
}

TEST_CASE("sums of half precision are made in float32 and rounded once") {
  for (const char* dtype : {"float16", "bfloat16"}) {
    CAPTURE(std::string(dtype));
    const Tensor ones = K::ones({64, 100}, {.dtype = dtype}), small = K::full({1000}, 0x1p-10, dtype);
    CHECK(K::sum(ones).item<float>() == 6400);
    CHECK(values(K::sum(ones, 0)) == Values(100, 64));
    CHECK(values(K::cumsum(ones[{0}], 0))[99] == 100);
    CHECK(K::mean(small + 1.).item<float>() == K::cast(K::constant({1 + 0x1p-10}), dtype).item<float>(0));
    CHECK(K::sum(K::concatenate({K::ones({1}, {.dtype = dtype}), small})).item<float>() ==
          K::cast(K::constant({1 + 1000 * 0x1p-10}), dtype).item<float>(0));
    CHECK(K::dot(ones, K::transpose(ones)).item<float>(0, 0) == 100);
  }
}

TEST_CASE_TEMPLATE(
    "sums, differences, products and quotients of all numbers in half precision are rounded once", T,
    ktape::float16, bfloat16) {
  std::vector<T> numbers;
  for (std::uint32_t bits = 0; bits < 65536; ++bits)
    numbers.push_back(T::from_bits(static_cast<std::uint16_t>(bits)));
  const Tensor x = Tensor::from_buffer(numbers.data(), 2 * numbers.size(), {65536}, ktape::dtype_of<T>());
  for (const float other : {0.0f, -1.0f, 3.14159f, 1e-30f, 60000.0f, INFINITY, NAN}) {
    const T operand(other);
    const auto number = static_cast<float>(operand);
    const auto differing = [&](const Tensor& result, auto f) {
      int wrong = 0;
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const T expected(f(static_cast<float>(numbers[i]))), received = result.data<T>()[i];
        const bool nan = std::isnan(static_cast<float>(expected));
        wrong += nan ? !std::isnan(static_cast<float>(received)) : received.bits() != expected.bits();
      }
      return wrong;
    };
    const Tensor one = Tensor::from_buffer(&operand, 2, {1}, x.dtype()), many = one + K::zeros_like(x);
    for (const Tensor& y : {many, one}) {
      CAPTURE(other);
      CHECK(differing(x + y, [&](float a) { return a + number; }) == 0);
      CHECK(differing(x - y, [&](float a) { return a - number; }) == 0);
      CHECK(differing(x * y, [&](float a) { return a * number; }) == 0);
      CHECK(differing(x / y, [&](float a) { return a / number; }) == 0);
    }
    CHECK(differing(x + number, [&](float a) { return a + number; }) == 0);
    CHECK(differing(number - x, [&](float a) { return number - a; }) == 0);
    CHECK(differing(x * number, [&](float a) { return a * number; }) == 0);
    CHECK(differing(number / x, [&](float a) { return number / a; }) == 0);
  }
}

TEST_CASE(
    "short rows and odd lengths of half precision are computed as long ones, and nothing after them is "
    "written") {
  for (const char* dtype : {"float16", "bfloat16"})
    for (const std::int64_t n : {1, 3, 7, 8, 9, 17, 31, 33, 100}) {
      const Tensor x = numbers({5, n}, 1), y = numbers({n}, 2), z = numbers({5, 1}, 3);
      const Tensor a = K::cast(x, dtype), b = K::cast(y, dtype), c = K::cast(z, dtype);
      const auto rounded = [&](const Tensor& t) { return K::cast(K::cast(t, dtype), "float32"); };
      const Tensor as = K::cast(a, "float32"), bs = K::cast(b, "float32"), cs = K::cast(c, "float32");
      CHECK(values(K::cast(a * b, "float32")) == values(rounded(as * bs)));
      CHECK(values(K::cast(a - c, "float32")) == values(rounded(as - cs)));
      CHECK(values(K::cast(c / b, "float32")) == values(rounded(cs / bs)));
    }
}

TEST_CASE("half precision is drawn as float32 with the same seed, rounded, below the upper bound") {
  for (const char* dtype : {"float16", "bfloat16"}) {
    CAPTURE(std::string(dtype));
    const auto same = [&](const Tensor& half, const Tensor& wide) {
      CHECK(half.dtype() == dtype);
      CHECK(values(half) == values(K::cast(wide, dtype)));
    };
    same(normal({1001}, 3, dtype), normal({1001}, 3, "float32"));
    same(K::truncated_normal({70}, {.dtype = dtype, .seed = 2}),
         K::truncated_normal({70}, {.dtype = "float32", .seed = 2}));
    const Tensor uniform = K::random_uniform({100000}, {.dtype = dtype, .seed = 4});
    CHECK(K::max(uniform).item<float>() < 1);
    CHECK(K::min(uniform).item<float>() >= 0);
    const Tensor x = K::ones({1000}, {.dtype = dtype});
    same(K::dropout(x, 0.25, {.seed = 6}), K::dropout(K::cast(x, "float32"), 0.25, {.seed = 6}));
    CHECK(values(K::random_bernoulli({100}, {.dtype = dtype, .seed = 1})) ==
          values(K::random_bernoulli({100}, {.dtype = "float32", .seed = 1})));
  }
}

TEST_CASE("bfloat16 is sorted, compared, selected and moved as its numbers are") {
  const Tensor x = K::cast(K::constant({{3., -1., 1e30}, {2., 2., -0.5}}), "bfloat16");
  CHECK(values<std::int64_t>(K::argmax(x)) == std::vector<std::int64_t>{2, 0});
  CHECK(values<std::int64_t>(K::argmin(x)) == std::vector<std::int64_t>{1, 2});
  CHECK(values<bool>(x > 2) == std::vector<bool>{true, false, true, false, false, false});
  CHECK(values<bool>(K::is_nan(K::cast(K::constant({0., NAN, INFINITY}), "bfloat16"))) ==
        std::vector<bool>{false, true, false});
  CHECK(values(K::where(x > 2, x, -x)) ==
        values(K::cast(
            K::abs(K::cast(x, "float32")) * K::cast(K::constant({{1., 1., 1.}, {-1., -1., 1.}}), "float32"),
            "bfloat16")));
  CHECK(values(K::transpose(x)) == values(K::cast(K::transpose(K::cast(x, "float32")), "bfloat16")));
  CHECK(values(K::gather(x, ints({1, 0, 1}))[{2}]) == Values{2, 2, -0.5});
  CHECK(values(K::one_hot(ints({1, 0}), 2)) == Values{0, 1, 1, 0});
}

TEST_CASE("arrays of xtensor and elements of C++ hold bfloat16") {
  const xt::xarray<bfloat16> array{bfloat16(1.5f), bfloat16(-2.f)};
  const Tensor x(array);
  CHECK(x.dtype() == "bfloat16");
  CHECK(values(x) == Values{1.5, -2});
  CHECK(static_cast<float>(ktape::view<bfloat16>(x)(1)) == -2);
  CHECK(static_cast<float>(x.data<bfloat16>()[0]) == 1.5f);
  CHECK(K::get_value<float>(x)(0) == 1.5f);
  CHECK(x.item<float>(1) == -2);
  CHECK(ktape::to_string(K::cast(K::constant({0.1, 2.5, 0.01}), "bfloat16")) ==
        "tensor([0.1 , 2.5 , 0.01], shape=(3,), dtype=bfloat16)");
}

TEST_CASE("bfloat16 is cast to every dtype by way of float32, and back") {
  const Tensor x = K::cast(K::constant({0., 1., -2.5, 300.}), "bfloat16");
  for (const char* dtype :
       {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}) {
    CAPTURE(std::string(dtype));
    const Tensor there = K::cast(x, dtype);
    CHECK(there.dtype() == dtype);
    CHECK(values(there) == values(K::cast(K::cast(x, "float32"), dtype)));
    CHECK(values(K::cast(there, "bfloat16")) == values(K::cast(K::cast(there, "float32"), "bfloat16")));
  }
  CHECK(K::cast(K::constant({1e30}), "bfloat16").item<float>(0) == static_cast<float>(bfloat16(1e30f)));
}

TEST_CASE("set_floatx takes bfloat16: tensors, variables and random numbers have the dtype") {
  K::set_floatx("bfloat16");
  CHECK(K::floatx() == "bfloat16");
  CHECK(K::ones({2}).dtype() == "bfloat16");
  CHECK(K::constant({1, 2}).dtype() == "bfloat16");
  CHECK(K::variable({1, 2}).dtype() == "bfloat16");
  CHECK(K::random_normal({2}, {}).dtype() == "bfloat16");
  CHECK(K::cast_to_floatx(xt::xarray<double>{1, 2}).dtype() == "bfloat16");
  CHECK(K::mean(K::constant({true, false, true, true})).item<float>() == 0.75f);
  K::set_floatx("float32");
}

TEST_CASE(
    "bfloat16 and another dtype in one op are an error that says how to convert; numbers fit or are "
    "refused") {
  const Tensor x = K::ones({2}, {.dtype = "bfloat16"}), y = K::ones({2});
  CHECK_THROWS_WITH_AS(x + y,
                       "[add] both tensors must have one dtype: received x=bfloat16, y=float32 "
                       "(K::cast(y, \"bfloat16\") converts)",
                       TypeError);
  CHECK_THROWS_WITH_AS(K::dot(y[{ktape::NewAxis}], K::ones({2, 2}, {.dtype = "bfloat16"})),
                       "[dot] both tensors must have one dtype: received x=float32, y=bfloat16 "
                       "(K::cast(y, \"float32\") converts)",
                       TypeError);
  CHECK_THROWS_WITH_AS(x + 1e39, "[add] a number must fit the tensor's dtype bfloat16: received number=1e+39",
                       TypeError);
  CHECK_THROWS_WITH_AS(ktape::gradcheck([](In in) { return in[0]; }, {x}), Contains("float64"), TypeError);
  CHECK(values(x + 1e38)[0] == static_cast<float>(bfloat16(1e38f)));
}

TEST_CASE("an update adds to variables of bfloat16 in float32, and rounds") {
  const Variable x = K::variable({1., 2., 3.}, {.dtype = "bfloat16"});
  K::update_add(x, 0.5);
  K::update_sub(x, K::ones({3}, {.dtype = "bfloat16"}));
  CHECK(values(x) == Values{0.5, 1.5, 2.5});
  K::moving_average_update(x, K::zeros({3}, {.dtype = "bfloat16"}), 0.5);
  CHECK(values(x) == Values{0.25, 0.75, 1.25});
}

TEST_CASE("results in bfloat16 have the same bits for any number of threads") {
  const int before = K::num_threads();
  const Tensor x = normal({300, 400}, 1, "bfloat16"), y = normal({400, 500}, 2, "bfloat16"),
               images = normal({8, 20, 20, 16}, 3, "bfloat16"),
               kernel = normal({3, 3, 16, 32}, 4, "bfloat16");
  const auto run = [&] {
    std::vector<Values> out;
    for (const Tensor& t : {K::softmax(x), K::sum(x, 0), K::tanh(x) * x, K::layer_normalization(x, {}, {}),
                            K::logsumexp(x, 0), K::pool2d(images, {2, 2})})
      out.push_back(values(t));
    if (products_keep_bits())
      for (const Tensor& t : {K::dot(x, y), K::conv2d(images, kernel)}) out.push_back(values(t));
    return out;
  };
  K::set_num_threads(1);
  const auto alone = run();
  for (const int threads : {2, 3}) {
    K::set_num_threads(threads);
    CHECK(run() == alone);
  }
  K::set_num_threads(before);
}

TEST_CASE(
    "products and convolutions of bfloat16 are those of float32, rounded, with and without instructions for "
    "them") {
  const auto product = [](const Tensor& x, const Tensor& y) { return K::batch_dot(x, y, {2, 1}); };
  const std::pair<const char*, Op> ops[] = {
      {"dot", [](In in) { return K::dot(in[0], in[1]); }},
      {"transposed",
       [](In in) { return K::matmul(in[1], in[0], {.transpose_a = true, .transpose_b = true}); }},
      {"batches", [&](In in) { return product(K::expand_dims(in[0], 0), K::expand_dims(in[1], 0)); }},
      {"convolution", [](In in) {
         return K::conv2d(K::reshape(in[0], {1, -1, 6, 8}), K::reshape(in[1], {-1, 3, 8, 16}),
                          {.padding = "same"});
       }}};
  for (const char* engine : {"onednn", "native", "xtensor"}) {
    CAPTURE(std::string(engine));
    if (const auto names = ktape::kernels::built_in_engines();
        std::find(names.begin(), names.end(), std::string(engine)) == names.end())
      continue;
    const ktape::op_helpers::EngineScope scope(engine);
    for (const ktape::Shape& shape : {ktape::Shape{1, 96}, {48, 48}, {96, 144}})
      for (const auto& [op, f] : ops) {
        const std::string name = op;  // macros of doctest take no structured bindings with clang 14
        CAPTURE(name);
        const Tensors half{normal(shape, 1, "bfloat16"), normal({shape[1], 48}, 2, "bfloat16")},
            wide = cast_all(half, "float32");
        CHECK(close_to_float32(f(half), f(wide), 1, 0.01));
        const Tensors got = slopes(f, half).first, want = slopes(f, wide).first;
        for (std::size_t i = 0; i < 2; ++i) CHECK(close_to_float32(got[i], want[i], 1, 1));
      }
  }
}
