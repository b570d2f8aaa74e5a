// What a program selects away has no influence on gradients, of any order: every differentiable function, at every
// awkward number, in every form of a branch. The elements that are taken have the gradients that they have alone.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "untaken.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using namespace untaken;

namespace {

/// A choice of the results y of the elements that are taken: the last ones.
struct Form {
  std::string name;
  std::function<Tensor(const Tensor& taken, const Tensor& y)> choose;
};

std::vector<Form> forms() {
  const auto places = [](const Tensor& taken) {
    std::vector<std::int64_t> at;
    for (std::int64_t i = 0; i < taken.size(); ++i)
      if (taken.pointer<bool>()[i]) at.push_back(i);
    return at;
  };
  return {
      {"K::where", [](const Tensor& t, const Tensor& y) { return K::where(t, y, K::zeros_like(y)); }},
      {"the other side", [](const Tensor& t, const Tensor& y) { return K::where(~t, 1., y); }},
      {"ops::where", [](const Tensor& t, const Tensor& y) { return ops::where(t, y, 0.); }},
      {"ops::select", [](const Tensor& t, const Tensor& y) { return ops::select({t}, {y}, 2.); }},
      {"a second choice",
       [](const Tensor& t, const Tensor& y) {
         return ops::select({~t, t}, {K::zeros_like(y), y}, 0.);
       }},
      {"K::switch_", [](const Tensor& t, const Tensor& y) { return K::switch_(t, y, K::zeros_like(y)); }},
      {"nested",
       [](const Tensor& t, const Tensor& y) { return K::where(t, K::where(t, y, 1.) * 2., 0.) / 2.; }},
      {"gather", [=](const Tensor& t,
                     const Tensor& y) { return K::gather(y, K::constant(places(t), {.dtype = "int64"})); }},
      {"slice",
       [=](const Tensor& t, const Tensor& y) { return y[{ktape::Slice(places(t).front(), ktape::None)}]; }},
      {"a product with the mask", [](const Tensor& t, const Tensor& y) { return y * K::cast(t, y.dtype()); }},
  };
}

/// What may follow a function before the choice.
struct Next {
  std::string name;
  std::function<Tensor(const Tensor& x, const Tensor& y)> f;
};
std::vector<Next> next() {
  return {
      {"y", [](const Tensor&, const Tensor& y) { return y; }},
      {"y y", [](const Tensor&, const Tensor& y) { return y * y; }},
      {"x y", [](const Tensor& x, const Tensor& y) { return x * y; }},
      {"y / x", [](const Tensor& x, const Tensor& y) { return y / x; }},
      {"x / y", [](const Tensor& x, const Tensor& y) { return x / (y + 3.); }},
      {"1 / y", [](const Tensor&, const Tensor& y) { return 1. / (y + 3.); }},
      {"exp(y)", [](const Tensor&, const Tensor& y) { return K::exp(y); }},
      {"log(y y)", [](const Tensor&, const Tensor& y) { return K::log(y * y + 1.); }},
      {"sqrt(y y)", [](const Tensor&, const Tensor& y) { return ops::sqrt(y * y + 1.); }},
      {"y - y", [](const Tensor&, const Tensor& y) { return y * y - y; }},
      {"infinite factor", [](const Tensor&, const Tensor& y) { return K::where(y > -1e3, y, y * inf); }},
      {"division by zero", [](const Tensor&, const Tensor& y) { return K::where(y > -1e3, y, y / 0.); }},
  };
}

/// The functions of one tensor, with numbers at which they are smooth.
std::vector<Row> functions() {
  const auto pow_of = [](double a) { return [a](const Tensor& x) { return K::pow(x, a); }; };
  const auto to_pow = [](double base) { return [base](const Tensor& a) { return K::pow(base, a); }; };
  return {
      {"K::sqrt", K::sqrt},
      {"ops::sqrt", ops::sqrt},
      {"rsqrt", ops::rsqrt},
      {"cbrt", ops::cbrt},
      {"reciprocal", ops::reciprocal},
      {"1 / x", [](const Tensor& x) { return 1. / x; }},
      {"x / 2", [](const Tensor& x) { return x / 2.; }},
      {"3 - x", [](const Tensor& x) { return 3. - x; }},
      {"square", K::square},
      {"exp", K::exp},
      {"exp2", ops::exp2},
      {"expm1", K::expm1},
      {"log", K::log},
      {"ops::log", ops::log},
      {"log2", ops::log2},
      {"log10", ops::log10},
      {"log1p", K::log1p},
      {"sin", K::sin},
      {"cos", K::cos},
      {"tan", ops::tan},
      {"arcsin", ops::arcsin},
      {"arccos", ops::arccos},
      {"arctan", ops::arctan},
      {"sinh", ops::sinh},
      {"cosh", ops::cosh},
      {"tanh", K::tanh},
      {"arcsinh", ops::arcsinh},
      {"arccosh", ops::arccosh, {1.5}},
      {"arctanh", ops::arctanh},
      {"sinc", ops::sinc},
      {"erf", K::erf},
      {"erfc", ops::erfc},
      {"erfinv", ops::erfinv, {0.3}},
      {"i0", ops::i0},
      {"abs", K::abs},
      {"sign", [](const Tensor& x) { return K::sign(x) * x; }},
      {"clip", [](const Tensor& x) { return K::clip(x, -2, 2); }},
      {"nan_to_num", [](const Tensor& x) { return ops::nan_to_num(x); }},
      {"deg2rad", ops::deg2rad},
      {"x^0", pow_of(0)},
      {"x^0.5", pow_of(0.5)},
      {"x^-1", pow_of(-1)},
      {"x^-0.5", pow_of(-0.5)},
      {"x^2", pow_of(2)},
      {"x^3", pow_of(3)},
      {"x^40", pow_of(40)},
      {"x^1e4", pow_of(1e4)},
      {"x^inf", pow_of(inf)},
      {"2^x", to_pow(2)},
      {"0^x", to_pow(0)},
      {"x^x", [](const Tensor& x) { return K::pow(x, x); }},
      {"x log x", [](const Tensor& x) { return x * K::log(x); }},
      {"x (1 / x)", [](const Tensor& x) { return x * (1. / x); }},
      {"logit", [](const Tensor& x) { return K::log(x / (1. - x)); }},
      {"x / |x|", [](const Tensor& x) { return x * x / K::abs(x); }},
      {"relu", [](const Tensor& x) { return K::relu(x); }},
      {"relu6", ops::relu6},
      {"relu with options",
       [](const Tensor& x) { return K::relu(x, {.alpha = 0.1, .max_value = 50, .threshold = 0.25}); }},
      {"leaky_relu", [](const Tensor& x) { return ops::leaky_relu(x); }},
      {"elu", [](const Tensor& x) { return K::elu(x); }},
      {"celu", [](const Tensor& x) { return ops::celu(x); }, {-0.7}},
      {"selu", ops::selu, {-0.7}},
      {"gelu", [](const Tensor& x) { return K::gelu(x); }},
      {"gelu tanh", [](const Tensor& x) { return ops::gelu(x); }},
      {"K::sigmoid", K::sigmoid},
      {"log_sigmoid", ops::log_sigmoid},
      {"silu", ops::silu},
      {"mish", nn::activations::mish},
      {"hard_sigmoid", ops::hard_sigmoid},
      {"K::hard_sigmoid", K::hard_sigmoid},
      {"hard_silu", ops::hard_silu},
      {"hard_tanh", ops::hard_tanh},
      {"hard_shrink", [](const Tensor& x) { return ops::hard_shrink(x); }},
      {"soft_shrink", [](const Tensor& x) { return ops::soft_shrink(x); }},
      {"tanh_shrink", ops::tanh_shrink},
      {"threshold", [](const Tensor& x) { return ops::threshold(x, 0.5, 3); }},
      {"softplus", K::softplus},
      {"softsign", K::softsign},
      {"squareplus", [](const Tensor& x) { return ops::squareplus(x); }},
      {"squareplus of 0", [](const Tensor& x) { return ops::squareplus(x, 0); }},
      {"sparse_plus", ops::sparse_plus},
      {"sparse_sigmoid", ops::sparse_sigmoid},
      {"stop_gradient", [](const Tensor& x) { return x * K::stop_gradient(1. / x); }},
  };
}

/// Checks the gradients of f by x, of the first orders, behind the choice.
void check_row(const Row& row, const Form& form, const Next& follows, DType dtype, int orders) {
  const Values bad = awkward(dtype);
  const auto untaken = static_cast<std::int64_t>(bad.size());
  const Tensor x = numbers(joined(bad, row.good), dtype), good = numbers(row.good, dtype);
  const Tensor taken = K::arange(x.size()) >= untaken;
  const auto all = [&](const Tensors& in) { return form.choose(taken, follows.f(in[0], row.f(in[0]))); };
  const auto alone = [&](const Tensors& in) { return follows.f(in[0], row.f(in[0])); };
  const Tensors found = gradients_of(all, {x}, 0, orders), expected = gradients_of(alone, {good}, 0, orders);
  for (std::size_t order = 0; order < found.size(); ++order) {
    const std::string wrong = difference(found[order], expected[order], untaken);
    CHECK_MESSAGE(wrong.empty(), row.name, ", ", follows.name, ", ", form.name, ", ", dtype, ", order ",
                  order + 1, ": ", wrong);
  }
}

}  // namespace

TEST_CASE("functions of one tensor in branches that are not taken have no gradient, of any order") {
  for (const DType dtype : both)
    for (const Row& row : functions())
      for (const Form& form : forms()) check_row(row, form, next()[0], dtype, 3);
}

TEST_CASE("chains of functions in branches that are not taken have no gradient, of any order") {
  for (const DType dtype : both)
    for (const Row& row : functions())
      for (const Next& follows : next()) check_row(row, forms()[0], follows, dtype, 3);
}

TEST_CASE("functions of functions in branches that are not taken have no gradient") {
  const std::vector<Row> rows = functions();
  for (const Row& inner : rows)
    for (const Row& outer : rows) {
      const Row both_of{inner.name, [&](const Tensor& x) { return outer.f(K::abs(inner.f(x)) * 0.1 + 0.55); },
                        inner.good};
      if (std::isfinite(values(both_of.f(numbers(inner.good, "float64")))[0]) && outer.name != "arccosh")
        check_row(both_of, forms()[0], {outer.name, next()[0].f}, "float64", 2);
    }
}

TEST_CASE("half precision in branches that are not taken has no gradient") {
  for (const DType dtype : {DType::Float16, DType::BFloat16})
    for (const Row& row : functions()) {
      const Values bad{0, 1, -1, 2, 6e4, inf, -inf, not_a_number};
      const Tensor x = numbers(joined(bad, row.good), dtype);
      const Tensor taken = K::arange(x.size()) >= 8;
      for (const Tensor& g :
           gradients_of([&](const Tensors& in) { return K::where(taken, row.f(in[0]), 0.); }, {x}, 0, 2)) {
        const Values found = values(K::cast(g, "float64"));
        for (std::size_t i = 0; i < bad.size(); ++i) CHECK_MESSAGE(found[i] == 0, row.name, ", ", dtype);
        CHECK_MESSAGE(std::isfinite(found[8]), row.name, ", ", dtype);
      }
    }
}

TEST_CASE("graphs do not differentiate branches that are not taken") {
  for (const Row& row : functions()) {
    const Values bad = awkward("float64");
    const Tensor x = numbers(joined(bad, row.good), "float64"), good = numbers(row.good, "float64");
    const Tensor taken = K::arange(x.size()) >= static_cast<std::int64_t>(bad.size());
    const Tensor in = K::placeholder({.shape = {{ktape::None}}, .dtype = "float64"}),
                 choice = K::placeholder({.shape = {{ktape::None}}, .dtype = "bool"});
    const Tensor first = K::gradients(K::sum(K::where(choice, row.f(in), K::zeros_like(in))), {in})[0];
    if (!first.defined()) continue;
    const Tensor second = K::gradients(K::sum(K::square(first)), {in})[0];
    if (!second.defined()) continue;
    const auto f = K::function({in, choice}, {first, second});
    const Tensors found = f({x, taken}), expected = f({good, K::ones({1}, {.dtype = "bool"})});
    for (std::size_t order = 0; order < 2; ++order) {
      const std::string wrong =
          difference(found[order], expected[order], static_cast<std::int64_t>(bad.size()));
      CHECK_MESSAGE(wrong.empty(), row.name, ", order ", order + 1, ": ", wrong);
    }
  }
}

TEST_CASE(
    "the derivative of a gradient by what the gradient is multiplied with is the slope, also beside 0") {
  for (const Row& row : functions()) {
    const Values bad = awkward("float64");
    const auto untaken = static_cast<std::int64_t>(bad.size());
    const Tensor x = numbers(joined(bad, row.good), "float64"), good = numbers(row.good, "float64");
    const Tensor taken = K::arange(x.size()) >= untaken;
    const Tensor expected = gradients_of([&](const Tensors& in) { return row.f(in[0]); }, {good}, 0, 1)[0];
    for (const double weight : {0., 2.})
      for (const bool inside : {true, false}) {
        const Tensor w = K::full(x.shape(), weight, "float64");
        GradientTape tape;
        tape.watch({x, w});
        const Tensor y = inside ? K::where(taken, w * row.f(x), 0.) : w * K::where(taken, row.f(x), 0.);
        const Tensor g = tape.gradient(K::sum(y), x, {.unconnected_gradients = "zero"});
        const Tensor mixed = tape.gradient(K::sum(g), w, {.unconnected_gradients = "zero"});
        const std::string wrong = difference(mixed, expected, untaken);
        CHECK_MESSAGE(wrong.empty(), row.name, ", w = ", weight, ": ", wrong);
      }
  }
}

TEST_CASE("a weight of 0 is a branch that is not taken; its own gradient is the function's") {
  const Tensor x = doubles({0., 4., 9.}), w = doubles({0., 0., 2.});
  GradientTape tape;
  tape.watch({x, w});
  const Tensor g = tape.gradient(K::sum(w * ops::sqrt(x)), x);
  CHECK(values(g) == Values{0, 0, 1 / 3.});
  CHECK(values(tape.gradient(K::sum(g), w)) == Values{inf, 0.25, 1 / 6.});
  CHECK(close(values(tape.gradient(K::sum(g), x)), Values{0, 0, -2 / 108.}));
}

TEST_CASE("jacobians, hessians and products with them leave out branches that are not taken") {
  const auto root = [](const Tensor& x) { return K::where(x > 0, ops::sqrt(x), K::zeros_like(x)); };
  const Tensor x = doubles({0., 4., -1.});
  CHECK(values(ops::jacobian(root, x)) == Values{0, 0, 0, 0, 0.25, 0, 0, 0, 0});
  CHECK(values(ops::hessian([=](const Tensor& x) { return K::sum(root(x)); }, x)) ==
        Values{0, 0, 0, 0, -1 / 32., 0, 0, 0, 0});
  CHECK(values(ops::jvp(root, x, doubles({1., 1., 1.})).second) == Values{0, 0.25, 0});
  CHECK(values(ops::hessian(
            [](const Tensor& x) { return K::sum(K::where(x[0] > 1, K::log(x[1]) * x[0], x[0] * x[0])); },
            doubles({0.5, 0.}))) == Values{2, 0, 0, 0});
}

TEST_CASE("infinite sides of maximum, minimum, clip and max have no gradient") {
  const Tensor x = doubles({0., 2.});
  const auto both_orders = [&](const Function& f) {
    const Tensors found = gradients_of([&](const Tensors& in) { return f(in[0]); }, {x}, 0, 2);
    return joined(values(found[0]), values(found[1]));
  };
  CHECK(both_orders([](const Tensor& x) { return K::maximum(K::log(x), -5); }) == Values{0, 0.5, 0, -0.125});
  CHECK(both_orders([](const Tensor& x) { return K::maximum(-5, K::log(x)); }) == Values{0, 0.5, 0, -0.125});
  CHECK(both_orders([](const Tensor& x) { return K::minimum(1. / x, 3); }) == Values{0, -0.25, 0, 0.125});
  CHECK(both_orders([](const Tensor& x) { return K::clip(1. / x, -3, 3); }) == Values{0, -0.25, 0, 0.125});
  CHECK(both_orders([](const Tensor& x) { return K::clip(K::log(x), -3, 3); }) == Values{0, 0.5, 0, -0.125});
  CHECK(both_orders([](const Tensor& x) { return K::relu(K::log(x)); }) == Values{0, 0.5, 0, -0.125});
  CHECK(both_orders([](const Tensor& x) { return ops::fmax(K::log(x), -5); }) == Values{0, 0.5, 0, -0.125});
  CHECK(both_orders([](const Tensor& x) { return K::max(K::log(x)); }) == Values{0, 0.5, 0, -0.125});
  CHECK(both_orders([](const Tensor& x) { return K::min(1. / x); }) == Values{0, -0.25, 0, 0.125});
  CHECK(both_orders([](const Tensor& x) { return ops::nan_to_num(1. / x); }) == Values{0, -0.25, 0, 0.125});
}

TEST_CASE("an infinite number is a factor and a divisor like others") {
  const Tensor x = doubles({0., 1., 2.}), taken = x > 1;
  const auto gradient = [&](const Function& f) {
    return values(
        gradients_of([&](const Tensors& in) { return K::where(taken, f(in[0]), 1.); }, {x}, 0, 1)[0]);
  };
  CHECK(gradient([](const Tensor& x) { return x * inf; }) == Values{0, 0, inf});
  CHECK(gradient([](const Tensor& x) { return -inf * x; }) == Values{0, 0, -inf});
  CHECK(gradient([](const Tensor& x) { return x / 0.; }) == Values{0, 0, inf});
  CHECK(gradient([](const Tensor& x) { return x / inf; }) == Values{0, 0, 0});
  CHECK(values(doubles({1., -2.}) * inf) == Values{inf, -inf});
  CHECK(values(doubles({1., -2.}) / 0.) == Values{inf, -inf});
}

TEST_CASE("slopes that are infinite, and NaN, stay in branches that are taken") {
  const auto at = [](const Function& f, double x) { return values(slope(f, doubles({x})))[0]; };
  const auto is_nan_at = [&](const Function& f, double x) { return std::isnan(at(f, x)); };
  CHECK(at(K::sqrt, 0) == inf);
  CHECK(at(ops::sqrt, 0) == inf);
  CHECK(at(ops::rsqrt, 0) == -inf);
  CHECK(at(ops::cbrt, 0) == inf);
  CHECK(at(K::log, 0) == inf);
  CHECK(at(ops::log2, 0) == inf);
  CHECK(at(K::log1p, -1) == inf);
  CHECK(at([](const Tensor& x) { return 1. / x; }, 0) == -inf);
  CHECK(at([](const Tensor& x) { return K::pow(x, 0.5); }, 0) == inf);
  CHECK(at([](const Tensor& x) { return K::pow(x, -1); }, 0) == -inf);
  CHECK(at(ops::arcsin, 1) == inf);
  CHECK(at(ops::arccos, 1) == -inf);
  CHECK(at(ops::arccosh, 1) == inf);
  CHECK(at(ops::arctanh, 1) == inf);
  CHECK(at(ops::erfinv, 1) == inf);
  CHECK(at(K::exp, inf) == inf);
  CHECK(is_nan_at(K::exp, not_a_number));
  CHECK(is_nan_at(ops::sqrt, not_a_number));
  CHECK(is_nan_at(K::log, not_a_number));
  CHECK(is_nan_at(K::square, not_a_number));
  CHECK(is_nan_at(ops::sqrt, -1));
  CHECK(is_nan_at([](const Tensor& x) { return K::log(x * x); },
                  0));  // the product of an infinite and a zero slope
  CHECK(is_nan_at([](const Tensor& x) { return x * not_a_number; }, 1));
  CHECK(std::isnan(values(slope(
      [](const Tensor& x) {
        return K::softmax(x) * doubles({1., 2.});
      },
      doubles({not_a_number, 1.})))[0]));
  const Tensor second =
      gradients_of([](const Tensors& in) { return ops::sqrt(in[0]); }, {doubles({0., 4.})}, 0, 2)[1];
  CHECK(values(second)[0] == -inf);
  CHECK(values(second)[1] == -1 / 64.);
}
