#include <doctest/doctest.h>
#include <ktape/ktape.hpp>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>
#include <xtensor/xarray.hpp>
#include <xtensor/xmath.hpp>

/// The examples in comments of public headers. Each line of an example stands in this file and so compiles;
/// the test at the end compares. The functions are not called: some examples read files.
namespace data = ktape::data;
namespace nn = ktape::nn;
namespace plot = ktape::plot;
using namespace ktape;
using data::Dataset, data::load_csv, nn::Config, plot::lines;

#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"
#pragma GCC diagnostic ignored "-Wshadow"

namespace {

[[maybe_unused]] void shapes_and_constants(const Tensor& x, const Tensor& mask, const Shape& shape,
                                           std::vector<float> bytes, const xt::xarray<float>& a,
                                           const std::vector<std::vector<float>>& rows) {
  namespace K = backend;
  {
    DType d = "float32";
    d == "float32", d.name();
    shape[0], shape[-1], shape == Shape{2, 3};
    for (std::int64_t extent : shape) std::cout << extent;
    std::cout << "ktape " << K::version() << "\n";
    std::cout << K::help("conv2d") << K::help("nn::Dense");
    Slice(), Slice(0, 2), Slice(1, None), Slice(None, None, -1);
    x[0], x[{1, -1}], x[{Slice(0, 2), All}], x[{Ellipsis, NewAxis}], x[Slice(None, None, -1)];
    K::constant(3.f), K::constant({{1, 2}, {3, 4}}), K::constant(rows), K::constant(xt::sin(a));
  }
  Tensor x_of_bytes = [&] {
    Tensor x = Tensor::from_buffer(bytes.data(), bytes.size(), {2, 3}, "float32");
    return x;
  }();
  K::maximum(x, 0.f), K::minimum(1, x), K::where(x > 0, x, -1.f), mask & true;
  K::name_scope outer("encoder");
  K::name_scope inner("dense");
}

[[maybe_unused]] void ops(const Tensor& x) {
  using namespace backend;
  sum(x), sum(x, -1), sum(x, {0, 2}), sum(x, None), max(x, {0, 2}, true), mean(x, None);
  zeros({2, 3}), random_normal(shape(x)), random_normal({shape(x)[0], 3});
  SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
  spatial_2d_padding(x, {.padding = 2});
  spatial_2d_padding(x, {.padding = {{1, 1}, {2, 0}}});
  pool2d(x, {2, 2});
  pool2d(x, 3, {.strides = 2, .padding = "same", .pool_mode = "avg"});
  Pool2dOptions window = {.strides = 2};
  window = {.strides = {2, 1}};
  Spatial2dPaddingOptions border = {.padding = 1};
  border = {.padding = {{0, 1}, {2, 2}}};
}

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

[[maybe_unused]] void parts(const Tensor& x) {
  namespace K = backend;
  Tensor positive = x[x > 0];
  Variable board = K::variable(K::zeros({3, 3}));
  board[{1, All}] = {1., 2., 3.};
  board[board > 2] = 0;
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

[[maybe_unused]] void functions(const Variable& w, const Variable& velocity, const Tensor& loss,
                                const Tensor& W, const Tensor& U, const Tensor& mask, const Tensor& value) {
  namespace K = backend;
  const std::int64_t samples = 2, units = 3;
  Tensor x = K::placeholder({K::None, 3});
  Tensor y = K::relu(K::dot(x, w));
  auto f = K::function({x}, {y, K::gradients(K::sum(y), {x})[0]});
  auto results = f({K::ones({5, 3})});
  auto updates = K::symbolic([&] {
    Tensor v = 0.9f * velocity - 0.1f * K::gradients(loss, {w})[0];
    return std::vector{K::update(velocity, v), K::update(w, w + v)};
  })();
  auto step = K::function({x}, {loss}, updates);
  {
    auto f = K::function({x, K::learning_phase()}, {y});
    f({value, 1});
  }
  { auto f = K::function({x}, {y}, {.compile = true}); }
  auto [last, outputs, states] = K::rnn(
      [&](const Tensor& x, const std::vector<Tensor>& states) {
        Tensor h = K::tanh(K::dot(x, W) + K::dot(states[0], U));
        return std::pair{h, std::vector{h}};
      },
      x, {K::zeros({samples, units})}, {.mask = mask});
}

[[maybe_unused]] void derivatives(const Tensor& x, Tensor velocity, const std::vector<Tensor>& grads) {
  using backend::square;
  GradientTape tape;
  tape.jacobian(x * x, x), tape.batch_jacobian(square(x), x);
  velocity = 0.9f * velocity + grads[0];
  auto reverse = custom_gradient([](const Tensor& x) {
    return std::pair{x * 1.f, [](const Tensor& dy) { return dy * -1.f; }};
  });
  const auto f = [](const Tensor& x, const Tensor& w) { return x * w; };
  auto checkpoint = custom_gradient([f](const Tensor& x, const Tensor& w) {
    return std::pair{f(x, w), [f, x, w](const Tensor& dy) { return gradients(f(x, w), {x, w}, {dy}); }};
  });
}

[[maybe_unused]] void number_of_threads() {
  namespace K = backend;
  K::set_num_threads(1);
  CHECK(K::num_threads() == 1);
}

struct Groups {
  Groups(const char*, const Tensor& x, const Axes&, bool) : shape(x.shape()) {}
  Shape shape;
};

void expect_number(const char*, const Tensor&) {}

[[maybe_unused]] Tensor sum(const Tensor& x, const Axes& axis, bool keepdims) {
  expect_number("sum", x);
  const Groups groups("sum", x, axis, keepdims);
  if (is_symbolic(x)) return defer("sum", {groups.shape, x.dtype()}, sum, x, axis, keepdims);
  return x;
}

[[maybe_unused]] void recorded(const Tensor& x, const Tensor& y, Tensor& out) {
  if (recording(x, y))
    record("multiply", out, {x, y}, [x, y](const Tensor& g, Grads& grads) {
      grads.to(0, [&] { return g * y; });
      grads.to(1, [&] { return g * x; });
    });
}

[[maybe_unused]] void applications_of_images(const Tensor& images) {
  namespace applications = nn::applications;
  nn::Model classifier =
      applications::ResNet50({.weights = "resnet50_weights_tf_dim_ordering_tf_kernels.h5"});
  Tensor scores = classifier(applications::resnet::preprocess_input(images));
  auto best = applications::decode_predictions(scores, "imagenet_class_index.json", {.top = 3});
}

[[maybe_unused]] void callbacks(const nn::Model& model, const Tensor& x, const Tensor& y,
                                const Dataset& train, const nn::ValidationData& test) {
  model.fit(x, y, {.epochs = 100, .callbacks = {nn::BackupAndRestore("backup")}});
  nn::ModelCheckpoint("models/{epoch:02d}-{val_loss:.2f}.ktape");
  nn::ModelCheckpoint("best.weights.h5",
                      {.monitor = "val_accuracy", .save_best_only = true, .save_weights_only = true});
  model.fit(train, {.epochs = 12, .callbacks = {nn::Report("report.html")}, .validation_data = test});
  model.compile({.optimizer = nn::Adam({.use_ema = true}), .loss = "mse"});
  model.fit(
      x, y,
      {.callbacks = {nn::SwapEMAWeights({.swap_on_epoch = true}), nn::ModelCheckpoint("averaged.ktape")}});
  model.fit(x, y, {.validation_split = 0.2, .callbacks = {nn::TensorBoard("logs")}});
  nn::History history = model.fit(x, y, {.epochs = 8});
  static_cast<void>(history["val_loss"].back());
}

struct PatienceImpl : nn::CallbackImpl {
  int waited = 0;
  double best = 0;
  void state(nn::Archive& state) override {
    state("waited", waited);
    state("best", best);
  }
};

struct PrinterImpl : nn::CallbackImpl {
  void on_epoch_end(int epoch, const nn::Logs& logs) override { std::cout << epoch << ": " << logs << "\n"; }
};
using Printer = nn::CallbackOf<PrinterImpl>;

struct ScaleImpl : nn::LayerImpl {
  double by;
  explicit ScaleImpl(double by, nn::LayerOptions options = {}) : nn::LayerImpl("Scale", options), by(by) {}
  Tensor call(const Tensor& x) override { return x * by; }
  nn::Config get_config() const override { return {{"by", by}}; }
};
using Scale = nn::LayerOf<ScaleImpl>;

struct SeveralImpl : nn::LayerImpl {
  SeveralImpl() : nn::LayerImpl("Several") {}
  Tensor call(const Tensor& x) override;
  std::vector<Tensor> call(const std::vector<Tensor>& inputs);
};
struct MergeImpl : nn::LayerImpl {
  MergeImpl() : nn::LayerImpl("Merge") {}
  Tensor call(const std::vector<Tensor>& inputs);
};

Tensor SeveralImpl::call(const Tensor& x) { return x; }
std::vector<Tensor> SeveralImpl::call(const std::vector<Tensor>& inputs) { return inputs; }
Tensor MergeImpl::call(const std::vector<Tensor>& inputs) { return inputs[0]; }

[[maybe_unused]] void forms_of_call(const Tensor& x) {
  nn::LayerOf<SeveralImpl>()({x, x});
  nn::LayerOf<MergeImpl>()({x, x});
}

struct SignImpl : nn::OptimizerImpl {
  SignImpl() : nn::OptimizerImpl("Sign", {.learning_rate = 0.01}) {}
  void update_step(const Tensor& g, Variable w, const nn::OptimizerStep& step) override {
    namespace K = backend;
    K::update_sub(w, step.learning_rate * K::sign(g));
  }
};
using Sign = nn::OptimizerOf<SignImpl>;

[[maybe_unused]] void objects() {
  namespace K = backend;
  nn::Dense(8, {.activation = "relu"});
  nn::Dense(8, {.activation = nn::activations::relu});
  nn::Dense(8, {.activation = [](const Tensor& x) { return K::sin(x); }});
  Config config{{"units", 3}, {"name", "scores"}};
  config.at("units").integer();
  nn::register_object("Scale", [](const nn::Config& config) { return Scale(config.at("by").number()); });
}

[[maybe_unused]] void datasets(const Tensor& x, const Tensor& y, const Tensor& left, const Tensor& right,
                               const Tensor& same, const Tensor& titles, const Tensor& bodies,
                               const Tensor& priorities, const nn::Model& model, const Dataset& numbers,
                               const std::vector<std::string>& files) {
  namespace K = backend;
  data::Dataset train = data::Dataset::from_tensor_slices({x, y})
                            .shuffle(10000, {.seed = 1})
                            .batch(32)
                            .map([](const data::Element& e) {
                              return data::Element{e[0] / 255.f, e[1]};
                            })
                            .prefetch(2);
  for (const data::Element& batch : train) std::cout << batch.size();
  model.fit(train, {.epochs = 5});
  Dataset::from_tensor_slices({left, right}, same);
  Dataset::from_tensor_slices({{"title", titles}, {"body", bodies}}, {{"priority", priorities}});
  train.map([](data::Element e) {
    e["image"] = e["image"] / 255.f;
    return e;
  });
  const auto number = [](const std::string&) { return std::optional<data::Element>(); };
  auto lines = data::Dataset::range(files.size())
                   .interleave(
                       [=](const data::Element& i) {
                         return data::text_line_dataset(files[i[0].item<int>()], number);
                       },
                       {.cycle_length = 4, .num_parallel_calls = data::AUTOTUNE});
  Tensor sum = numbers.reduce(K::zeros({}), [](const data::Element& sum, const data::Element& e) {
    return data::Element{sum[0] + e[0]};
  })[0];
}

[[maybe_unused]] void files(const Tensor& x, const Tensor& y, const Tensor& series, const Tensor& image,
                            const std::vector<std::string>& texts, const nn::Model& model) {
  namespace K = backend;
  Tensor table = load_csv("digits.csv.gz");
  load_csv("wine.csv", {.header = true, .delimiter = ';'});
  Tensor images = data::load_idx("t10k-images-idx3-ubyte.gz");
  { auto train = data::image_dataset_from_directory("flowers", {.image_size = {96, 96}, .seed = 1}); }
  auto [train, validation] = data::image_datasets_from_directory("flowers", {.validation_split = 0.2});
  data::save_image("dream.png", image);
  data::save_image("half_bright.png", 127.5f * image, {.scale = false});
  {
    data::Tokenizer words({.num_words = 10000, .oov_token = "<unk>"});
    words.fit(texts);
    Tensor x = data::pad_sequences(words.texts_to_sequences(texts), {.maxlen = 100});
    data::text_line_dataset(
        "train.txt",
        [&](const std::string& line) -> std::optional<data::Element> {
          if (line.empty()) return std::nullopt;
          return data::Element{data::pad_sequences(words.texts_to_sequences({line}), {.maxlen = 20})};
        })
        .unbatch()
        .shuffle(10000)
        .batch(32);
  }
  data::to_categorical(K::constant({0, 2, 1}), 3);
  data::pad_sequences({{1, 2}, {3}}, {.padding = "post"});
  auto windows = data::timeseries_from_array(series, series[{{7}}], {.sequence_length = 7});
  auto split = data::train_test_split({x, y}, {.test_size = 0.2, .seed = 1});
  model.fit(split.train[0], split.train[1]);
  for (const auto& [name, array] : data::load_npz("weights.npz")) std::cout << name;
  data::save_npz("pair.npz", {{"x", x}, {"y", y}});
  for (const auto& [name, tensor] : nn::load_safetensors("model.safetensors")) std::cout << name;
  for (const auto& [name, tensor] : data::load_torch("model.pt")) std::cout << name;
  for (const auto& tensor : nn::list_file("model.keras").tensors) std::cout << tensor.name << "\n";
  model.export_to("model.onnx", {.opset_version = 17, .doc_string = "digits"});
  const auto report = nn::load_torch_weights(model, "model.pt");
  {
    const Tensor& images = x;
    nn::Model model = nn::onnx::load("resnet50.onnx");
    Tensor y = model.predict(images);
  }
  {
    const Tensor& image = x;
    model.predict_on_batch(image);
    std::cout << nn::explain(model);
    nn::explain(model, {.svg = "plan.svg"});
  }
}

[[maybe_unused]] void losses_optimizers_and_callbacks(const nn::Model& model, const Tensor& x,
                                                      const Tensor& y) {
  model.compile({.loss = nn::Hinge({.reduction = "sum"})});
  model.compile({.loss = nn::Huber({.delta = 2})});
  model.compile({.loss = nn::BinaryCrossentropy({.from_logits = true})});
  model.compile({.loss = nn::Dice({.axis = {1, 2, 3}})});
  model.compile({.optimizer = nn::Adam({.learning_rate = 0.002, .clipnorm = 1}), .loss = "mse"});
  model.compile({.optimizer = nn::SGD({.learning_rate = 0.1, .momentum = 0.9}), .loss = "mse"});
  model.compile({.optimizer = nn::RMSprop(0.002), .loss = "mse"});
  model.compile({.loss = "binary_crossentropy", .metrics = {nn::Recall({.thresholds = 0.3})}});
  model.compile({.loss = "kl_divergence", .metrics = {nn::TopKCategoricalAccuracy({.k = 3})}});
  model.fit(x, y, {.epochs = 50, .callbacks = {nn::EarlyStopping({.monitor = "loss", .patience = 3})}});
  model.fit(x, y, {.epochs = 50, .callbacks = {nn::CSVLogger("log.csv")}});
  model.fit(x, y, {.epochs = 50, .callbacks = {nn::ReduceLROnPlateau({.patience = 3})}});
}

[[maybe_unused]] void layers(const Tensor& x, const Tensor& memory, const Tensor& h, const Tensor& c,
                             const std::vector<std::vector<std::string>>& words) {
  nn::MultiHeadAttention attention(8, 64);
  Tensor y = attention({x, x}, {.use_causal_mask = true});
  auto both = attention.apply({x, memory}, {.return_attention_scores = true});
  nn::Sequential model({nn::Dense(4, {.activation = "relu", .input_shape = {3}}), nn::Dense(1)});
  nn::Conv2D(16, 3, {.strides = 2, .padding = "same", .activation = "relu"});
  nn::Lambda([](const Tensor& x) { return x / 255.f; });
  nn::Dense(10, {.activation = "softmax"});
  nn::LayerNormalization({.axis = -1}), nn::Dropout(0.5), nn::Add()({x, memory});
  nn::EinsumDense("abc,cd->abd", {None, 64}, {.bias_axes = "d"});
  nn::EinsumDense("...x,xy->...y", 64, {.bias_axes = "y"});
  nn::MaxPooling2D(), nn::AveragePooling2D({3, 3}, {.strides = 2, .padding = "same"});
  nn::StringLookup lookup;
  lookup({"cat", "dog"}), lookup({{"cat", "dog"}, {"dog", "owl"}}), lookup(words);
  nn::ZeroPadding2D(1), nn::ZeroPadding2D({1, 2}), nn::Cropping2D({{1, 0}, {0, 2}});
  nn::ConvLSTM2D(16, 3, {.padding = "same", .return_sequences = true});
  nn::LSTM lstm(16, {.return_sequences = true, .return_state = true});
  auto outputs = lstm.apply(x, {.initial_state = {h, c}});
  nn::LSTMCell cell(8);
  auto step = cell.apply({x, h, c});
  nn::Bidirectional(nn::LSTM(16, {.return_sequences = true}), {.merge_mode = "sum"});
  nn::TimeDistributed(nn::Conv2D(8, 3));
}

[[maybe_unused]] void losses_and_metrics(const nn::Model& model, const Tensor& y_true, const Tensor& y_pred) {
  const auto huber = nn::losses::huber;
  model.compile({.loss = nn::losses::binary_crossentropy, .metrics = {nn::losses::mean_absolute_error}});
  model.compile({.loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  model.compile({.loss = "mse", .metrics = {nn::metrics::mean_absolute_error}});
  nn::Precision precision({.thresholds = {0.3}});
  precision.update_state(y_true, y_pred);
  precision.result().item();
  nn::CompileOptions compiled{.loss = "mse"};
  compiled = {.loss = {"mse", "mae"}};
  compiled = {.loss = {{"scores", "mse"}, {"boxes", huber}}};
  compiled = {.metrics = {"accuracy"}};
  compiled = {.metrics = {{"mae"}, {"mse", nn::R2Score()}}};
  compiled = {.metrics = {{"scores", {"accuracy"}}, {"boxes", {"mae"}}}};
  nn::FitOptions fit{.class_weight = {{0, 1}, {1, 5}}};
  fit = {.class_weight = {{"priority", {{1, 5}}}}};
}

[[maybe_unused]] nn::Logs logs_of(const Tensor& loss, const Tensor& penalty) {
  return nn::Logs{{"loss", loss}, {"penalty", penalty}};
}

[[maybe_unused]] void functional_models(const Tensor& in, const Tensor& out) {
  struct MineImpl : nn::FunctionalImpl {
    using nn::FunctionalImpl::FunctionalImpl;
    std::string class_name() const override { return "Mine"; }
    nn::Logs train_step(const nn::Batch& batch) override { return nn::FunctionalImpl::train_step(batch); }
  };
  using Mine = nn::ModelOf<MineImpl>;
  nn::register_object("Mine", [](const nn::Config& config) { return Mine(config); });
  Mine model(in, out);
}

struct OwnStepImpl : nn::ModelImpl {
  nn::Logs train_step(const nn::Batch& batch) override {
    namespace K = backend;
    const std::vector<Tensor> y_pred = apply(batch.x);
    const Tensor loss = compute_loss(batch, y_pred);
    optimizer().apply(K::gradients(loss, trainable_weights()), trainable_weights());
    return compute_metrics(batch, y_pred, loss);
  }
};

struct MineImpl : nn::ModelImpl {
  nn::Dense dense = add_layer(nn::Dense(10));
  Tensor call(const Tensor& x) override { return dense(x); }
};
using Mine = nn::ModelOf<MineImpl>;

[[maybe_unused]] void models(const Tensor& x, const Tensor& left, const Tensor& right, const Tensor& titles,
                             const Tensor& bodies, const Tensor& priorities, const nn::Batch& batch,
                             const Dataset& train, const Dataset& test, const nn::Model& pair) {
  namespace K = backend;
  Tensor in = nn::Input({28, 28});
  nn::Model model(in, nn::Dense(10)(nn::Flatten()(in)));
  model.fit({{"title", titles}, {"body", bodies}}, {{"priority", priorities}});
  model.fit({{"title", titles}, {"body", bodies}}, {{"priority", priorities}}, {.epochs = 5});
  Tensor title = batch.x["title"], first = batch.x[0];
  model.fit(train.shuffle(1000).batch(32).prefetch(2), {.epochs = 5, .validation_data = test.batch(256)});
  model.load_weights("model.safetensors.index.json",
                     {.names = {{R"(bert\.layer\.(\d+)\.output\.weight)", "output_$1/kernel", {1, 0}},
                                {R"(bert\.layer\.(\d+)\.output\.bias)", "output_$1/bias"}}});
  { nn::Sequential model({nn::Dense(16, {.activation = "relu"}), nn::Dense(1)}); }
  Tensor scores = model.predict(x);
  std::vector<Tensor> all = pair.predict({left, right});
  nn::Model smooth = nn::clone_model(model, {.clone_function = [](const nn::Layer& layer) -> nn::Layer {
                                       if (layer.class_name() == "ReLU")
                                         return nn::Activation("gelu", {.name = layer.name()});
                                       return nn::Layer::from_value(layer.to_value());
                                     }});
}

[[maybe_unused]] void optimizers(const Tensor& loss, const std::vector<Variable>& weights) {
  namespace K = backend;
  nn::Adam optimizer(0.01);
  optimizer.apply(K::gradients(loss, weights), weights);
}

[[maybe_unused]] void plots(const nn::History& history, const Tensor& weights,
                            const std::vector<double>& loss, const std::vector<double>& val_loss,
                            const std::vector<double>& deviation, const Tensor& x) {
  plot::lines({{"loss", history["loss"]}, {"val_loss", history["val_loss"]}},
              {.title = "Digits", .x = {.label = "epoch"}, .y = {.log = true}})
      .save("loss.svg");
  std::cout << plot::histogram(weights);
  lines(loss), lines({1, 4, 9}), lines({{"train", loss}, {"validation", val_loss}});
  lines({{.name = "mean", .y = loss, .error = deviation},
         {.name = "best", .y = val_loss, .line = "dashed", .marker = "star", .color = 3, .alpha = 0.5}});
  lines({{.name = "quartiles", .x = loss, .low = deviation, .high = val_loss}});
  plot::histogram(weights).save("weights.png", {.scale = 1, .dark = true});
  lines(loss, {.annotations = {{"minimum", 7, 0.1}}, .horizontal = {{0.5, "chance"}}, .vertical = {{3}}});
  plot::heat_map(weights, {.title = "Weights", .colors = "viridis"}).save("weights.svg");
  plot::image_grid(x, {.columns = 8, .row_labels = {"digits", "rebuilt"}}).save("pairs.svg");
  plot::grid({lines(loss), plot::histogram(weights)}, {.title = "A run", .columns = 2}).save("run.svg");
}

[[maybe_unused]] void command_line(int argc, char** argv) {
  const auto options = nn::program_options(argc, argv, {.epochs = 20, .data = "digits.csv.gz"});
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Returns the line without white space and comments.
std::string bare(const std::string& line) {
  std::string text;
  for (const char c : line.substr(0, line.find("  //")))
    if (!std::isspace(static_cast<unsigned char>(c))) text += c;
  return text;
}

/// Returns the parts of a line of an example: expressions that stand beside each other are separated by three
/// blanks, and `...` stands for code that the example leaves out.
std::vector<std::string> parts_of(const std::string& line) {
  std::vector<std::string> parts;
  const std::regex gap("   +|\\.\\.\\. *\\}?$");
  const std::string code = line.substr(0, line.find("  //"));
  for (std::sregex_token_iterator part(code.begin(), code.end(), gap, -1), end; part != end; ++part) {
    std::string text = bare(*part);
    while (text.ends_with(';') || text.ends_with(',')) text.pop_back();
    if (!text.empty()) parts.push_back(text);
  }
  return parts;
}

/// Returns the headers that ktape.hpp includes.
std::set<std::string> public_headers() {
  std::set<std::string> unread{"ktape.hpp"}, read;
  const std::regex include("#include <ktape/([^>]+)>");
  while (!unread.empty()) {
    const std::string path = unread.extract(unread.begin()).value();
    read.insert(path);
    const std::string text = content_of(path);
    for (std::sregex_iterator found(text.begin(), text.end(), include), end; found != end; ++found)
      if (!read.contains((*found)[1])) unread.insert((*found)[1]);
  }
  return read;
}

}  // namespace

TEST_CASE("the examples of public headers compile") {
  std::string all;
  std::istringstream source(content_of("tests/header_examples_test.cpp"));
  for (std::string line; std::getline(source, line);) all += bare(line);
  int examples = 0;
  for (const std::string& path : public_headers()) {
    std::istringstream header(content_of(path));
    const std::regex example("\\s*///     (\\s*\\S.*)"), formula("\\s*///   \\S.*");
    std::smatch found;
    bool in_formula = false;  // formulas and tables are indented by three blanks, code by five
    for (std::string line; std::getline(header, line);) {
      const bool matches = std::regex_match(line, found, example);
      in_formula = std::regex_match(line, formula) || (in_formula && matches);
      if (!matches || in_formula) continue;
      for (const std::string& part : parts_of(found[1])) {
        ++examples;
        CHECK_MESSAGE(all.find(part) != std::string::npos, path,
                      " has an example that stands in no test: ", line);
      }
    }
  }
  CHECK(examples > 200);
}
