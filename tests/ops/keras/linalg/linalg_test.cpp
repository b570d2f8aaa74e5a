#include <doctest/doctest.h>
#include <ktape/ops/elementwise.hpp>
#include <ktape/ops/indexing.hpp>
#include <ktape/ops/keras/core/core.hpp>
#include <ktape/ops/keras/linalg/linalg.hpp>
#include <ktape/ops/keras/linalg/products.hpp>
#include <ktape/ops/keras/nn/layers.hpp>
#include <ktape/ops/keras/numpy/creation.hpp>
#include <ktape/ops/keras/numpy/shape.hpp>
#include <ktape/ops/linalg/linalg.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "../../catalogue.hpp"

#include <cmath>
#include <vector>

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::LinAlgError, ktape::Shape, ktape::Tensor, ktape::ValueError;

namespace {

/// Regular matrices, away from singular ones.
Tensor regular() { return normal({2, 3, 3}, 3) + 3. * ops::eye(3, {}, 0, "float64"); }
Tensor transposed(const Tensor& x) { return ops::swapaxes(x, -1, -2); }
/// Matrices with a large diagonal, which are regular for any x.
Tensor dominant(const Tensor& x) { return x + ops::tril(ops::triu(K::exp(x))) * 30.; }
/// Symmetric positive definite matrices with distinct eigenvalues, made of any x.
Tensor definite(const Tensor& x) { return K::matmul(x, transposed(x)) + ops::diag(doubles({1., 2., 3.})); }

/// A matrix with two complex eigenvalues and a real one.
Tensor spiral() { return doubles({{1., -9., 0.}, {8., 2., 1.}, {0., 0., 6.}}); }

}  // namespace

TEST_CASE("ops: factors multiply to the matrix") {
  const Tensor x = regular();
  const auto close_to = [](const Tensor& got, const Tensor& want) {
    return close(got, want, {.rtol = 1e-10, .atol = 1e-10});
  };
  const auto [q, r] = ops::qr(x);
  CHECK(close_to(K::matmul(q, r), x));
  const auto [u, s, vh] = ops::svd(x, false);
  CHECK(close_to(K::matmul(u * K::expand_dims(s, -2), vh), x));
  const Tensor a = definite(x), l = ops::cholesky(a);
  CHECK(close_to(K::matmul(l, transposed(l)), a));
  CHECK(close_to(K::matmul(ops::cholesky_inverse(l), a), ops::eye(3, {}, 0, "float64") + K::zeros_like(a)));
  const auto [w, v] = ops::eigh(a);
  CHECK(close_to(K::matmul(v * K::expand_dims(w, -2), transposed(v)), a));
  CHECK(close_to(K::matmul(x, ops::inv(x)), ops::eye(3, {}, 0, "float64") + K::zeros_like(x)));
  CHECK(close_to(ops::det(x), ops::slogdet(x).sign * K::exp(ops::logdet(x))));
  CHECK(close_to(ops::matrix_power(x, -2), ops::inv(K::matmul(x, x))));
  CHECK(values(ops::matrix_rank(x)) == Values{3, 3});
  CHECK(ops::solve(K::cast(x, "float16"), K::ones({2, 3, 1}, {.dtype = "float16"})).dtype() == "float16");
  CHECK(ops::det(ints({{2, 0}, {0, 3}})).item() == doctest::Approx(6));
}

TEST_CASE("ops: eigenvectors of a general matrix, complex ones as conjugate pairs") {
  const auto [wr, wi, vr, vi] = ops::eig(doubles({{0., -1.}, {1., 0.}}));
  CHECK(values(wr)[0] == doctest::Approx(0));
  CHECK(values(wi)[0] == doctest::Approx(-values(wi)[1]));
  CHECK(std::fabs(values(wi)[0]) == doctest::Approx(1));
  for (std::size_t row : {0, 2}) {
    CHECK(values(vr)[row] == doctest::Approx(values(vr)[row + 1]));
    CHECK(values(vi)[row] == doctest::Approx(-values(vi)[row + 1]));
  }
}

TEST_CASE("ops: eigenvalues and singular values of matrices that are not finite are errors") {
  const std::string rule = "a matrix must have finite elements for which the iteration converges";
  for (const char* dtype : {"float32", "float64"})
    for (const double odd : {std::nan(""), double(INFINITY), -double(INFINITY)})
      for (const std::size_t at : {0, 1, 2}) {
        std::vector<double> diagonal(3);
        diagonal[at] = odd;
        const Tensor x = normal({3, 3}, 1, dtype) + ops::diag(K::constant(diagonal, {.dtype = dtype}));
        CHECK_THROWS_WITH_AS(ops::eig(x), ("[eig] " + rule + ": received the only matrix").c_str(),
                             LinAlgError);
        CHECK_THROWS_WITH_AS(ops::eigh(x), ("[eigh] " + rule + ": received the only matrix").c_str(),
                             LinAlgError);
        CHECK_THROWS_WITH_AS(ops::svd(x), ("[svd] " + rule + ": received the only matrix").c_str(),
                             LinAlgError);
      }
}

TEST_CASE("ops: determinants of singular matrices have derivatives of the second order") {
  const auto second = [](const Tensor& x) {
    return K::reshape(ops::hessian([](const Tensor& v) { return ops::det(v); }, x), {-1});
  };
  const Values of_two{0, 0, 0, 1, 0, 0, -1, 0, 0, -1, 0, 0, 1, 0, 0, 0};  // det = a d - b c
  for (const Tensor& x :
       {doubles({{1., 2.}, {2., 4.}}), doubles({{0., 0.}, {0., 0.}}), doubles({{1., 0.}, {0., 1.}}),
        doubles({{.1, .2}, {.3, .6}}), doubles({{1., 1.}, {1., 1.}})})
    CHECK(close(values(second(x)), of_two, {.rtol = 1e-12, .atol = 1e-12}));
  CHECK(values(second(doubles({{0.}}))) == Values{0});
  const Tensor ranks[] = {K::zeros({3, 3}, {.dtype = "float64"}), K::ones({3, 3}, {.dtype = "float64"}),
                          doubles({{1., 2., 3.}, {4., 5., 6.}, {5., 7., 9.}}),
                          ops::diag(doubles({2., 2., 0.})), ops::diag(doubles({2., 0., 0.}))};
  for (const Tensor& x : ranks) check_gradients("det", [](In in) { return ops::det(in[0]); }, {x});
  // A batch with singular and regular matrices, and matrices larger than those whose cofactors are always expanded.
  check_gradients("det", [](In in) { return ops::det(in[0]); }, {K::stack({ranks[2], regular()[0]}, 0)});
  Values diagonal(10, 1.5);
  diagonal[3] = 0;
  check_gradients("det", [](In in) { return ops::det(in[0]); }, {ops::diag(doubles(diagonal))});
  // The third order of a product of four numbers on the diagonal.
  const Tensor third = slope(
      [&](const Tensor& v) {
        return K::sum(slope(
            [](const Tensor& w) {
              return slope([](const Tensor& u) { return ops::det(ops::diag(u)); }, w)[0];
            },
            v)[1]);
      },
      K::zeros({3}, {.dtype = "float64"}));
  CHECK(values(third) == Values{0, 0, 1});
}

TEST_CASE("ops: determinants neither overflow on the way nor lose digits in logarithms") {
  CHECK(ops::det(doubles({{2., 0.}, {0., 3.}})).item() == 6);
  const Tensor x = ops::diag(K::constant({1e30, 1e30, 1e-30, 1e-30}));
  CHECK(ops::det(x).item() == doctest::Approx(1));
  CHECK(ops::det(ops::diag(K::constant({1e30, 1e30, 1e30, 0.}))).item() == 0);
}

TEST_CASE("ops: norms of every order have the slope 0 at zeros") {
  const double inf = INFINITY;
  for (const char* dtype : {"float32", "float64"})
    for (const double order : {-inf, -3., -1., -0.5, 0.5, 1., 1.5, 2., 3., 4.5, inf})
      for (const bool keepdims : {false, true}) {
        CAPTURE(order);
        const auto norm = [=](const Tensor& x) { return ops::norm(x, order, {1}, keepdims); };
        const Tensor x = K::constant({{0., 0., 0.}, {0., 3., -4.}}, {.dtype = dtype}), found = slope(norm, x);
        CHECK(values(norm(x))[0] == 0);
        CHECK(values(found[0]) == Values{0, 0, 0});
        CHECK(K::all(K::is_finite(found)).item<bool>());
        const Tensor twice = slope([&](const Tensor& v) { return slope(norm, v) * slope(norm, v); }, x);
        CHECK(K::all(K::is_finite(twice)).item<bool>());
      }
  const Tensor zeros = K::zeros({2, 2}, {.dtype = "float64"});
  for (const ops::NormOrder& order :
       {ops::NormOrder("fro"), ops::NormOrder(1.), ops::NormOrder(-1.), ops::NormOrder(inf)})
    CHECK(values(slope([&](const Tensor& v) { return ops::norm(v, order); }, zeros)) == Values(4, 0));
  const Tensor same = doubles({{1., 2.}});
  CHECK(values(slope([&](const Tensor& v) { return ops::cdist(v, same); }, same)) == Values{0, 0});
  CHECK(values(slope([](const Tensor& v) { return ops::normalize(v, {-1}, 3.); }, same * 0))[0] > 1e6);
  CHECK(values(slope([](const Tensor& v) { return K::std(v); }, same * 0)) == Values{0, 0});
}

TEST_CASE("ops: norms of large and of small numbers are in range, and NaN stays NaN") {
  for (const double size : {1e30, 1e-30}) {
    const Tensor x = K::constant({3 * size, -4 * size, 0});
    CHECK(ops::norm(x, 3.).item() == doctest::Approx(std::cbrt(91.) * size));
    CHECK(ops::norm(x, 0.5).item() == doctest::Approx(std::pow(std::sqrt(3.) + 2, 2) * size));
    CHECK(ops::norm(K::constant({3 * size, 4 * size}), -2.).item() == doctest::Approx(2.4 * size));
    CHECK(K::all(K::is_finite(slope([](const Tensor& v) { return ops::norm(v, 3.); }, x))).item<bool>());
  }
  const double inf = INFINITY, missing = std::nan("");
  CHECK(std::isnan(ops::norm(doubles({1., missing}), 3.).item()));
  CHECK(ops::norm(doubles({1., -inf}), 3.).item() == inf);
  CHECK(ops::norm(doubles({2., -inf}), -3.).item() == doctest::Approx(2));
  CHECK(ops::norm(K::zeros({0}), 3.).item() == 0);
  check_gradients("norm", [](In in) { return ops::norm(in[0], 3., {1}); }, {doubles({{1., -2.}, {3., .5}})});
  check_gradients("norm", [](In in) { return ops::norm(in[0], -1.5, {1}); },
                  {doubles({{1., -2.}, {3., .5}})});
}

TEST_CASE("ops: an error names the matrix by its position in the batch") {
  Tensor batch = K::stack({ops::eye(2), ops::zeros({2, 2}), ops::eye(2), ops::zeros({2, 2})}, 0);
  CHECK_THROWS_WITH_AS(ops::solve(batch, ops::ones({4, 2, 1})),
                       "[solve] a matrix must not be singular: received the matrix (1,) of the batch (4,)",
                       LinAlgError);
  CHECK_THROWS_WITH_AS(ops::inv(ops::zeros({2, 2})),
                       "[inv] a matrix must not be singular: received the only matrix", LinAlgError);
  CHECK_THROWS_WITH_AS(
      ops::cholesky(K::reshape(-batch, {2, 2, 2, 2})),
      "[cholesky] a matrix must be positive definite: received the matrix (0, 0) of the batch (2, 2)",
      LinAlgError);
  CHECK_THROWS_AS(ops::solve_triangular(ops::zeros({2, 2}), ops::ones({2})), LinAlgError);
  CHECK_THROWS_WITH_AS(ops::det(ops::zeros({2, 3})), "[det] x must hold square matrices: received x=(2, 3)",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::svd(ops::zeros({2})), "[svd] x must have rank 2 or more: received x=(2,)",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::qr(ops::zeros({2, 2}), "full"),
                       "[qr] mode must be \"reduced\" or \"complete\": received mode=\"full\"", ValueError);
  CHECK_THROWS_AS(ops::norm(ops::ones({2, 2}), 3.), ValueError);
  CHECK_THROWS_WITH_AS(ops::norm(ops::ones({2}), "nuc"),
                       "[norm] ord must be an order of the norm of vectors: received ord=\"nuc\"",
                       ValueError);
  CHECK_THROWS_WITH_AS(ops::cross(ops::ones({4}), ops::ones({4})),
                       "[cross] vectors must have 2 or 3 elements: received x1=(4,), x2=(4,)", ValueError);
  CHECK_THROWS_AS(ops::tensordot(ops::ones({2, 3}), ops::ones({2, 3}), 1), ValueError);
  CHECK(ops::det(ops::zeros({2, 2})).item() == 0);
}

TEST_CASE("ops: cross products of vectors along different axes") {
  const Tensor rows = doubles({{1., 0., 0.}, {0., 1., 0.}}),
               columns = K::transpose(doubles({{0., 1., 0.}, {0., 0., 1.}}));
  const Values expected{0, 0, 1, 1, 0, 0};
  CHECK(values(ops::cross(rows, columns, {.axisb = 0})) == expected);
  CHECK(values(ops::cross(rows, columns, {-1, 0, 0})) ==
        values(K::transpose(ops::cross(rows, columns, {.axisb = 0}))));
  const Tensor both =
      ops::cross(K::transpose(rows), columns, {.axisa = 2, .axisb = 2, .axisc = 1, .axis = 0});
  CHECK(both.shape() == Shape{3, 2});
  CHECK(values(K::transpose(both)) == expected);
  CHECK(values(ops::cross(K::transpose(rows), columns, 0)) == values(both));
  CHECK(ops::cross(ops::ones({5, 2}), ops::ones({2, 5}), {.axisb = 0}).shape() == Shape{5});
  CHECK(ops::cross(ops::ones({3, 4, 1}), ops::ones({5, 3}), {.axisa = 0, .axisc = 1}).shape() ==
        Shape{4, 3, 5});
}

namespace {

auto pairs(Tensor (*f)(const Tensor&, const Tensor&)) { return of2(f); }

// clang-format off
const Catalogue catalogue([]() -> Catalogue::Rows {
  const Tensor a = regular(), x = normal({3, 3}, 5), tall = normal({4, 2}, 6), wide = normal({2, 4}, 7), b = normal({2, 3, 2}, 8);
  const auto symmetric = [](const Tensor& m) { return (m + transposed(m)) * 0.5 + ops::diag(doubles({0., 3., 7.})); };
  return {
      {"ops::cholesky", [](In in) { return ops::cholesky(definite(in[0])); }, {a}},
      {"ops::cholesky_inverse", [](In in) { return ops::cholesky_inverse(ops::tril(in[0])); }, {a}},
      {"ops::lu_factor", [](In in) { return ops::lu_factor(dominant(in[0])).lu; }, {a}},
      {"ops::solve", pairs(ops::solve), {a, b}},
      {"ops::solve_triangular", [](In in) { return ops::solve_triangular(in[0], in[1], true); }, {a, b}},
      {"ops::inv", of(ops::inv), {a}},
      {"ops::det", of(ops::det), {a}},
      {"ops::det", of(ops::det), {doubles({{1., 2.}, {2., 4.}})}, 1e-6, false},
      {"ops::slogdet", [](In in) { return ops::slogdet(dominant(in[0])).logabsdet; }, {a}},
      {"ops::logdet", [](In in) { return ops::logdet(dominant(in[0])); }, {a}},
      {"ops::qr", [](In in) { return ops::qr(dominant(in[0])).r; }, {tall}},
      {"ops::qr", [](In in) { return ops::qr(dominant(in[0])).q; }, {tall}},
      {"ops::qr", [](In in) { return ops::qr(dominant(in[0])).r; }, {wide}},
      {"ops::svd", [](In in) { return ops::svd(dominant(in[0]), false, false).s; }, {tall}},
      {"ops::svd", [](In in) { return K::square(ops::svd(dominant(in[0]), false).u); }, {tall}},
      {"ops::svd", [](In in) { return K::square(ops::svd(dominant(in[0]), false).vh); }, {wide}},
      {"ops::eigh", [=](In in) { return ops::eigh(symmetric(in[0])).w; }, {a}},
      {"ops::eigh", [=](In in) { return K::square(ops::eigh(symmetric(in[0])).v); }, {a}},
      {"ops::lstsq", [](In in) { return ops::lstsq(in[0], in[1]); }, {tall, normal({4}, 2)}},
      {"ops::pinv", [](In in) { return ops::pinv(dominant(in[0])); }, {wide}},
      {"ops::matrix_power", [](In in) { return ops::matrix_power(in[0], -2); }, {a}},
      {"ops::norm", [](In in) { return ops::norm(in[0], 3., 1); }, {tall + 5.}},
      {"ops::norm", [](In in) { return ops::norm(in[0], "nuc"); }, {tall}},
      {"ops::norm", [](In in) { return ops::norm(in[0], -2., {0, 1}); }, {tall}},
      {"ops::matmul", pairs(ops::matmul), {normal({3}, 2), b}},
      {"ops::dot", pairs(ops::dot), {normal({2, 3}, 2), b}},
      {"ops::inner", pairs(ops::inner), {normal({2, 3}, 2), normal({4, 3})}},
      {"ops::outer", pairs(ops::outer), {normal({2, 3}, 2), normal({4})}},
      {"ops::vdot", pairs(ops::vdot), {normal({2, 3}, 2), normal({2, 3})}},
      {"ops::kron", pairs(ops::kron), {normal({2, 3}, 2), normal({4})}},
      {"ops::cross", [](In in) { return ops::cross(K::reshape(in[0], {-1, 3}), doubles({1., -2., 0.5})); }, {normal({4, 3}, 2)}},
      {"ops::cross", [](In in) { return ops::cross(K::reshape(in[0], {3, -1}), doubles({1., -2., 0.5}), {.axisa = 0, .axisc = 0}); }, {normal({4, 3}, 2)}},
      {"ops::tensordot", of2([](const Tensor& p, const Tensor& q) { return ops::tensordot(p, q, {{0, 2}, {1, 0}}); }), {normal({2, 3, 4}, 2), normal({4, 2, 5})}},
      {"ops::einsum", [](In in) { return ops::einsum("ii->i", {in[0]}); }, {x}},
      {"ops::einsum", [](In in) { return ops::einsum("...ij,...jk->...ik", {in[0], in[1]}); }, {a, b}},
      {"ops::cdist", pairs(ops::cdist), {normal({4, 3}, 2), normal({2, 3})}},
      {"ops::eig", [](In in) { return ops::eig(in[0]).w_real; }, {a}},
      {"ops::eig", [](In in) { const auto d = ops::eig(in[0] + spiral()); return d.w_real * d.v_imag + K::square(d.w_imag) + d.v_real; }, {x}},
      {"ops::matrix_rank", no_gradient},
  };
});
// clang-format on

}  // namespace
