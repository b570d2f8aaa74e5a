#include <fftw3.h>

#include <algorithm>

#include "peer.hpp"

/// Fourier transforms of FFTW. Two threads share the rows; a single transform has one thread.
namespace peer {
namespace {

template <class F>
void on_two_threads(int rows, F f) {
#pragma omp parallel for num_threads(2) schedule(static)
  for (int half = 0; half < 2; ++half)
    if (rows > 1) f(half * rows / 2);
    else if (half == 0) f(0);
}

void complex_rows(const char* name, int rows, int n) {
  const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(n);
  auto* const x = fftwf_alloc_complex(size);
  auto* const y = fftwf_alloc_complex(size);
  const int count = std::max(rows / 2, 1);
  fftwf_plan plan =
      fftwf_plan_many_dft(1, &n, count, x, nullptr, 1, n, y, nullptr, 1, n, FFTW_FORWARD, FFTW_MEASURE);
  for (std::size_t i = 0; i < size; ++i) x[i][0] = x[i][1] = static_cast<float>(i % 7);
  report(name, [&] {
    on_two_threads(rows, [&](int first) { fftwf_execute_dft(plan, x + first * n, y + first * n); });
  });
  fftwf_destroy_plan(plan), fftwf_free(x), fftwf_free(y);
}

void real_rows(int rows, int n) {
  const int bins = n / 2 + 1, count = rows / 2;
  float* const x = fftwf_alloc_real(static_cast<std::size_t>(rows * n));
  auto* const y = fftwf_alloc_complex(static_cast<std::size_t>(rows * bins));
  fftwf_plan forward =
      fftwf_plan_many_dft_r2c(1, &n, count, x, nullptr, 1, n, y, nullptr, 1, bins, FFTW_MEASURE);
  fftwf_plan backward = fftwf_plan_many_dft_c2r(1, &n, count, y, nullptr, 1, bins, x, nullptr, 1, n,
                                                FFTW_MEASURE | FFTW_PRESERVE_INPUT);
  std::fill(x, x + rows * n, 1.f);
  report("rfft_1024", [&] {
    on_two_threads(rows, [&](int first) { fftwf_execute_dft_r2c(forward, x + first * n, y + first * bins); });
  });
  report("irfft_1024", [&] {
    on_two_threads(rows,
                   [&](int first) { fftwf_execute_dft_c2r(backward, y + first * bins, x + first * n); });
  });
  fftwf_destroy_plan(forward), fftwf_destroy_plan(backward), fftwf_free(x), fftwf_free(y);
}

void image(int n) {
  const std::size_t size = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  auto* const x = fftwf_alloc_complex(size);
  auto* const y = fftwf_alloc_complex(size);
  fftwf_plan plan = fftwf_plan_dft_2d(n, n, x, y, FFTW_FORWARD, FFTW_MEASURE);
  for (std::size_t i = 0; i < size; ++i) x[i][0] = x[i][1] = 1;
  report("fft2_512", [&] { fftwf_execute(plan); });
  fftwf_destroy_plan(plan), fftwf_free(x), fftwf_free(y);
}

}  // namespace

void transforms() {
  complex_rows("fft_1024", 256, 1024);
  complex_rows("fft_1000", 256, 1000);
  complex_rows("fft_64", 4096, 64);
  complex_rows("fft_256k", 1, 1 << 18);
  real_rows(256, 1024);
  image(512);
}

}  // namespace peer
