#include "examples.hpp"

EXAMPLE("ops::reshape") { std::cout << ops::reshape(ops::arange(0, 6), {2, -1}); }

EXAMPLE("ops::transpose") {
  std::cout << ops::transpose(K::constant({{1., 2., 3.}, {4., 5., 6.}}));
}

EXAMPLE("ops::expand_dims ops::squeeze") {
  Tensor x = ops::zeros({3});
  std::cout << ops::expand_dims(x, 0).shape() << " "
            << ops::squeeze(ops::expand_dims(x, 0), 0).shape();
}

EXAMPLE("ops::ravel") {
  std::cout << ops::ravel(K::constant({{1., 2.}, {3., 4.}}));
}

EXAMPLE("ops::concatenate") {
  Tensor a = K::constant({{1., 2.}}), b = K::constant({{3., 4.}});
  std::cout << ops::concatenate({a, b}, 0) << "\n" << ops::concatenate({a, b}, 1);
}

EXAMPLE("ops::stack ops::unstack") {
  Tensor x = ops::stack({K::constant({1., 2.}), K::constant({3., 4.})}, 0);
  std::cout << x << "\n" << ops::unstack(x)[1];
}

EXAMPLE("ops::hstack ops::vstack ops::dstack") {
  Tensor a = K::constant({1., 2.}), b = K::constant({3., 4.});
  std::cout << ops::hstack({a, b}) << "\n"
            << ops::vstack({a, b}) << "\n"
            << ops::dstack({a, b}).shape();
}

EXAMPLE("ops::column_stack") {
  std::cout << ops::column_stack({K::constant({1., 2.}), K::constant({3., 4.})});
}

EXAMPLE("ops::append") {
  std::cout << ops::append(K::constant({1., 2.}), K::constant({3.}));
}

EXAMPLE("ops::split ops::array_split") {
  Tensor x = ops::arange(0, 6);
  std::cout << ops::split(x, 3)[1] << " " << ops::array_split(x, 4)[0];
}

EXAMPLE("ops::hsplit ops::vsplit") {
  Tensor x = ops::reshape(ops::arange(0, 8), {2, 4});
  std::cout << ops::hsplit(x, 2)[0] << "\n" << ops::vsplit(x, 2)[1];
}

EXAMPLE("ops::dsplit") {
  std::cout << ops::dsplit(ops::zeros({1, 2, 4}), 2)[0].shape();
}

EXAMPLE("ops::tile") { std::cout << ops::tile(K::constant({1., 2.}), {2, 2}); }

EXAMPLE("ops::repeat") { std::cout << ops::repeat(K::constant({1., 2.}), 3); }

EXAMPLE("ops::flip") { std::cout << ops::flip(K::constant({1., 2., 3.}), 0); }

EXAMPLE("ops::fliplr ops::flipud") {
  Tensor x = K::constant({{1., 2.}, {3., 4.}});
  std::cout << ops::fliplr(x) << "\n" << ops::flipud(x);
}

EXAMPLE("ops::rot90") {
  std::cout << ops::rot90(K::constant({{1., 2.}, {3., 4.}}));
}

EXAMPLE("ops::roll") {
  std::cout << ops::roll(K::constant({1., 2., 3., 4.}), 1, 0);
}

EXAMPLE("ops::moveaxis") {
  std::cout << ops::moveaxis(ops::zeros({2, 3, 4}), 0, -1).shape();
}

EXAMPLE("ops::swapaxes") {
  std::cout << ops::swapaxes(ops::zeros({2, 3, 4}), 0, 2).shape();
}

EXAMPLE("ops::pad") { std::cout << ops::pad(K::constant({1., 2.}), {{1, 2}}); }

EXAMPLE("ops::broadcast_to") {
  std::cout << ops::broadcast_to(K::constant({1., 2.}), {2, 2});
}

EXAMPLE("ops::diag") { std::cout << ops::diag(K::constant({1., 2.})); }

EXAMPLE("ops::diagflat") { std::cout << ops::diagflat(K::constant({1., 2.})); }

EXAMPLE("ops::diagonal ops::trace") {
  Tensor x = K::constant({{1., 2.}, {3., 4.}});
  std::cout << ops::diagonal(x) << " " << ops::trace(x);
}

EXAMPLE("ops::tril ops::triu") {
  Tensor x = ops::ones({3, 3});
  std::cout << ops::tril(x) << "\n" << ops::triu(x, 1);
}

EXAMPLE("ops::shape ops::ndim ops::size") {
  Tensor x = ops::zeros({2, 3});
  std::cout << ops::shape(x) << " " << ops::ndim(x) << " " << ops::size(x);
}

EXAMPLE("ops::copy") { std::cout << ops::copy(K::constant({1., 2.})); }

EXAMPLE("ops::rearrange") {
  std::cout
      << ops::rearrange(ops::zeros({2, 4, 6, 3}), "b h w c -> b (h w) c").shape();
}

EXAMPLE("ops::view") { std::cout << ops::view(K::constant({1.f}), "int32"); }

EXAMPLE("ops::take") {
  std::cout << ops::take(K::constant({10., 20., 30.}),
                         K::constant({0, -1}, {.dtype = "int32"}), 0);
}

EXAMPLE("ops::take_along_axis") {
  Tensor x = K::constant({{3., 1.}, {2., 9.}});
  std::cout << ops::take_along_axis(x, ops::argsort(x, 1), 1);
}

EXAMPLE("ops::get_item") {
  std::cout << ops::get_item(K::constant({{1., 2.}, {3., 4.}}), {{All, 0}});
}

EXAMPLE("ops::slice") {
  std::cout << ops::slice(K::constant({{1., 2., 3.}, {4., 5., 6.}}), {0, 1},
                          {2, 2});
}

EXAMPLE("ops::slice_update") {
  std::cout << ops::slice_update(ops::zeros({2, 3}), {1, 1}, ops::ones({1, 2}));
}

EXAMPLE("ops::scatter") {
  std::cout << ops::scatter(K::constant({{1}, {3}}, {.dtype = "int32"}),
                            K::constant({5., 7.}), {4});
}

EXAMPLE("ops::scatter_update") {
  std::cout << ops::scatter_update(ops::zeros({4}),
                                   K::constant({{1}, {3}}, {.dtype = "int32"}),
                                   K::constant({5., 7.}));
}

EXAMPLE("ops::nonzero") { std::cout << ops::nonzero(K::constant({0., 3., 4.}))[0]; }

EXAMPLE("ops::one_hot") {
  std::cout << ops::one_hot(K::constant({0, 2}, {.dtype = "int32"}), 3);
}

EXAMPLE("ops::multi_hot") {
  std::cout << ops::multi_hot(K::constant({0, 2}, {.dtype = "int32"}), 4);
}

EXAMPLE("ops::top_k") {
  auto [values, indices] = ops::top_k(K::constant({3., 9., 5.}), 2);
  std::cout << values << " " << indices;
}

EXAMPLE("ops::in_top_k") {
  std::cout << ops::in_top_k(K::constant({0, 1}, {.dtype = "int32"}),
                             K::constant({{0.9, 0.1}, {0.8, 0.2}}), 1);
}

EXAMPLE("ops::unravel_index") {
  std::cout << ops::unravel_index(K::constant({5}, {.dtype = "int32"}), {2, 3})[0];
}

EXAMPLE("ops::zeros ops::ones") {
  std::cout << ops::zeros({2}) << " " << ops::ones({2}, "int32");
}

EXAMPLE("ops::full") { std::cout << ops::full({2, 2}, 7); }

EXAMPLE("ops::empty ops::empty_like") {
  std::cout << ops::empty({2, 3}).shape() << " "
            << ops::empty_like(ops::zeros({4})).shape();
}

EXAMPLE("ops::zeros_like ops::ones_like ops::full_like") {
  Tensor x = K::constant({5., 6.});
  std::cout << ops::zeros_like(x) << " " << ops::ones_like(x) << " "
            << ops::full_like(x, 3);
}

EXAMPLE("ops::eye ops::identity") {
  std::cout << ops::eye(2) << "\n" << ops::identity(2);
}

EXAMPLE("ops::tri") { std::cout << ops::tri(3); }

EXAMPLE("ops::arange") { std::cout << ops::arange(0, 10, 3); }

EXAMPLE("ops::linspace") { std::cout << ops::linspace(0, 1, 5); }

EXAMPLE("ops::linspace_with_step") {
  auto [x, step] = ops::linspace_with_step(0, 1, 5);
  std::cout << x << " " << step;
}

EXAMPLE("ops::logspace ops::geomspace") {
  std::cout << ops::logspace(0, 2, 3) << " " << ops::geomspace(1, 8, 4);
}

EXAMPLE("ops::meshgrid") {
  auto grid = ops::meshgrid({K::constant({1., 2.}), K::constant({3., 4.})});
  std::cout << grid[0] << "\n" << grid[1];
}

EXAMPLE("ops::array ops::convert_to_tensor") {
  std::cout << ops::array({1., 2.}) << " " << ops::convert_to_tensor({3., 4.});
}

EXAMPLE("ops::vander") { std::cout << ops::vander(K::constant({1., 2., 3.})); }

EXAMPLE("ops::hanning ops::hamming ops::blackman ops::bartlett") {
  std::cout << ops::hanning(5) << "\n"
            << ops::hamming(5) << "\n"
            << ops::blackman(5) << "\n"
            << ops::bartlett(5);
}

EXAMPLE("ops::kaiser") { std::cout << ops::kaiser(5, 14); }
