#include <ktape/ops/nn/activations.hpp>
#include <ktape/ops/operators.hpp>
#include <ktape/ops/reductions.hpp>

#include "check.hpp"

#include <cmath>
#include <functional>
#include <limits>

/// Ops with a separate path for recording give equal results on both paths.
using namespace ktape;
namespace K = ktape::backend;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

void check_same(const char* op, const Tensor& a, const Tensor& b, double tolerance) {
  CAPTURE(op);
  REQUIRE(a.shape() == b.shape());
  REQUIRE(a.dtype() == b.dtype());
  const auto x = values(a), y = values(b);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])) ||
                      std::abs(x[i] - y[i]) <= tolerance * std::max(1.0, std::abs(y[i]));
    CHECK_MESSAGE(same, op, a.shape(), " at ", i, ": ", x[i], " and ", y[i]);
  }
}

void check_recorded(const char* op, const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  GradientTape tape;
  const Tensor unrecorded = f(x);
  tape.watch(x);
  check_same(op, f(x), unrecorded, x.dtype() == "float64" ? 1e-12 : x.dtype() == "float32" ? 1e-5 : 2e-3);
}

}  // namespace

TEST_CASE("reductions give equal results recorded and unrecorded, also over axes of extent 1") {
  for (const char* dtype : {"float16", "float32", "float64"})
    for (const Shape& shape : std::vector<Shape>{{}, {1}, {3}, {1, 3}, {3, 1}, {1, 1}, {2, 1, 3}, {2, 3, 4}})
      for (unsigned bits = 0; bits < 1u << shape.rank(); ++bits) {
        std::vector<int> list;
        for (int i = 0; i < shape.rank(); ++i)
          if (bits >> i & 1) list.push_back(i);
        const Axes axes(list);
        const Tensor x = K::cast(normal(shape) * 3, dtype);
        CAPTURE(dtype);
        CAPTURE(bits);
        check_recorded(
            "l2_normalize", [&](const Tensor& v) { return K::l2_normalize(v, axes); }, x);
        check_recorded(
            "prod", [&](const Tensor& v) { return K::prod(v, axes); }, x);
        check_recorded(
            "logsumexp", [&](const Tensor& v) { return K::logsumexp(v, axes); }, x);
        check_recorded(
            "norm", [&](const Tensor& v) { return K::norm(v, axes); }, x);
        check_recorded(
            "mean", [&](const Tensor& v) { return K::mean(v, axes); }, x);
        check_recorded(
            "var", [&](const Tensor& v) { return K::var(v, axes); }, x);
        check_recorded(
            "std", [&](const Tensor& v) { return K::std(v, axes); }, x);
      }
}

TEST_CASE("a single number is its own direction") {
  CHECK(K::l2_normalize(K::constant(2.f)).item() == 1.f);
  CHECK(values(K::l2_normalize(K::constant({{2.f}, {-3.f}}), 1)) == Values{1, -1});
}

TEST_CASE("softmax of rows with infinities is that of the formula along every axis") {
  const std::vector<double> odd = {inf, -inf, std::nan("")};
  for (const char* dtype : {"float16", "float32", "float64"})
    for (std::int64_t n : {1, 2, 3, 7, 8, 16, 17, 33, 64, 100, 1000})
      for (std::int64_t at : {std::int64_t{0}, n / 2, n - 1})
        for (double value : odd) {
          CAPTURE(dtype);
          CAPTURE(n);
          CAPTURE(at);
          CAPTURE(value);
          xt::xarray<double> rows = xt::zeros<double>({std::size_t{3}, static_cast<std::size_t>(n)});
          rows(1, static_cast<std::size_t>(at)) = value;
          const Tensor x = K::cast(Tensor(rows), dtype), across = K::softmax(K::transpose(x), 0);
          const Tensor along = K::softmax(x, 1);
          const bool nan = value != -inf || n == 1;
          CHECK(std::isnan(along.item<double>(1, 0)) == nan);
          CHECK(std::isnan(along.item<double>(1, n - 1)) == nan);
          CHECK(!std::isnan(along.item<double>(0, 0)));
          const double tolerance = 2e-3;
          check_same("softmax", K::transpose(across), along, tolerance);
          check_same("log_softmax", K::transpose(K::log_softmax(K::transpose(x), 0)), K::log_softmax(x, 1),
                     tolerance);
          check_same("logsumexp", K::logsumexp(K::transpose(x), 0), K::logsumexp(x, 1), tolerance);
        }
}
