// What a program selects away has no influence on gradients: functions of two tensors, of rows and of matrices, and every
// differentiable name of the backend API.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include "catalogue.hpp"
#include "untaken.hpp"

namespace K = ktape::backend;
namespace nn = ktape::nn;
namespace ops = ktape::ops;
using namespace untaken;

namespace {

struct Row2 {
  std::string name;
  Function2 f;
  double x = 0.7, y = 1.3;
};

std::vector<Row2> functions_of_two() {
  return {
      {"x + y", [](const Tensor& x, const Tensor& y) { return x + y; }},
      {"x - y", [](const Tensor& x, const Tensor& y) { return x - y; }},
      {"x y", [](const Tensor& x, const Tensor& y) { return x * y; }},
      {"x / y", [](const Tensor& x, const Tensor& y) { return x / y; }},
      {"ops::divide", [](const Tensor& x, const Tensor& y) { return ops::divide(x, y); }},
      {"divide_no_nan", [](const Tensor& x, const Tensor& y) { return ops::divide_no_nan(x, y); }},
      {"pow", [](const Tensor& x, const Tensor& y) { return K::pow(x, y); }},
      {"maximum", [](const Tensor& x, const Tensor& y) { return K::maximum(x, y); }},
      {"minimum", [](const Tensor& x, const Tensor& y) { return K::minimum(x, y); }},
      {"fmax", [](const Tensor& x, const Tensor& y) { return ops::fmax(x, y); }},
      {"fmin", [](const Tensor& x, const Tensor& y) { return ops::fmin(x, y); }},
      {"clip", [](const Tensor& x, const Tensor& y) { return K::clip(x + K::zeros_like(y), y - 2., y); }},
      {"mod", [](const Tensor& x, const Tensor& y) { return ops::mod(x, y); }},
      {"fmod", [](const Tensor& x, const Tensor& y) { return ops::fmod(x, y); }},
      {"arctan2", [](const Tensor& x, const Tensor& y) { return ops::arctan2(x, y); }},
      {"hypot", [](const Tensor& x, const Tensor& y) { return ops::hypot(x, y); }},
      {"logaddexp", [](const Tensor& x, const Tensor& y) { return ops::logaddexp(x, y); }},
      {"logaddexp2", [](const Tensor& x, const Tensor& y) { return ops::logaddexp2(x, y); }},
      {"gammainc", [](const Tensor& x, const Tensor& y) { return ops::gammainc(x, y); }},
      {"x log y", [](const Tensor& x, const Tensor& y) { return x * K::log(y); }},
      {"sqrt(x x + y y)", [](const Tensor& x, const Tensor& y) { return ops::sqrt(x * x + y * y); }},
      {"binary_crossentropy of logits",
       [](const Tensor& x, const Tensor& y) {
         const Tensor zero = K::zeros_like(x) + K::zeros_like(y);
         return K::binary_crossentropy(x + zero, y + zero, {.from_logits = true});
       }},
      {"binary_crossentropy", [](const Tensor& x, const Tensor& y) { return K::binary_crossentropy(x, y); },
       0.7, 0.4},
  };
}

/// Checks the gradients of f by both tensors, in all pairs of awkward numbers.
void check_pairs(const Row2& row, DType dtype) {
  Values xs, ys;
  for (const double x : awkward(dtype))
    for (const double y : awkward(dtype)) xs.push_back(x), ys.push_back(y);
  const auto untaken = static_cast<std::int64_t>(xs.size());
  const Tensors good{numbers({row.x}, dtype), numbers({row.y}, dtype)};
  const Tensors all{numbers(joined(xs, {row.x}), dtype), numbers(joined(ys, {row.y}), dtype)};
  const Tensor taken = K::arange(untaken + 1) >= untaken;
  const auto alone = [&](const Tensors& in) { return row.f(in[0], in[1]); };
  for (const std::size_t which : {0, 1}) {
    const Tensors found =
        gradients_of([&](const Tensors& in) { return K::where(taken, alone(in), 0.); }, all, which, 2);
    const Tensors expected = gradients_of(alone, good, which, 2);
    for (std::size_t order = 0; order < found.size(); ++order) {
      const std::string wrong = difference(found[order], expected[order], untaken);
      CHECK_MESSAGE(wrong.empty(), row.name, ", ", dtype, ", by argument ", which, ", order ", order + 1,
                    ": ", wrong);
    }
  }
}

/// Checks the gradients by an operand that all elements share, whether they are taken or not.
void check_shared(const Row2& row, DType dtype, bool first) {
  const Values bad = awkward(dtype);
  const auto untaken = static_cast<std::int64_t>(bad.size());
  const Tensor x = numbers(joined(bad, {first ? row.x : row.y}), dtype),
               good = numbers({first ? row.x : row.y}, dtype),
               shared = numbers({first ? row.y : row.x}, dtype);
  const Tensor taken = K::arange(untaken + 1) >= untaken;
  const auto alone = [&](const Tensors& in) { return first ? row.f(in[0], in[1]) : row.f(in[1], in[0]); };
  for (const std::size_t which : {0, 1}) {
    const Tensors found = gradients_of([&](const Tensors& in) { return K::where(taken, alone(in), 0.); },
                                       {x, shared}, which, 2);
    const Tensors expected = gradients_of(alone, {good, shared}, which, 2);
    for (std::size_t order = 0; order < found.size(); ++order) {
      const std::string wrong = difference(found[order], expected[order], which == 0 ? untaken : 0);
      CHECK_MESSAGE(wrong.empty(), row.name, ", ", dtype, ", by ", which == 0 ? "all" : "the shared one",
                    ", order ", order + 1, ": ", wrong);
    }
  }
}

/// Functions of the rows of a matrix with three columns.
std::vector<Row> functions_of_rows() {
  const Tensor target = K::constant({{0.2, 0.3, 0.5}});
  const auto like = [](const Tensor& t, const Tensor& x) {
    return K::broadcast_to(K::cast(t, x.dtype()), x.shape());
  };
  const auto classes = [](const Tensor& x) { return K::ones({x.shape()[0]}, {.dtype = "int64"}); };
  const auto loss = [=](auto f) { return [=](const Tensor& x) { return f(like(target, x), x); }; };
  const auto norm = [](double p) { return [p](const Tensor& x) { return ops::norm(x, p, 1); }; };
  const ktape::Axes axis = 1;
  return {
      {"sum", [=](const Tensor& x) { return K::sum(x, axis); }},
      {"mean", [=](const Tensor& x) { return K::mean(x, axis); }},
      {"var", [=](const Tensor& x) { return K::var(x, axis); }},
      {"std", [=](const Tensor& x) { return K::std(x, axis); }},
      {"K::norm", [=](const Tensor& x) { return K::norm(x, axis); }},
      {"norm 1", norm(1)},
      {"norm 3", norm(3)},
      {"norm 0.5", norm(0.5)},
      {"norm inf", norm(inf)},
      {"norm -inf", norm(-inf)},
      {"prod", [=](const Tensor& x) { return K::prod(x, axis); }},
      {"max", [=](const Tensor& x) { return K::max(x, axis); }},
      {"min", [=](const Tensor& x) { return K::min(x, axis); }},
      {"ptp", [=](const Tensor& x) { return ops::ptp(x, axis); }},
      {"logsumexp", [=](const Tensor& x) { return K::logsumexp(x, axis); }},
      {"ops::logsumexp", [=](const Tensor& x) { return ops::logsumexp(x, axis); }},
      {"cumsum", [](const Tensor& x) { return K::cumsum(x, 1); }},
      {"cumprod", [](const Tensor& x) { return K::cumprod(x, 1); }},
      {"softmax", [](const Tensor& x) { return K::softmax(x); }},
      {"softmax of two axes",
       [](const Tensor& x) {
         return K::squeeze(ops::softmax(K::expand_dims(x, 1), {1, 2}), 1);
       }},
      {"log_softmax", [](const Tensor& x) { return K::log_softmax(x); }},
      {"sparsemax", [](const Tensor& x) { return ops::sparsemax(x); }},
      {"l2_normalize", [](const Tensor& x) { return K::l2_normalize(x, 1); }},
      {"normalize", [](const Tensor& x) { return ops::normalize(x, 1, 3); }},
      {"x / sum", [=](const Tensor& x) { return x / K::sum(x, axis, true); }},
      {"x / norm", [=](const Tensor& x) { return x / K::norm(x, axis, true); }},
      {"standardized", [=](const Tensor& x) { return (x - K::mean(x, axis, true)) / K::std(x, axis, true); }},
      {"layer_normalization", [](const Tensor& x) { return K::layer_normalization(x, {}, {}); }},
      {"rms_normalization", [](const Tensor& x) { return ops::rms_normalization(x); }},
      {"nanmean", [=](const Tensor& x) { return ops::nanmean(x, axis); }},
      {"nanstd", [=](const Tensor& x) { return ops::nanstd(x, axis); }},
      {"nansum", [=](const Tensor& x) { return ops::nansum(x, axis); }},
      {"nanprod", [=](const Tensor& x) { return ops::nanprod(x, axis); }},
      {"nanmax", [=](const Tensor& x) { return ops::nanmax(x, axis); }},
      {"median", [=](const Tensor& x) { return ops::median(x, axis); }},
      {"quantile", [=](const Tensor& x) { return ops::quantile(x, 0.3, axis); }},
      {"sort", [](const Tensor& x) { return K::sort(x, 1); }},
      {"cross", [](const Tensor& x) { return ops::cross(x, x * x); }},
      {"diff", [](const Tensor& x) { return ops::diff(x); }},
      {"categorical_crossentropy", loss([](const Tensor& t, const Tensor& x) {
         return K::categorical_crossentropy(t, K::softmax(x) * 1.);
       })},
      {"categorical_crossentropy of logits", loss([](const Tensor& t, const Tensor& x) {
         return K::categorical_crossentropy(t, x, {.from_logits = true});
       })},
      {"sparse_categorical_crossentropy of logits",
       [=](const Tensor& x) {
         return K::sparse_categorical_crossentropy(classes(x), x, {.from_logits = true});
       }},
      {"mean_squared_error", loss(nn::losses::mean_squared_error)},
      {"mean_squared_logarithmic_error", loss(nn::losses::mean_squared_logarithmic_error)},
      {"log_cosh", loss(nn::losses::log_cosh)},
      {"huber", loss([](const Tensor& t, const Tensor& x) { return nn::losses::huber(t, x); })},
      {"poisson", loss(nn::losses::poisson)},
      {"kl_divergence", loss(nn::losses::kl_divergence)},
      {"cosine_similarity",
       loss([](const Tensor& t, const Tensor& x) { return nn::losses::cosine_similarity(t, x); })},
      {"binary_focal_crossentropy", loss([](const Tensor& t, const Tensor& x) {
         return nn::losses::binary_focal_crossentropy(t, x, {.from_logits = true});
       })},
  };
}

/// Checks the gradients of the rows that are taken, and of the others.
void check_rows(const Row& row, DType dtype) {
  const Values good_row{0.7, 1.3, 0.4};
  Values elements;
  for (const double a : awkward(dtype))
    for (const Values& more : {Values{a, 0.5, 2}, Values{a, a, a}, Values{2, -a, a}})
      elements = joined(elements, more);
  const auto untaken = static_cast<std::int64_t>(elements.size());
  const Tensor x = K::reshape(numbers(joined(elements, good_row), dtype), {-1, 3}),
               good = K::reshape(numbers(good_row, dtype), {1, 3});
  const auto alone = [&](const Tensors& in) { return row.f(in[0]); };
  const auto all = [&](const Tensors& in) {
    const Tensor y = alone(in), taken = K::arange(x.shape()[0]) >= untaken / 3;
    return K::where(y.ndim() == 1 ? taken : K::expand_dims(taken), y, 0.);
  };
  const Tensors found = gradients_of(all, {x}, 0, 2), expected = gradients_of(alone, {good}, 0, 2);
  for (std::size_t order = 0; order < found.size(); ++order) {
    const std::string wrong = difference(found[order], expected[order], untaken);
    CHECK_MESSAGE(wrong.empty(), row.name, ", ", dtype, ", order ", order + 1, ": ", wrong);
  }
}

}  // namespace

TEST_CASE("functions of two tensors in branches that are not taken have no gradient") {
  for (const DType dtype : both)
    for (const Row2& row : functions_of_two()) {
      check_pairs(row, dtype);
      check_shared(row, dtype, true), check_shared(row, dtype, false);
    }
}

TEST_CASE("reductions in branches that are not taken have no gradient") {
  for (const DType dtype : both)
    for (const Row& row : functions_of_rows()) check_rows(row, dtype);
}

TEST_CASE("functions of matrices in branches that are not taken have no gradient") {
  const Tensor x = doubles({{{0., 0.}, {0., 0.}}, {{1., 2.}, {2., 4.}}, {{2., 1.}, {1., 3.}}});
  const Tensor taken = K::arange(3) > 1, good = x[2];
  const std::vector<std::pair<std::string, Function>> rows{
      {"det", ops::det},
      {"logdet", ops::logdet},
      {"log(det)", [](const Tensor& x) { return K::log(ops::det(x)); }},
      {"1 / det", [](const Tensor& x) { return 1. / ops::det(x); }},
      {"nuclear norm",
       [](const Tensor& x) {
         return ops::norm(x, "nuc", {-2, -1});
       }},
      {"largest singular value",
       [](const Tensor& x) {
         return ops::norm(x, 2., {-2, -1});
       }},
      {"singular vectors",
       [](const Tensor& x) {
         return K::sum(K::square(ops::svd(x).u) * doubles({1., 2.}), {-2, -1});
       }},
      {"eigenvectors",
       [](const Tensor& x) {
         return K::sum(K::square(ops::eigh(x).v) * doubles({{1., 2.}, {3., 5.}}), {-2, -1});
       }},
      {"lu_factor",
       [](const Tensor& x) {
         return K::sum(K::square(ops::lu_factor(x).lu), {-2, -1});
       }},
      {"qr",
       [](const Tensor& x) {
         return K::sum(K::square(ops::qr(x).r), {-2, -1});
       }},
      {"pinv",
       [](const Tensor& x) {
         return K::sum(ops::pinv(x), {-2, -1});
       }},
  };
  for (const auto& [name, f] : rows) {
    CAPTURE(name);
    const auto all = [&, f = f](const Tensors& in) { return K::where(taken, f(in[0]), 0.); };
    const auto alone = [f = f](const Tensors& in) { return f(in[0]); };
    const Tensors found = gradients_of(all, {x}, 0, 1), expected = gradients_of(alone, {good}, 0, 1);
    CHECK(difference(found[0], expected[0], 8) == "");
  }
}

TEST_CASE("layers' parameters have no gradient from rows that are not taken") {
  const Tensor x = doubles({{not_a_number, 1., 2.}, {inf, 0., 1.}, {0.7, 1.3, 0.4}}),
               good = doubles({{0.7, 1.3, 0.4}});
  const Tensor gamma = doubles({1., 2., 3.}), taken = K::expand_dims(K::arange(3) > 1);
  const auto normalized = [](const Tensors& in) {
    return K::square(K::layer_normalization(in[0], in[1], {}));
  };
  const auto chosen = [&](const Tensors& in) { return K::where(taken, normalized(in), 0.); };
  const Tensors found = gradients_of(chosen, {x, gamma}, 1, 2),
                expected = gradients_of(normalized, {good, gamma}, 1, 2);
  for (const std::size_t order : {0, 1}) CHECK(difference(found[order], expected[order], 0) == "");
}

TEST_CASE("factors of products have no gradient from rows that are not taken") {
  const Tensor bad = doubles({{not_a_number, 1., 2.}, {inf, 0., 1.}, {0.7, 1.3, 0.4}}),
               good = doubles({{0.7, 1.3, 0.4}});
  const Tensor w = normal({3, 4}), taken = K::expand_dims(K::arange(3) > 1);
  const std::vector<std::pair<std::string, Function2>> products{
      {"dot", [](const Tensor& x, const Tensor& w) { return K::dot(x, w); }},
      {"matmul",
       [](const Tensor& x, const Tensor& w) {
         return K::matmul(x, K::permute_dimensions(w, {1, 0}), {.transpose_b = true});
       }},
      {"from the left",
       [](const Tensor& x, const Tensor& w) {
         return K::permute_dimensions(K::matmul(w, x, {.transpose_a = true, .transpose_b = true}), {1, 0});
       }},
      {"batch_dot",
       [](const Tensor& x, const Tensor& w) {
         return K::squeeze(K::batch_dot(K::expand_dims(x, 0), K::expand_dims(w, 0)), 0);
       }},
      {"einsum",
       [](const Tensor& x, const Tensor& w) {
         return ops::einsum("ij,jk->ik", {x, w});
       }},
  };
  for (const auto& [name, f] : products)
    for (const std::size_t which : {0, 1}) {
      const auto alone = [f = f](const Tensors& in) { return K::square(f(in[0], in[1])); };
      const auto all = [&](const Tensors& in) { return K::where(taken, alone(in), 0.); };
      const Tensors found = gradients_of(all, {bad, w}, which, 2),
                    expected = gradients_of(alone, {good, w}, which, 2);
      for (const std::size_t order : {0, 1})
        CHECK_MESSAGE(difference(found[order], expected[order], which == 0 ? 6 : 0) == "", name, ", by ",
                      which);
    }
}

TEST_CASE("no differentiable name has a gradient in a branch that is not taken") {
  for (const CatalogueRow& row : Catalogue::differentiable())
    for (const double bad : {0., inf, -inf, not_a_number})
      for (std::size_t which = 0; which < row.inputs.size(); ++which) {
        if (row.inputs[which].dtype() != DType::Float64) continue;
        Tensors in = row.inputs;
        in[which] = K::full(in[which].shape(), bad, "float64");
        GradientTape tape;
        for (const Tensor& x : in)
          if (x.dtype().is_floating()) tape.watch(x);
        Tensor y;
        try {
          y = row.f(in);
        } catch (const ktape::Error&) {
          continue;  // a number that the function refuses
        }
        if (!y.dtype().is_floating()) continue;
        Tensor loss = K::sum(K::where(K::zeros_like(y), y, 1.));
        for (int order = 1; order <= 2; ++order) {
          Tensor next = K::constant(0., {.dtype = "float64"});
          for (std::size_t i = 0; i < in.size(); ++i) {
            if (in[i].dtype() != DType::Float64) continue;
            const Tensor g = tape.gradient(loss, in[i], {.unconnected_gradients = "zero"});
            const bool none = !K::any(K::not_equal(g, 0)).item<bool>();
            CHECK_MESSAGE(none, row.name, " of ", bad, " in input ", which, ", by ", i, ", order ", order);
            next = next + K::sum(g * 0.5);
          }
          loss = next;
        }
      }
}
