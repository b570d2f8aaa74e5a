#include "examples.hpp"

EXAMPLE("ops::relu ops::relu6") {
  Tensor x = K::constant({-1., 3., 9.});
  std::cout << ops::relu(x) << " " << ops::relu6(x);
}

EXAMPLE("ops::leaky_relu") { std::cout << ops::leaky_relu(K::constant({-1., 3.})); }

EXAMPLE("ops::elu ops::selu ops::celu") {
  Tensor x = K::constant({-1., 3.});
  std::cout << ops::elu(x) << " " << ops::selu(x) << " " << ops::celu(x);
}

EXAMPLE("ops::gelu") {
  Tensor x = K::constant({-1., 0., 1.});
  std::cout << ops::gelu(x) << " " << ops::gelu(x, false);
}

EXAMPLE("ops::silu ops::swish") {
  std::cout << ops::silu(K::constant({-1., 0., 1.}));
}

EXAMPLE("ops::sigmoid ops::log_sigmoid") {
  Tensor x = K::constant({-2., 0., 2.});
  std::cout << ops::sigmoid(x) << " " << ops::log_sigmoid(x);
}

EXAMPLE("ops::hard_sigmoid ops::hard_tanh") {
  Tensor x = K::constant({-9., 0., 0.5});
  std::cout << ops::hard_sigmoid(x) << " " << ops::hard_tanh(x);
}

EXAMPLE("ops::hard_silu ops::hard_swish") {
  std::cout << ops::hard_silu(K::constant({-3., 0., 3.}));
}

EXAMPLE("ops::hard_shrink ops::soft_shrink ops::tanh_shrink") {
  Tensor x = K::constant({-1., 0.2, 2.});
  std::cout << ops::hard_shrink(x) << " " << ops::soft_shrink(x) << " "
            << ops::tanh_shrink(x);
}

EXAMPLE("ops::threshold") {
  std::cout << ops::threshold(K::constant({-1., 0.5, 2.}), 1, 0);
}

EXAMPLE("ops::softplus ops::softsign ops::squareplus") {
  Tensor x = K::constant({-1., 0., 1.});
  std::cout << ops::softplus(x) << "\n"
            << ops::softsign(x) << "\n"
            << ops::squareplus(x);
}

EXAMPLE("ops::softmax ops::log_softmax") {
  Tensor x = K::constant({1., 2., 3.});
  std::cout << ops::softmax(x) << "\n" << ops::log_softmax(x);
}

EXAMPLE("ops::sparsemax") {
  std::cout << ops::sparsemax(K::constant({1., 2., 0.1}));
}

EXAMPLE("ops::sparse_plus ops::sparse_sigmoid") {
  Tensor x = K::constant({-2., 0., 2.});
  std::cout << ops::sparse_plus(x) << " " << ops::sparse_sigmoid(x);
}

EXAMPLE("ops::glu") { std::cout << ops::glu(K::constant({1., 2., 0., 100.})); }

EXAMPLE("ops::conv") {
  Tensor x = ops::ones({1, 5, 5, 1}), kernel = ops::ones({3, 3, 1, 2});
  std::cout << ops::conv(x, kernel).shape() << " "
            << ops::conv(x, kernel, {.strides = 2, .padding = "same"}).shape();
}

EXAMPLE("ops::conv_transpose") {
  std::cout << ops::conv_transpose(ops::ones({1, 4, 4, 3}), ops::ones({3, 3, 2, 3}),
                                   {.strides = 2, .padding = "same"})
                   .shape();
}

EXAMPLE("ops::depthwise_conv") {
  std::cout << ops::depthwise_conv(ops::ones({1, 5, 5, 3}), ops::ones({3, 3, 3, 2}))
                   .shape();
}

EXAMPLE("ops::separable_conv") {
  std::cout << ops::separable_conv(ops::ones({1, 5, 5, 3}), ops::ones({3, 3, 3, 1}),
                                   ops::ones({1, 1, 3, 8}))
                   .shape();
}

EXAMPLE("ops::max_pool ops::average_pool") {
  Tensor x = ops::reshape(ops::arange(0., 16.), {1, 4, 4, 1});
  std::cout << ops::ravel(ops::max_pool(x, 2)) << " "
            << ops::ravel(ops::average_pool(x, 2));
}

EXAMPLE("ops::adaptive_max_pool ops::adaptive_average_pool") {
  Tensor x = ops::reshape(ops::arange(0., 5.), {1, 5, 1});
  std::cout << ops::ravel(ops::adaptive_max_pool(x, 2)) << " "
            << ops::ravel(ops::adaptive_average_pool(x, 2));
}

EXAMPLE("ops::moments ops::Moments") {
  auto [mean, variance] = ops::moments(K::constant({1., 2., 3.}), 0);
  std::cout << mean << " " << variance;
}

EXAMPLE("ops::normalize") { std::cout << ops::normalize(K::constant({3., 4.})); }

EXAMPLE("ops::batch_normalization") {
  Tensor x = K::constant({{1., 10.}, {3., 30.}});
  std::cout << ops::batch_normalization(x, K::constant({2., 20.}),
                                        K::constant({1., 100.}), -1);
}

EXAMPLE("ops::layer_normalization ops::rms_normalization") {
  Tensor x = K::constant({1., 2., 3.});
  std::cout << ops::layer_normalization(x) << "\n" << ops::rms_normalization(x);
}

EXAMPLE("ops::dot_product_attention") {
  Tensor q = ktape::random::normal({2, 5, 4, 8});
  std::cout << ops::dot_product_attention(q, q, q, {.is_causal = true}).shape();
}

EXAMPLE("ops::binary_crossentropy") {
  std::cout << ops::binary_crossentropy(K::constant({1., 0.}),
                                        K::constant({0.9, 0.2}));
}

EXAMPLE("ops::categorical_crossentropy") {
  std::cout << ops::categorical_crossentropy(K::constant({{0., 1.}}),
                                             K::constant({{0.2, 0.8}}));
}

EXAMPLE("ops::sparse_categorical_crossentropy") {
  std::cout << ops::sparse_categorical_crossentropy(
      K::constant({1}, {.dtype = "int32"}), K::constant({{0.2, 0.8}}));
}

EXAMPLE("ops::ctc_loss") {
  Tensor labels = K::constant({{1, 2}}, {.dtype = "int32"}),
         scores = ops::zeros({1, 4, 3});
  std::cout << ops::ctc_loss(labels, scores, K::constant({2}, {.dtype = "int32"}),
                             K::constant({4}, {.dtype = "int32"}));
}

EXAMPLE("ops::ctc_decode ops::CtcPaths") {
  Tensor scores =
      K::constant({{{0., 5., 0.}, {0., 5., 0.}, {5., 0., 0.}, {0., 0., 5.}}});
  ops::CtcPaths paths = ops::ctc_decode(
      scores, K::constant({4}, {.dtype = "int32"}), {.mask_index = 0});
  std::cout << paths.scores.shape();
}

EXAMPLE("ops::psnr ops::ssim") {
  Tensor a = ops::zeros({1, 16, 16, 1}), b = ops::full({1, 16, 16, 1}, 0.1);
  std::cout << ops::psnr(a, b, 1) << " " << ops::ssim(a, a);
}

EXAMPLE("ops::polar ops::Complex") {
  auto [real, imag] = ops::polar(K::constant({2.}), K::constant({1.5707963}));
  std::cout << real << " " << imag;
}

EXAMPLE("ops::depth_to_space ops::space_to_depth") {
  Tensor x = ops::reshape(ops::arange(0., 4.), {1, 1, 1, 4});
  std::cout << ops::depth_to_space(x, 2).shape() << " "
            << ops::space_to_depth(ops::depth_to_space(x, 2), 2).shape();
}

EXAMPLE("ops::unfold ops::fold") {
  Tensor x = ops::ones({1, 1, 4, 5}), windows = ops::unfold(x, 2);
  std::cout << windows.shape() << " " << ops::fold(windows, {4, 5}, 2).shape();
}

EXAMPLE("ops::resize") {
  std::cout << ops::resize(ops::ones({1, 4, 4, 3}), {8, 6}).shape();
}

EXAMPLE("ops::pad_images ops::crop_images") {
  Tensor x = ops::ones({1, 4, 4, 3});
  std::cout << ops::pad_images(
                   x, {.top = 1, .left = 2, .target_height = 8, .target_width = 8})
                   .shape()
            << " ";
  std::cout << ops::crop_images(
                   x, {.top = 1, .left = 1, .target_height = 2, .target_width = 2})
                   .shape();
}

EXAMPLE("ops::affine_transform") {
  Tensor x = ops::reshape(ops::arange(0., 9.), {1, 3, 3, 1});
  std::cout << ops::reshape(
      ops::affine_transform(x, K::constant({{1., 0., 1., 0., 1., 0., 0., 0.}})),
      {3, 3});
}

EXAMPLE("ops::perspective_transform") {
  Tensor x = ops::ones({1, 4, 4, 1}),
         corners = K::constant({{{0., 0.}, {3., 0.}, {0., 3.}, {3., 3.}}});
  std::cout << ops::perspective_transform(x, corners, corners).shape();
}

EXAMPLE("ops::map_coordinates") {
  Tensor x = K::constant({{0., 1.}, {2., 3.}});
  std::cout << ops::map_coordinates(x, K::constant({{0.5}, {0.5}}), 1);
}

EXAMPLE("ops::gaussian_blur") {
  Tensor x = ops::ones({1, 5, 5, 1});
  std::cout << ops::gaussian_blur(x, {3, 3}, {1., 1.}).shape();
}

EXAMPLE("ops::elastic_transform") {
  std::cout << ops::elastic_transform(ops::ones({1, 8, 8, 1}),
                                      {.alpha = 10, .sigma = 2, .seed = 1})
                   .shape();
}

EXAMPLE("ops::rgb_to_grayscale") {
  std::cout << ops::ravel(
      ops::rgb_to_grayscale(K::constant({{{{1., 0., 0.}, {0., 1., 0.}}}})));
}

EXAMPLE("ops::rgb_to_hsv ops::hsv_to_rgb") {
  Tensor red = K::constant({{{{1., 0., 0.}}}});
  std::cout << ops::ravel(ops::rgb_to_hsv(red)) << " "
            << ops::ravel(ops::hsv_to_rgb(ops::rgb_to_hsv(red)));
}

EXAMPLE("ops::sobel_edges") {
  std::cout << ops::sobel_edges(ops::ones({1, 4, 4, 1})).shape();
}

EXAMPLE("ops::extract_patches ops::reconstruct_patches") {
  Tensor x = ops::ones({1, 4, 4, 3}), patches = ops::extract_patches(x, 2);
  std::cout << patches.shape() << " "
            << ops::reconstruct_patches(patches, 2, {4, 4}).shape();
}

EXAMPLE("ops::extract_patches_3d") {
  std::cout << ops::extract_patches_3d(ops::ones({1, 4, 4, 4, 1}), 2).shape();
}

EXAMPLE("ops::scale_and_translate") {
  std::cout << ops::scale_and_translate(ops::ones({1, 4, 4, 1}), {1, 8, 8, 1},
                                        {2., 2.}, {0., 0.}, {1, 2}, "linear")
                   .shape();
}

EXAMPLE("random::normal random::truncated_normal random::uniform") {
  std::cout << ktape::random::normal({2}, 0, 1, {}, 7) << "\n"
            << ktape::random::truncated_normal({2}, 0, 1, {}, 7) << "\n"
            << ktape::random::uniform({2}, 0, 1, {}, 7);
}

EXAMPLE("random::randint") {
  std::cout << ktape::random::randint({5}, 0, 10, "int32", 7);
}

EXAMPLE("random::categorical") {
  Tensor logits = K::constant({{0., 0., 9.}});
  std::cout << ktape::random::categorical(logits, 4, {}, 7);
}

EXAMPLE("random::shuffle") {
  std::cout << ktape::random::shuffle(K::constant({1., 2., 3., 4.}), 0, 7);
}

EXAMPLE("random::dropout") {
  std::cout << ktape::random::dropout(ops::ones({6}), 0.5, {}, 7);
}

EXAMPLE("random::gamma random::beta random::binomial") {
  std::cout << ktape::random::gamma({2}, 3, {}, 7) << " "
            << ktape::random::beta({2}, 2, 2, {}, 7) << " "
            << ktape::random::binomial({2}, 10, 0.5, {}, 7);
}

EXAMPLE("random::SeedGenerator random::Seed") {
  ktape::random::SeedGenerator seed(7);
  Tensor a = ktape::random::normal({2}, 0, 1, {}, seed),
         b = ktape::random::normal({2}, 0, 1, {}, seed);
  std::cout << a << " " << b;
}
