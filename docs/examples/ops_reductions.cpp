#include "examples.hpp"

EXAMPLE("ops::sum") {
  Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
  std::cout << ops::sum(x) << "\n"
            << ops::sum(x, 0) << "\n"
            << ops::sum(x, -1, true);
}

EXAMPLE("ops::prod") {
  Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
  std::cout << ops::prod(x) << " " << ops::prod(x, 1);
}

EXAMPLE("ops::mean") {
  Tensor x = K::constant({{1., 2., 3.}, {4., 5., 6.}});
  std::cout << ops::mean(x) << " " << ops::mean(x, 0);
}

EXAMPLE("ops::var ops::std") {
  Tensor x = K::constant({1., 2., 3., 4.});
  std::cout << ops::var(x) << " " << ops::std(x);
}

EXAMPLE("ops::max ops::amax") {
  Tensor x = K::constant({{1., 5.}, {7., 2.}});
  std::cout << ops::max(x) << " " << ops::max(x, 0);
}

EXAMPLE("ops::min ops::amin") {
  Tensor x = K::constant({{1., 5.}, {7., 2.}});
  std::cout << ops::min(x) << " " << ops::min(x, 0);
}

EXAMPLE("ops::ptp") { std::cout << ops::ptp(K::constant({3., 9., 4.})); }

EXAMPLE("ops::any ops::all") {
  Tensor x = K::constant({{true, false}, {true, true}});
  std::cout << ops::any(x, 1) << " " << ops::all(x, 1);
}

EXAMPLE("ops::argmax ops::argmin") {
  Tensor x = K::constant({{1., 5., 2.}, {7., 2., 0.}});
  std::cout << ops::argmax(x, -1) << " " << ops::argmin(x, -1);
}

EXAMPLE("ops::count_nonzero") {
  std::cout << ops::count_nonzero(K::constant({{1., 0.}, {0., 0.}}));
}

EXAMPLE("ops::logsumexp") {
  std::cout << ops::logsumexp(K::constant({1000., 1000.}));
}

EXAMPLE("ops::cumsum") {
  std::cout << ops::cumsum(K::constant({{1., 2., 3.}, {4., 5., 6.}}), 1);
}

EXAMPLE("ops::cumprod") {
  std::cout << ops::cumprod(K::constant({1., 2., 3., 4.}), 0);
}

EXAMPLE("ops::nansum ops::nanprod ops::nancumsum ops::nancumprod") {
  Tensor x = K::constant({2., 0., 3.}) / K::constant({1., 0., 1.});
  std::cout << x << "\n"
            << ops::nansum(x) << " " << ops::nanprod(x) << "\n"
            << ops::nancumsum(x, 0) << " " << ops::nancumprod(x, 0);
}

EXAMPLE("ops::nanmean ops::nanvar ops::nanstd") {
  Tensor x = K::constant({2., 0., 4.}) / K::constant({1., 0., 1.});
  std::cout << ops::nanmean(x) << " " << ops::nanvar(x) << " " << ops::nanstd(x);
}

EXAMPLE("ops::nanmax ops::nanmin ops::nanargmax ops::nanargmin") {
  Tensor x = K::constant({2., 0., 3.}) / K::constant({1., 0., 1.});
  std::cout << ops::nanmax(x) << " " << ops::nanmin(x) << " "
            << ops::nanargmax(x, 0) << " " << ops::nanargmin(x, 0);
}

EXAMPLE("ops::median ops::nanmedian") {
  Tensor x = K::constant({1., 9., 3., 4.});
  std::cout << ops::median(x) << " " << ops::nanmedian(x);
}

EXAMPLE("ops::quantile ops::nanquantile") {
  Tensor x = K::constant({1., 2., 3., 4., 5.});
  std::cout << ops::quantile(x, 0.25) << " " << ops::nanquantile(x, 0.5);
}

EXAMPLE("ops::percentile ops::nanpercentile") {
  Tensor x = K::constant({1., 2., 3., 4., 5.});
  std::cout << ops::percentile(x, {5, 95}) << " " << ops::nanpercentile(x, 50);
}

EXAMPLE("ops::average") {
  std::cout << ops::average(K::constant({1., 2., 3.}), 0,
                            K::constant({1., 1., 2.}));
}

EXAMPLE("ops::corrcoef") {
  std::cout << ops::corrcoef(K::constant({{1., 2., 3.}, {2., 4., 7.}}));
}

EXAMPLE("ops::correlate") {
  std::cout << ops::correlate(K::constant({1., 2., 3.}), K::constant({0., 1., 0.5}),
                              "same");
}

EXAMPLE("ops::diff") { std::cout << ops::diff(K::constant({1., 4., 9., 16.})); }

EXAMPLE("ops::trapezoid") {
  std::cout << ops::trapezoid(K::constant({0., 1., 4., 9.}));
}

EXAMPLE("ops::sort") { std::cout << ops::sort(K::constant({3., 1., 2.})); }

EXAMPLE("ops::argsort") { std::cout << ops::argsort(K::constant({3., 1., 2.})); }

EXAMPLE("ops::argpartition") {
  std::cout << ops::shape(ops::argpartition(K::constant({9., 1., 5., 3.}), 2));
}

EXAMPLE("ops::unique") {
  std::cout << ops::unique(K::constant({3, 1, 3, 2}, {.dtype = "int32"}))[0];
}

EXAMPLE("ops::searchsorted") {
  std::cout << ops::searchsorted(K::constant({1., 3., 5.}),
                                 K::constant({0., 3., 4.}));
}

EXAMPLE("ops::digitize") {
  std::cout << ops::digitize(K::constant({0.2, 6.4, 3.}),
                             K::constant({0., 1., 2.5, 4.}));
}

EXAMPLE("ops::bincount") {
  std::cout << ops::bincount(K::constant({1, 1, 3}, {.dtype = "int32"}));
}

EXAMPLE("ops::histogram") {
  auto [counts, edges] = ops::histogram(K::constant({1., 2., 2., 5.}), 2);
  std::cout << counts << " " << edges;
}

EXAMPLE("ops::isin") {
  std::cout << ops::isin(K::constant({1., 2., 3.}), K::constant({3., 1.}));
}
