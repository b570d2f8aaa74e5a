// Errors of ops that are made of other ops: each names the function that was called. Every function meets tensors of many
// shapes and dtypes, undefined ones and symbols, of which most do not fit.
#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <functional>

namespace K = ktape::backend;
namespace ops = ktape::ops;
using ktape::Shape, ktape::Tensor;

namespace {

std::vector<Tensor> all_kinds() {
  std::vector<Tensor> out{Tensor()};
  for (const char* dtype : {"float32", "float64", "int32", "bool", "float16", "uint8"})
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{3}, Shape{2, 3}, Shape{4, 3}, Shape{2, 3, 4},
                               Shape{1, 4, 4, 2}, Shape{2, 2, 2, 3}, Shape{1, 4, 4, 4, 2}}) {
      out.push_back(K::ones(shape, {.dtype = dtype}));
      if (dtype == std::string("float32")) out.push_back(K::placeholder({.shape = shape, .dtype = dtype}));
    }
  return out;
}

struct Call {
  const char* op;
  std::function<void(const Tensor& x, const Tensor& y)> call;
};

#define OF_X(op) {#op, [](const Tensor& x, const Tensor&) { ops::op(x); }},
#define OF_BOTH(op) {#op, [](const Tensor& x, const Tensor& y) { ops::op(x, y); }},
#define CALL(op, ...)                                                  \
  {#op, [](const Tensor& x, const Tensor& y) {                         \
     static_cast<void>(x), static_cast<void>(y), ops::op(__VA_ARGS__); \
   }},

// clang-format off
const std::vector<Call>& calls_of_one() {
  static const std::vector<Call> calls{
      OF_X(abs) OF_X(absolute) OF_X(fabs) OF_X(negative) OF_X(sign) OF_X(floor) OF_X(ceil) OF_X(trunc) OF_X(round) OF_X(sqrt) OF_X(rsqrt)
      OF_X(cbrt) OF_X(reciprocal) OF_X(square) OF_X(exp) OF_X(exp2) OF_X(log) OF_X(log2) OF_X(log10) OF_X(log1p) OF_X(sin) OF_X(cos)
      OF_X(tan) OF_X(arcsin) OF_X(arccos) OF_X(arctan) OF_X(sinh) OF_X(cosh) OF_X(tanh) OF_X(arcsinh) OF_X(arccosh) OF_X(arctanh)
      OF_X(deg2rad) OF_X(rad2deg) OF_X(sinc) OF_X(erf) OF_X(erfc) OF_X(erfinv) OF_X(i0) OF_X(angle) OF_X(real) OF_X(conj) OF_X(conjugate)
      OF_X(imag) OF_X(isnan) OF_X(isfinite) OF_X(isinf) OF_X(isposinf) OF_X(isneginf) OF_X(isreal) OF_X(signbit) OF_X(nan_to_num)
      OF_X(zeros_like) OF_X(ones_like) OF_X(empty_like) OF_X(size) OF_X(ravel) OF_X(squeeze) OF_X(transpose) OF_X(flip) OF_X(fliplr)
      OF_X(flipud) OF_X(unstack) OF_X(copy) OF_X(view) OF_X(diag) OF_X(diagflat) OF_X(diagonal) OF_X(trace) OF_X(tril) OF_X(triu)
      OF_X(vander) OF_X(sum) OF_X(prod) OF_X(max) OF_X(min) OF_X(amax) OF_X(amin) OF_X(ptp) OF_X(mean) OF_X(var) OF_X(std) OF_X(logsumexp)
      OF_X(any) OF_X(all) OF_X(count_nonzero) OF_X(argmax) OF_X(argmin) OF_X(cumsum) OF_X(cumprod) OF_X(nansum) OF_X(nanprod) OF_X(nanmean)
      OF_X(nanvar) OF_X(nanstd) OF_X(nanmax) OF_X(nanmin) OF_X(nanargmax) OF_X(nanargmin) OF_X(nancumsum) OF_X(nancumprod) OF_X(median)
      OF_X(nanmedian) OF_X(average) OF_X(sort) OF_X(argsort) OF_X(corrcoef) OF_X(diff) OF_X(trapezoid) OF_X(nonzero) OF_X(unique) OF_X(relu)
      OF_X(relu6) OF_X(leaky_relu) OF_X(elu) OF_X(celu) OF_X(selu) OF_X(gelu) OF_X(glu) OF_X(sigmoid) OF_X(log_sigmoid) OF_X(silu)
      OF_X(swish) OF_X(hard_sigmoid) OF_X(hard_silu) OF_X(hard_swish) OF_X(hard_tanh) OF_X(hard_shrink) OF_X(soft_shrink) OF_X(tanh_shrink)
      OF_X(softplus) OF_X(softsign) OF_X(squareplus) OF_X(softmax) OF_X(log_softmax) OF_X(sparsemax) OF_X(sparse_plus) OF_X(sparse_sigmoid)
      OF_X(cholesky) OF_X(cholesky_inverse) OF_X(lu_factor) OF_X(inv) OF_X(det) OF_X(slogdet) OF_X(logdet) OF_X(qr) OF_X(svd) OF_X(eigh)
      OF_X(eig) OF_X(pinv) OF_X(matrix_rank) OF_X(norm) OF_X(rgb_to_grayscale) OF_X(rgb_to_hsv) OF_X(hsv_to_rgb) OF_X(sobel_edges)
      OF_X(gaussian_blur) OF_X(elastic_transform) OF_X(layer_normalization) OF_X(rms_normalization) OF_X(normalize) OF_X(logical_not)
      OF_X(bitwise_not) OF_X(bitwise_invert) OF_X(rot90) OF_X(bincount) OF_X(rfft) OF_X(expm1) OF_X(fliplr)
      CALL(expand_dims, x,0) CALL(expand_dims, x,9) CALL(squeeze, x,0) CALL(squeeze, x,9) CALL(reshape, x,{-1,2}) CALL(moveaxis, x,0,9)
      CALL(swapaxes, x,0,9) CALL(flip, x,9) CALL(roll, x,1,9) CALL(repeat, x,2,9) CALL(repeat, x,2,0) CALL(tile, x,{2,2})
      CALL(pad, x,{{1,1}}) CALL(sum, x,9) CALL(prod, x,9) CALL(max, x,9) CALL(min, x,9) CALL(amax, x,9) CALL(amin, x,9) CALL(ptp, x,9)
      CALL(mean, x,9) CALL(var, x,9) CALL(std, x,9) CALL(logsumexp, x,9) CALL(any, x,9) CALL(all, x,9) CALL(count_nonzero, x,9)
      CALL(argmax, x,9) CALL(argmin, x,9) CALL(cumsum, x,9) CALL(cumprod, x,9) CALL(nansum, x,9) CALL(nanprod, x,9) CALL(nanmean, x,9)
      CALL(nanvar, x,9) CALL(nanstd, x,9) CALL(nanmax, x,9) CALL(nanmin, x,9) CALL(nanargmax, x,9) CALL(nancumsum, x,9)
      CALL(quantile, x,0.5,9) CALL(percentile, x,50,9) CALL(median, x,9) CALL(average, x,9) CALL(sort, x,9) CALL(argsort, x,9)
      CALL(argpartition, x,1,9) CALL(diff, x,1,9) CALL(trapezoid, x,{},1,9) CALL(split, x,2,9) CALL(split, x,2) CALL(array_split, x,2,9)
      CALL(hsplit, x,2) CALL(vsplit, x,2) CALL(dsplit, x,2) CALL(top_k, x,2) CALL(one_hot, x,3) CALL(multi_hot, x,3)
      CALL(unravel_index, x,{2,3}) CALL(softmax, x,9) CALL(log_softmax, x,9) CALL(glu, x,9) CALL(sparsemax, x,9) CALL(unstack, x,9)
      CALL(get_item, x,{{9}}) CALL(get_item, x,{{0,0,0,0,0,0}}) CALL(slice, x,{0,0},{9,9}) CALL(resize, x,{3,3}) CALL(extract_patches, x,2)
      CALL(extract_patches_3d, x,2) CALL(reconstruct_patches, x,2,4) CALL(crop_images, x,{.top=1,.left=1,.bottom=1,.right=1})
      CALL(pad_images, x,{.top=1,.left=1,.bottom=1,.right=1}) CALL(max_pool, x,2) CALL(average_pool, x,2) CALL(adaptive_max_pool, x,2)
      CALL(adaptive_average_pool, x,2) CALL(moments, x,9) CALL(moments, x,0) CALL(normalize, x,9)
      CALL(layer_normalization, x,{},{},{.axis=9}) CALL(rms_normalization, x,{},9) CALL(depth_to_space, x,2) CALL(space_to_depth, x,2)
      CALL(unfold, x,2) CALL(fold, x,{4,5},2) CALL(matrix_power, x,2) CALL(norm, x,3.,9) CALL(extract_sequences, x,3,1) CALL(clip, x,0,1)
      CALL(saturate_cast, x,"uint8") CALL(full_like, x,3) CALL(rearrange, x,"a b -> b a") CALL(transpose, x,Shape{1,0})
      CALL(transpose, x,Shape{0,9}) CALL(diagonal, x,0,0,9) CALL(trace, x,0,0,9) CALL(rot90, x,1,{0,9}) CALL(ldexp, x,2)
      CALL(einsum, "ij->ji",{x}) CALL(einsum, "ii",{x}) CALL(view, x,"int16") CALL(broadcast_to, x,{5,2}) CALL(meshgrid, {x})
      CALL(hstack, {x,x}) CALL(stft, x,4,2,4) CALL(histogram, x,3)
  };
  return calls;
}

const std::vector<Call>& calls_of_two() {
  static const std::vector<Call> calls{
      OF_BOTH(add) OF_BOTH(subtract) OF_BOTH(multiply) OF_BOTH(divide) OF_BOTH(true_divide) OF_BOTH(divide_no_nan) OF_BOTH(floor_divide)
      OF_BOTH(mod) OF_BOTH(fmod) OF_BOTH(power) OF_BOTH(maximum) OF_BOTH(minimum) OF_BOTH(fmax) OF_BOTH(fmin) OF_BOTH(arctan2)
      OF_BOTH(hypot) OF_BOTH(logaddexp) OF_BOTH(logaddexp2) OF_BOTH(heaviside) OF_BOTH(nextafter) OF_BOTH(gammainc) OF_BOTH(gcd)
      OF_BOTH(lcm) OF_BOTH(equal) OF_BOTH(not_equal) OF_BOTH(greater) OF_BOTH(greater_equal) OF_BOTH(less) OF_BOTH(less_equal)
      OF_BOTH(logical_and) OF_BOTH(logical_or) OF_BOTH(logical_xor) OF_BOTH(bitwise_and) OF_BOTH(bitwise_or) OF_BOTH(bitwise_xor)
      OF_BOTH(bitwise_left_shift) OF_BOTH(bitwise_right_shift) OF_BOTH(left_shift) OF_BOTH(right_shift) OF_BOTH(isclose) OF_BOTH(allclose)
      OF_BOTH(matmul) OF_BOTH(dot) OF_BOTH(inner) OF_BOTH(outer) OF_BOTH(vdot) OF_BOTH(kron) OF_BOTH(cross) OF_BOTH(cdist) OF_BOTH(append)
      OF_BOTH(solve) OF_BOTH(lstsq) OF_BOTH(solve_triangular) OF_BOTH(correlate) OF_BOTH(conv) OF_BOTH(conv_transpose)
      OF_BOTH(depthwise_conv) OF_BOTH(categorical_crossentropy) OF_BOTH(binary_crossentropy) OF_BOTH(sparse_categorical_crossentropy)
      OF_BOTH(polar) OF_BOTH(ssim) OF_BOTH(affine_transform) OF_BOTH(searchsorted) OF_BOTH(digitize) OF_BOTH(isin) OF_BOTH(segment_sum)
      OF_BOTH(segment_prod) OF_BOTH(segment_max) OF_BOTH(segment_min) OF_BOTH(take) OF_BOTH(take_along_axis) OF_BOTH(rms_normalization)
      OF_BOTH(ctc_decode) OF_BOTH(trapezoid) OF_BOTH(full_like) OF_BOTH(quantile)
      CALL(clip, x,y,1) CALL(clip, x,0,y) CALL(where, x,y,y) CALL(where, y,x,y) CALL(select, {x},{y}) CALL(concatenate, {x,y},0)
      CALL(concatenate, {x,y},9) CALL(stack, {x,y}) CALL(hstack, {x,y}) CALL(vstack, {x,y}) CALL(dstack, {x,y}) CALL(column_stack, {x,y})
      CALL(take, x,y,0) CALL(take, x,y,9) CALL(take_along_axis, x,y,0) CALL(take_along_axis, x,y,9) CALL(in_top_k, x,y,1)
      CALL(scatter, x,y,{3}) CALL(scatter_update, x,y,x) CALL(scatter_update, x,x,y) CALL(slice_update, x,{0,0},y) CALL(tensordot, x,y,1)
      CALL(tensordot, x,y,{{0},{9}}) CALL(einsum, "ij,jk->ik",{x,y}) CALL(batch_normalization, x,y,y,-1) CALL(batch_normalization, x,y,y,9)
      CALL(layer_normalization, x,y,y) CALL(dot_product_attention, x,y,y) CALL(dot_product_attention, x,x,x,{.mask=y})
      CALL(dot_product_attention, x,x,x,{.bias=y}) CALL(separable_conv, x,y,y) CALL(psnr, x,y,1) CALL(map_coordinates, x,y,1)
      CALL(perspective_transform, x,y,y) CALL(ctc_loss, x,y,x,x) CALL(average, x,0,y) CALL(average, x,{},y) CALL(linspace, x,y,3)
      CALL(logspace, x,y,3) CALL(geomspace, x,y,3) CALL(full, {2,3},y) CALL(scale_and_translate, x,{3,3},y,y,{0,1},"linear")
      CALL(meshgrid, {x,y}) CALL(cross, x,y,9) CALL(cross, x,y,{.axisa=9}) CALL(irfft, {x,y}) CALL(fft, {x,y}) CALL(fft2, {x,y})
      CALL(ifft2, {x,y}) CALL(elastic_transform, x,{.alpha=y}) CALL(cross, x,y,0) CALL(sparse_categorical_crossentropy, x,y,true)
  };
  return calls;
}
// clang-format on

void expect_named(const Call& each, const Tensor& x, const Tensor& y) {
  try {
    each.call(x, y);
  } catch (const ktape::Error& error) {
    const std::string text = error.what(), name = std::string("[") + each.op + "] ";
    if (!text.starts_with(name)) FAIL_CHECK(each.op << " says " << text);
  }
}

}  // namespace

TEST_CASE("ops: errors name the function that was called") {
  const std::vector<Tensor> kinds = all_kinds();
  for (const Tensor& x : kinds) {
    for (const Call& each : calls_of_one()) expect_named(each, x, {});
    for (const Tensor& y : kinds)
      for (const Call& each : calls_of_two()) expect_named(each, x, y);
  }
}

TEST_CASE("K: clip and bias_add name themselves") {
  CHECK_THROWS_WITH_AS(
      K::clip(K::ones({2}), K::ones({}, {.dtype = "float64"}), 1),
      "[clip] both tensors must have one dtype: received x=float32, y=float64 (K::cast(y, \"float32\") "
      "converts)",
      ktape::TypeError);
  const Tensor truth = K::ones({2, 3}, {.dtype = "bool"});
  CHECK_THROWS_WITH_AS(K::bias_add(truth, truth[0]), "[bias_add] x must be a number: received dtype=bool",
                       ktape::TypeError);
}

TEST_CASE("ops: a name ends with the call, also with a call that throws") {
  CHECK_THROWS_AS(ops::ptp(K::ones({2}), 5), ktape::ValueError);
  CHECK_THROWS_WITH_AS(ops::max(K::ones({2}), 5), doctest::Contains("[max] "), ktape::ValueError);
  CHECK_THROWS_WITH_AS(
      ops::map([](const Tensor& row) { return ops::power(row, K::ones({7})); }, K::ones({2, 3})),
      doctest::Contains("[power] "), ktape::ValueError);
}
