#include "run_operation.hpp"

using namespace run_operation;

TEST_CASE("Fourier transforms of keras.ops are made of operations on pairs of tensors") {
  const Tensor x = K::random_normal({2, 8}), y = K::random_normal({2, 8});
  const std::vector<Tensor> bins = all_of("RFFT", {{"x", of(x)}});
  REQUIRE(bins.size() == 2);
  check_same(run("IRFFT", {{"x", list(bins)}}), x);
  const std::vector<Tensor> both = all_of("FFT2", {{"x", list({x, y})}});
  check_same(all_of("IFFT2", {{"x", list(both)}}).at(1), y);
  CHECK_THROWS_WITH_AS(run("FFT", {{"x", list({x})}}),
                       Contains("must be a real and an imaginary part: received 1 tensors"), ValueError);
}

TEST_CASE("Ndim, Full and Eig are operations") {
  check_same(run("Ndim", {{"x", of(K::zeros({2, 3}))}}), K::constant(2, {.dtype = "int32"}));
  check_same(run("Full", {{"fill_value", of(K::constant(2.))}, {"shape", value("[2]")}}),
             K::constant({2., 2.}));
  CHECK(all_of("Eig", {{"x", of(K::constant({{2., 0.}, {0., 4.}}))}}).size() == 4);
}
