#include "examples.hpp"

EXAMPLE("backend::abs backend::sign") {
  Tensor x = K::constant({-1.5, 0., 2.});
  std::cout << K::abs(x) << " " << K::sign(x);
}

EXAMPLE("backend::sqrt backend::square") {
  Tensor x = K::constant({1., 4.});
  std::cout << K::sqrt(x) << " " << K::square(x);
}

EXAMPLE("backend::exp backend::expm1") {
  std::cout << K::exp(K::constant({0., 1.})) << " "
            << K::expm1(K::constant({1e-8}));
}

EXAMPLE("backend::log backend::log1p") {
  std::cout << K::log(K::constant({1., 2.718281828})) << " "
            << K::log1p(K::constant({1e-8}));
}

EXAMPLE("backend::round") { std::cout << K::round(K::constant({0.5, 1.5, -2.4})); }

EXAMPLE("backend::pow") { std::cout << K::pow(K::constant({2., 3.}), 2); }

EXAMPLE("backend::clip backend::Bound") {
  std::cout << K::clip(K::constant({-2., 0.5, 9.}), 0, 1);
}

EXAMPLE("backend::sin backend::cos backend::tanh") {
  Tensor x = K::constant({0., 1.});
  std::cout << K::sin(x) << " " << K::cos(x) << " " << K::tanh(x);
}

EXAMPLE("backend::erf") { std::cout << K::erf(K::constant({0., 0.5, 2.})); }

EXAMPLE("backend::maximum backend::minimum") {
  Tensor x = K::constant({1., 5.});
  std::cout << K::maximum(x, 3) << " " << K::minimum(x, 3);
}

EXAMPLE("backend::equal backend::not_equal") {
  Tensor a = K::constant({1., 2.}), b = K::constant({1., 0.});
  std::cout << K::equal(a, b) << " " << K::not_equal(a, b);
}

EXAMPLE(
    "backend::greater backend::greater_equal backend::less backend::less_equal") {
  Tensor x = K::constant({1., 2., 3.});
  std::cout << K::greater(x, 2) << K::greater_equal(x, 2) << "\n"
            << K::less(x, 2) << K::less_equal(x, 2);
}

EXAMPLE("backend::where") {
  Tensor x = K::constant({-1., 2., -3.});
  std::cout << K::where(x > 0, x, 0);
}

EXAMPLE("backend::is_nan backend::is_finite") {
  Tensor x = K::constant({0., 1., 2.}) / K::constant({0., 0., 1.});
  std::cout << K::is_nan(x) << " " << K::is_finite(x);
}

EXAMPLE("backend::sigmoid backend::hard_sigmoid") {
  Tensor x = K::constant({-2., 0., 2.});
  std::cout << K::sigmoid(x) << " " << K::hard_sigmoid(x);
}

EXAMPLE("backend::relu backend::ReluOptions") {
  Tensor x = K::constant({-1., 3., 9.});
  std::cout << K::relu(x) << " " << K::relu(x, {.alpha = 0.1, .max_value = 6});
}

EXAMPLE("backend::elu") { std::cout << K::elu(K::constant({-1., 3.})); }

EXAMPLE("backend::gelu backend::GeluOptions") {
  std::cout << K::gelu(K::constant({-1., 0., 1.}), {.approximate = true});
}

EXAMPLE("backend::softplus backend::softsign") {
  Tensor x = K::constant({-1., 0., 1.});
  std::cout << K::softplus(x) << " " << K::softsign(x);
}

EXAMPLE("backend::softmax backend::log_softmax") {
  Tensor x = K::constant({1., 2., 3.});
  std::cout << K::softmax(x) << "\n" << K::log_softmax(x);
}

EXAMPLE("backend::l2_normalize") {
  std::cout << K::l2_normalize(K::constant({3., 4.}));
}

EXAMPLE("backend::in_top_k") {
  std::cout << K::in_top_k(K::constant({{0.9, 0.1}, {0.8, 0.2}}),
                           K::constant({0, 1}, {.dtype = "int32"}), 1);
}

EXAMPLE("backend::sum") {
  Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
  std::cout << K::sum(x) << "\n" << K::sum(x, 0) << "\n" << K::sum(x, -1, true);
}

EXAMPLE("backend::prod backend::mean") {
  Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
  std::cout << K::prod(x, 1) << " " << K::mean(x, 1);
}

EXAMPLE("backend::max backend::min") {
  Tensor x = K::constant({{1., 5.}, {7., 2.}});
  std::cout << K::max(x) << " " << K::min(x, 0);
}

EXAMPLE("backend::var backend::std") {
  Tensor x = K::constant({1., 2., 3., 4.});
  std::cout << K::var(x) << " " << K::std(x);
}

EXAMPLE("backend::norm") { std::cout << K::norm(K::constant({3., 4.})); }

EXAMPLE("backend::logsumexp") {
  std::cout << K::logsumexp(K::constant({1000., 1000.}));
}

EXAMPLE("backend::any backend::all") {
  Tensor x = K::constant({{true, false}, {true, true}});
  std::cout << K::any(x, 1) << " " << K::all(x, 1);
}

EXAMPLE("backend::argmax backend::argmin") {
  Tensor x = K::constant({{1., 5., 2.}, {7., 2., 0.}});
  std::cout << K::argmax(x) << " " << K::argmin(x);
}

EXAMPLE("backend::cumsum backend::cumprod") {
  Tensor x = K::constant({1., 2., 3.});
  std::cout << K::cumsum(x) << " " << K::cumprod(x);
}

EXAMPLE("backend::sort backend::argsort backend::SortOptions") {
  Tensor x = K::constant({3., 1., 2.});
  std::cout << K::sort(x) << " " << K::argsort(x);
}

EXAMPLE("backend::top_k backend::TopK") {
  auto [values, indices] = K::top_k(K::constant({3., 9., 5.}), 2);
  std::cout << values << " " << indices;
}

EXAMPLE("backend::gather") {
  std::cout << K::gather(K::constant({{1., 2.}, {3., 4.}}), {1, 0});
}

EXAMPLE("backend::gather_nd") {
  std::cout << K::gather_nd(K::constant({{1., 2.}, {3., 4.}}),
                            K::constant({{1, 0}}, {.dtype = "int32"}));
}

EXAMPLE("backend::scatter_nd") {
  std::cout << K::scatter_nd(K::constant({{1}, {3}}, {.dtype = "int32"}),
                             K::constant({5., 7.}), {4});
}

EXAMPLE("backend::one_hot") { std::cout << K::one_hot({0, 2}, 3); }

EXAMPLE("backend::index subscript") {
  Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
  std::cout << x[0] << " " << x[{All, 1}] << " " << x[{1, Slice(0, 2)}];
}

EXAMPLE("backend::dot backend::matmul backend::MatmulOptions") {
  Tensor a = K::constant({{1., 2.}, {3., 4.}});
  std::cout << K::dot(a, a) << "\n" << K::matmul(a, a, {.transpose_b = true});
}

EXAMPLE("backend::batch_dot backend::BatchAxes") {
  std::cout << K::batch_dot(K::ones({2, 3}), K::ones({2, 3}), 1);
}

EXAMPLE("backend::einsum") {
  Tensor a = K::constant({{1., 2.}, {3., 4.}});
  std::cout << K::einsum("ij,kj->ik", {a, a});
}
