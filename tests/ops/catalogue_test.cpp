// The gradients of every differentiable name of the backend API against central differences, of first and
// second order, for every subset of the inputs. names_test.cpp checks that none is missing.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "catalogue.hpp"

#include <limits>

namespace K = ktape::backend;
using ktape::Tensor;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// Returns numbers at which exponentials overflow, underflow or are nearly 1.
Tensor saturating() { return doubles({{-700., -40., -1e-3}, {0., 40., 700.}}); }
/// Returns rows of scores: far apart, tied, infinite.
Tensor scores() { return doubles({{-1000., 0., 1000.}, {3., 3., 3.}, {-inf, 2., 2.}, {-inf, -inf, 5.}}); }
Tensor near_zero() { return doubles({{1e-3, 2e-3, 1e-2}, {5e-3, 3e-3, 4e-3}}); }
/// Returns rows with no zero, one zero, several zeros and only zeros.
Tensor zeros_among() { return doubles({{2., -3., .5}, {0., 2., 3.}, {0., 4., 0.}, {0., 0., 0.}}); }
/// Returns rows with two largest and two smallest elements; infinities.
Tensor tied() { return doubles({{2., 2., -1., -1.}, {7., -3., 7., -3.}, {-inf, 1., inf, 0.}}); }
/// Samples with no variance, or almost none.
Tensor constant_rows() { return doubles({{5., 5., 5.}, {-2., -2., -2.}, {1., 1.001, 1.002}}); }
/// Probabilities next to 0 and 1, and at them.
Tensor nearly_certain() { return doubles({{1e-3, 1 - 2e-3, 1e-3}, {2e-3, 2e-3, 1 - 4e-3}}); }
Tensor certain() { return doubles({{0., 1., 0.}, {1., 0., 0.}}); }

Catalogue::Rows awkward_gradients() {
  const Tensor labels = K::constant({1, 2}, {.dtype = "int32"});
  const auto sparse = [labels](bool from_logits) {
    return [=](In in) {
      return K::sparse_categorical_crossentropy(labels, in[0], {.from_logits = from_logits});
    };
  };
  const auto categorical =
      of2([](const Tensor& t, const Tensor& o) { return K::categorical_crossentropy(t, o); });
  const auto binary = [](In in) { return K::binary_crossentropy(certain(), in[0]); };
  // clang-format off
  return {
      {"exp", of(K::exp), {saturating() - 700.}},
      {"sigmoid", of(K::sigmoid), {saturating()}},
      {"tanh", of(K::tanh), {saturating()}},
      {"softplus", of(K::softplus), {saturating()}},
      {"softsign", of(K::softsign), {saturating() + 1.}},
      {"elu", [](In in) { return K::elu(in[0], 1.5); }, {saturating() + 1.}},
      {"erf", of(K::erf), {saturating()}},
      {"gelu", [](In in) { return K::gelu(in[0]); }, {saturating()}},
      {"gelu", [](In in) { return K::gelu(in[0], {.approximate = true}); }, {saturating()}},
      {"sqrt", of(K::sqrt), {near_zero()}},
      {"log", of(K::log), {near_zero()}},
      {"operator /", of2([](const Tensor& x, const Tensor& y) { return x / y; }), {doubles({{0., 1., -1e-3}, {2., -3., 0.}}), near_zero()}},
      {"pow", of2(K::pow), {doubles({0., 1e-3, 0., 2.}), doubles({3., 2., 2., 0.})}},
      {"pow", [](In in) { return K::pow(in[0], -2); }, {near_zero()}},
      {"where", [](In in) { return K::where(in[0] < 1.5, in[0], K::log(in[1])); }, {tied(), doubles({2., 1., 1e-3, 3.})}},
      {"prod", [](In in) { return K::prod(in[0], 1); }, {zeros_among()}},
      {"prod", [](In in) { return K::prod(in[0], 0); }, {zeros_among()}},
      {"cumprod", [](In in) { return K::cumprod(in[0], 1); }, {zeros_among()}},
      {"max", [](In in) { return K::max(in[0], 1); }, {tied()}, 1e-6, false},
      {"min", [](In in) { return K::min(in[0], 1); }, {tied()}, 1e-6, false},
      {"logsumexp", [](In in) { return K::logsumexp(in[0], 1); }, {scores()}},
      {"logsumexp", [](In in) { return K::logsumexp(in[0]); }, {scores()}},
      {"softmax", [](In in) { return K::softmax(in[0]); }, {scores()}},
      {"softmax", [](In in) { return K::softmax(in[0], 0); }, {saturating()}},
      {"log_softmax", [](In in) { return K::log_softmax(in[0]); }, {saturating()}},
      {"var", [](In in) { return K::var(in[0], 1); }, {constant_rows()}},
      {"std", [](In in) { return K::std(in[0], 1); }, {constant_rows()[{2}].detach().alias({1, 3})}},
      {"norm", [](In in) { return K::norm(in[0], 1); }, {near_zero()}},
      {"l2_normalize", [](In in) { return K::l2_normalize(in[0], 1); }, {near_zero()}},
      {"l2_normalize", [](In in) { return K::l2_normalize(in[0]); }, {doubles({0., 1e-8, -1e-7})}, 1e-9},
      {"layer_normalization", [](In in) { return K::layer_normalization(in[0], in[1], in[2]); },
       {constant_rows(), normal({3}, 2), normal({3}, 3)}},
      {"normalize_batch_in_training",
       [](In in) { return K::normalize_batch_in_training(in[0], in[1], in[2], {1}).normalized; },
       {constant_rows(), normal({3}, 2), normal({3}, 3)}},
      {"batch_normalization",
       [](In in) { return K::batch_normalization(in[0], in[1], K::square(in[2]), in[3], in[4]); },
       {constant_rows(), doubles({5., 0., -5.}), doubles({0., 1e-3, 1e3}), normal({3}, 4), normal({3}, 5)}},
      {"categorical_crossentropy", categorical, {random_probabilities({2, 3}), nearly_certain()}},
      {"categorical_crossentropy", categorical, {certain(), certain()}, 1e-9, false},
      {"categorical_crossentropy",
       of2([](const Tensor& t, const Tensor& o) { return K::categorical_crossentropy(t, o, {.from_logits = true}); }),
       {random_probabilities({2, 3}), saturating()}},
      {"categorical_crossentropy", of2([](const Tensor& t, const Tensor& o) { return K::categorical_crossentropy(t, K::softmax(o)); }),
       {random_probabilities({2, 3}), saturating()}},
      {"sparse_categorical_crossentropy", sparse(false), {nearly_certain()}},
      {"sparse_categorical_crossentropy", sparse(false), {certain()}, 1e-9, false},
      {"sparse_categorical_crossentropy", sparse(true), {saturating()}},
      {"binary_crossentropy", binary, {nearly_certain()}},
      {"binary_crossentropy", binary, {certain()}, 1e-9, false},
      {"binary_crossentropy", of2([](const Tensor& t, const Tensor& o) { return K::binary_crossentropy(t, K::sigmoid(o)); }),
       {random_probabilities({2, 3}), saturating()}},
  };
  // clang-format on
}

void check(const Catalogue::Rows& rows) {
  for (const CatalogueRow& g : rows) {
    CAPTURE(g.name);
    const auto report = ktape::gradcheck(
        g.f, g.inputs,
        {.epsilon = g.step, .rtol = 1e-4, .atol = 1e-5, .second_order = g.second_order, .op = g.name});
    CHECK_MESSAGE(report.ok, report.message);
  }
}
}  // namespace

TEST_CASE("every differentiable name agrees with central differences, of first and second order") {
  check(Catalogue::differentiable());
}

TEST_CASE("gradients at kinks, ties, saturation and infinities equal one-sided differences") {
  check(awkward_gradients());
}
