#include "examples.hpp"

EXAMPLE("backend::conv1d backend::conv2d backend::conv3d backend::ConvOptions") {
  std::cout << K::conv1d(K::ones({1, 8, 3}), K::ones({3, 3, 4}),
                         {.padding = "causal"})
                   .shape()
            << "\n";
  std::cout << K::conv2d(K::ones({1, 8, 8, 3}), K::ones({3, 3, 3, 4}),
                         {.strides = 2, .padding = "same"})
                   .shape()
            << "\n";
  std::cout
      << K::conv3d(K::ones({1, 4, 4, 4, 1}), K::ones({2, 2, 2, 1, 5})).shape();
}

EXAMPLE("backend::conv2d_transpose") {
  std::cout << K::conv2d_transpose(K::ones({1, 4, 4, 3}), K::ones({3, 3, 2, 3}),
                                   {1, 8, 8, 2}, {.strides = 2, .padding = "same"})
                   .shape();
}

EXAMPLE("backend::conv3d_transpose") {
  std::cout << K::conv3d_transpose(K::ones({1, 2, 2, 2, 3}),
                                   K::ones({2, 2, 2, 1, 3}), {1, 4, 4, 4, 1},
                                   {.strides = 2})
                   .shape();
}

EXAMPLE("backend::depthwise_conv2d") {
  std::cout
      << K::depthwise_conv2d(K::ones({1, 5, 5, 3}), K::ones({3, 3, 3, 2})).shape();
}

EXAMPLE("backend::separable_conv1d backend::separable_conv2d") {
  std::cout << K::separable_conv1d(K::ones({1, 5, 3}), K::ones({3, 3, 1}),
                                   K::ones({1, 3, 8}))
                   .shape()
            << " ";
  std::cout << K::separable_conv2d(K::ones({1, 5, 5, 3}), K::ones({3, 3, 3, 1}),
                                   K::ones({1, 1, 3, 8}))
                   .shape();
}

EXAMPLE("backend::local_conv1d") {
  std::cout
      << K::local_conv1d(K::ones({1, 4, 2}), K::ones({3, 4, 5}), 2, 1).shape();
}

EXAMPLE("backend::local_conv2d") {
  std::cout << K::local_conv2d(K::ones({1, 3, 3, 1}), K::ones({4, 4, 2}), 2, 1,
                               {2, 2})
                   .shape();
}

EXAMPLE("backend::pool2d backend::pool3d backend::PoolOptions") {
  Tensor x = K::reshape(K::arange(16., {.dtype = "float32"}), {1, 4, 4, 1});
  std::cout << K::flatten(K::pool2d(x, 2, {.strides = 2})) << " "
            << K::flatten(K::pool2d(x, 2, {.strides = 2, .pool_mode = "avg"}))
            << "\n";
  std::cout << K::pool3d(K::ones({1, 4, 4, 4, 1}), 2).shape();
}

EXAMPLE("backend::bias_add backend::BiasOptions") {
  std::cout << K::bias_add(K::zeros({2, 3}), K::constant({1., 2., 3.}));
}

EXAMPLE("backend::batch_normalization backend::BatchNormalizationOptions") {
  Tensor x = K::constant({{1., 10.}, {3., 30.}}), zero = K::zeros({2}),
         one = K::ones({2});
  std::cout << K::batch_normalization(x, K::constant({2., 20.}),
                                      K::constant({1., 100.}), zero, one);
}

EXAMPLE("backend::normalize_batch_in_training backend::NormalizedBatch") {
  auto batch = K::normalize_batch_in_training(K::constant({{1.}, {3.}}),
                                              K::ones({1}), K::zeros({1}), 0);
  std::cout << batch.mean << " " << batch.variance;
}

EXAMPLE("backend::layer_normalization backend::LayerNormalizationOptions") {
  std::cout << K::layer_normalization(K::constant({{1., 2., 3.}}), K::ones({3}),
                                      K::zeros({3}));
}

EXAMPLE("backend::scaled_dot_product_attention") {
  Tensor q = K::random_normal({2, 4, 5, 8});
  std::cout << K::scaled_dot_product_attention(q, q, q).shape();
}

EXAMPLE("backend::binary_crossentropy backend::BinaryLossOptions") {
  std::cout << K::binary_crossentropy(K::constant({1., 0.}),
                                      K::constant({0.9, 0.2}));
}

EXAMPLE(
    "backend::categorical_crossentropy backend::sparse_categorical_crossentropy "
    "backend::LossOptions") {
  Tensor p = K::constant({{0.2, 0.8}});
  std::cout << K::categorical_crossentropy(K::constant({{0., 1.}}), p) << " ";
  std::cout << K::sparse_categorical_crossentropy(
      K::constant({1}, {.dtype = "int32"}), p, {.from_logits = false});
}

EXAMPLE("backend::ctc_batch_cost") {
  Tensor labels = K::constant({{0, 1}}, {.dtype = "int32"}),
         probabilities = K::softmax(K::zeros({1, 4, 3}));
  std::cout << K::ctc_batch_cost(labels, probabilities,
                                 K::constant({{4}}, {.dtype = "int32"}),
                                 K::constant({{2}}, {.dtype = "int32"}));
}

EXAMPLE("backend::ctc_decode backend::CtcDecoded backend::CtcDecodeOptions") {
  Tensor p = K::softmax(
      K::constant({{{5., 0., 0.}, {5., 0., 0.}, {0., 0., 5.}, {0., 5., 0.}}}));
  std::cout << K::ctc_decode(p, K::constant({4}, {.dtype = "int32"}),
                             {.greedy = true})
                   .decoded[0];
}

EXAMPLE("backend::ctc_label_dense_to_sparse") {
  std::cout << K::to_dense(K::ctc_label_dense_to_sparse(
      K::constant({{1, 2}, {3, 0}}, {.dtype = "int32"}),
      K::constant({2, 1}, {.dtype = "int32"})));
}

EXAMPLE("backend::resize_images backend::resize_volumes") {
  std::cout << K::resize_images(K::ones({1, 2, 2, 3}), 2, 3, "channels_last",
                                {.interpolation = "bilinear"})
                   .shape()
            << " ";
  std::cout << K::resize_volumes(K::ones({1, 2, 2, 2, 1}), 2, 2, 2, "channels_last")
                   .shape();
}

EXAMPLE(
    "backend::temporal_padding backend::spatial_2d_padding "
    "backend::spatial_3d_padding") {
  std::cout << K::temporal_padding(K::ones({1, 3, 2}), {.padding = {1, 2}}).shape()
            << " "
            << K::spatial_2d_padding(K::ones({1, 4, 4, 1}), {.padding = 2}).shape()
            << " ";
  std::cout << K::spatial_3d_padding(K::ones({1, 2, 2, 2, 1})).shape();
}

EXAMPLE("backend::gradients gradients GradientOptions") {
  Variable w = K::variable({2.f, 3.f});
  Tensor loss = K::sum(w * w * w);
  Tensor g = K::gradients(loss, {w})[0];
  std::cout << g << " " << K::gradients(K::sum(g), {w})[0];
}

EXAMPLE(
    "backend::placeholder backend::function backend::PlaceholderOptions "
    "backend::FunctionOptions "
    "backend::Function") {
  Tensor x = K::placeholder({K::None, 3});
  auto f = K::function({x}, {K::sum(x, 1), K::gradients(K::sum(x * x), {x})[0]});
  auto results = f({K::constant({{1., 2., 3.}})});
  std::cout << results[0] << " " << results[1];
}

EXAMPLE("backend::symbolic backend::eager") {
  auto f = K::symbolic([](const Tensor& x) { return x * 2; });
  Tensor x = K::placeholder({2});
  std::cout << K::function({x}, {f(x)})({K::constant({1., 2.})})[0] << " ";
  std::cout << K::eager([](const Tensor& x) { return x * 2; })(
      K::constant({1., 2.}));
}

EXAMPLE("backend::switch_ backend::Branch") {
  Tensor x = K::constant({3.});
  std::cout << K::switch_(
      K::sum(x) > 0, [&] { return x * 2; }, [&] { return x; });
}

EXAMPLE("backend::map_fn backend::MapOptions") {
  std::cout << K::map_fn([](const Tensor& row) { return K::sum(row); },
                         K::constant({{1., 2.}, {3., 4.}}));
}

EXAMPLE("backend::foldl backend::foldr backend::FoldOptions") {
  auto subtract = [](const Tensor& a, const Tensor& b) { return a - b; };
  Tensor x = K::constant({1., 2., 3.});
  std::cout << K::foldl(subtract, x) << " " << K::foldr(subtract, x);
}

EXAMPLE("backend::rnn backend::RnnOptions backend::RnnResult") {
  auto step = [](const Tensor& x, const std::vector<Tensor>& states) {
    Tensor sum = states[0] + x;
    return std::pair{sum, std::vector{sum}};
  };
  auto [last, outputs, states] =
      K::rnn(step, K::ones({1, 4, 2}), {K::zeros({1, 2})});
  std::cout << last << " " << outputs.shape();
}

EXAMPLE("backend::simple_rnn backend::SimpleRnnOptions") {
  auto [last, outputs, states] = K::simple_rnn(K::ones({1, 4, 2}), K::ones({2, 3}),
                                               K::zeros({3, 3}), K::zeros({3}));
  std::cout << last;
}

EXAMPLE("backend::lstm backend::LstmOptions") {
  auto [last, outputs, states] = K::lstm(K::ones({1, 4, 2}), K::ones({2, 12}),
                                         K::ones({3, 12}), K::zeros({12}));
  std::cout << last << " " << states.size();
}

EXAMPLE("backend::gru backend::GruOptions") {
  auto [last, outputs, states] = K::gru(K::ones({1, 4, 2}), K::ones({2, 9}),
                                        K::ones({3, 9}), K::zeros({2, 9}));
  std::cout << last;
}

EXAMPLE("SparseTensor backend::to_dense") {
  ktape::SparseTensor s({{0, 1}, {1, 0}}, {3.f, 4.f}, {2, 2});
  std::cout << K::to_dense(s) << "\n" << K::dot(s, K::ones({2, 1}));
}

EXAMPLE("backend::adam_update backend::AdamOptions") {
  Variable w = K::variable({1.f}), m = K::variable({0.f}), v = K::variable({0.f});
  K::adam_update(w, K::constant({2.}), m, v, 1, {.learning_rate = 0.1});
  std::cout << w;
}

EXAMPLE("backend::manual_variable_initialization") {
  std::cout << K::manual_variable_initialization();
}

EXAMPLE("backend::LearningPhase backend::learning_phase_scope") {
  K::learning_phase_scope training(1);
  std::cout << K::in_train_phase(K::constant(1.), K::constant(0.));
}
