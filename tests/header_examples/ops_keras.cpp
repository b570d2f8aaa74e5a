#include "header_examples.hpp"

namespace {

[[maybe_unused]] void keras_ops(const Tensor& x, const Tensor& a, const Tensor& b, const Tensor& image,
                                const Tensor& kernel, const Tensor& target, const Tensor& output,
                                const Tensor& messages, const Tensor& receivers, std::int64_t nodes) {
  namespace K = backend;
  namespace ops = ktape::ops;
  {
    Tensor y = ops::floor(x) + ops::arctan(x);
  }
  { Tensor y = ops::mod(ops::add(x, 1), ops::maximum(x, 0.5)); }
  ops::sum(x), ops::mean(x, -1), ops::max(x, {0, 2}, true), ops::argmax(x), ops::argmax(x, -1);
  ops::quantile(x, 0.25), ops::percentile(x, {5, 95}, -1), ops::median(x, {0, 1}, true);
  ops::linspace(0, 1, 5), ops::eye(3), ops::tri(3), ops::arange(0, 10, 2), ops::hanning(16);
  ops::moveaxis(x, 0, -1), ops::roll(x, {1, -2}, {0, 1}), ops::concatenate({a, b}, 1), ops::rot90(image);
  ops::take(x, K::constant({0, -1}, {.dtype = "int32"}), 1);
  ops::slice_update(x, {1, 2}, ops::zeros({2, 3}));
  auto [values, indices] = ops::top_k(x, 3);
  {
    Tensor x = ops::solve(a, b), w = ops::eigh(a).w;
    auto [u, s, vh] = ops::svd(a, false);
  }
  ops::matmul(a, b), ops::tensordot(a, b, {{0, 2}, {1, 0}}), ops::einsum("ii->i", {a}), ops::cdist(a, b);
  ops::gelu(x), ops::leaky_relu(x, 0.1), ops::softmax(x, {0, 2}), ops::glu(x, 1);
  ops::conv(x, kernel, {.strides = 2, .padding = "same"});
  ops::max_pool(x, 2), ops::adaptive_average_pool(x, {2, 4}), ops::normalize(x, -1, 1);
  ops::categorical_crossentropy(target, output), ops::psnr(x, output, 1), ops::depth_to_space(x, 2);
  ops::fold(ops::unfold(x, 2), {4, 5}, 2);
  Tensor sums = ops::segment_sum(messages, receivers, nodes);
}

[[maybe_unused]] void examples_of_numpy_elementwise(const Tensor& x) {
  namespace ops = ktape::ops;
  ops::floor(x), ops::ceil(x), ops::trunc(x), ops::round(x, 2), ops::sqrt(x), ops::rsqrt(x), ops::cbrt(x);
  ops::reciprocal(x), ops::square(x), ops::exp(x), ops::expm1(x), ops::exp2(x), ops::log(x), ops::log2(x);
  ops::log10(x), ops::log1p(x), ops::sin(x), ops::cos(x), ops::tan(x), ops::arcsin(x), ops::arccos(x);
  ops::sinh(x), ops::cosh(x), ops::tanh(x), ops::arcsinh(x), ops::arccosh(x), ops::arctanh(x), ops::sinc(x);
  ops::deg2rad(x), ops::rad2deg(x), ops::erf(x), ops::erfc(x), ops::erfinv(x), ops::i0(x), ops::abs(x);
  ops::absolute(x), ops::fabs(x), ops::negative(x), ops::sign(x), ops::angle(x), ops::real(x), ops::conj(x);
  ops::conjugate(x), ops::imag(x), ops::isnan(x), ops::isfinite(x), ops::isinf(x), ops::isposinf(x);
  ops::isneginf(x), ops::isreal(x), ops::signbit(x), ops::nan_to_num(x, 0, 1e6), ops::clip(x, 0, 1);
  ops::saturate_cast(x, "uint8");
}

[[maybe_unused]] void examples_of_numpy_arithmetic(const Tensor& a, const Tensor& b, const Tensor& n) {
  namespace ops = ktape::ops;
  ops::subtract(a, 1), ops::multiply(2, b), ops::divide(a, b), ops::true_divide(1, b), ops::power(a, 3);
  ops::divide_no_nan(a, b), ops::floor_divide(a, 2), ops::fmod(a, b), ops::ldexp(a, 3), ops::minimum(a, b);
  ops::fmax(a, b), ops::fmin(a, b), ops::arctan2(a, b), ops::hypot(a, b), ops::logaddexp(a, b);
  ops::logaddexp2(a, b), ops::heaviside(a, 0.5), ops::nextafter(a, b), ops::gammainc(a, b), ops::gcd(n, 12);
  ops::lcm(n, 12);
}

[[maybe_unused]] void examples_of_numpy_logic(const Tensor& a, const Tensor& b, const Tensor& n) {
  namespace ops = ktape::ops;
  ops::equal(a, b), ops::not_equal(a, 0), ops::greater(a, b), ops::greater_equal(a, b), ops::less(a, 1);
  ops::less_equal(a, b), ops::logical_and(a, b), ops::logical_or(a, b), ops::logical_xor(a, b);
  ops::logical_not(a), ops::bitwise_and(n, 7), ops::bitwise_or(n, 1), ops::bitwise_xor(n, 3);
  ops::bitwise_not(n), ops::bitwise_invert(n), ops::bitwise_left_shift(n, 2), ops::bitwise_right_shift(n, 2);
  ops::left_shift(n, 2), ops::right_shift(n, 2), ops::isclose(a, b), ops::allclose(a, b, {.atol = 1e-3});
  ops::where(a > b, a, 0), ops::select({a > 1, a < 0}, {a, b}, -1);
}

[[maybe_unused]] void examples_of_numpy_reductions(const Tensor& x) {
  namespace ops = ktape::ops;
  ops::prod(x, 1), ops::min(x, -1), ops::amax(x, 0), ops::amin(x, 0, true), ops::ptp(x, 1), ops::var(x, 1);
  ops::std(x), ops::logsumexp(x, -1), ops::any(x), ops::all(x, 1), ops::count_nonzero(x, 0),
      ops::argmin(x, 0);
  ops::cumsum(x, 1), ops::cumprod(x), ops::nansum(x), ops::nanprod(x, 1), ops::nanmean(x, 1), ops::nanvar(x);
  ops::nanstd(x, 0), ops::nanmax(x), ops::nanmin(x, 1), ops::nanargmax(x, 1), ops::nanargmin(x);
  ops::nancumsum(x, 1), ops::nancumprod(x, 0);
}

[[maybe_unused]] void examples_of_numpy_statistics(const Tensor& x, const Tensor& weights,
                                                   const Tensor& matrix, const Tensor& v, const Tensor& w) {
  namespace ops = ktape::ops;
  ops::nanquantile(x, 0.5), ops::nanpercentile(x, 90, 0), ops::nanmedian(x), ops::average(x, 1, weights);
  ops::sort(x, 0), ops::argsort(x), ops::argpartition(x, 2), ops::corrcoef(matrix),
      ops::correlate(v, w, "same");
  ops::diff(x, 2), ops::trapezoid(x, {}, 0.1);
}

[[maybe_unused]] void examples_of_numpy_creation(const Tensor& x, const Tensor& v, const Tensor& w) {
  namespace ops = ktape::ops;
  ops::zeros({2, 3}), ops::ones({2}, "int32"), ops::full({2, 2}, 7), ops::empty({3}), ops::zeros_like(x);
  ops::ones_like(x), ops::full_like(x, 2), ops::empty_like(x), ops::array({{1, 2}, {3, 4}}), ops::identity(3);
  ops::convert_to_tensor({1., 2.}), ops::logspace(0, 3, 4), ops::geomspace(1, 1000, 4), ops::meshgrid({v, w});
  ops::vander(v, 3), ops::bartlett(16), ops::hamming(16), ops::blackman(16), ops::kaiser(16, 8.6);
}

[[maybe_unused]] void examples_of_numpy_indexing(const Tensor& x, const Tensor& places, const Tensor& v,
                                                 const Tensor& w, const Tensor& n) {
  namespace ops = ktape::ops;
  ops::take_along_axis(x, ops::argsort(x, 1), 1), ops::get_item(x, {All, 0}), ops::slice(x, {0, 1}, {2, 2});
  ops::scatter(places, v, {5}), ops::scatter_update(v, places, w, "add"), ops::in_top_k(n, x, 3),
      ops::one_hot(n, 4);
  ops::multi_hot(n, 4), ops::nonzero(x), ops::unravel_index(n, {3, 4});
}

[[maybe_unused]] void examples_of_numpy_sets(const Tensor& x, const Tensor& v, const Tensor& n,
                                             const Tensor& m) {
  namespace ops = ktape::ops;
  ops::searchsorted(v, x), ops::digitize(x, v), ops::bincount(n), ops::histogram(v, 20).counts;
  ops::unique(n, {.return_counts = true}), ops::isin(n, m);
}

[[maybe_unused]] void examples_of_numpy_shape(const Tensor& x, const Tensor& a, const Tensor& b,
                                              const Tensor& v, const Tensor& w, const Tensor& image) {
  namespace ops = ktape::ops;
  ops::shape(x), ops::ndim(x), ops::size(x), ops::reshape(x, {-1, 4}), ops::ravel(x),
      ops::expand_dims(x, {0, 2});
  ops::squeeze(x), ops::transpose(x, Shape{1, 0}), ops::swapaxes(x, 0, 1), ops::broadcast_to(x, {5, 2, 3});
  ops::flip(x, 1), ops::fliplr(x), ops::flipud(x), ops::stack({a, b}), ops::append(a, b, 0),
      ops::hstack({a, b});
  ops::vstack({a, b}), ops::dstack({a, b}), ops::column_stack({v, w}), ops::split(x, 2), ops::unstack(x);
  ops::array_split(x, 3), ops::hsplit(x, {1}), ops::vsplit(x, 2), ops::dsplit(image, 2), ops::repeat(x, 2, 1);
  ops::tile(x, {2, 1}), ops::pad(x, {{1, 1}, {0, 2}}), ops::diag(v), ops::diagflat(x), ops::diagonal(x, 1);
  ops::trace(x), ops::tril(x), ops::triu(x, 1), ops::rearrange(x, "(a b) c -> a (b c)", {{"b", 2}});
  ops::copy(x), ops::view(x, "int32");
}

[[maybe_unused]] void examples_of_nn_activations(const Tensor& x) {
  namespace ops = ktape::ops;
  ops::relu(x), ops::relu6(x), ops::elu(x), ops::celu(x, 0.5), ops::selu(x), ops::sigmoid(x),
      ops::log_sigmoid(x);
  ops::silu(x), ops::swish(x), ops::hard_sigmoid(x), ops::hard_silu(x), ops::hard_swish(x), ops::hard_tanh(x);
  ops::hard_shrink(x), ops::soft_shrink(x, 0.2), ops::tanh_shrink(x), ops::threshold(x, 0, -1),
      ops::softplus(x);
  ops::softsign(x), ops::squareplus(x), ops::log_softmax(x), ops::sparsemax(x), ops::sparse_plus(x);
  ops::sparse_sigmoid(x);
}

[[maybe_unused]] void examples_of_nn_losses(const Tensor& classes, const Tensor& target, const Tensor& output,
                                            const Tensor& labels, const Tensor& logits,
                                            const Tensor& label_lengths, const Tensor& lengths,
                                            const Tensor& image, const Tensor& x) {
  namespace ops = ktape::ops;
  ops::sparse_categorical_crossentropy(classes, output), ops::binary_crossentropy(target, output, true);
  ops::ctc_loss(labels, logits, label_lengths, lengths), ops::ctc_decode(logits, lengths).decoded;
  ops::space_to_depth(image, 2), ops::polar(x, output).real;
}

[[maybe_unused]] void examples_of_nn_layers(const Tensor& x, const Tensor& kernel, const Tensor& pointwise,
                                            const Tensor& mean, const Tensor& variance, const Tensor& query,
                                            const Tensor& key, const Tensor& value) {
  namespace ops = ktape::ops;
  ops::conv_transpose(x, kernel, {.strides = 2}), ops::depthwise_conv(x, kernel), ops::average_pool(x, 2);
  ops::separable_conv(x, kernel, pointwise), ops::adaptive_max_pool(x, 3), ops::moments(x, {0, 1}).mean;
  ops::batch_normalization(x, mean, variance, -1), ops::layer_normalization(x), ops::rms_normalization(x);
  ops::dot_product_attention(query, key, value, {.is_causal = true});
}

[[maybe_unused]] void examples_of_linalg_linalg(const Tensor& a, const Tensor& b) {
  namespace ops = ktape::ops;
  ops::cholesky(a), ops::cholesky_inverse(a), ops::lu_factor(a).pivots, ops::solve_triangular(a, b, true);
  ops::inv(a), ops::det(a), ops::slogdet(a).sign, ops::logdet(a), ops::qr(a).r, ops::eig(a).w_real;
  ops::lstsq(a, b), ops::pinv(a), ops::matrix_power(a, 3), ops::matrix_rank(a), ops::norm(a, "nuc");
}

[[maybe_unused]] void examples_of_linalg_products(const Tensor& a, const Tensor& b, const Tensor& v,
                                                  const Tensor& w) {
  namespace ops = ktape::ops;
  ops::dot(a, b), ops::inner(a, b), ops::outer(v, w), ops::vdot(a, b), ops::kron(a, b), ops::cross(v, w);
}

[[maybe_unused]] void examples_of_fft_fft(const Tensor& real, const Tensor& imag, const Tensor& signal) {
  namespace ops = ktape::ops;
  ops::fft({real, imag}), ops::fft2({real, imag}), ops::ifft2({real, imag}).first;
  ops::istft(ops::stft(signal, 256, 128, 256), 256, 128, 256);
}

[[maybe_unused]] void examples_of_math_math(const Tensor& messages, const Tensor& receivers,
                                            std::int64_t nodes, const Tensor& x) {
  namespace ops = ktape::ops;
  ops::segment_prod(messages, receivers), ops::segment_max(messages, receivers),
      ops::extract_sequences(x, 4, 2);
  ops::segment_min(messages, receivers, nodes);
}

[[maybe_unused]] void examples_of_image_image(const Tensor& images, const Tensor& volumes,
                                              const Tensor& patches, const Tensor& x, const Tensor& places,
                                              const Tensor& transform, const Tensor& from, const Tensor& to) {
  namespace ops = ktape::ops;
  ops::rgb_to_hsv(images), ops::hsv_to_rgb(images), ops::sobel_edges(images), ops::ssim(images, images);
  ops::extract_patches_3d(volumes, 2), ops::reconstruct_patches(patches, 8, {32, 32});
  ops::crop_images(images, {.top = 1, .left = 2, .target_height = 8, .target_width = 8});
  ops::pad_images(images, {.top = 1, .left = 1, .bottom = 1, .right = 1});
  ops::map_coordinates(x, places, 1, "reflect"), ops::affine_transform(images, transform);
  ops::perspective_transform(images, from, to);
}

[[maybe_unused]] void examples_of_core_core(const Tensor& x, const Tensor& xs) {
  namespace ops = ktape::ops;
  ops::cast(x, "int32"), ops::dtype(x), ops::is_tensor(x), ops::stop_gradient(x);
  ops::cond(ops::sum(x) > 0, x, -x), ops::map([](const Tensor& row) { return ops::sum(row); }, xs);
  ops::switch_(1, {[](const std::vector<Tensor>& v) { return v[0]; }}, {x});
  ops::vectorized_map([](const Tensor& row) { return row * row; }, xs);
  ops::fori_loop(
      0, 3, [](std::int64_t i, const Tensor& v) { return v * double(i); }, x);
  ops::while_loop([](const ops::LoopVariables& v) { return v[0] < 3; },
                  [](const ops::LoopVariables& v) { return ops::LoopVariables{v[0] + 1}; }, {x});
  ops::associative_scan([](const Tensor& a, const Tensor& b) { return a + b; }, xs);
  ops::jvp([](const Tensor& v) { return ops::sin(v); }, x, ops::ones_like(x)).second;
  ops::vjp([](const Tensor& v) { return ops::sin(v); }, x).second(ops::ones_like(x));
  ops::hessian([](const Tensor& v) { return ops::sum(v * v * v); }, x);
  ops::custom_gradient([](const Tensor& v) { return std::pair{v, [](const Tensor& g) { return g * 2; }}; });
}

[[maybe_unused]] void keras_signals(const Tensor& x, const Tensor& signal, const Tensor& init,
                                    const Tensor& xs, const Tensor& logits) {
  namespace ops = ktape::ops;
  namespace random = ktape::random;
  {
    auto [real, imag] = ops::rfft(signal);
    Tensor same = ops::irfft({real, imag}), spectrum = ops::stft(signal, 256, 128, 256).first;
  }
  auto [last, steps] = ops::scan(
      [](const Tensor& c, const Tensor& x) {
        return std::pair{c + x, c * x};
      },
      init, xs);
  Tensor matrix = ops::jacobian([](const Tensor& x) { return x * x; }, x);
  const Tensor& images = x;
  ops::resize(images, {32, 32}, {.interpolation = "bicubic", .antialias = true});
  ops::gaussian_blur(images, {3, 5}, {1., 2.}), ops::rgb_to_grayscale(images),
      ops::extract_patches(images, 8);
  ops::scale_and_translate(images, {8, 6, 6, 3}, {1.5, 2.}, {0., 0.25}, {1, 2}, "linear");
  ops::elastic_transform(images, {.alpha = 10, .sigma = 2, .seed = 1});
  random::SeedGenerator seed(7);
  Tensor noise = random::normal({2, 3}, 0, 1, {}, seed), draws = random::categorical(logits, 4, {}, seed);
}

}  // namespace
