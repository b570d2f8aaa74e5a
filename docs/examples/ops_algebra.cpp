#include "examples.hpp"

EXAMPLE("ops::dot") {
  std::cout << ops::dot(K::constant({{1., 2.}, {3., 4.}}),
                        K::constant({10., 100.}));
}

EXAMPLE("ops::matmul") {
  Tensor a = K::constant({{1., 2.}, {3., 4.}});
  std::cout << ops::matmul(a, a);
}

EXAMPLE("ops::einsum") {
  Tensor a = K::constant({{1., 2.}, {3., 4.}});
  std::cout << ops::einsum("ij,jk->ik", {a, a}) << "\n"
            << ops::einsum("ii->i", {a});
}

EXAMPLE("ops::tensordot") {
  std::cout << ops::tensordot(ops::ones({2, 3, 4}), ops::ones({3, 4, 5})).shape();
}

EXAMPLE("ops::inner ops::outer") {
  Tensor a = K::constant({1., 2.}), b = K::constant({3., 4.});
  std::cout << ops::inner(a, b) << "\n" << ops::outer(a, b);
}

EXAMPLE("ops::vdot") {
  std::cout << ops::vdot(K::constant({1., 2.}), K::constant({3., 4.}));
}

EXAMPLE("ops::kron") {
  std::cout << ops::kron(K::constant({1., 10.}), K::constant({1., 2., 3.}));
}

EXAMPLE("ops::cross") {
  std::cout << ops::cross(K::constant({1., 0., 0.}), K::constant({0., 1., 0.}));
}

EXAMPLE("ops::cdist") {
  std::cout << ops::cdist(K::constant({{0., 0.}, {1., 1.}}),
                          K::constant({{3., 4.}}));
}

EXAMPLE("ops::cholesky") {
  Tensor x = K::constant({{4., 2.}, {2., 3.}}), l = ops::cholesky(x);
  std::cout << l << "\n" << ops::matmul(l, ops::transpose(l));
}

EXAMPLE("ops::cholesky_inverse") {
  Tensor x = K::constant({{4., 0.}, {0., 2.}});
  std::cout << ops::cholesky_inverse(ops::cholesky(x));
}

EXAMPLE("ops::lu_factor ops::LU") {
  ops::LU factored = ops::lu_factor(K::constant({{1., 2.}, {4., 3.}}));
  std::cout << factored.lu << " " << factored.pivots;
}

EXAMPLE("ops::solve") {
  std::cout << ops::solve(K::constant({{2., 0.}, {0., 4.}}), K::constant({2., 2.}));
}

EXAMPLE("ops::solve_triangular") {
  std::cout << ops::solve_triangular(K::constant({{2., 0.}, {1., 4.}}),
                                     K::constant({2., 5.}), true);
}

EXAMPLE("ops::inv") { std::cout << ops::inv(K::constant({{2., 0.}, {0., 4.}})); }

EXAMPLE("ops::det ops::logdet") {
  Tensor x = K::constant({{2., 0.}, {1., 4.}});
  std::cout << ops::det(x) << " " << ops::logdet(x);
}

EXAMPLE("ops::slogdet ops::SignAndLogarithm") {
  auto [sign, logabsdet] = ops::slogdet(K::constant({{0., 1.}, {2., 0.}}));
  std::cout << sign << " " << logabsdet;
}

EXAMPLE("ops::qr ops::QR") {
  auto [q, r] = ops::qr(K::constant({{3., 1.}, {4., 2.}}));
  std::cout << ops::matmul(q, r);
}

EXAMPLE("ops::svd ops::SVD") {
  auto [u, s, vh] = ops::svd(K::constant({{3., 0.}, {0., -2.}, {0., 0.}}), false);
  std::cout << s;
}

EXAMPLE("ops::eigh ops::Eigh") {
  auto [w, v] = ops::eigh(K::constant({{2., 1.}, {1., 2.}}));
  std::cout << w;
}

EXAMPLE("ops::eig ops::Eig") {
  ops::Eig e = ops::eig(K::constant({{0., 1.}, {-1., 0.}}));
  std::cout << e.w_real << " " << e.w_imag;
}

EXAMPLE("ops::lstsq") {
  Tensor a = K::constant({{1., 0.}, {1., 1.}, {1., 2.}}),
         b = K::constant({1., 3., 5.});
  std::cout << ops::lstsq(a, b);
}

EXAMPLE("ops::pinv") { std::cout << ops::pinv(K::constant({{2., 0.}, {0., 0.}})); }

EXAMPLE("ops::matrix_power") {
  std::cout << ops::matrix_power(K::constant({{1., 1.}, {0., 1.}}), 5);
}

EXAMPLE("ops::matrix_rank") {
  std::cout << ops::matrix_rank(K::constant({{1., 2.}, {2., 4.}}));
}

EXAMPLE("ops::norm") {
  Tensor x = K::constant({3., -4.});
  std::cout << ops::norm(x) << " " << ops::norm(x, 1.);
}

EXAMPLE("LinAlgError") {
  try {
    ops::inv(K::constant({{1., 2.}, {2., 4.}}));
  } catch (const ktape::LinAlgError& error) {
    std::cout << error.what();
  }
}

EXAMPLE("ops::fft ops::fft2 ops::ifft2") {
  Tensor real = K::constant({1., 0., 0., 0.}), zero = ops::zeros({4});
  std::cout << ops::fft({real, zero}).first;
}

EXAMPLE("ops::rfft ops::irfft") {
  auto spectrum = ops::rfft(K::constant({1., 2., 3., 4.}));
  std::cout << spectrum.first << "\n" << ops::irfft(spectrum);
}

EXAMPLE("ops::stft ops::istft") {
  Tensor signal = ops::sin(ops::arange(0., 64.));
  auto spectrum = ops::stft(signal, 16, 8, 16);
  std::cout << spectrum.first.shape() << " "
            << ops::istft(spectrum, 16, 8, 16).shape();
}

EXAMPLE("ops::segment_sum ops::segment_prod") {
  Tensor x = K::constant({1., 2., 3., 4.}),
         ids = K::constant({0, 0, 1, 1}, {.dtype = "int32"});
  std::cout << ops::segment_sum(x, ids) << " " << ops::segment_prod(x, ids);
}

EXAMPLE("ops::segment_max ops::segment_min") {
  Tensor x = K::constant({1., 2., 3., 4.}),
         ids = K::constant({0, 0, 1, 1}, {.dtype = "int32"});
  std::cout << ops::segment_max(x, ids) << " " << ops::segment_min(x, ids);
}

EXAMPLE("ops::extract_sequences") {
  std::cout << ops::extract_sequences(K::constant({1., 2., 3., 4., 5.}), 3, 1);
}

EXAMPLE("ops::cond") {
  Tensor x = K::constant({3.});
  std::cout << ops::cond(
      ops::sum(x) > 0, [&] { return x * 2; }, [&] { return x; });
}

EXAMPLE("ops::switch_") {
  std::cout << ops::switch_(
      1,
      {[](const auto& x) { return x[0]; }, [](const auto& x) { return x[0] * 10; }},
      {K::constant({3.})});
}

EXAMPLE("ops::map ops::vectorized_map") {
  Tensor x = K::constant({{1., 2.}, {3., 4.}});
  std::cout << ops::map([](const Tensor& row) { return ops::sum(row); }, x) << " ";
  std::cout << ops::vectorized_map([](const Tensor& row) { return row * 2; }, x);
}

EXAMPLE("ops::scan") {
  auto [last, sums] = ops::scan(
      [](const Tensor& sum, const Tensor& x) {
        return std::pair{sum + x, sum + x};
      },
      K::constant(0.), K::constant({1., 2., 3.}));
  std::cout << last << " " << sums;
}

EXAMPLE("ops::associative_scan") {
  auto add = [](const Tensor& a, const Tensor& b) { return a + b; };
  std::cout << ops::associative_scan(add, K::constant({1., 2., 3.}));
}

EXAMPLE("ops::while_loop") {
  auto result = ops::while_loop(
      [](const ops::LoopVariables& v) { return v[0] < 100; },
      [](const ops::LoopVariables& v) { return ops::LoopVariables{v[0] * 3}; },
      {K::constant(1.)});
  std::cout << result[0];
}

EXAMPLE("ops::fori_loop") {
  std::cout << ops::fori_loop(
      0, 4, [](std::int64_t i, const Tensor& x) { return x + i; }, K::constant(0.));
}

EXAMPLE("ops::jacobian ops::hessian") {
  Tensor x = K::constant({1., 2.});
  std::cout << ops::jacobian([](const Tensor& x) { return x * x; }, x) << "\n";
  std::cout << ops::hessian([](const Tensor& x) { return ops::sum(x * x * x); }, x);
}

EXAMPLE("ops::jvp") {
  auto [y, dy] = ops::jvp([](const Tensor& x) { return x * x; }, K::constant({3.}),
                          K::constant({1.}));
  std::cout << y << " " << dy;
}

EXAMPLE("ops::vjp") {
  auto [y, pull] =
      ops::vjp([](const Tensor& x) { return x * x; }, K::constant({3.}));
  std::cout << y << " " << pull(K::constant({1.}));
}

EXAMPLE("ops::stop_gradient backend::stop_gradient") {
  Variable w = K::variable({3.f});
  std::cout << K::gradients(K::sum(ops::stop_gradient(w) * w), {w})[0];
}

EXAMPLE("ops::custom_gradient custom_gradient") {
  auto clipped = ktape::custom_gradient([](const Tensor& x) {
    return std::pair{x * x, [](const Tensor& dy) { return K::clip(dy, -1, 1); }};
  });
  Variable w = K::variable({3.f});
  std::cout << K::gradients(K::sum(10 * clipped(w)), {w})[0];
}

EXAMPLE("ops::cast ops::dtype ops::is_tensor") {
  Tensor x = ops::cast(K::constant({1.7, -1.7}), "int32");
  std::cout << x << " " << ops::dtype(x) << " " << ops::is_tensor(x);
}
