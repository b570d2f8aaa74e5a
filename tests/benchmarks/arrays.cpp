#include <ktape/ktape.hpp>
#include "report.hpp"

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Tensor;

namespace {

// Sorting and searching, forward alone.
const bench::Group sorting([] {
  const ktape::NoGrad off;
  const Tensor x = K::random_normal({1000000}), rows = K::random_normal({1000, 1000});
  const Tensor ids = K::cast(K::random_uniform({1000000}, {.maxval = 10000}), "int64");
  const Tensor sorted = K::sort(K::random_normal({100000}));
  bench::report("sort_1M", [&] { ops::sort(x); });
  bench::report("argsort_1M", [&] { ops::argsort(x); });
  bench::report("sort_rows", [&] { ops::sort(rows); });
  bench::report("sort_rows_short", [&] { ops::sort(K::reshape(rows, {-1, 50})); });
  bench::report("top_k_10", [&] { ops::top_k(x, 10); });
  bench::report("top_k_rows", [&] { ops::top_k(rows, 100); });
  bench::report("unique", [&] { ops::unique(ids); });
  bench::report("searchsorted", [&] { ops::searchsorted(sorted, x); });
});

// Factorizations, beside those of libtorch, which calls the same LAPACK.
const bench::Group factorizations([] {
  const ktape::NoGrad off;
  const Tensor x = K::random_normal({256, 256}), small = K::random_normal({1000, 16, 16});
  const Tensor symmetric = x + K::transpose(x), batch = small + K::permute_dimensions(small, {0, 2, 1});
  bench::report("svd_256", [&] { ops::svd(x); });
  bench::report("svd_16", [&] { ops::svd(small); });
  bench::report("eigh_256", [&] { ops::eigh(symmetric); });
  bench::report("eigh_16", [&] { ops::eigh(batch); });
});

// Fourier transforms, beside those of FFTW.
const bench::Group transforms([] {
  const ktape::NoGrad off;
  const auto pair = [](const ktape::Shape& shape) {
    return ops::ComplexPair{K::random_normal(shape), K::random_normal(shape)};
  };
  const auto rows = pair({256, 1024}), long_row = pair({1, 1 << 18}), odd = pair({256, 1000}),
             image = pair({512, 512});
  const auto short_rows = pair({4096, 64}), bins = pair({256, 513});
  const Tensor real = K::random_normal({256, 1024});
  bench::report("fft_1024", [&] { ops::fft(rows); });
  bench::report("fft_1000", [&] { ops::fft(odd); });
  bench::report("fft_64", [&] { ops::fft(short_rows); });
  bench::report("fft_256k", [&] { ops::fft(long_row); });
  bench::report("fft2_512", [&] { ops::fft2(image); });
  bench::report("rfft_1024", [&] { ops::rfft(real); });
  bench::report("irfft_1024", [&] { ops::irfft(bins); });
});

}  // namespace
