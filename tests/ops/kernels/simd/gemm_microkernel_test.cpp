#include <doctest/doctest.h>
#include <ktape/ops/kernels/simd/gemm_microkernel.hpp>

#include "../references.hpp"

namespace {

/// sum (R, V vectors) += a (R, inner), its elements `a_step` apart, times b (inner, V vectors).
template <int R, int V, class A>
void check_product(i64 inner, i64 a_step, i64 padding, i64 valid = k::lanes<A>) {
  const i64 columns = (V - 1) * k::lanes<A> + valid, b_step = columns + padding;
  const ::Array<A> a = numbers<A>(R * inner * a_step), sums = numbers<A>(R * columns);
  const ::Array<A> b =
      numbers<A>(std::max<i64>(0, (inner - 1) * b_step + columns));  // ends with the last row
  reference::Array left(reference::Extents{R, std::size_t(inner)}),
      right(reference::Extents{std::size_t(inner), std::size_t(columns)});
  for (i64 r = 0; r < R; ++r)
    for (i64 i = 0; i < inner; ++i) left(r, i) = a[(r * inner + i) * a_step];
  for (i64 i = 0; i < inner; ++i)
    for (i64 j = 0; j < columns; ++j) right(i, j) = b[i * b_step + j];

  const A* rows[R];
  k::Vec<A> sum[R][V];
  for (int r = 0; r < R; ++r) {
    rows[r] = a.data() + r * inner * a_step;
    for (int v = 0; v < V; ++v)
      sum[r][v] = k::load_partial(sums.data() + r * columns + v * k::lanes<A>, V > 1 ? k::lanes<A> : valid);
  }
  k::multiply_add(sum, rows, a_step, inner, b.data(), b_step, valid);
  ::Array<A> got(R * columns);
  for (int r = 0; r < R; ++r)
    for (i64 j = 0; j < columns; ++j) got[r * columns + j] = sum[r][j / k::lanes<A>][j % k::lanes<A>];

  reference::Array wanted = as_reference(sums, {R, columns});
  if (inner > 0) wanted += reference::matmul(left, right);
  INFO(R, " rows, ", V, " vectors, ", valid, " valid, inner ", inner, ", steps ", a_step, " and ", b_step);
  CHECK(close(as_list(got), wanted, rounding<A>(10. * static_cast<double>(inner))));
}

template <int R, class A>
void check_rows() {
  for (const i64 inner : {0, 1, 2, 7, 64, 301})
    for (const i64 a_step : {1, 5}) {
      check_product<R, 2, A>(inner, a_step, 0);
      check_product<R, 4, A>(inner, a_step, 3);
      for (const i64 valid : {1, k::lanes<A> - 1, k::lanes<A>})
        check_product<R, 1, A>(inner, a_step, 2, valid);
    }
}

}  // namespace

TEST_CASE_TEMPLATE("kernels: products in registers agree with matmul", A, float, double) {
  check_rows<1, A>();
  check_rows<3, A>();
  check_rows<4, A>();
  check_rows<6, A>();
}
